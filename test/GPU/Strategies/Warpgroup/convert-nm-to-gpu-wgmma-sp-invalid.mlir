// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file 2>/dev/null

func.func @not_staged(%a: memref<64x128xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a tile of A like 'memref<64x128xf16, #nm.tile_layout<[64, 1], panels = [64, 4096]}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<64x128xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @weights_not_staged(%a: memref<64x128xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, %v: memref<2x1x2048xf16, #gpu.address_space<workgroup>>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights in workgroup memory, where nm-stage-shared-memory copies them, but got 'memref<2x1x512xi8>'}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<64x128xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<2x1x2048xf16, #gpu.address_space<workgroup>>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @registers(%a: memref<64x256xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, %v: memref<2x1x2048xf16, #gpu.address_space<workgroup>>, %i: memref<2x1x512xi8, #gpu.address_space<workgroup>>, %c: memref<256x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected at most 215 sums of a thread of 128, but a warpgroup's tile of 256 x 128 has 256}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 128], stages = 3>
      ins(%a, %v, %i : memref<64x256xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<2x1x2048xf16, #gpu.address_space<workgroup>>, memref<2x1x512xi8, #gpu.address_space<workgroup>>) outs(%c : memref<256x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @vector(%a: memref<64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected nm.spmm, the product that strategy wgmma_sp has}}
    nm.spmv <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 128, 64], warpgroup = [64, 64], stages = 3>
      ins(%a, %v, %i : memref<64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @without_promotion(%a: memref<64x128xf8E4M3FN, #nm.tile_layout<[128, 1], panels = [128, 8192], xor = [1:4 with 0:0 for 3]>, #gpu.address_space<workgroup>>, %v: memref<1x2x2048xf8E4M3FN, #gpu.address_space<workgroup>>, %i: memref<1x2x512xi8, #gpu.address_space<workgroup>>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected 'promote = true' for sums of 'f8E4M3FN', as selection states it, but got #nm.wgmma_sp<}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3>
      ins(%a, %v, %i : memref<64x128xf8E4M3FN, #nm.tile_layout<[128, 1], panels = [128, 8192], xor = [1:4 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<1x2x2048xf8E4M3FN, #gpu.address_space<workgroup>>, memref<1x2x512xi8, #gpu.address_space<workgroup>>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
