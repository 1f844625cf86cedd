// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<group_n = 8>'" | FileCheck %s --check-prefixes=CHECK,GROUPS
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<stages = 3>'" | FileCheck %s --check-prefixes=CHECK,STAGES
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<stages = 3, store_buffers = 4>'" | FileCheck %s --check-prefixes=CHECK,SLOTS

// Groups along n leave none along m. Slots are chosen for the stages that the
// model has chosen.
// CHECK-LABEL: func.func @given
// GROUPS: schedule #nm.wgmma<{{.*}}, stages = 4, {{.*}}, group_m = 1, group_n = 8, store_buffers = 2, {{.*}}packing
// STAGES: schedule #nm.wgmma<{{.*}}, stages = 3, {{.*}}, group_m = 4, {{.*}}packing
// SLOTS: schedule #nm.wgmma<{{.*}}, stages = 3, {{.*}}, group_m = 4, store_buffers = 4, {{.*}}packing
func.func @given(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
