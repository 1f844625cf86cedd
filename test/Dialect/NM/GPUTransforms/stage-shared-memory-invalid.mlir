// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file

func.func @too_large(%a: memref<64x2048xf32>, %v: memref<1024x64xf32>, %i: memref<16x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 101376 bytes of shared memory, but 2 stages of a 2048 x 64 tile of A with its weights take 1638656}}
    nm.spmm <16:32, block = 64x64> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
      ins(%a, %v, %i : memref<64x2048xf32>, memref<1024x64xf32>, memref<16x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @not_packed(%a: memref<64x32xf32>, %v: memref<2x3x32xf32>, %i: memref<2x3x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights with col_info, as nm-pack-weights makes them where the schedule says pack = true}}
    nm.spmm <3:32, block = 1x32> packing <panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x32xf32>, memref<2x3x32xf32>, memref<2x3x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @narrow_lists(%a: memref<64x32xf32>, %v: memref<4x3x32xf32>, %i: memref<8x3x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected col_info of the block tile's 128 columns, but got #nm.packing<panel = 32, index_bits = 8, col_info = 64>}}
    nm.spmm <3:32, block = 1x32> packing <panel = 32, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8]>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x3x32xf32>, memref<8x3x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @division_by_zero(%i: index) -> index {
  // expected-error @+1 {{expected a divisor other than 0, but got affine_map<(d0) -> (d0 floordiv 0)>}}
  %p = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%i)
  return %p : index
}
