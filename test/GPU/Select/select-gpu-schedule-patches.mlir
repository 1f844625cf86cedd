// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule -o /dev/null 2>&1 | FileCheck %s

// What patches cost is a part of the estimates of products that have them: a
// thread an element of three channels, 281 us of an H200, and vectors of 64
// channels that are last, some 40 for as many bytes.

#patches = affine_map<(n, y, x, i, j, c) -> (n, c, 2 * y + i, 2 * x + j)>
#last = affine_map<(n, y, x, i, j, c) -> (n, y + i, x + j, c)>
#identity = affine_map<(n, y, x, i, j, c) -> (n, y, x, i, j, c)>

// CHECK: m = 401408, n = 64, k = 147, f16: strategy cublas on sm_90; estimated {{3[0-9][0-9].[0-9]}} us
func.func @elements(%x: tensor<32x3x230x230xf16>, %v: tensor<147x64xf16> {nm.values_of = 1 : i64}, %i: tensor<147x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<401408x64xf16>) -> tensor<401408x64xf16> {
  %e = tensor.empty() : tensor<32x112x112x7x7x3xf16>
  %p = linalg.generic {indexing_maps = [#patches, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<32x3x230x230xf16>) outs(%e : tensor<32x112x112x7x7x3xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x112x112x7x7x3xf16>
  %a = tensor.collapse_shape %p [[0, 1, 2], [3, 4, 5]] : tensor<32x112x112x7x7x3xf16> into tensor<401408x147xf16>
  %r = nm.spmm <1:1, block = 1x64> ins(%a, %v, %i : tensor<401408x147xf16>, tensor<147x64xf16>, tensor<147x1xi8>) outs(%c : tensor<401408x64xf16>) -> tensor<401408x64xf16>
  return %r : tensor<401408x64xf16>
}

// CHECK: m = 100352, n = 64, k = 576, f16: strategy cublas on sm_90; estimated {{(8|9|10)[0-9].[0-9]}} us
func.func @vectors(%x: tensor<32x58x58x64xf16>, %v: tensor<576x64xf16> {nm.values_of = 1 : i64}, %i: tensor<576x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<100352x64xf16>) -> tensor<100352x64xf16> {
  %e = tensor.empty() : tensor<32x56x56x3x3x64xf16>
  %p = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<32x58x58x64xf16>) outs(%e : tensor<32x56x56x3x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x56x56x3x3x64xf16>
  %a = tensor.collapse_shape %p [[0, 1, 2], [3, 4, 5]] : tensor<32x56x56x3x3x64xf16> into tensor<100352x576xf16>
  %r = nm.spmm <1:1, block = 1x64> ins(%a, %v, %i : tensor<100352x576xf16>, tensor<576x64xf16>, tensor<576x1xi8>) outs(%c : tensor<100352x64xf16>) -> tensor<100352x64xf16>
  return %r : tensor<100352x64xf16>
}
