// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file

func.func @types(%a: memref<32x64xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected f16 or bf16 operands for strategy mma_sync, but got 'f32'}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<32x64xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @condensed(%a: memref<32x64xf16>, %v: memref<16x128xf16>, %i: memref<16x4xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights packed in panels for strategy mma_sync}}
    nm.spmm <16:32, block = 1x32> transpose_a
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<16x128xf16>, memref<16x4xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @narrow_units(%a: memref<32x64xf16>, %v: memref<32x16x4xf16>, %i: memref<32x16x1xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{in rows or in chunks of 2 or 4 rows, and panels of 8, 16, 32, ... columns of one unit for strategy mma_sync, but got #nm.packing<panel = 4, index_bits = 8> for units of 4 columns}}
    nm.spmm <16:32, block = 1x4> transpose_a packing #nm.packing<panel = 4, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<32x16x4xf16>, memref<32x16x1xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @chunks(%a: memref<128x64xf16>, %v: memref<4x16x128xf16>, %i: memref<4x4x16xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of a multiple of 8 windows that keep a multiple of index_rows = 16 single rows each for chunks of weights in strategy mma_sync, but got 4 windows of #nm.pattern<16:32, block = 1x32>}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 16>
      schedule #nm.mma_sync<block = [64, 128, 128], warp = [32, 32]>
      ins(%a, %v, %i : memref<128x64xf16>, memref<4x16x128xf16>, memref<4x4x16xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @warp(%a: memref<32x64xf16>, %v: memref<4x16x32xf16>, %i: memref<4x16x1xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a warp tile of multiples of 16 for strategy mma_sync, but got 8 x 32}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [8, 32]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<4x16x32xf16>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @panels(%a: memref<32x64xf16>, %v: memref<3x16x32xf16>, %i: memref<3x16x1xi8>, %c: memref<64x96xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a warp's 48 columns to be a multiple or a divisor of a panel's 32 for strategy mma_sync}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 96, 32], warp = [64, 48]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<3x16x32xf16>, memref<3x16x1xi8>)
      outs(%c : memref<64x96xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @large(%a: memref<256x256xf16>, %v: memref<4x128x32xf16>, %i: memref<4x128x1xi8>, %c: memref<256x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 101376 bytes of shared memory, but 2 stages of a 256 x 256 tile of A with its weights take 327680}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [256, 128, 256], warp = [128, 32], stages = 2>
      ins(%a, %v, %i : memref<256x256xf16>, memref<4x128x32xf16>, memref<4x128x1xi8>)
      outs(%c : memref<256x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Slices of eight windows take two rows of each.
func.func @quantized(%a: memref<256x16xf16>, %v: memref<1x4x256xi8>, %i: memref<1x64x1xi8>, %s: memref<2x32xf16>, %c: memref<16x32xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected packing with index_bits = 8, chunk_rows = 2 for slices of 8 windows that keep an even number of rows, and panels of 16, 32, 64, ... columns of one unit, or two of 8 columns, that divide a warp's 32, for quantized weights in strategy mma_sync, but got #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>}}
    nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>
      schedule #nm.mma_sync<block = [16, 32, 256], warp = [16, 32], bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16>> quantization <bits = 4, group = 128>
      ins(%a, %v, %i : memref<256x16xf16>, memref<1x4x256xi8>, memref<1x64x1xi8>)
      scales(%s : memref<2x32xf16>) outs(%c : memref<16x32xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
