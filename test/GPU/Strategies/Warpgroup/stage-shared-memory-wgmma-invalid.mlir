// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file
// RUN: not nm-opt %S/stage-shared-memory-wgmma.mlir --nm-attach-chip=chip=sm_90 --nm-stage-shared-memory --split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: 'nm.spmm' op expected chip sm_90a for strategy wgmma

func.func @row_major(%a: memref<64x128xf16>, %v: memref<1x32x128xf16>, %i: memref<1x32x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected an m-major A, with transpose_a, for strategy wgmma, which copies its rows}}
    nm.spmm <8:32, block = 1x128> packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<64x128xf16>, memref<1x32x128xf16>, memref<1x32x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @odd_rows(%a: memref<128x63xf16>, %v: memref<1x32x128xf16>, %i: memref<1x32x1xi8>, %c: memref<63x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A at multiples of 4 bytes for strategy wgmma, but got 'memref<128x63xf16>'}}
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<128x63xf16>, memref<1x32x128xf16>, memref<1x32x1xi8>)
      outs(%c : memref<63x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @elements(%a: memref<128x64xf32>, %v: memref<1x32x128xf32>, %i: memref<1x32x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected operands of f16, bf16, i8, f8E4M3FN or f8E5M2 for strategy wgmma, but got 'f32'}}
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<128x64xf32>, memref<1x32x128xf32>, memref<1x32x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @too_large(%a: memref<1024x256xf16>, %v: memref<1x256x128xf16>, %i: memref<1x256x1xi8>, %c: memref<256x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 232448 bytes of shared memory, but 3 stages of a 256 x 256 tile of A with its weights take 589824}}
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [256, 128, 1024], warpgroup = [256, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<1024x256xf16>, memref<1x256x128xf16>, memref<1x256x1xi8>)
      outs(%c : memref<256x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
