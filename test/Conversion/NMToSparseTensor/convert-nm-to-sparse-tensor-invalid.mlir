// RUN: nm-opt %s --split-input-file --verify-diagnostics --convert-nm-to-sparse-tensor
// RUN: not nm-opt %s --split-input-file --convert-nm-to-sparse-tensor > %t 2>&1

// expected-error@+1 {{expected units of one element, which structured levels of sparse_tensor have, but got 'tensor<64x64xf32, #nm.encoding<8:32, block = 1x32>>'}}
func.func private @block(tensor<64x64xf32, #nm.encoding<8:32, block = 1x32>>)

// -----

// expected-error@+1 {{expected k to be a multiple of M, of which windows of sparse_tensor are, but got 'tensor<63x48xf32, #nm.encoding<2:4>>'}}
func.func private @ragged(tensor<63x48xf32, #nm.encoding<2:4>>)
