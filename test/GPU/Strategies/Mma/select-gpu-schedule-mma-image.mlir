// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="schedule=mma_image" --nm-select-gpu-schedule="schedule=mma_image" --canonicalize | FileCheck %s

// Strategy mma_image reads an image without patches of it and without its
// padding. A block takes all of k; weights are packed in chunks of four rows.

// CHECK-DAG: #[[$PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1 + d4 - 1, d2 + d5 - 1)>
#planes = affine_map<(b, y, x, c, i, j) -> (b, c, i + y, j + x)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

// CHECK-LABEL: func.func @planes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x32x14x14xf16>
// CHECK-NOT: tensor.pad
// CHECK: %[[A:.*]] = nm.patches %[[X]] map #[[$PLANES]] loops [2, 3, 3, 32, 14, 14] groups [1, 3, 2] : tensor<2x32x14x14xf16> -> tensor<2x288x196xf16>
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a transpose_c
// CHECK-SAME: schedule #nm.mma_image<block = [{{[0-9]+}}, {{[0-9]+}}, 288], warp = [{{[0-9]+}}, {{[0-9]+}}], stages = 2
// CHECK-SAME: packing = <panel = {{[0-9]+}}, index_bits = 8, chunk_rows = 4, index_rows = 4>> ins(%[[A]],
func.func @planes(%x: tensor<2x32x14x14xf16>, %v: tensor<72x64xf16> {nm.values_of = 1 : i64}, %i: tensor<72x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x64x196xf16>) -> tensor<2x64x196xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f16
  } : tensor<2x32x14x14xf16> to tensor<2x32x16x16xf16>
  %e = tensor.empty() : tensor<2x3x3x32x14x14xf16>
  %g = linalg.generic {indexing_maps = [#planes, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x32x16x16xf16>) outs(%e : tensor<2x3x3x32x14x14xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x3x3x32x14x14xf16>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<2x3x3x32x14x14xf16> into tensor<2x288x196xf16>
  %r = nm.spmm <8:32, block = 1x64> transpose_a transpose_c
    ins(%a, %v, %i : tensor<2x288x196xf16>, tensor<72x64xf16>, tensor<72x1xi8>)
    outs(%c : tensor<2x64x196xf16>) -> tensor<2x64x196xf16>
  return %r : tensor<2x64x196xf16>
}
