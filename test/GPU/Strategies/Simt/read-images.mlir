// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=simt" --canonicalize | FileCheck %s

// Strategy simt stages what its tiles have of an image, without patches of it
// and without its padding.

// CHECK: #[[$PLACES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4 * 2 - 1, d3 * 3 + d5 - 2)>
#places = affine_map<(b, c, i, j, y, x) -> (b, c, i + y * 2, j * 3 + x)>
#identity = affine_map<(b, c, i, j, y, x) -> (b, c, i, j, y, x)>

// CHECK-LABEL: func.func @padded(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x32x13x12xf32>
// CHECK-NOT: tensor.pad
// CHECK: %[[A:.*]] = nm.patches %[[X]] map #[[$PLACES]] loops [2, 32, 3, 3, 7, 9] groups [1, 3, 2] : tensor<2x32x13x12xf32> -> tensor<2x288x63xf32>
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a transpose_c schedule #nm.simt<{{.*}}> ins(%[[A]],
func.func @padded(%x: tensor<2x32x13x12xf32>, %v: tensor<72x32xf32> {nm.values_of = 1 : i64}, %i: tensor<72x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x32x63xf32>) -> tensor<2x32x63xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 1, 2] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f32
  } : tensor<2x32x13x12xf32> to tensor<2x32x15x16xf32>
  %e = tensor.empty() : tensor<2x32x3x3x7x9xf32>
  %g = linalg.generic {indexing_maps = [#places, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x32x15x16xf32>) outs(%e : tensor<2x32x3x3x7x9xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2x32x3x3x7x9xf32>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<2x32x3x3x7x9xf32> into tensor<2x288x63xf32>
  %r = nm.spmm <8:32, block = 1x32> transpose_a transpose_c
    ins(%a, %v, %i : tensor<2x288x63xf32>, tensor<72x32xf32>, tensor<72x1xi8>)
    outs(%c : tensor<2x32x63xf32>) -> tensor<2x32x63xf32>
  return %r : tensor<2x32x63xf32>
}
