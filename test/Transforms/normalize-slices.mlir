// RUN: nm-opt %s --nm-normalize-slices | FileCheck %s
// RUN: nm-opt %s --nm-to-cpu | FileCheck %s --check-prefix=CPU

// They are lowered without a crash.
// CPU: llvm.func @extract
// CPU: llvm.func @insert

// CHECK-LABEL: func.func @extract(
// CHECK:         %[[S:.*]] = tensor.extract_slice %{{.*}}[1, 2, 0] [1, 1, 3] [1, 1, 2] : tensor<2x3x6xf32> to tensor<1x1x3xf32>
// CHECK:         tensor.collapse_shape %[[S]]
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

// Of dimensions of one element, types of memrefs do not tell those that drop
// from others where strides are not known: the slice keeps all of them.
// CHECK-LABEL: func.func @computed_strides(
// CHECK:         %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [1, %{{.*}}, 1] : tensor<?x1xf32> into tensor<1x?x1xf32>
// CHECK:         tensor.insert_slice %[[E]] into %{{.*}}[0, 0, 0] [1, %{{.*}}, 1] [1, %{{.*}}, 1] : tensor<1x?x1xf32> into tensor<2x?x6xf32>
func.func @computed_strides(%s: tensor<?x1xf32>, %a: tensor<2x?x6xf32>) -> tensor<2x?x6xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %s, %c0 : tensor<?x1xf32>
  %r = tensor.insert_slice %s into %a[0, 0, 0] [1, %m, 1] [%m, %m, 6] : tensor<?x1xf32> into tensor<2x?x6xf32>
  return %r : tensor<2x?x6xf32>
}

// CPU: llvm.func @unknown_sizes
// CHECK-LABEL: func.func @unknown_sizes(
// CHECK:         %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 32, 2, 0] [1, 81, 1, %{{.*}}] [1, 1, 1, 1] : tensor<9x?x3x?xf32> to tensor<1x81x1x?xf32>
// CHECK:         tensor.collapse_shape %[[S]] {{\[\[}}0], [1], [2, 3]] : tensor<1x81x1x?xf32> into tensor<1x81x?xf32>
func.func @unknown_sizes(%a: tensor<9x?x3x?xf32>, %o: tensor<1x81x?xf32>) -> tensor<1x81x?xf32> {
  %c3 = arith.constant 3 : index
  %n = tensor.dim %a, %c3 : tensor<9x?x3x?xf32>
  %s = tensor.extract_slice %a[0, 32, 2, 0] [1, 81, 1, %n] [1, 1, 1, 1] : tensor<9x?x3x?xf32> to tensor<1x81x?xf32>
  %r = linalg.negf ins(%s : tensor<1x81x?xf32>) outs(%o : tensor<1x81x?xf32>) -> tensor<1x81x?xf32>
  return %r : tensor<1x81x?xf32>
}

// CPU: llvm.func @none_left
// CHECK-LABEL: func.func @none_left(
// CHECK:         tensor.extract_slice %{{.*}}[0, %{{.*}}, 2] [1, 1, 1] [1, 1, 1] : tensor<?x?x?xf32> to tensor<f32>
func.func @none_left(%a: tensor<?x?x?xf32>, %i: tensor<?xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %i, %c0 : tensor<?xf32>
  %s = tensor.extract_slice %a[0, %n, 2] [1, 1, 1] [1, 1, 1] : tensor<?x?x?xf32> to tensor<f32>
  return %s : tensor<f32>
}

// The first dimension drops, which needs no strides: tiles of partial sums stay
// slices.
// CHECK-LABEL: func.func @first(
// CHECK:         tensor.extract_slice %{{.*}}[2, 0, 0, 0] [1, %{{.*}}, 1, %{{.*}}] [1, 1, 1, 1] : tensor<4x?x1x?xf32> to tensor<?x1x?xf32>
// CHECK-NOT:     tensor.collapse_shape
func.func @first(%a: tensor<4x?x1x?xf32>) -> tensor<?x1x?xf32> {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %a, %c1 : tensor<4x?x1x?xf32>
  %n = tensor.dim %a, %c3 : tensor<4x?x1x?xf32>
  %s = tensor.extract_slice %a[2, 0, 0, 0] [1, %m, 1, %n] [1, 1, 1, 1] : tensor<4x?x1x?xf32> to tensor<?x1x?xf32>
  return %s : tensor<?x1x?xf32>
}
