// RUN: nm-opt %s --nm-pack-weights --split-input-file --verify-diagnostics | FileCheck %s

// The example of the pass's description: weights that are arguments are packed
// by a function of their own.
// CHECK-LABEL: func.func @f.pack
// CHECK-SAME: %[[V:.*]]: tensor<32x48xf32> {nm.values_of = 1 : i64}, %[[I:.*]]: tensor<32x48xi8> {nm.indices_of = 1 : i64}) -> (tensor<3x32x16xf32>, tensor<3x32x4xi8>)
// CHECK: %[[P:.*]]:2 = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%[[V]], %[[I]]
// CHECK: return %[[P]]#0, %[[P]]#1
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[A:.*]]: tensor<5x64xf32>, %[[PV:.*]]: tensor<3x32x16xf32> {nm.packed_values_of = 1 : i64}, %[[PI:.*]]: tensor<3x32x4xi8> {nm.packed_indices_of = 1 : i64}, %[[C:.*]]: tensor<5x48xf32>
// CHECK-NOT: = nm.pack <
// CHECK: nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule {{.*}} ins(%[[A]], %[[PV]], %[[PI]]
func.func @f(%a: tensor<5x64xf32>,
             %v: tensor<32x48xf32> {nm.values_of = 1 : i64}, %i: tensor<32x48xi8> {nm.indices_of = 1 : i64},
             %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %r = nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -----

// What is done to each value, as widening it, is done before, too.
// CHECK-LABEL: func.func @widened.pack
// CHECK-SAME: %[[V:.*]]: tensor<32x48xf8E4M3FN> {nm.values_of = 1 : i64}, %[[I:.*]]: tensor<32x48xi8> {nm.indices_of = 1 : i64}) -> (tensor<3x32x16xf16>, tensor<3x32x4xi8>)
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[V]]
// CHECK: arith.extf
// CHECK: %[[P:.*]]:2 = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%[[WIDE]], %[[I]]
// CHECK: return %[[P]]#0, %[[P]]#1
// CHECK-LABEL: func.func @widened(
// CHECK-SAME: %[[PV:[^:]*]]: tensor<3x32x16xf16> {nm.packed_values_of = 1 : i64}
// CHECK-NOT: linalg.generic
func.func @widened(%a: tensor<5x64xf16>,
                   %v: tensor<32x48xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<32x48xi8> {nm.indices_of = 1 : i64},
                   %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %e = tensor.empty() : tensor<32x48xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<32x48xf8E4M3FN>) outs(%e : tensor<32x48xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %y = arith.extf %x : f8E4M3FN to f16
    linalg.yield %y : f16
  } -> tensor<32x48xf16>
  %r = nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %w, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -----

// pack = true: the packed form gets lists of the rows of A that the columns of a
// block use. A product that stages all rows has a packed form of its own.
// CHECK-LABEL: func.func private @lists
// CHECK: nm.pack <3:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8, col_info = 128> {{.*}} -> tensor<5x6x32xf32>, tensor<8x6x1xi8>, tensor<8x6x1xi8>
// CHECK: nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128> schedule #nm.simt<{{.*}}pack = true, packing = <panel = 32, index_bits = 8>>
// CHECK: nm.pack <3:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8> {{.*}} -> tensor<5x6x32xf32>, tensor<5x6x1xi8>
// CHECK: nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8> schedule
func.func private @lists(%a: tensor<64x64xf32>, %v: tensor<6x160xf32>, %i: tensor<6x5xi8>, %c: tensor<64x160xf32>) -> tensor<64x160xf32> {
  // expected-remark @+1 {{weights are packed at each call}}
  %r = nm.spmm <3:32, block = 1x32> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], pack = true, packing = <panel = 32, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<6x160xf32>, tensor<6x5xi8>) outs(%c : tensor<64x160xf32>) -> tensor<64x160xf32>
  // expected-remark @+1 {{weights are packed at each call}}
  %s = nm.spmm <3:32, block = 1x32> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], packing = <panel = 32, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<6x160xf32>, tensor<6x5xi8>) outs(%r : tensor<64x160xf32>) -> tensor<64x160xf32>
  return %s : tensor<64x160xf32>
}

