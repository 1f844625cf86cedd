// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --canonicalize | FileCheck %s

// Vectors of 32 are no vectors of 64, by strategy wgmma, where a kernel would
// have to write patches for that.

#places = affine_map<(b, c, i, j, y, x) -> (b, c, i + y, j + x)>
#identity = affine_map<(b, c, i, j, y, x) -> (b, c, i, j, y, x)>

// CHECK-LABEL: func.func @batch(
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a transpose_c schedule #nm.simt<
func.func @batch(%x: tensor<32x64x56x56xf32>, %v: tensor<144x64xf32> {nm.values_of = 1 : i64}, %i: tensor<144x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<32x64x3136xf32>) -> tensor<32x64x3136xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f32
  } : tensor<32x64x56x56xf32> to tensor<32x64x58x58xf32>
  %e = tensor.empty() : tensor<32x64x3x3x56x56xf32>
  %g = linalg.generic {indexing_maps = [#places, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<32x64x58x58xf32>) outs(%e : tensor<32x64x3x3x56x56xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<32x64x3x3x56x56xf32>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<32x64x3x3x56x56xf32> into tensor<32x576x3136xf32>
  %r = nm.spmm <8:32, block = 1x32> transpose_a transpose_c
    ins(%a, %v, %i : tensor<32x576x3136xf32>, tensor<144x64xf32>, tensor<144x2xi8>)
    outs(%c : tensor<32x64x3136xf32>) -> tensor<32x64x3136xf32>
  return %r : tensor<32x64x3136xf32>
}
