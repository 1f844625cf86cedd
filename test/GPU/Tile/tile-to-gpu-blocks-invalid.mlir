// RUN: nm-opt %s --nm-tile-to-gpu-blocks --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-tile-to-gpu-blocks --split-input-file

func.func @split_k(%a: tensor<8x512xf32>, %v: tensor<256x8xf32>, %i: tensor<256x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected k to be split into at most 64 parts, but got 128}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 4], warp = [32, 32], thread = [8, 4], split_k = 200>
    ins(%a, %v, %i : tensor<8x512xf32>, tensor<256x8xf32>, tensor<256x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @clusters(%a: tensor<8x516xf32>, %v: tensor<258x8xf32>, %i: tensor<258x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected k to be split into at most 128 parts, but got 130}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 4], warp = [32, 32], thread = [8, 4], split_k = 200, cluster_k = 2>
    ins(%a, %v, %i : tensor<8x516xf32>, tensor<258x8xf32>, tensor<258x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @lanes(%a: tensor<8x4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected a warp tile of 32 thread tiles, but 4 x 4 fit}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 8]>
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @no_warp(%a: tensor<8x4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected a schedule with 'block', 'warp' and 'thread'}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32]>
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
