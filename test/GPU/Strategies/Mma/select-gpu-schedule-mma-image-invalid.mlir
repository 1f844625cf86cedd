// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="schedule=mma_image" --nm-select-gpu-schedule=schedule=mma_image --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="schedule=mma_image" --nm-select-gpu-schedule=schedule=mma_image --split-input-file 2>/dev/null

// Places of an image whose channels are last would meet in one bank.

#last = affine_map<(b, i, j, y, x, c) -> (b, i + y, j + x, c)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

func.func @channels_last(%x: tensor<2x14x14x32xf16>, %v: tensor<72x64xf16> {nm.values_of = 1 : i64}, %i: tensor<72x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<392x64xf16>) -> tensor<392x64xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%b: index, %y: index, %z: index, %d: index):
    tensor.yield %zero : f16
  } : tensor<2x14x14x32xf16> to tensor<2x16x16x32xf16>
  %e = tensor.empty() : tensor<2x14x14x3x3x32xf16>
  %g = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x16x16x32xf16>) outs(%e : tensor<2x14x14x3x3x32xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x14x14x3x3x32xf16>
  %a = tensor.collapse_shape %g [[0, 1, 2], [3, 4, 5]] : tensor<2x14x14x3x3x32xf16> into tensor<392x288xf16>
  // expected-error @+1 {{strategy mma_image expected the patches of an image in planes}}
  %r = nm.spmm <8:32, block = 1x64>
    ins(%a, %v, %i : tensor<392x288xf16>, tensor<72x64xf16>, tensor<72x1xi8>)
    outs(%c : tensor<392x64xf16>) -> tensor<392x64xf16>
  return %r : tensor<392x64xf16>
}

// -----

func.func @no_image(%a: tensor<288x64xf16>, %v: tensor<72x64xf16> {nm.values_of = 1 : i64}, %i: tensor<72x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{strategy mma_image expected the patches of an image in planes}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a
    ins(%a, %v, %i : tensor<288x64xf16>, tensor<72x64xf16>, tensor<72x1xi8>)
    outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

// Copies of parts of an image have room for as much padding as it has rows and
// columns: of one column, two are too many.
#planes = affine_map<(b, c, i, j, y, x) -> (b, c, i + y, j + x)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

func.func @narrow(%x: tensor<1x32x8x1xf16>, %v: tensor<32x64xf16> {nm.values_of = 1 : i64}, %i: tensor<32x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x64x21xf16>) -> tensor<1x64x21xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 0, 2] high[0, 0, 0, 1] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f16
  } : tensor<1x32x8x1xf16> to tensor<1x32x8x4xf16>
  %e = tensor.empty() : tensor<1x32x2x2x7x3xf16>
  %g = linalg.generic {indexing_maps = [#planes, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<1x32x8x4xf16>) outs(%e : tensor<1x32x2x2x7x3xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<1x32x2x2x7x3xf16>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<1x32x2x2x7x3xf16> into tensor<1x128x21xf16>
  // expected-error @+1 {{strategy mma_image expected the patches of an image in planes, padded by no more than its size}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a transpose_c
    ins(%a, %v, %i : tensor<1x128x21xf16>, tensor<32x64xf16>, tensor<32x1xi8>)
    outs(%c : tensor<1x64x21xf16>) -> tensor<1x64x21xf16>
  return %r : tensor<1x64x21xf16>
}
