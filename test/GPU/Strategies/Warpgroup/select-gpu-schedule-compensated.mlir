// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=wgmma" 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<block = [64, 64, 128], warpgroup = [64, 64]>'" 2>/dev/null | FileCheck %s --check-prefix=BLOCK
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<compensated = true>'" 2>/dev/null | FileCheck %s --check-prefix=ON
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<compensated = false>'" 2>/dev/null | FileCheck %s --check-prefix=OFF --implicit-check-not=residuals

// A sum of fewer than six tiles has residuals: of 320 rows, where tiles that
// are given have 64 of them, and not where the model's have fewer. Whether it
// has may be given, too.

// MODEL-LABEL: func.func @rows_320
// MODEL-NOT: compensated
// BLOCK-LABEL: func.func @rows_320
// BLOCK: #nm.wgmma<{{.*}}compensated = true, {{.*}}packing = <{{.*}}tile_rows = 64, splits = 3>>
// ON-LABEL: func.func @rows_320
// ON: #nm.wgmma<{{.*}}compensated = true, {{.*}}packing
// OFF-LABEL: func.func @rows_320
func.func @rows_320(%a: tensor<4096x640xf32>, %v: tensor<320x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<320x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x640xf32>, tensor<320x4096xf32>, tensor<320x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// MODEL-LABEL: func.func @rows_64
// MODEL: #nm.wgmma<{{.*}}compensated = true, {{.*}}packing
// BLOCK-LABEL: func.func @rows_64
// BLOCK: compensated = true
// ON-LABEL: func.func @rows_64
// ON: compensated = true
// OFF-LABEL: func.func @rows_64
func.func @rows_64(%a: tensor<4096x128xf32>, %v: tensor<64x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<64x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x128xf32>, tensor<64x4096xf32>, tensor<64x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// MODEL-LABEL: func.func @rows_1024
// MODEL-NOT: compensated
// BLOCK-LABEL: func.func @rows_1024
// BLOCK-NOT: compensated
// ON-LABEL: func.func @rows_1024
// ON: compensated = true
// OFF-LABEL: func.func @rows_1024
func.func @rows_1024(%a: tensor<4096x2048xf32>, %v: tensor<1024x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x2048xf32>, tensor<1024x4096xf32>, tensor<1024x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
