// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=cublas" 2>/dev/null | FileCheck %s

// Rows of an A for cuBLAS start with lines, and those that are shorter at
// multiples of 8.
// CHECK-LABEL: func.func @library
// CHECK: nm.spmm {{.*}} transpose_a schedule #nm.cublas<own = {{.*}}, pad_a = 64>
// CHECK: nm.spmm {{.*}} transpose_a schedule #nm.cublas<own = {{.*}}, pad_a = 8>
// CHECK: return
func.func @library(%given: tensor<64x100xf16>, %v: tensor<32x64xf16> {nm.values_of = 1 : i64}, %i: tensor<32x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<100x64xf16>, %short: tensor<64x33xf16>, %w: tensor<32x64xf16> {nm.values_of = 2 : i64}, %j: tensor<32x64xi8> {nm.indices_of = 2 : i64}, %d: tensor<33x64xf16>) -> (tensor<100x64xf16>, tensor<33x64xf16>) {
  %e = tensor.empty() : tensor<64x100xf16>
  %a = linalg.exp ins(%given : tensor<64x100xf16>) outs(%e : tensor<64x100xf16>) -> tensor<64x100xf16>
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x100xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%c : tensor<100x64xf16>) -> tensor<100x64xf16>
  %f = tensor.empty() : tensor<64x33xf16>
  %h = linalg.exp ins(%short : tensor<64x33xf16>) outs(%f : tensor<64x33xf16>) -> tensor<64x33xf16>
  %s = nm.spmm <2:4> transpose_a ins(%h, %w, %j : tensor<64x33xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%d : tensor<33x64xf16>) -> tensor<33x64xf16>
  return %r, %s : tensor<100x64xf16>, tensor<33x64xf16>
}
