// RUN: nm-opt %s --nm-stage-shared-memory --verify-diagnostics
// RUN: not nm-opt %s --nm-stage-shared-memory

func.func @too_large(%a: memref<64x2048xf32>, %v: memref<1024x64xf32>, %i: memref<16x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 49152 bytes of shared memory, but 2 stages of a 2048 x 64 tile of A with its weights take 1638656}}
    nm.spmm <16:32, block = 64x64> schedule <simt, block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
      ins(%a, %v, %i : memref<64x2048xf32>, memref<1024x64xf32>, memref<16x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
