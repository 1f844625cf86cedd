// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp --split-input-file | FileCheck %s
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma_sp<producers = 4>'" --split-input-file 2>&1 | FileCheck %s --check-prefix=GIVEN

// CHECK-LABEL: func.func @half
// CHECK: schedule #nm.wgmma_sp<{{.*}}, producers = 4, blocks = {{[0-9]+}}, group_m = {{[0-9]+}}>
func.func @half(%a: tensor<4096x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// Elements of 8 bits have none.
// CHECK-LABEL: func.func @bytes
// CHECK: schedule #nm.wgmma_sp<
// CHECK-NOT: producers
// CHECK: return
// GIVEN: error: {{.*}}strategy wgmma_sp expected elements of 16 bits, with producers, but got i8
func.func @bytes(%a: tensor<4096x4096xi8>, %v: tensor<2048x4096xi8>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xi8>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
