// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --split-input-file 2>/dev/null

func.func @not_staged(%a: memref<64x64xf16>, %v: memref<8x1x512xf16>, %i: memref<8x1x128xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a tile of A like 'memref<64x64xf16, #nm.tile_layout<}}
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64x64xf16>, memref<8x1x512xf16>, memref<8x1x128xi8>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @other_form(%a: memref<64x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights packed as #nm.sparse_operand<mma> for strategy mma_sp, but got #nm.sparse_operand<wgmma>}}
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @vector(%a: memref<64xf16>, %v: memref<8x1x512xf16>, %i: memref<8x1x128xi8>, %c: memref<128xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected nm.spmm, the product that strategy mma_sp has}}
    nm.spmv <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64xf16>, memref<8x1x512xf16>, memref<8x1x128xi8>) outs(%c : memref<128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @f8_of_other_chips(%a: memref<64x64xf8E4M3FN>, %v: memref<8x1x512xf8E4M3FN>, %i: memref<8x1x128xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{strategy mma_sp expected a chip whose tensor cores skip zeros of f8E4M3FN by mma.sp, as those of sm_89 and sm_120, but got sm_80}}
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64x64xf8E4M3FN>, memref<8x1x512xf8E4M3FN>, memref<8x1x128xi8>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @m_major_bytes(%a: memref<64x64xi8>, %v: memref<8x1x512xi8>, %i: memref<8x1x128xi8>, %c: memref<64x128xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a row-major A for strategy mma_sp, which cannot transpose 'i8'}}
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64]>
      ins(%a, %v, %i : memref<64x64xi8>, memref<8x1x512xi8>, memref<8x1x128xi8>) outs(%c : memref<64x128xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
