// RUN: nm-opt %s --nm-attach-chip=chip=sm_89 --nm-select-gpu-schedule 2>&1 | FileCheck %s '-D$ROWS=16'
// RUN: nm-opt %s --nm-attach-chip=chip=sm_120 --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s '-D$ROWS=8'
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=HOPPER
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s --check-prefix=OTHER -DCHIP=sm_86
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s --check-prefix=OTHER -DCHIP=sm_90
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_100 --nm-select-gpu-schedule=schedule=mma_sp 2>&1 | FileCheck %s --check-prefix=OTHER -DCHIP=sm_100

// OTHER: error: 'nm.spmm' op strategy mma_sp expected a chip whose tensor cores skip zeros of f8E4M3FN by mma.sp, as those of sm_89 and sm_120, but got [[CHIP]]{{$}}

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
// HOPPER-NOT: #nm.mma_sp
// Blocks of sm_89 with twice the rows are estimated within 3 % of the least that
// memory allows.
// CHECK: schedule #nm.mma_sp<block = [[[$ROWS]], {{.*}}, warp = [[[$ROWS]], {{.*}}]
func.func @few(%a: tensor<8x4096xf8E5M2>, %v: tensor<2048x4096xf8E5M2>, %i: tensor<2048x4096xi8>, %c: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x4096xf8E5M2>, tensor<2048x4096xf8E5M2>, tensor<2048x4096xi8>)
    outs(%c : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %r : tensor<8x4096xf32>
}
