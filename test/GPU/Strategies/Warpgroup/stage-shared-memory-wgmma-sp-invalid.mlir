// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file 2>/dev/null

func.func @condensed(%a: memref<64x128xf16>, %v: memref<32x128xf16>, %i: memref<32x128xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights packed as #nm.sparse_operand<wgmma> for strategy wgmma_sp, but got condensed ones}}
    nm.spmm <2:4> transpose_a schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<64x128xf16>, memref<32x128xf16>, memref<32x128xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @odd(%a: memref<64x127xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<127x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A at multiples of 4 bytes for strategy wgmma_sp, but got}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<64x127xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<127x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @large(%a: memref<64x128xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 232448 bytes of shared memory, but 10 stages of a 128 x 64 tile of A with its weights take 256000}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 10>
      ins(%a, %v, %i : memref<64x128xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @producers_rows(%a: memref<128x64xf16, strided<[68, 1]>>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A at multiples of 16 bytes for strategy wgmma_sp, but got 'memref<128x64xf16, strided<[68, 1]>>'}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<128x64xf16, strided<[68, 1]>>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @producers_parts(%a: memref<128x64xf16>, %v: memref<2x?x2048xf16>, %i: memref<2x?x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected parts of k of whole tiles of 64 rows, with producers}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, split_k = 2, producers = 4>
      ins(%a, %v, %i : memref<128x64xf16>, memref<2x?x2048xf16>, memref<2x?x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The last tile of k has one step of two.
func.func @producers_steps(%a: memref<128x?xi8, strided<[448, 1]>>, %v: memref<2x?x2048xi8, strided<[14336, 2048, 1]>>, %i: memref<2x?x512xi8, strided<[3584, 512, 1]>>, %c: memref<128x128xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected parts of k of whole tiles of 128 rows, with producers}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 128], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<128x?xi8, strided<[448, 1]>>, memref<2x?x2048xi8, strided<[14336, 2048, 1]>>, memref<2x?x512xi8, strided<[3584, 512, 1]>>) outs(%c : memref<128x128xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @producers_lines(%a: memref<64x64xi8>, %v: memref<1x1x2048xi8>, %i: memref<1x1x512xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of A whose rows are a multiple of 128 bytes, with producers, but got 64}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<64x64xi8>, memref<1x1x2048xi8>, memref<1x1x512xi8>) outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
