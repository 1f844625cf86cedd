// RUN: nm-compile %s --target=cuda:sm_90a --emit=nvvm -o - 2>/dev/null | FileCheck %s
// RUN: nm-compile %s --target=cuda:sm_90a --schedule=cublas --emit=nvvm -o - 2>/dev/null | FileCheck %s --check-prefix=DENSE

// Rows of 777 elements are copied to ones of 13 lines each, which the kernel of
// the product takes. cuBLAS wants m whole as well, and gets a transposition.
// CHECK-LABEL: func @ragged(
// CHECK-SAME: %[[A:[^:]*]]: memref<4096x777xf16>
// CHECK: gpu.alloc {{.*}} : memref<6815744xi8>
// CHECK: builtin.unrealized_conversion_cast {{.*}} to memref<4096x832xf16>
// CHECK: %[[ROWS:.*]] = memref.subview %{{.*}}[0, 0] [4096, 777] [1, 1] : memref<4096x832xf16> to memref<4096x777xf16, strided<[832, 1]>>
// CHECK: gpu.launch_func {{.*}} args(%[[A]] : memref<4096x777xf16>, %[[ROWS]] : memref<4096x777xf16, strided<[832, 1]>>)
// CHECK: gpu.launch_func {{.*}} %[[ROWS]] : memref<4096x777xf16, strided<[832, 1]>>
// CHECK-NOT: gpu.launch_func
// CHECK: return

// DENSE-LABEL: func @ragged(
// DENSE: gpu.alloc {{.*}} : memref<{{[0-9]+}}xi8>
// DENSE: builtin.unrealized_conversion_cast {{.*}} to memref<777x4096xf16>
// DENSE: gpu.launch_func
// DENSE: call @nmCublasTryMultiply(%c777, %c4096, %c4096, {{.*}}, %c4096, %c4096, %c4096,
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @ragged(%a: tensor<4096x777xf16>, %b: tensor<4096x4096xf16, #nm.encoding<8:32, block = 1x128>>) -> tensor<777x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<777x4096xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<777x4096xf16>) -> tensor<777x4096xf16>
  %r = linalg.matmul indexing_maps = [#a, #b, #c]
    ins(%a, %b : tensor<4096x777xf16>, tensor<4096x4096xf16, #nm.encoding<8:32, block = 1x128>>)
    outs(%f : tensor<777x4096xf16>) -> tensor<777x4096xf16>
  return %r : tensor<777x4096xf16>
}
