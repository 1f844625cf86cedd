// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file 2>/dev/null

func.func @halves(%a: memref<64x256xf16>, %v: memref<1x64x64xf16>, %i: memref<1x16x2xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected operands of i8, f8E4M3FN or f8E5M2 for strategy wgmma_select, but got 'f16'}}
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<64x256xf16>, memref<1x64x64xf16>, memref<1x16x2xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @columns_of_c(%a: memref<64x256xi8>, %v: memref<1x64x64xi8>, %i: memref<1x16x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a row-major A and C for strategy wgmma_select}}
    nm.spmm <2:8, block = 1x64> transpose_c packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x64x64xi8>, memref<1x16x2xi8>) outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @odd_rows(%a: memref<64x256xi8, strided<[260, 1]>>, %v: memref<1x64x64xi8>, %i: memref<1x16x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A at multiples of 16 bytes for strategy wgmma_select, but got 'memref<64x256xi8, strided<[260, 1]>>'}}
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<64x256xi8, strided<[260, 1]>>, memref<1x64x64xi8>, memref<1x16x2xi8>) outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @large(%a: memref<128x512xi8>, %v: memref<1x256x256xi8>, %i: memref<1x64x8xi8>, %c: memref<128x256xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 232448 bytes of shared memory, but 3 stages of a 128 x 512 tile of A with its weights take 395008}}
    nm.spmm <4:8, block = 1x64> packing #nm.packing<panel = 256, index_bits = 4, index_rows = 4, tile_rows = 256>
      schedule #nm.wgmma_select<block = [128, 256, 512], warpgroup = [64, 256], stages = 3, packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 256>>
      ins(%a, %v, %i : memref<128x512xi8>, memref<1x256x256xi8>, memref<1x64x8xi8>) outs(%c : memref<128x256xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
