// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file 2>/dev/null

func.func @condensed(%a: memref<64x64xf16>, %v: memref<32x128xf16>, %i: memref<32x128xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights packed as #nm.sparse_operand<mma> for strategy mma_sp, but got condensed ones}}
    nm.spmm <2:4> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64x64xf16>, memref<32x128xf16>, memref<32x128xi8>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @large(%a: memref<256x64xf16>, %v: memref<16x1x512xf16>, %i: memref<16x1x128xi8>, %c: memref<256x256xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 101376 bytes of shared memory, but 4 stages of a 256 x 64 tile of A with its weights take 196608}}
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [256, 256, 64], warp = [64, 64], stages = 4>
      ins(%a, %v, %i : memref<256x64xf16>, memref<16x1x512xf16>, memref<16x1x128xi8>) outs(%c : memref<256x256xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
