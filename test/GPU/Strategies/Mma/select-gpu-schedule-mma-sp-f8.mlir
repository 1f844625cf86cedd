// RUN: nm-opt %s --nm-attach-chip=chip=sm_89 --nm-select-gpu-schedule 2>&1 | FileCheck %s '-D$ROWS=16'
// RUN: nm-opt %s --nm-attach-chip=chip=sm_120 --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s '-D$ROWS=8'
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s '-D$ROWS=8'
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=HOPPER
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s --check-prefix=OLD

// OLD: error: 'nm.spmm' op strategy mma_sp expected a chip of sm_89 or later for f8E4M3FN, but got sm_86

// CHECK-LABEL: func.func @many
// CHECK: schedule #nm.mma_sp<block = [{{.*}}, 128], warp = [
// HOPPER-LABEL: func.func @many
// HOPPER: schedule #nm.wgmma_sp
func.func @many(%a: tensor<?x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN>, %i: tensor<2048x4096xi8>, %c: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>)
    outs(%c : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}

// CHECK-LABEL: func.func @few
// Blocks of sm_89 with twice the rows are estimated within 3 % of the least that
// memory allows.
// CHECK: schedule #nm.mma_sp<block = [[[$ROWS]], {{.*}}, warp = [[[$ROWS]], {{.*}}]
func.func @few(%a: tensor<8x4096xf8E5M2>, %v: tensor<2048x4096xf8E5M2>, %i: tensor<2048x4096xi8>, %c: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x4096xf8E5M2>, tensor<2048x4096xf8E5M2>, tensor<2048x4096xi8>)
    outs(%c : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %r : tensor<8x4096xf32>
}
