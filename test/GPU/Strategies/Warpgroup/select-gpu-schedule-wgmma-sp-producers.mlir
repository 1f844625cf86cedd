// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_sp --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @half
// CHECK: schedule #nm.wgmma_sp<{{.*}}, producers = 4, blocks = {{[0-9]+}}, group_m = {{[0-9]+}}, {{.*}}>
func.func @half(%a: tensor<4096x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// A line of 128 bytes has two steps of bytes, and their tiles divide k.
// CHECK-LABEL: func.func @bytes
// CHECK: schedule #nm.wgmma_sp<block = [256, 128, 128], {{.*}}, producers = 4, blocks = {{[0-9]+}}, group_m = {{[0-9]+}}, {{.*}}>
func.func @bytes(%a: tensor<4096x4096xi8>, %v: tensor<2048x4096xi8>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xi8>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

// -----

// Of 4160 rows of k half a line is left: threads copy it.
// CHECK-LABEL: func.func @half_a_line
// CHECK: schedule #nm.wgmma_sp<
// CHECK-NOT: producers
// CHECK: return
func.func @half_a_line(%a: tensor<4096x4160xi8>, %v: tensor<2080x4096xi8>, %i: tensor<2080x4096xi8>, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4160xi8>, tensor<2080x4096xi8>, tensor<2080x4096xi8>)
    outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

// -----

// Promoted sums leave registers for 128 rows and 64 columns of a warpgroup.
// CHECK-LABEL: func.func @floats
// CHECK: schedule #nm.wgmma_sp<block = [128, 128, 256], warpgroup = [128, 64], {{.*}}, producers = 4
func.func @floats(%a: tensor<777x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN>, %i: tensor<2048x4096xi8>, %c: tensor<777x4096xf32>) -> tensor<777x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<777x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>)
    outs(%c : tensor<777x4096xf32>) -> tensor<777x4096xf32>
  return %r : tensor<777x4096xf32>
}

// -----

// CHECK-LABEL: func.func @rows_unknown
// CHECK: schedule #nm.wgmma_sp<{{.*}}, producers = 4
func.func @rows_unknown(%a: tensor<?x4096xf16>, %v: tensor<2048x4096xf16>, %i: tensor<2048x4096xi8>, %c: tensor<?x4096xf16>) -> tensor<?x4096xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>)
    outs(%c : tensor<?x4096xf16>) -> tensor<?x4096xf16>
  return %r : tensor<?x4096xf16>
}
