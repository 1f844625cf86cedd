// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule -o /dev/null 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=IR
// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-select-gpu-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SM80
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a "--nm-select-gpu-schedule=schedule={cublas<own = #nm.gemv<>>}" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN

// cuBLAS multiplies f8 where the k of both operands stands side by side and the
// rows are whole 16 bytes: dense weights are packed so when they are loaded.
// CHECK: k = 1024, f8E4M3FN: strategy cublas {{.*}}; calls cuBLAS with dense weights, which is faster: {{.*}} us by strategy wgmma; pruned weights
// IR-LABEL: @dense
// IR: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1, chunk_rows = 1024, index_rows = 1024>>
// Chips before sm_89 have no f8, but products of f16.
// SM80: k = 1024, f16: strategy cublas {{.*}}; operands of f8E4M3FN are widened to f16
// OWN: beside cuBLAS expected own = #nm.loops, but got strategy gemv
func.func @dense(%a: tensor<?x1024xf8E4M3FN>, %v: tensor<512x1024xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<512x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %r = nm.spmm <16:32, block = 1x64> ins(%a, %v, %i : tensor<?x1024xf8E4M3FN>, tensor<512x1024xf8E4M3FN>, tensor<512x16xi8>) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}

// Of few rows, which are not worth widening.
// CHECK: k = 1056, f8E4M3FN: strategy gemv {{.*}}; cuBLAS multiplies f8E4M3FN that is contiguous along k, but of this product its activations are m-major
func.func @m_major(%a: tensor<1056x16xf8E4M3FN>, %v: tensor<264x1024xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<264x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %r = nm.spmm <8:32, block = 1x64> transpose_a ins(%a, %v, %i : tensor<1056x16xf8E4M3FN>, tensor<264x1024xf8E4M3FN>, tensor<264x16xi8>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %r : tensor<16x1024xf32>
}

// CHECK: k = 1000, f8E4M3FN: strategy {{.*}}; cuBLAS multiplies f8E4M3FN where k is known to be a multiple of 16, and the length of C's rows of 4
func.func @short_rows(%a: tensor<16x1000xf8E4M3FN>, %v: tensor<250x1024xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<250x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %r = nm.spmm <2:8, block = 1x64> ins(%a, %v, %i : tensor<16x1000xf8E4M3FN>, tensor<250x1024xf8E4M3FN>, tensor<250x16xi8>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %r : tensor<16x1024xf32>
}

// CHECK: k = 2048, f8E4M3FN: strategy {{.*}}; cuBLAS multiplies f8E4M3FN that is contiguous along k, but of this product its weights come with each call
func.func @computed(%a: tensor<16x2048xf8E4M3FN>, %v: tensor<512x1024xf8E4M3FN>, %i: tensor<512x16xi8>, %c: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<16x2048xf8E4M3FN>, tensor<512x1024xf8E4M3FN>, tensor<512x16xi8>) outs(%c : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %r : tensor<16x1024xf32>
}

// CHECK: k = 3072, f8E4M3FN: strategy {{.*}}; the runtime calls cuBLAS for no sums of f8E4M3FN
func.func @small_result(%a: tensor<16x3072xf8E4M3FN>, %v: tensor<768x1024xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<768x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x1024xf8E4M3FN>) -> tensor<16x1024xf8E4M3FN> {
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<16x3072xf8E4M3FN>, tensor<768x1024xf8E4M3FN>, tensor<768x16xi8>) outs(%c : tensor<16x1024xf8E4M3FN>) -> tensor<16x1024xf8E4M3FN>
  return %r : tensor<16x1024xf8E4M3FN>
}
