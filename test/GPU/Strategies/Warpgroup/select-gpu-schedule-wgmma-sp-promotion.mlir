// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>/dev/null | FileCheck %s

// A schedule that an op came with states whether sums are promoted, too.
// CHECK-LABEL: func.func @floats
// CHECK: schedule #nm.wgmma_sp<block = [128, 128, 128], {{.*}}promote = true
func.func @floats(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [128, 128, 128], warpgroup = [128, 64], stages = 3>
    ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @fast
// CHECK: schedule #nm.wgmma_sp<block = [128, 128, 128],
// CHECK-NOT: promote
// CHECK: return
func.func @fast(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> schedule #nm.wgmma_sp<block = [128, 128, 128], warpgroup = [128, 64], stages = 3> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
