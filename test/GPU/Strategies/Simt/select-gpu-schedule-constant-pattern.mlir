// RUN: %python %S/../../../Integration/Sim/Inputs/draw_constants.py < %s > %t.mlir
// RUN: nm-opt %t.mlir --nm-detect-weights --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule 2>/dev/null | FileCheck %s

// Few constants of an N:M pattern become code where that is estimated to be
// faster: nothing is packed.
// CHECK-LABEL: func.func @few(
// CHECK: nm.spmm <1:1> {{.*}}schedule #nm.simt_columns<block = [{{[0-9]+, [0-9]+}}, 128], warp = [32, {{[0-9]+}}], thread = [1, {{4|8|16|32}}], slice_k = {{[0-9]+}}> {{.*}}zeros are skipped, 9.4 % of the weights are kept
func.func @few(%a: tensor<128x784xf16>, %c: tensor<64x784xf16>) -> tensor<64x784xf16> {
  %b = arith.constant dense<"DRAW 128x64xf16 3:32"> : tensor<128x64xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<128x64xf16>, tensor<128x784xf16>) outs(%c : tensor<64x784xf16>) -> tensor<64x784xf16>
  return %p : tensor<64x784xf16>
}

// More of them do not.
// CHECK-LABEL: func.func @many(
// CHECK: nm.spmm <3:32>
func.func @many(%a: tensor<768x784xf16>, %c: tensor<64x784xf16>) -> tensor<64x784xf16> {
  %b = arith.constant dense<"DRAW 768x64xf16 3:32"> : tensor<768x64xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<768x64xf16>, tensor<768x784xf16>) outs(%c : tensor<64x784xf16>) -> tensor<64x784xf16>
  return %p : tensor<64x784xf16>
}
