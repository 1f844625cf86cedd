// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-split-columns)" --split-input-file --verify-diagnostics | FileCheck %s

// Selection that refuses zeros in place of pruned weights has no such kernel of 1:4, and
// neither one of two.
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-split-columns{exact-pattern=true})" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ZEROS
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-split-columns{dense-fallback=false})" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ZEROS
// ZEROS-LABEL: func.func @zeros(
// ZEROS-NOT: tensor.insert_slice

// 512 x 28672 are 448 tiles of 256 x 128, three rounds of 132 multiprocessors and 52
// tiles; 25344 columns are the three rounds.

// CHECK-LABEL: func.func @rounds(
// CHECK-SAME: %[[A:.*]]: tensor<512x4096xf16>, %[[BIAS:.*]]: tensor<28672xf16>
// CHECK-DAG: %[[BIAS0:.*]] = tensor.extract_slice %[[BIAS]][0] [25344] [1]
// CHECK: %[[P0:.*]] = nm.spmm <2:4> ins(%[[A]], %{{.*}}, %{{.*}} : tensor<512x4096xf16>, tensor<2048x25344xf16>, tensor<2048x25344xi8>) outs(%{{.*}} : tensor<512x25344xf16>) -> tensor<512x25344xf16> epilogue ins(%[[BIAS0]] :
// CHECK: %[[C0:.*]] = tensor.insert_slice %[[P0]] into %{{.*}}[0, 0] [512, 25344] [1, 1]
// CHECK: %[[BIAS1:.*]] = tensor.extract_slice %[[BIAS]][25344] [3328] [1]
// CHECK: %[[P1:.*]] = nm.spmm <2:4> ins(%[[A]], %{{.*}}, %{{.*}} : tensor<512x4096xf16>, tensor<2048x3328xf16>, tensor<2048x3328xi8>) outs(%{{.*}} : tensor<512x3328xf16>) -> tensor<512x3328xf16> epilogue ins(%[[BIAS1]] :
// CHECK: %[[C1:.*]] = tensor.insert_slice %[[P1]] into %[[C0]][0, 25344] [512, 3328] [1, 1]
// CHECK: return %[[C1]]
func.func @rounds(%a: tensor<512x4096xf16>, %bias: tensor<28672xf16>) -> tensor<512x28672xf16> {
  %v = arith.constant dense<2.0> : tensor<2048x28672xf16>
  %i = arith.constant dense<1> : tensor<2048x28672xi8>
  %c = tensor.empty() : tensor<512x28672xf16>
  // expected-remark @below {{a product's first 25344 columns and the other 3328 are two products, so that the last blocks have smaller tiles}}
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<512x4096xf16>, tensor<2048x28672xf16>, tensor<2048x28672xi8>) outs(%c : tensor<512x28672xf16>) -> tensor<512x28672xf16>
    epilogue ins(%bias : tensor<28672xf16>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %b: f16):
      %wide = arith.extf %b : f16 to f32
      %x = arith.addf %s, %wide : f32
      %y = arith.truncf %x : f32 to f16
      nm.yield %y : f16
    }
  return %p : tensor<512x28672xf16>
}

// -----

// Of two products that an epilogue combines, and nm-pair-products makes one, both are
// split at one column: 12672 of each are 25344. C that is filled is filled in parts, and
// each part of a constant has its own elements.

