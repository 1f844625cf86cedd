// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --convert-nm-to-gpu --split-input-file 2>/dev/null

func.func @fours(%a: memref<64x128xf16>, %v: memref<4x2x256xi8>, %i: memref<4x2x128xi8>, %s: memref<1x64xf16>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected chip sm_90a for strategy mma_sp}}
    nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [64, 64, 128], warp = [64, 16], stages = 3, bits = 4> quantization <bits = 4, group = 128>
      ins(%a, %v, %i : memref<64x128xf16>, memref<4x2x256xi8>, memref<4x2x128xi8>)
      scales(%s : memref<1x64xf16>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
