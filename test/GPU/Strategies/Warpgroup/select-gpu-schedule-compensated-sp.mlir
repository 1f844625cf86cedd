// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<stages = 3>'" 2>/dev/null | FileCheck %s --check-prefix=MODEL
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<compensated = true>'" 2>/dev/null | FileCheck %s --check-prefix=ON
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<compensated = false>'" 2>/dev/null | FileCheck %s --check-prefix=OFF --implicit-check-not=residuals

// As select-gpu-schedule-compensated.mlir, with tiles of 64 rows of k. Of 1:4,
// these keep 16.

// MODEL-LABEL: func.func @half_320
// MODEL: #nm.wgmma_sp<{{.*}}compensated = true, {{.*}}>
// ON-LABEL: func.func @half_320
// ON: compensated = true
// OFF-LABEL: func.func @half_320
func.func @half_320(%a: tensor<4096x320xf32>, %v: tensor<160x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<160x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<4096x320xf32>, tensor<160x4096xf32>, tensor<160x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// MODEL-LABEL: func.func @quarter_384
// MODEL-NOT: compensated
// ON-LABEL: func.func @quarter_384
// ON: compensated = true
// OFF-LABEL: func.func @quarter_384
func.func @quarter_384(%a: tensor<4096x384xf32>, %v: tensor<96x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<96x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <1:4>
    ins(%a, %v, %i : tensor<4096x384xf32>, tensor<96x4096xf32>, tensor<96x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