// CHECK-LABEL: func.func @pair(
// CHECK-SAME: %[[A:.*]]: tensor<512x4096xf16>, %[[C:.*]]: tensor<512x14336xf16>
// CHECK: %[[F0:.*]] = linalg.fill ins(%{{.*}}) outs(%{{.*}} : tensor<512x12672xf16>)
// CHECK: %[[G0:.*]] = nm.spmm <2:4> {{.*}} outs(%[[F0]] : tensor<512x12672xf16>)
// CHECK: nm.spmm <2:4> {{.*}} epilogue ins(%[[G0]] : tensor<512x12672xf16>)
// CHECK: tensor.insert_slice %{{.*}} into %[[C]][0, 0] [512, 12672] [1, 1]
// CHECK: %[[G1:.*]] = nm.spmm <2:4> {{.*}} outs(%{{.*}} : tensor<512x1664xf16>)
// CHECK: nm.spmm <2:4> {{.*}} epilogue ins(%[[G1]] : tensor<512x1664xf16>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 12672] [512, 1664] [1, 1]
// CHECK-NOT: nm.spmm
func.func @pair(%a: tensor<512x4096xf16>, %c: tensor<512x14336xf16>) -> tensor<512x14336xf16> {
  %v0 = arith.constant dense<2.0> : tensor<2048x14336xf16>
  %i0 = arith.constant dense<0> : tensor<2048x14336xi8>
  %v1 = arith.constant dense<1.0> : tensor<2048x14336xf16>
  %i1 = arith.constant dense<1> : tensor<2048x14336xi8>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<512x14336xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<512x14336xf16>) -> tensor<512x14336xf16>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<512x4096xf16>, tensor<2048x14336xf16>, tensor<2048x14336xi8>) outs(%f : tensor<512x14336xf16>) -> tensor<512x14336xf16>
  // expected-remark @below {{a product's first 12672 columns and the other 1664 are two products}}
  %up = nm.spmm <2:4> ins(%a, %v1, %i1 : tensor<512x4096xf16>, tensor<2048x14336xf16>, tensor<2048x14336xi8>) outs(%c : tensor<512x14336xf16>) -> tensor<512x14336xf16>
    epilogue ins(%gate : tensor<512x14336xf16>) maps [affine_map<(m, n) -> (m, n)>] {
    ^bb0(%s: f32, %g: f16):
      %s16 = arith.truncf %s : f32 to f16
      %t = arith.mulf %s16, %g : f16
      nm.yield %t : f16
    }
  return %up : tensor<512x14336xf16>
}

// -----

// What stays one: 112 tiles along n are 1.7 rounds, which two products would not take
// less time for; rows that are not known; weights that come with each call.

// CHECK-LABEL: func.func @whole(
// CHECK-NOT: tensor.insert_slice
func.func @whole(%a: tensor<512x4096xf16>, %b: tensor<?x4096xf16>, %c: tensor<512x14336xf16>, %d: tensor<?x28672xf16>, %e: tensor<512x28672xf16>, %w: tensor<2048x28672xf16>, %j: tensor<2048x28672xi8>) -> (tensor<512x14336xf16>, tensor<?x28672xf16>, tensor<512x28672xf16>) {
  %v0 = arith.constant dense<2.0> : tensor<2048x14336xf16>
  %i0 = arith.constant dense<0> : tensor<2048x14336xi8>
  %p0 = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<512x4096xf16>, tensor<2048x14336xf16>, tensor<2048x14336xi8>) outs(%c : tensor<512x14336xf16>) -> tensor<512x14336xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  %v1 = arith.constant dense<2.0> : tensor<2048x28672xf16>
  %i1 = arith.constant dense<0> : tensor<2048x28672xi8>
  %p1 = nm.spmm <2:4> ins(%b, %v1, %i1 : tensor<?x4096xf16>, tensor<2048x28672xf16>, tensor<2048x28672xi8>) outs(%d : tensor<?x28672xf16>) -> tensor<?x28672xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  %p2 = nm.spmm <2:4> ins(%a, %w, %j : tensor<512x4096xf16>, tensor<2048x28672xf16>, tensor<2048x28672xi8>) outs(%e : tensor<512x28672xf16>) -> tensor<512x28672xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  return %p0, %p1, %p2 : tensor<512x14336xf16>, tensor<?x28672xf16>, tensor<512x28672xf16>
}

// -----

// CHECK-LABEL: func.func @zeros(
// CHECK-COUNT-2: tensor.insert_slice
func.func @zeros(%a: tensor<512x4096xf16>, %c: tensor<512x28672xf16>) -> tensor<512x28672xf16> {
  %v = arith.constant dense<2.0> : tensor<1024x28672xf16>
  %i = arith.constant dense<1> : tensor<1024x28672xi8>
  // expected-remark @below {{are two products}}
  %p = nm.spmm <1:4> ins(%a, %v, %i : tensor<512x4096xf16>, tensor<1024x28672xf16>, tensor<1024x28672xi8>) outs(%c : tensor<512x28672xf16>) -> tensor<512x28672xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  return %p : tensor<512x28672xf16>
}
