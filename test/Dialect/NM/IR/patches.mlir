// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=BUFFERS

#places = affine_map<(b, c, i, j, y, x) -> (b, c, y * 2 + i - 1, x * 2 + j - 1)>

// The matrix of a memref is of no memory: nothing is copied.
// CHECK-LABEL: func.func @patches
// CHECK: nm.patches %{{.*}} map {{.*}} loops [1, 8, 3, 3, 7, 7] groups [1, 3, 2] : tensor<1x8x14x14xf32> -> tensor<1x72x49xf32>
// BUFFERS-LABEL: func.func @patches
// BUFFERS-NOT: memref.copy
// BUFFERS: %[[A:.*]] = nm.patches %{{.*}} : memref<1x8x14x14xf32> -> memref<1x72x49xf32>
// BUFFERS: nm.spmm {{.*}} ins(%[[A]],
func.func @patches(%x: tensor<1x8x14x14xf32>, %v: tensor<36x16xf32>, %i: tensor<36x16xi8>, %c: tensor<1x16x49xf32>) -> tensor<1x16x49xf32> {
  %a = nm.patches %x map #places loops [1, 8, 3, 3, 7, 7] groups [1, 3, 2]
    : tensor<1x8x14x14xf32> -> tensor<1x72x49xf32>
  %r = nm.spmm <2:4> transpose_a transpose_c
    ins(%a, %v, %i : tensor<1x72x49xf32>, tensor<36x16xf32>, tensor<36x16xi8>)
    outs(%c : tensor<1x16x49xf32>) -> tensor<1x16x49xf32>
  return %r : tensor<1x16x49xf32>
}