// -----

// Lists are parts of the weights, too: arguments behind the indices, and results.
// CHECK-LABEL: func.func @listed.pack
// CHECK-SAME: -> (tensor<5x6x32xf32>, tensor<8x6x1xi8>, tensor<8x6x1xi8>, tensor<1x32x16xf32>, tensor<1x32x4xi8>)
// CHECK: %[[P:.*]]:3 = nm.pack <3:32, block = 1x32> {{.*}} lists(
// CHECK: %[[Q:.*]]:2 = nm.pack <2:4>
// CHECK: return %[[P]]#0, %[[P]]#1, %[[P]]#2, %[[Q]]#0, %[[Q]]#1
// CHECK-LABEL: func.func @listed(
// CHECK-SAME: %[[V:[^:]*]]: tensor<5x6x32xf32> {nm.packed_values_of = 1 : i64}, %[[I:[^:]*]]: tensor<8x6x1xi8> {nm.packed_indices_of = 1 : i64}, %[[L:[^:]*]]: tensor<8x6x1xi8> {nm.packed_lists_of = 1 : i64}, %[[C:[^:]*]]: tensor<64x160xf32>, %[[V2:[^:]*]]: tensor<1x32x16xf32> {nm.packed_values_of = 3 : i64}, %{{.*}}: tensor<1x32x4xi8> {nm.packed_indices_of = 3 : i64}, %[[Y:[^:]*]]: tensor<16xf32>)
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[V]], %[[I]] : {{.*}}) lists(%[[L]] : tensor<8x6x1xi8>) outs(%[[C]] :
// CHECK: nm.spmv {{.*}} ins(%{{.*}}, %[[V2]], %
func.func @listed(%a: tensor<64x64xf32>,
                  %v: tensor<6x160xf32> {nm.values_of = 1 : i64}, %i: tensor<6x5xi8> {nm.indices_of = 1 : i64},
                  %c: tensor<64x160xf32>,
                  %v2: tensor<32x16xf32> {nm.values_of = 3 : i64}, %i2: tensor<32x16xi8> {nm.indices_of = 3 : i64},
                  %y: tensor<16xf32>) -> (tensor<64x160xf32>, tensor<16xf32>) {
  %r = nm.spmm <3:32, block = 1x32> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], pack = true, packing = <panel = 32, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<6x160xf32>, tensor<6x5xi8>) outs(%c : tensor<64x160xf32>) -> tensor<64x160xf32>
  %x = tensor.extract_slice %a[0, 0] [1, 64] [1, 1] : tensor<64x64xf32> to tensor<64xf32>
  %s = nm.spmv <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%x, %v2, %i2 : tensor<64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) outs(%y : tensor<16xf32>) -> tensor<16xf32>
  return %r, %s : tensor<64x160xf32>, tensor<16xf32>
}

// -----

// Two weights, one of them shared by two ops: each is packed once.
// CHECK-LABEL: func.func @two.pack
// CHECK-COUNT-2: = nm.pack <
// CHECK-NOT: = nm.pack <
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[V0:.*]]: tensor<1x32x16xf32> {nm.packed_values_of = 0 : i64}, %[[I0:.*]]: tensor<1x32x4xi8> {{.*}}, %[[A:.*]]: tensor<64xf32>, %[[V2:.*]]: tensor<2x32x8xf32> {nm.packed_values_of = 2 : i64}, %[[I2:.*]]: tensor<2x32x8xi8>
// CHECK: nm.spmv {{.*}} ins(%[[A]], %[[V0]], %[[I0]]
// CHECK: nm.spmv {{.*}} ins(%[[A]], %[[V2]], %[[I2]]
// CHECK: nm.spmv {{.*}} ins(%[[A]], %[[V0]], %[[I0]]
func.func @two(%v0: tensor<32x16xf32> {nm.values_of = 0 : i64}, %i0: tensor<32x16xi8> {nm.indices_of = 0 : i64},
               %a: tensor<64xf32>,
               %v2: tensor<32x16xf32> {nm.values_of = 2 : i64}, %i2: tensor<32x16xi8> {nm.indices_of = 2 : i64},
               %c: tensor<16xf32>) -> tensor<16xf32> {
  %r0 = nm.spmv <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %v0, %i0 : tensor<64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) outs(%c : tensor<16xf32>) -> tensor<16xf32>
  %r1 = nm.spmv <2:4> schedule #nm.vector<packing = <panel = 8, index_bits = 8>>
    ins(%a, %v2, %i2 : tensor<64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) outs(%r0 : tensor<16xf32>) -> tensor<16xf32>
  %r2 = nm.spmv <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %v0, %i0 : tensor<64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) outs(%r1 : tensor<16xf32>) -> tensor<16xf32>
  return %r2 : tensor<16xf32>
}

