// RUN: %python %S/../../../Integration/Sim/Inputs/draw_constants.py < %s > %t.mlir
// RUN: nm-opt %t.mlir --nm-detect-weights --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule --split-input-file 2>&1 | FileCheck %s

// Up to 2048 constant weights become code where that is estimated to be faster.
// CHECK: strategy simt_columns on sm_90; {{.*}}; schedule #nm.simt_columns<block = [{{[0-9]+, [0-9]+}}, 512], warp = [32, {{[0-9]+}}], thread = [1, {{4|8|16|32}}], slice_k = {{[0-9]+}}>{{$}}
// CHECK-LABEL: func.func @code
func.func @code(%a: tensor<512x784xf32>, %c: tensor<256x784xf32>) -> tensor<256x784xf32> {
  %b = arith.constant dense<"DRAW 512x256xf32 2048"> : tensor<512x256xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<512x256xf32>, tensor<512x784xf32>) outs(%c : tensor<256x784xf32>) -> tensor<256x784xf32>
  return %p : tensor<256x784xf32>
}

// -----

// More of them stay data.
// CHECK: strategy simt_columns on sm_90; {{.*}}; schedule #nm.simt_columns<block = [{{[0-9]+, [0-9]+}}, 512], warp = [{{[0-9]+}}, 1], thread = [{{1|2|4}}, 1], slice_k = {{[0-9]+}}, kept = 2049, tile_rows = 512>{{$}}
// CHECK-LABEL: func.func @data
func.func @data(%a: tensor<512x784xf32>, %c: tensor<256x784xf32>) -> tensor<256x784xf32> {
  %b = arith.constant dense<"DRAW 512x256xf32 2049"> : tensor<512x256xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<512x256xf32>, tensor<512x784xf32>) outs(%c : tensor<256x784xf32>) -> tensor<256x784xf32>
  return %p : tensor<256x784xf32>
}

// -----

// As few that are loaded stay data, too.
// CHECK: strategy simt_columns on sm_90; {{.*}}; schedule #nm.simt_columns<block = [{{[0-9]+, [0-9]+}}, 512], warp = [{{[0-9]+}}, 1], thread = [{{1|2|4}}, 1], slice_k = {{[0-9]+}}, kept = 2048, tile_rows = 512>{{$}}
// CHECK-LABEL: func.func @loaded
func.func @loaded(%a: tensor<512x784xf32>, %b: tensor<512x256xf32, #nm.encoding<unstructured, kept = 2048>>, %c: tensor<256x784xf32>) -> tensor<256x784xf32> {
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<512x256xf32, #nm.encoding<unstructured, kept = 2048>>, tensor<512x784xf32>) outs(%c : tensor<256x784xf32>) -> tensor<256x784xf32>
  return %p : tensor<256x784xf32>
}
