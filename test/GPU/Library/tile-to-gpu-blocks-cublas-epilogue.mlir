// RUN: nm-opt %s --split-input-file --nm-attach-chip=chip=sm_90a --nm-tile-to-gpu-blocks | FileCheck %s

// An epilogue that cuBLASLt has stays with the product of a branch of its own.
// Every other one is split from it.

// CHECK-LABEL: func.func @relu_of_transposed(
// CHECK: scf.if
// CHECK: nm.spmm {{.*}} schedule #nm.cublas ins({{.*}} epilogue
// CHECK: else
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: return
func.func @relu_of_transposed(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %c: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %r = nm.spmm <1:1, block = 1x32> transpose_c schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
    epilogue {
    ^bb0(%s: f32):
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %zero, %s : f32
      nm.yield %y : f32
  }
  return %r : tensor<96x64xf32>
}

// -----

#n = affine_map<(m, n) -> (n)>

// x^3 as a power; sums are converted to C's type at the end.
// CHECK-LABEL: func.func @gelu_f16(
// CHECK: scf.if
// CHECK: nm.spmm {{.*}} schedule #nm.cublas ins({{.*}} epilogue
// CHECK: else
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: return
func.func @gelu_f16(%a: tensor<64x64xf16>, %v: tensor<64x96xf16>, %i: tensor<64x3xi8>, %bias: tensor<96xf16>, %c: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf16>, tensor<64x96xf16>, tensor<64x3xi8>) outs(%c : tensor<64x96xf16>) -> tensor<64x96xf16>
    epilogue ins(%bias : tensor<96xf16>) maps [#n] {
    ^bb0(%s: f32, %b: f16):
      %three = arith.constant 3.0 : f32
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %k = arith.constant 0.044715 : f32
      %root = arith.constant 0.7978845608 : f32
      %wide = arith.extf %b : f16 to f32
      %x = arith.addf %wide, %s : f32
      %cube = math.powf %x, %three : f32
      %small = arith.mulf %k, %cube : f32
      %sum = arith.addf %small, %x : f32
      %inner = arith.mulf %root, %sum : f32
      %t = math.tanh %inner : f32
      %w = arith.addf %t, %one : f32
      %xw = arith.mulf %x, %w : f32
      %h = arith.mulf %half, %xw : f32
      %y = arith.truncf %h : f32 to f16
      nm.yield %y : f16
  }
  return %r : tensor<64x96xf16>
}

// -----

#m = affine_map<(m, n) -> (m)>

// CHECK-LABEL: func.func @bias_along_m(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @bias_along_m(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %bias: tensor<64xf32>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    epilogue ins(%bias : tensor<64xf32>) maps [#m] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.addf %s, %b : f32
      nm.yield %x : f32
  }
  return %r : tensor<64x96xf32>
}

// -----

#n = affine_map<(m, n) -> (n)>

// cuBLASLt would have the bias run along m.
// CHECK-LABEL: func.func @bias_of_transposed(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @bias_of_transposed(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %bias: tensor<96xf32>, %c: tensor<96x64xf32>) -> tensor<96x64xf32> {
  %r = nm.spmm <1:1, block = 1x32> transpose_c schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
    epilogue ins(%bias : tensor<96xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.addf %s, %b : f32
      nm.yield %x : f32
  }
  return %r : tensor<96x64xf32>
}

// -----

#n = affine_map<(m, n) -> (n)>

// Of another type than C.
// CHECK-LABEL: func.func @wide_bias(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @wide_bias(%a: tensor<64x64xf16>, %v: tensor<64x96xf16>, %i: tensor<64x3xi8>, %bias: tensor<96xf32>, %c: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf16>, tensor<64x96xf16>, tensor<64x3xi8>) outs(%c : tensor<64x96xf16>) -> tensor<64x96xf16>
    epilogue ins(%bias : tensor<96xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.addf %s, %b : f32
      %y = arith.truncf %x : f32 to f16
      nm.yield %y : f16
  }
  return %r : tensor<64x96xf16>
}

// -----

#n = affine_map<(m, n) -> (n)>

// Sums are rounded before the bias is added.
// CHECK-LABEL: func.func @rounded_sum(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @rounded_sum(%a: tensor<64x64xf16>, %v: tensor<64x96xf16>, %i: tensor<64x3xi8>, %bias: tensor<96xf16>, %c: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf16>, tensor<64x96xf16>, tensor<64x3xi8>) outs(%c : tensor<64x96xf16>) -> tensor<64x96xf16>
    epilogue ins(%bias : tensor<96xf16>) maps [#n] {
    ^bb0(%s: f32, %b: f16):
      %h = arith.truncf %s : f32 to f16
      %y = arith.addf %h, %b : f16
      nm.yield %y : f16
  }
  return %r : tensor<64x96xf16>
}

// -----

#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @residual(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @residual(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %bias: tensor<96xf32>, %res: tensor<64x96xf32>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    epilogue ins(%bias, %res : tensor<96xf32>, tensor<64x96xf32>) maps [#n, #mn] {
    ^bb0(%s: f32, %b: f32, %r: f32):
      %x = arith.addf %s, %b : f32
      %y = arith.addf %x, %r : f32
      nm.yield %y : f32
  }
  return %r : tensor<64x96xf32>
}

// -----

#n = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @scale(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @scale(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %bias: tensor<96xf32>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    epilogue ins(%bias : tensor<96xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.mulf %s, %b : f32
      nm.yield %x : f32
  }
  return %r : tensor<64x96xf32>
}

// -----

// Of another constant.
// CHECK-LABEL: func.func @other_gelu(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @other_gelu(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    epilogue {
    ^bb0(%s: f32):
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %k = arith.constant 0.0447 : f32
      %root = arith.constant 0.7978845608 : f32
      %sq = arith.mulf %s, %s : f32
      %cube = arith.mulf %sq, %s : f32
      %small = arith.mulf %k, %cube : f32
      %sum = arith.addf %small, %s : f32
      %inner = arith.mulf %root, %sum : f32
      %t = math.tanh %inner : f32
      %w = arith.addf %t, %one : f32
      %xw = arith.mulf %s, %w : f32
      %y = arith.mulf %half, %xw : f32
      nm.yield %y : f32
  }
  return %r : tensor<64x96xf32>
}

// -----

#n = affine_map<(m, n) -> (n)>

// The sum is added, but not what the bias was added to.
// CHECK-LABEL: func.func @relu_and_sum(
// CHECK-NOT: epilogue
// CHECK: scf.if
// CHECK-NOT: epilogue
// CHECK: linalg.generic
// CHECK: return
func.func @relu_and_sum(%a: tensor<64x64xf32>, %v: tensor<64x96xf32>, %i: tensor<64x3xi8>, %bias: tensor<96xf32>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<64x96xf32>, tensor<64x3xi8>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
    epilogue ins(%bias : tensor<96xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %zero = arith.constant 0.0 : f32
      %x = arith.addf %s, %b : f32
      %p = arith.maximumf %x, %zero : f32
      %y = arith.addf %p, %s : f32
      nm.yield %y : f32
  }
  return %r : tensor<64x96xf32>
}
