// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --verify-diagnostics --split-input-file
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file -o /dev/null 2>/dev/null

func.func @wide(%a: memref<128x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected C to have elements of 16 bits for 'store_buffers', but got 'memref<128x128xf32>'}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4, store_buffers = 2>
      ins(%a, %v, %i : memref<128x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @unaligned(%a: memref<128x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x100xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of C at multiples of 16 bytes for 'store_buffers', but got 'memref<128x100xf16>'}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4, store_buffers = 2>
      ins(%a, %v, %i : memref<128x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<128x100xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @too_large(%a: memref<256x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<256x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 232448 bytes of shared memory, but 4 stages of a 256 x 64 tile of A with its weights take 233728}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 4, producers = 4, store_buffers = 4>
      ins(%a, %v, %i : memref<256x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<256x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
