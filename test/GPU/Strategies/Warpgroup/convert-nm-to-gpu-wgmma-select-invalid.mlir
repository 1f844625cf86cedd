// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --split-input-file 2>/dev/null

// The columns of a warpgroup are of whole units: 64 are no multiple of 48.
func.func @units(%a: memref<64x128xi8>, %v: memref<1x32x192xi8>, %i: memref<1x8x8xi8>, %c: memref<64x192xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a warpgroup's 64 columns to be whole units of 48, or a part of one}}
    nm.spmm <2:8, block = 1x48> packing #nm.packing<panel = 192, index_bits = 4, index_rows = 4, tile_rows = 32>
      schedule #nm.wgmma_select<block = [64, 192, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 192, index_bits = 4, index_rows = 4, tile_rows = 32>>
      ins(%a, %v, %i : memref<64x128xi8>, memref<1x32x192xi8>, memref<1x8x8xi8>)
      outs(%c : memref<64x192xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Of four warpgroups and producers a thread has 104 registers.
func.func @registers(%a: memref<256x128xi8>, %v: memref<1x32x256xi8>, %i: memref<1x8x8xi8>, %c: memref<256x256xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected at most 64 sums of a thread of 640, but a warpgroup's tile of 64 x 256 has 128}}
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 256, index_bits = 4, index_rows = 4, tile_rows = 32>
      schedule #nm.wgmma_select<block = [256, 256, 128], warpgroup = [64, 256], stages = 3, producers = 4, producer_registers = 40, consumer_registers = 104, packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 32>>
      ins(%a, %v, %i : memref<256x128xi8>, memref<1x32x256xi8>, memref<1x8x8xi8>)
      outs(%c : memref<256x256xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
