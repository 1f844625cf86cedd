// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=mma_sp<block=[16,32,64],warp=[16,32]>})" --split-input-file --verify-diagnostics | FileCheck %s

// Blocks of another strategy, or such that half a block's columns do not divide n, or
// whose sums others add to, make both products.
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=wgmma_sp<store_buffers=2>})" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=OTHER
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=mma_sp<block=[16,48,64],warp=[16,48]>})" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=OTHER
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=mma_sp<block=[16,32,32],warp=[16,32],split_k=2>})" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tensor.expand_shape

#elements = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// A gated feed-forward block with biases: columns of both weights in turns, and
// what both epilogues did, each with its own operands, in blocks of columns. Rows are
// not known.

// CHECK: #[[$ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK: #[[$COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @gated(
// CHECK-SAME:    %[[A:.*]]: tensor<?x64xf16>, %[[B0:.*]]: tensor<64xf16>, %[[B1:.*]]: tensor<64xf16>, %[[C:.*]]: tensor<?x64xf16>
// Half of a block of 2.0, then one of 1.0, in turns.
// CHECK-DAG: %[[V:.*]] = arith.constant dense<"0x{{(0040){16}(003C){16}(0040){16}(003C){16}.*}}"> : tensor<32x128xf16>
// CHECK-DAG: %[[I:.*]] = arith.constant dense<"0x{{(00){16}(01){16}(00){16}.*}}"> : tensor<32x128xi8>
// CHECK: %[[P:.*]] = nm.spmm <2:4> schedule #nm.mma_sp<block = [16, 32, 64], {{.*}}ins(%[[A]], %[[V]], %[[I]] : {{.*}} -> tensor<?x128xf32> epilogue {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
// CHECK-NEXT: nm.yield %[[S]] : f32
// CHECK: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0], [1, 2, 3]] {{.*}} into tensor<?x4x2x16xf32>
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[E]][0, 0, 0, 0] [%{{.*}}, 4, 1, 16] {{.*}} to tensor<?x4x16xf32>
// CHECK: %[[SECOND:.*]] = tensor.extract_slice %[[E]][0, 0, 1, 0] [%{{.*}}, 4, 1, 16] {{.*}} to tensor<?x4x16xf32>
// CHECK: %[[O0:.*]] = tensor.expand_shape %[[B0]] {{\[\[}}0, 1]] {{.*}} into tensor<4x16xf16>
// CHECK: %[[O1:.*]] = tensor.expand_shape %[[B1]] {{\[\[}}0, 1]] {{.*}} into tensor<4x16xf16>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ALL]], #[[$COLUMNS]], #[[$COLUMNS]], #[[$ALL]]]
// CHECK-SAME: ins(%[[FIRST]], %[[SECOND]], %[[O0]], %[[O1]] :
// CHECK: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %[[K0:.*]]: f16, %[[K1:.*]]: f16, %{{.*}}: f16):
// CHECK: %[[W0:.*]] = arith.extf %[[K0]]
// CHECK: %[[G:.*]] = arith.addf %[[X]], %[[W0]]
// CHECK: %[[GATE:.*]] = arith.truncf %[[G]] : f32 to f16
// CHECK: %[[W1:.*]] = arith.extf %[[K1]]
// CHECK: %[[U:.*]] = arith.addf %[[Y]], %[[W1]]
// CHECK: arith.mulf
// CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0], [1, 2]] : tensor<?x4x16xf16> into tensor<?x64xf16>
func.func @gated(%a: tensor<?x64xf16>, %bias0: tensor<64xf16>, %bias1: tensor<64xf16>, %c: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %v0 = arith.constant dense<2.0> : tensor<32x64xf16>
  %i0 = arith.constant dense<0> : tensor<32x64xi8>
  %v1 = arith.constant dense<1.0> : tensor<32x64xf16>
  %i1 = arith.constant dense<1> : tensor<32x64xi8>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<?x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%c : tensor<?x64xf16>) -> tensor<?x64xf16>
    epilogue ins(%bias0 : tensor<64xf16>) maps [#column] {
    ^bb0(%s: f32, %b: f16):
      %wide = arith.extf %b : f16 to f32
      %x = arith.addf %s, %wide : f32
      %y = arith.truncf %x : f32 to f16
      nm.yield %y : f16
    }
  // expected-remark @below {{two products of one A that are combined are one, of n = 2 x 64: blocks have 16 columns of each}}
  %up = nm.spmm <2:4> ins(%a, %v1, %i1 : tensor<?x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%c : tensor<?x64xf16>) -> tensor<?x64xf16>
    epilogue ins(%bias1, %gate : tensor<64xf16>, tensor<?x64xf16>) maps [#column, #elements] {
    ^bb0(%s: f32, %b: f16, %g: f16):
      %wide = arith.extf %b : f16 to f32
      %x = arith.addf %s, %wide : f32
      %y = arith.truncf %x : f32 to f16
      %z = arith.mulf %y, %g : f16
      nm.yield %z : f16
    }
  return %up : tensor<?x64xf16>
}

// -----

// A result that something else takes as well stays a product's, as does one that
// the epilogue takes by rows.

#elements = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>

// CHECK-LABEL: func.func @stay(
// CHECK-COUNT-4: nm.spmm <2:4> ins(
// CHECK-NOT: tensor.expand_shape
func.func @stay(%a: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %v0 = arith.constant dense<2.0> : tensor<32x64xf32>
  %v1 = arith.constant dense<3.0> : tensor<32x64xf32>
  %i = arith.constant dense<0> : tensor<32x64xi8>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = nm.spmm <2:4> ins(%a, %v0, %i : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = nm.spmm <2:4> ins(%a, %v1, %i : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
    epilogue ins(%p : tensor<64x64xf32>) maps [#elements] {
    ^bb0(%s: f32, %g: f32):
      %z = arith.mulf %s, %g : f32
      nm.yield %z : f32
    }
  %r = nm.spmm <2:4> ins(%a, %v1, %i : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = nm.spmm <2:4> ins(%a, %v0, %i : tensor<64x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
    epilogue ins(%r : tensor<64x64xf32>) maps [#turned] {
    ^bb0(%s: f32, %g: f32):
      %z = arith.mulf %s, %g : f32
      nm.yield %z : f32
    }
  return %p, %q, %t : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
