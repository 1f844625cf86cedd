// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s

// With fast accumulation sums of 8-bit floats have no promoted sums, and tiles are as
// large as those of i8.
// CHECK-LABEL: func.func @groups
// CHECK: schedule #nm.wgmma_sp<block = [256, 128, 128], warpgroup = [256, 64], stages = 4,
// CHECK-SAME: arithmetic <fast_accum>
func.func @groups(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: func.func @selected
// CHECK: schedule #nm.wgmma_select<block = [128, 256, 256],
// CHECK-NOT: promote
// CHECK-SAME: arithmetic <fast_accum>
func.func @selected(%a: tensor<4096x4096xf8E5M2>, %v: tensor<2048x4096xf8E5M2> {nm.values_of = 1 : i64}, %i: tensor<2048x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <4:8, block = 1x64> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<4096x4096xf8E5M2>, tensor<2048x4096xf8E5M2>, tensor<2048x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// CHECK-LABEL: func.func @units
// CHECK: schedule #nm.wgmma<
// CHECK-NOT: promote
// CHECK-SAME: arithmetic <fast_accum>
func.func @units(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<1024x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<16x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 64x64> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<1024x4096xf8E4M3FN>, tensor<16x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Products of f16, to which others are widened, sum in f32.
// CHECK-LABEL: func.func @widened
// CHECK: nm.spmm <8:32, block = 1x64>
// CHECK-NOT: fast_accum
// CHECK: return
func.func @widened(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<1024x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x64> arithmetic <fast_accum>
    ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<1024x4096xf8E4M3FN>, tensor<1024x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
