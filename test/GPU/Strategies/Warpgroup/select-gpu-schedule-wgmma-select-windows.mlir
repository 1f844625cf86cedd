// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log

// Windows of three rows do not divide a line of 128 bytes: cuBLAS multiplies,
// with dense weights.
// REMARK: nm.spmm <2:3, block = 1x64> {{.*}}, i8: strategy cublas on sm_90
// CHECK-LABEL: func.func @two_of_three
// CHECK-NOT: wgmma_select
func.func @two_of_three(%a: tensor<4096x4608xi8>, %v: tensor<3072x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<3072x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <2:3, block = 1x64> ins(%a, %v, %i : tensor<4096x4608xi8>, tensor<3072x4096xi8>, tensor<3072x64xi8>) outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

// What 2:4 covers has its zeros skipped.
// REMARK: nm.spmm <1:3, block = 1x64> {{.*}}, f8E4M3FN: strategy wgmma_sp on sm_90
// CHECK-LABEL: func.func @one_of_three
// CHECK: schedule #nm.wgmma_sp<
func.func @one_of_three(%a: tensor<4096x4608xf8E4M3FN>, %v: tensor<1536x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<1536x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <1:3, block = 1x64> ins(%a, %v, %i : tensor<4096x4608xf8E4M3FN>, tensor<1536x4096xf8E4M3FN>, tensor<1536x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
