// RUN: nm-opt %s --nm-attach-chip="chip=sm_90a" --nm-propagate-layouts 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip="chip=sm_80" --nm-propagate-layouts 2>/dev/null | FileCheck %s --check-prefix=AMPERE

// Strategies that gather rows of an m-major A are worth its transposition: wgmma
// in vectors of 128, and mma_sync in those of 32.
// CHECK-LABEL: func @vectors_of_128
// CHECK: linalg.transpose
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a
func.func @vectors_of_128(%x: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <8:32, block = 1x128> ins(%x, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// CHECK-LABEL: func @vectors_of_32
// CHECK: linalg.transpose
// CHECK: nm.spmm <4:32, block = 1x32> transpose_a
// AMPERE-LABEL: func @vectors_of_32
// AMPERE: linalg.transpose
// AMPERE: nm.spmm <4:32, block = 1x32> transpose_a
func.func @vectors_of_32(%x: tensor<4096x4096xf16>, %v: tensor<512x4096xf16>, %i: tensor<512x128xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <4:32, block = 1x32> ins(%x, %v, %i : tensor<4096x4096xf16>, tensor<512x4096xf16>, tensor<512x128xi8>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// Rows of an m-major A of an odd m are copied to where they start with lines.
// CHECK-LABEL: func @ragged_rows
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%{{.*}}) : tensor<4096x2001xf16>
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a ins(%[[COPY]],
func.func @ragged_rows(%x: tensor<4096x2001xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<2001x4096xf16>) -> tensor<2001x4096xf16> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%x, %v, %i : tensor<4096x2001xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>) outs(%c : tensor<2001x4096xf16>) -> tensor<2001x4096xf16>
  return %r : tensor<2001x4096xf16>
}

// Vectors of 32 become wider ones where these are clearly faster than dense
// weights: of 1000 rows, not of 500, of which an H200 took 24.5 us, and 22.8 with
// dense weights.
// CHECK-LABEL: func @few_ragged_rows
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm <8:32, block = 1x32> ins
func.func @few_ragged_rows(%x: tensor<500x4096xf16>, %v: tensor<1024x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<500x4096xf16>) -> tensor<500x4096xf16> {
  %r = nm.spmm <8:32, block = 1x32> ins(%x, %v, %i : tensor<500x4096xf16>, tensor<1024x4096xf16>, tensor<1024x128xi8>) outs(%c : tensor<500x4096xf16>) -> tensor<500x4096xf16>
  return %r : tensor<500x4096xf16>
}

// CHECK-LABEL: func @many_ragged_rows
// CHECK: linalg.transpose
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a ins
func.func @many_ragged_rows(%x: tensor<1000x4096xf16>, %v: tensor<1024x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x4096xf16>) -> tensor<1000x4096xf16> {
  %r = nm.spmm <8:32, block = 1x32> ins(%x, %v, %i : tensor<1000x4096xf16>, tensor<1024x4096xf16>, tensor<1024x128xi8>) outs(%c : tensor<1000x4096xf16>) -> tensor<1000x4096xf16>
  return %r : tensor<1000x4096xf16>
}
