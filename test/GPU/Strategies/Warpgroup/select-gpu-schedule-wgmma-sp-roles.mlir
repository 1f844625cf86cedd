// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp 2>%t.log | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<ordered = false, overlap = false, producer_registers = 24, consumer_registers = 216>'" 2>%t.log | FileCheck %s --check-prefix=GIVEN
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<promote = false>'" 2>&1 | FileCheck %s --check-prefix=REFUSED

// What passes would decide later is in the schedule: whether sums are promoted, the order of warpgroups, registers of
// the roles, and whether the last tile begins early. What is given stays.
// CHECK: schedule #nm.wgmma_sp<{{.*}}promote = true, ordered = true, producer_registers = 40, consumer_registers = {{[0-9]+}}, overlap = true>
// GIVEN: schedule #nm.wgmma_sp<{{.*}}promote = true, ordered = false, producer_registers = 24, consumer_registers = 216, overlap = false>
// REFUSED: error: {{.*}}strategy wgmma_sp expected promote = true, by the product's type and arithmetic
func.func @f8(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
