// RUN: nm-opt %s --transform-interpreter --split-input-file --canonicalize --cse | FileCheck %s

#q = affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>
#k = affine_map<(h, g, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, g, m, n, d, e) -> (h, e, n)>
#mask = affine_map<(h, g, m, n, d, e) -> (m, n)>
#lengths = affine_map<(h, g, m, n, d, e) -> (h)>
#o = affine_map<(h, g, m, n, d, e) -> (m, h, g, e)>

// Each operand is cut along the loops that it has: K and V by the head alone, V
// and O along the width, and the mask along rows. Each has all keys and depth.

// CHECK-LABEL: func.func @all_parallel
// CHECK-SAME: %[[Q:[^:]*]]: tensor<6x4x90x64xf16>, %[[K:[^:]*]]: tensor<6x?x64xf16>, %[[V:[^:]*]]: tensor<6x32x?xf16>, %[[X:[^:]*]]: tensor<90x?xi1>, %[[L:[^:]*]]: tensor<6xi32>, %[[O:[^:]*]]: tensor<90x6x4x32xf16>
func.func @all_parallel(%q: tensor<6x4x90x64xf16>, %k: tensor<6x?x64xf16>, %v: tensor<6x32x?xf16>, %x: tensor<90x?xi1>, %l: tensor<6xi32>, %o: tensor<90x6x4x32xf16>) -> tensor<90x6x4x32xf16> {
  // CHECK-DAG: %[[KEYS:.*]] = tensor.dim %[[K]], %c1
  // CHECK: scf.for %[[H:.*]] = %c0 to %c6 step %c3 iter_args
  // CHECK: scf.for %[[G:.*]] = %c0 to %c4 step %c2 iter_args
  // CHECK: scf.for %[[M:.*]] = %c0 to %c90 step %c32 iter_args
  // CHECK: scf.for %[[E:.*]] = %c0 to %c32 step %c16 iter_args(%[[OUT:.*]] = %{{.*}})
  // CHECK-DAG: %[[ROWS:.*]] = affine.min #{{.*}}(%[[M]])
  // CHECK-DAG: %[[QT:.*]] = tensor.extract_slice %[[Q]][%[[H]], %[[G]], %[[M]], 0] [3, 2, %[[ROWS]], 64] [1, 1, 1, 1]
  // CHECK-DAG: %[[KT:.*]] = tensor.extract_slice %[[K]][%[[H]], 0, 0] [3, %[[KEYS]], 64] [1, 1, 1]
  // CHECK-DAG: %[[VT:.*]] = tensor.extract_slice %[[V]][%[[H]], %[[E]], 0] [3, 16, %[[KEYS]]] [1, 1, 1]
  // CHECK-DAG: %[[XT:.*]] = tensor.extract_slice %[[X]][%[[M]], 0] [%[[ROWS]], %[[KEYS]]] [1, 1]
  // CHECK-DAG: %[[LT:.*]] = tensor.extract_slice %[[L]][%[[H]]] [3] [1]
  // CHECK-DAG: %[[OT:.*]] = tensor.extract_slice %[[OUT]][%[[M]], %[[H]], %[[G]], %[[E]]] [%[[ROWS]], 3, 2, 16] [1, 1, 1, 1]
  // CHECK: %[[T:.*]] = nm.attention {{.*}} scale = 1.250000e-01 ins(%[[QT]], %[[KT]], %[[VT]] : {{.*}}) mask(%[[XT]] : tensor<?x?xi1>) lengths(%[[LT]] : tensor<3xi32>) outs(%[[OT]] : tensor<?x3x2x16xf16>) -> tensor<?x3x2x16xf16>
  // CHECK: tensor.insert_slice %[[T]] into %[[OUT]][%[[M]], %[[H]], %[[G]], %[[E]]] [%[[ROWS]], 3, 2, 16] [1, 1, 1, 1]
  %r = nm.attention indexing_maps = [#q, #k, #v, #mask, #lengths, #o] scale = 0.125
    ins(%q, %k, %v : tensor<6x4x90x64xf16>, tensor<6x?x64xf16>, tensor<6x32x?xf16>) mask(%x : tensor<90x?xi1>) lengths(%l : tensor<6xi32>)
    outs(%o : tensor<90x6x4x32xf16>) -> tensor<90x6x4x32xf16>
  return %r : tensor<90x6x4x32xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:4 = transform.structured.tile_using_for %op tile_sizes [3, 2, 32, 0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(g, m, n, d, e) -> (g, m, d)>
#k = affine_map<(g, m, n, d, e) -> (n, d)>
#v = affine_map<(g, m, n, d, e) -> (n, e)>
#lengths = affine_map<(g, m, n, d, e) -> ()>
#o = affine_map<(g, m, n, d, e) -> (g, m, e)>

// Of memrefs, causal: a tile of groups of heads and of the width has all rows. A
// length without dimensions is every tile's.

// CHECK-LABEL: func.func @causal_groups
// CHECK-SAME: %[[Q:[^:]*]]: memref<8x?x64xbf16>, %[[K:[^:]*]]: memref<96x64xbf16>, %[[V:[^:]*]]: memref<96x40xbf16>, %[[L:[^:]*]]: memref<i64>, %[[O:[^:]*]]: memref<8x?x40xbf16>
func.func @causal_groups(%q: memref<8x?x64xbf16>, %k: memref<96x64xbf16>, %v: memref<96x40xbf16>, %l: memref<i64>, %o: memref<8x?x40xbf16>) {
  // CHECK: %[[ROWS:.*]] = memref.dim %[[Q]], %c1
  // CHECK: scf.for %[[G:.*]] = %c0 to %c8 step %c2 {
  // CHECK: scf.for %[[E:.*]] = %c0 to %c40 step %c8 {
  // CHECK-DAG: %[[QT:.*]] = memref.subview %[[Q]][%[[G]], 0, 0] [2, %[[ROWS]], 64] [1, 1, 1]
  // CHECK-DAG: %[[VT:.*]] = memref.subview %[[V]][0, %[[E]]] [96, 8] [1, 1]
  // CHECK-DAG: %[[OT:.*]] = memref.subview %[[O]][%[[G]], 0, %[[E]]] [2, %[[ROWS]], 8] [1, 1, 1]
  // CHECK: nm.attention {{.*}} causal ins(%[[QT]], %{{.*}}, %[[VT]] : {{.*}}) lengths(%[[L]] : memref<i64>) outs(%[[OT]] : {{.*}})
  nm.attention indexing_maps = [#q, #k, #v, #lengths, #o] scale = 1.0 causal
    ins(%q, %k, %v : memref<8x?x64xbf16>, memref<96x64xbf16>, memref<96x40xbf16>) lengths(%l : memref<i64>) outs(%o : memref<8x?x40xbf16>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [2, 0, 0, 0, 8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (e, m)>

// A consumer takes its tile of the result, of all keys.

// CHECK-LABEL: func.func @fused
// CHECK-SAME: %[[Q:.*]]: tensor<60x16xf32>, %[[K:.*]]: tensor<?x16xf32>
func.func @fused(%q: tensor<60x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x24xf32>, %o: tensor<24x60xf32>) -> tensor<24x60xf32> {
  // CHECK: scf.forall (%[[E:.*]], %[[M:.*]]) in (3, 4)
  // CHECK: %[[KEYS:.*]] = tensor.dim %[[K]], %c0
  // CHECK: %[[QT:.*]] = tensor.extract_slice %[[Q]][%{{.*}}, 0] [15, 16] [1, 1]
  // CHECK: %[[KT:.*]] = tensor.extract_slice %[[K]][0, 0] [%[[KEYS]], 16] [1, 1]
  // CHECK: %[[T:.*]] = nm.attention {{.*}} ins(%[[QT]], %[[KT]], {{.*}} : tensor<15x16xf32>, tensor<?x16xf32>, tensor<?x8xf32>) {{.*}} -> tensor<8x15xf32>
  // CHECK: linalg.exp ins(%[[T]] : tensor<8x15xf32>)
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<?x16xf32>, tensor<?x24xf32>)
    outs(%o : tensor<24x60xf32>) -> tensor<24x60xf32>
  %e = linalg.exp ins(%r : tensor<24x60xf32>) outs(%o : tensor<24x60xf32>) -> tensor<24x60xf32>
  return %e : tensor<24x60xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %exp num_threads [3, 4]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.fuse_into_containing_op %op into %loop
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// Of a causal attention a tile of the first rows is one, as is one of all rows.

// CHECK-LABEL: func.func @first_rows
// CHECK-SAME: %[[Q:[^:]*]]: tensor<60x16xf32>
func.func @first_rows(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>, %c: tensor<20x24xf32>) -> tensor<20x24xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  // CHECK: scf.forall (%[[E:.*]]) =
  // CHECK: %[[QT:.*]] = tensor.extract_slice %[[Q]][0, 0] [20, 16] [1, 1]
  // CHECK: %[[T:.*]] = nm.attention {{.*}} causal ins(%[[QT]], {{.*}} : tensor<20x16xf32>, tensor<9x16xf32>, tensor<9x8xf32>) {{.*}} -> tensor<20x8xf32>
  // CHECK: linalg.exp ins(%[[T]] : tensor<20x8xf32>)
  %e = scf.forall (%i) = (0) to (24) step (8) shared_outs(%out = %c) -> tensor<20x24xf32> {
    %first = tensor.extract_slice %r[0, %i] [20, 8] [1, 1] : tensor<60x24xf32> to tensor<20x8xf32>
    %to = tensor.extract_slice %out[0, %i] [20, 8] [1, 1] : tensor<20x24xf32> to tensor<20x8xf32>
    %x = linalg.exp ins(%first : tensor<20x8xf32>) outs(%to : tensor<20x8xf32>) -> tensor<20x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %out[0, %i] [20, 8] [1, 1] : tensor<20x8xf32> into tensor<20x24xf32>
    }
  }
  return %e : tensor<20x24xf32>
}

// CHECK-LABEL: func.func @all_rows
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c8
// CHECK: nm.attention {{.*}} causal ins({{.*}} : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x8xf32>)
func.func @all_rows(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %first = transform.structured.match ops{["func.func"]} attributes{sym_name = "first_rows"} in %root : (!transform.any_op) -> !transform.any_op
    %op = transform.structured.match ops{["nm.attention"]} in %first : (!transform.any_op) -> !transform.any_op
    %loop = transform.structured.match ops{["scf.forall"]} in %first : (!transform.any_op) -> !transform.any_op
    transform.structured.fuse_into_containing_op %op into %loop
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %all = transform.structured.match ops{["func.func"]} attributes{sym_name = "all_rows"} in %root : (!transform.any_op) -> !transform.any_op
    %whole = transform.structured.match ops{["nm.attention"]} in %all : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:4 = transform.structured.tile_using_for %whole tile_sizes [60, 9, 16, 8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
