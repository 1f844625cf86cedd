// RUN: not nm-opt %s --nm-tile-to-gpu-blocks --split-input-file 2>&1 | FileCheck %s

// CHECK: 'nm.spmm' op expected a row-major A, without splits, and a C that is stored by 16 bytes, for overlap = true
func.func @m_major(%a: tensor<64x104xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>, %c: tensor<104x128xf16>) -> tensor<104x128xf16> {
  %r = nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<64x104xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<104x128xf16>) -> tensor<104x128xf16>
  return %r : tensor<104x128xf16>
}

// -----

// CHECK: 'nm.spmm' op expected a row-major A, without splits, and a C that is stored by 16 bytes, for overlap = true
// 100 rows of a C^T in f16 do not start at multiples of 16 bytes.
func.func @transposed(%a: tensor<100x64xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>, %c: tensor<128x100xf16>) -> tensor<128x100xf16> {
  %r = nm.spmm <2:4> transpose_c packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<100x64xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<128x100xf16>) -> tensor<128x100xf16>
  return %r : tensor<128x100xf16>
}
