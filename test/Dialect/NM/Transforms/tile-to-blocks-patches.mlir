// RUN: nm-opt %s --nm-tile-to-blocks=min-task-elements=0 --canonicalize --cse --split-input-file | FileCheck %s

// Tasks make the patches that they take: here of four rows of one image.
#read = affine_map<(n, y, x, i, j, c) -> (n, y * 2 + i, x * 2 + j, c)>
#all = affine_map<(n, y, x, i, j, c) -> (n, y, x, i, j, c)>

// CHECK-DAG: #[[$IMAGE:.*]] = affine_map<()[s0] -> (s0 floordiv 64)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<()[s0] -> ((s0 floordiv 8) * 2 - ((s0 floordiv 8) floordiv 8) * 16)>
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tensor<3x8x8x3x3x4xf32>
// CHECK: scf.forall (%[[M:.*]]) = (0) to (192) step (32)
// CHECK-DAG: %[[N:.*]] = affine.apply #[[$IMAGE]]()[%[[M]]]
// CHECK-DAG: %[[Y:.*]] = affine.apply #[[$ROW]]()[%[[M]]]
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[%[[N]], %[[Y]], 0, 0] [1, 9, 17, 4] [1, 1, 1, 1]
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x4x8x3x3x4xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[E]] : {{.*}})
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0, 1, 2], [3, 4, 5]] : {{.*}} into tensor<32x36xf32>
// CHECK: nm.spmm {{.*}} ins(%[[A]],
func.func @rows(%x: tensor<3x17x17x4xf32>, %v: tensor<18x16xf32>, %i: tensor<18x16xi8>, %c: tensor<192x16xf32>) -> tensor<192x16xf32> {
  %e = tensor.empty() : tensor<3x8x8x3x3x4xf32>
  %p = linalg.generic {indexing_maps = [#read, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<3x17x17x4xf32>) outs(%e : tensor<3x8x8x3x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x8x8x3x3x4xf32>
  %q = tensor.collapse_shape %p [[0, 1, 2], [3, 4, 5]] : tensor<3x8x8x3x3x4xf32> into tensor<192x36xf32>
  %r = nm.spmm <2:4> schedule #nm.vector<block = [32, 16, 36], thread = [16, 8]>
    ins(%q, %v, %i : tensor<192x36xf32>, tensor<18x16xf32>, tensor<18x16xi8>) outs(%c : tensor<192x16xf32>) -> tensor<192x16xf32>
  return %r : tensor<192x16xf32>
}

// -----

// A tile that ends inside of a row takes patches that were made before.
#read = affine_map<(y, x, i, j, c) -> (y + i, x + j, c)>
#all = affine_map<(y, x, i, j, c) -> (y, x, i, j, c)>

// CHECK-LABEL: func.func @other_tiles
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x8x3x3x4xf32>)
// CHECK: scf.forall
// CHECK-NOT: linalg.generic
func.func @other_tiles(%x: tensor<10x10x4xf32>, %v: tensor<18x16xf32>, %i: tensor<18x16xi8>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %e = tensor.empty() : tensor<8x8x3x3x4xf32>
  %p = linalg.generic {indexing_maps = [#read, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<10x10x4xf32>) outs(%e : tensor<8x8x3x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x8x3x3x4xf32>
  %q = tensor.collapse_shape %p [[0, 1], [2, 3, 4]] : tensor<8x8x3x3x4xf32> into tensor<64x36xf32>
  %r = nm.spmm <2:4> schedule #nm.vector<block = [20, 16, 36], thread = [16, 8]>
    ins(%q, %v, %i : tensor<64x36xf32>, tensor<18x16xf32>, tensor<18x16xi8>) outs(%c : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// -----

// Of channels first, tasks read the image without its padding, each by patches of
// its own.
#read = affine_map<(c, i, j, y, x) -> (c, y + i, x + j)>
#all = affine_map<(c, i, j, y, x) -> (c, i, j, y, x)>

// CHECK: #[[$PLACES:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 - 1, d2 + d4 - 1)>
// CHECK-LABEL: func.func @planes
// CHECK-SAME: %[[X:.*]]: tensor<4x8x8xf32>
// CHECK-NOT: tensor.insert_slice
// CHECK: scf.forall (%[[M:.*]]) = (0) to (64) step (32)
// CHECK: %[[P:.*]] = nm.patches %[[X]] map #[[$PLACES]] loops [4, 3, 3, 8, 8] groups [3, 2]
// CHECK: %[[A:.*]] = tensor.extract_slice %[[P]][0, %[[M]]] [36, 32] [1, 1]
// CHECK: nm.spmm {{.*}} ins(%[[A]],
func.func @planes(%x: tensor<4x8x8xf32>, %v: tensor<18x16xf32>, %i: tensor<18x16xi8>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %b = tensor.empty() : tensor<4x10x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%b : tensor<4x10x10xf32>) -> tensor<4x10x10xf32>
  %w = tensor.insert_slice %x into %f[0, 1, 1] [4, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> into tensor<4x10x10xf32>
  %e = tensor.empty() : tensor<4x3x3x8x8xf32>
  %p = linalg.generic {indexing_maps = [#read, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%w : tensor<4x10x10xf32>) outs(%e : tensor<4x3x3x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x3x3x8x8xf32>
  %q = tensor.collapse_shape %p [[0, 1, 2], [3, 4]] : tensor<4x3x3x8x8xf32> into tensor<36x64xf32>
  %r = nm.spmm <2:4> transpose_a transpose_c schedule #nm.vector<block = [32, 16, 36], thread = [16, 8]>
    ins(%q, %v, %i : tensor<36x64xf32>, tensor<18x16xf32>, tensor<18x16xi8>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}
