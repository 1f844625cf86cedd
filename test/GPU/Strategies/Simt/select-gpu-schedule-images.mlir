// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=simt_columns" --canonicalize | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=simt_columns" --canonicalize --nm-pack-weights --nm-tile-to-gpu-blocks --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize --convert-nm-to-gpu | FileCheck %s --check-prefix=GPU

// What strategy simt_columns takes of patches is the image, without its
// padding: no kernel writes either.

// CHECK: #[[$PLACES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 * 2 - 1, d3 * 3 + d5 - 2)>
#places = affine_map<(b, c, i, j, y, x) -> (b, c, i + y * 2, j * 3 + x)>
#identity = affine_map<(b, c, i, j, y, x) -> (b, c, i, j, y, x)>

// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x8x13x12xf32>
// CHECK-NOT: tensor.pad
// CHECK: %[[A:.*]] = nm.patches %[[X]] map #[[$PLACES]] loops [2, 8, 3, 3, 7, 9] groups [1, 3, 2] : tensor<2x8x13x12xf32> -> tensor<2x72x63xf32>
// CHECK: nm.spmm <1:1> transpose_a transpose_c schedule #nm.simt_columns<{{.*}}> ins(%[[A]],
// GPU-LABEL: func.func @padded
// GPU-NOT: memref<2x8x3x3x7x9xf32>
// GPU-NOT: nm.patches
// GPU: arith.andi
// GPU-NOT: nm.
// GPU: return
func.func @padded(%x: tensor<2x8x13x12xf32>, %v: tensor<72x16xf32> {nm.values_of = 1 : i64}, %i: tensor<72x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x16x63xf32>) -> tensor<2x16x63xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f32
  } : tensor<2x8x13x12xf32> to tensor<2x8x15x16xf32>
  %e = tensor.empty() : tensor<2x8x3x3x7x9xf32>
  %g = linalg.generic {indexing_maps = [#places, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x8x15x16xf32>) outs(%e : tensor<2x8x3x3x7x9xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x8x3x3x7x9xf32>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<2x8x3x3x7x9xf32> into tensor<2x72x63xf32>
  %r = nm.spmm <1:1> transpose_a transpose_c
    ins(%a, %v, %i : tensor<2x72x63xf32>, tensor<72x16xf32>, tensor<72x16xi8>)
    outs(%c : tensor<2x16x63xf32>) {nm.kept = 100 : i64} -> tensor<2x16x63xf32>
  return %r : tensor<2x16x63xf32>
}
