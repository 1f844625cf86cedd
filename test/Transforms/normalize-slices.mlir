// RUN: nm-opt %s --nm-normalize-slices | FileCheck %s
// RUN: nm-opt %s --nm-to-cpu | FileCheck %s --check-prefix=CPU

// They are lowered without a crash.
// CPU: llvm.func @extract
// CPU: llvm.func @insert

// CHECK-LABEL: func.func @extract(
// CHECK:         tensor.extract_slice %{{.*}}[1, 2, 0] [1, 1, 3] [1, 1, 2] : tensor<2x3x6xf32> to tensor<1x3xf32>
func.func @extract(%a: tensor<2x3x6xf32>) -> tensor<1x3xf32> {
  %s = tensor.extract_slice %a[1, 2, 0] [1, 1, 3] [2, 2, 2] : tensor<2x3x6xf32> to tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}

// Sizes that are not known to be one keep their strides.
// CHECK-LABEL: func.func @insert(
// CHECK-SAME:    %[[S:[^:]*]]: tensor<?xf32>, %[[A:[^:]*]]: tensor<2x?x6xf32>
// CHECK:         %[[M:.*]] = tensor.dim %[[S]]
// CHECK:         tensor.insert_slice %[[S]] into %[[A]][0, 0, 0] [1, %[[M]], 1] [1, %[[M]], 1] : tensor<?xf32> into tensor<2x?x6xf32>
func.func @insert(%s: tensor<?xf32>, %a: tensor<2x?x6xf32>) -> tensor<2x?x6xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %s, %c0 : tensor<?xf32>
  %r = tensor.insert_slice %s into %a[0, 0, 0] [1, %m, 1] [%m, %m, 6] : tensor<?xf32> into tensor<2x?x6xf32>
  return %r : tensor<2x?x6xf32>
}