// -----

// Constants are folded.
// CHECK-LABEL: func.func @constant
// CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]], {{\[\[}}3.000000e+00, 0.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[\[\[}}9]], {{\[\[}}2]]]> : tensor<2x1x1xi8>
// CHECK: nm.spmv {{.*}} ins(%{{.*}}, %[[V]], %[[I]]
func.func @constant(%a: tensor<4xf32>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %v = arith.constant dense<[[1.0, 2.0, 3.0]]> : tensor<1x3xf32>
  %i = arith.constant dense<[[1, 2, 2]]> : tensor<1x3xi8>
  %r = nm.spmv <1:4> schedule #nm.vector<packing = <panel = 2, index_bits = 2>>
    ins(%a, %v, %i : tensor<4xf32>, tensor<1x3xf32>, tensor<1x3xi8>) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Weights computed on the way are packed at each call, which is said.
// CHECK-LABEL: func.func @computed(
// CHECK: nm.pack
func.func @computed(%a: tensor<4xf32>, %v: tensor<1x3xf32>, %i: tensor<1x3xi8>, %c: tensor<3xf32>) -> tensor<3xf32> {
  // expected-remark @+1 {{weights are packed at each call}}
  %r = nm.spmv <1:4> schedule #nm.vector<packing = <panel = 2, index_bits = 2>>
    ins(%a, %v, %i : tensor<4xf32>, tensor<1x3xf32>, tensor<1x3xi8>) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A caller inside the module passes condensed weights, so they are packed here.
// CHECK-LABEL: func.func @called(
// CHECK-SAME: nm.values_of
// CHECK: nm.pack
func.func @called(%a: tensor<4xf32>, %v: tensor<1x3xf32> {nm.values_of = 1 : i64}, %i: tensor<1x3xi8> {nm.indices_of = 1 : i64}, %c: tensor<3xf32>) -> tensor<3xf32> {
  // expected-remark @+1 {{weights are packed at each call}}
  %r = nm.spmv <1:4> schedule #nm.vector<packing = <panel = 2, index_bits = 2>>
    ins(%a, %v, %i : tensor<4xf32>, tensor<1x3xf32>, tensor<1x3xi8>) outs(%c : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
func.func @caller(%a: tensor<4xf32>, %v: tensor<1x3xf32>, %i: tensor<1x3xi8>, %c: tensor<3xf32>) -> tensor<3xf32> {
  %r = call @called(%a, %v, %i, %c) : (tensor<4xf32>, tensor<1x3xf32>, tensor<1x3xi8>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Weights that a schedule wants dense become so when they are loaded, without
// any packing.
// CHECK-LABEL: func.func @dense.pack(
// CHECK-SAME: %[[V:[^:]*]]: tensor<32x48xf32> {nm.values_of = 1 : i64}, %[[I:[^:]*]]: tensor<32x48xi8> {nm.indices_of = 1 : i64}) -> (tensor<64x64xf32>, tensor<64x2xi8>)
// CHECK: %[[B:.*]] = nm.decompress <2:4> ins(%[[V]], %[[I]] :
// CHECK: %[[D:.*]]:2 = nm.compress <1:1, block = 1x32> ins(%[[B]] :
// CHECK: return %[[D]]#0, %[[D]]#1
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %{{.*}}: tensor<16x64xf32>, %[[DV:[^:]*]]: tensor<64x64xf32> {nm.packed_values_of = 1 : i64}, %[[DI:[^:]*]]: tensor<64x2xi8> {nm.packed_indices_of = 1 : i64}
// CHECK-NOT: nm.compress
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[DV]], %[[DI]] :
func.func @dense(%a: tensor<16x64xf32>, %v: tensor<32x48xf32> {nm.values_of = 1 : i64}, %i: tensor<32x48xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x48xf32>) -> tensor<16x48xf32> {
  %eb = tensor.empty() : tensor<64x48xf32>
  %b = nm.decompress <2:4> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>) outs(%eb : tensor<64x48xf32>) -> tensor<64x48xf32>
  %ev = tensor.empty() : tensor<64x64xf32>
  %ei = tensor.empty() : tensor<64x2xi8>
  %d:2 = nm.compress <1:1, block = 1x32> ins(%b : tensor<64x48xf32>) outs(%ev, %ei : tensor<64x64xf32>, tensor<64x2xi8>) -> tensor<64x64xf32>, tensor<64x2xi8>
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas
    ins(%a, %d#0, %d#1 : tensor<16x64xf32>, tensor<64x64xf32>, tensor<64x2xi8>) outs(%c : tensor<16x48xf32>) -> tensor<16x48xf32>
  return %r : tensor<16x48xf32>
}

// -----

// Two products whose weights makeDense has made by ops of their own share these,
// and one form. A third, which no schedule packs, has the dense weights.
// CHECK-LABEL: func.func @shared.pack(
// CHECK: %[[B:.*]] = nm.decompress <unstructured, kept = 9>
// CHECK: %[[D:.*]]:2 = nm.compress <1:1, block = 1x4> ins(%[[B]]
// CHECK: %[[P:.*]]:2 = nm.pack <1:1, block = 1x4> {{.*}} ins(%[[D]]#0, %[[D]]#1
// CHECK-NOT: nm.
// CHECK: return %[[D]]#0, %[[D]]#1, %[[P]]#0, %[[P]]#1
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[DV:[^:]*]]: tensor<64x64xf32> {nm.packed_values_of = 1 : i64}, %[[DI:[^:]*]]: tensor<64x16xi8> {nm.packed_indices_of = 1 : i64},
// CHECK-SAME: %[[PV:[^:]*]]: {{[^ ]*}} {nm.packed_values_of = 1 : i64}, %[[PI:[^:]*]]: {{[^ ]*}} {nm.packed_indices_of = 1 : i64}, %{{[^:]*}}: tensor<16x64xf32>)
// CHECK-NOT: nm.decompress
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[PV]], %[[PI]] :
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[PV]], %[[PI]] :
// CHECK: nm.spmm {{.*}} ins(%{{.*}}, %[[DV]], %[[DI]] :
func.func @shared(%a: tensor<16x64xf32>, %v: tensor<1x9xf32> {nm.values_of = 1 : i64}, %i: tensor<1x512xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %eb = tensor.empty() : tensor<64x64xf32>
  %ev = tensor.empty() : tensor<64x64xf32>
  %ei = tensor.empty() : tensor<64x16xi8>
  %b0 = nm.decompress <unstructured, kept = 9> ins(%v, %i : tensor<1x9xf32>, tensor<1x512xi8>) outs(%eb : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d0:2 = nm.compress <1:1, block = 1x4> ins(%b0 : tensor<64x64xf32>) outs(%ev, %ei : tensor<64x64xf32>, tensor<64x16xi8>) -> tensor<64x64xf32>, tensor<64x16xi8>
  %0 = nm.spmm <1:1, block = 1x4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %d0#0, %d0#1 : tensor<16x64xf32>, tensor<64x64xf32>, tensor<64x16xi8>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  %b1 = nm.decompress <unstructured, kept = 9> ins(%v, %i : tensor<1x9xf32>, tensor<1x512xi8>) outs(%eb : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d1:2 = nm.compress <1:1, block = 1x4> ins(%b1 : tensor<64x64xf32>) outs(%ev, %ei : tensor<64x64xf32>, tensor<64x16xi8>) -> tensor<64x64xf32>, tensor<64x16xi8>
  %1 = nm.spmm <1:1, block = 1x4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%0, %d1#0, %d1#1 : tensor<16x64xf32>, tensor<64x64xf32>, tensor<64x16xi8>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  %b2 = nm.decompress <unstructured, kept = 9> ins(%v, %i : tensor<1x9xf32>, tensor<1x512xi8>) outs(%eb : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d2:2 = nm.compress <1:1, block = 1x4> ins(%b2 : tensor<64x64xf32>) outs(%ev, %ei : tensor<64x64xf32>, tensor<64x16xi8>) -> tensor<64x64xf32>, tensor<64x16xi8>
  %2 = nm.spmm <1:1, block = 1x4> schedule #nm.cublas
    ins(%1, %d2#0, %d2#1 : tensor<16x64xf32>, tensor<64x64xf32>, tensor<64x16xi8>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}

// -----

// The second product, which cannot read the first one's packed form, has one of
// its own; the third reads that of the first. Both are packed at load.
// CHECK-LABEL: func.func @unlike.pack(
// CHECK: %[[P:.*]]:2 = nm.pack <1:4> #nm.packing<panel = 32, index_bits = 8>
// CHECK: %[[G:.*]]:2 = nm.pack <1:4> #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 4>
// CHECK: return %[[P]]#0, %[[P]]#1, %[[G]]#0, %[[G]]#1
// CHECK-LABEL: func.func @unlike(
// CHECK-SAME: %[[PV:[^:]*]]: {{[^ ]*}} {nm.packed_values_of = 2 : i64}, %[[PI:[^:]*]]: {{[^ ]*}} {nm.packed_indices_of = 2 : i64},
// CHECK-SAME: %[[GV:[^:]*]]: {{[^ ]*}} {nm.packed_values_of = 2 : i64}, %[[GI:[^:]*]]: {{[^ ]*}} {nm.packed_indices_of = 2 : i64}, %{{[^:]*}}: tensor<64x64xf32>
// CHECK-NOT: nm.pack{{ }}
// CHECK: nm.spmm <1:4> packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.simt<{{.*}} ins(%{{.*}}, %[[PV]], %[[PI]]
// CHECK: nm.spmm {{.*}} schedule #nm.gemv<{{.*}} ins(%{{.*}}, %[[GV]], %[[GI]]
// CHECK: nm.spmm <1:4> packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.simt<{{.*}} ins(%{{.*}}, %[[PV]], %[[PI]]
func.func @unlike(%a: tensor<64x64xf32>, %x: tensor<2x64xf32>, %v: tensor<16x64xf32> {nm.values_of = 2 : i64}, %i: tensor<16x64xi8> {nm.indices_of = 2 : i64},
                  %c: tensor<64x64xf32>, %y: tensor<2x64xf32>) -> (tensor<64x64xf32>, tensor<2x64xf32>) {
  %0 = nm.spmm <1:4> schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], packing = <panel = 32, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = nm.spmm <1:4> schedule #nm.gemv<block = [2, 32, 64], warp = [2, 32], thread = [2, 1], packing = <panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 4>>
    ins(%x, %v, %i : tensor<2x64xf32>, tensor<16x64xf32>, tensor<16x64xi8>) outs(%y : tensor<2x64xf32>) -> tensor<2x64xf32>
  %2 = nm.spmm <1:4> schedule #nm.simt<block = [32, 64, 32], warp = [32, 64], thread = [8, 8], packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x64xf32>, tensor<16x64xf32>, tensor<16x64xi8>) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2, %1 : tensor<64x64xf32>, tensor<2x64xf32>
}

// -----

// A mark on values alone makes no pair that could be packed when it is loaded.
// CHECK-LABEL: func.func @no_indices(
// CHECK-SAME: nm.values_of
// CHECK: nm.pack
func.func @no_indices(%a: tensor<8x64xf32>, %c: tensor<8x48xf32>, %v: tensor<32x48xf32> {nm.values_of = 2 : i64}) -> tensor<8x48xf32> {
  %i = arith.constant dense<1> : tensor<32x48xi8>
  // expected-remark @+1 {{weights are packed at each call: they are not constant, nor arguments of a function that only its callers outside the module see, and that nothing but products uses}}
  %r = nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %v, %i : tensor<8x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
