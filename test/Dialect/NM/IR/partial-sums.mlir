// RUN: nm-opt %s --transform-interpreter --canonicalize --cse --split-input-file | FileCheck %s

// Upstream's tiling of partial reductions: each part of k adds to a tensor of
// its own, and one op adds these to C. The last part is ragged.

// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[A:.*]]: tensor<?x60xf32>, %[[V:.*]]: tensor<30x45xf32>, %[[I:.*]]: tensor<30x45xi8>, %[[C:.*]]: tensor<?x45xf32>
func.func @parts(%a: tensor<?x60xf32>, %v: tensor<30x45xf32>, %i: tensor<30x45xi8>, %c: tensor<?x45xf32>) -> tensor<?x45xf32> {
  // CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<4x?x45xf32>
  // CHECK: %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]] :
  // CHECK: %[[SUMS:.*]] = scf.forall (%[[K:.*]]) = (0) to (60) step (16) shared_outs(%[[OUT:.*]] = %[[ZEROS]])
  // CHECK-DAG: %[[ROWS:.*]] = affine.min #{{.*}}(%[[K]])
  // CHECK-DAG: %[[PART:.*]] = affine.apply #{{.*}}()[%[[K]]]
  // CHECK-DAG: %[[SLICE:.*]] = tensor.extract_slice %[[OUT]][%[[PART]], 0, 0] [1, %{{.*}}, 45] [1, 1, 1] : tensor<4x?x45xf32> to tensor<?x45xf32>
  // CHECK-DAG: %[[AT:.*]] = tensor.extract_slice %[[A]][0, %[[K]]] [%{{.*}}, %[[ROWS]]] [1, 1]
  // CHECK: %[[SUM:.*]] = nm.spmm <2:4> ins(%[[AT]], {{.*}}) outs(%[[SLICE]] : tensor<?x45xf32>)
  // CHECK: tensor.parallel_insert_slice %[[SUM]] into %[[OUT]][%[[PART]], 0, 0] [1, %{{.*}}, 45]
  // CHECK: %[[R:.*]] = nm.combine ins(%[[SUMS]] : tensor<4x?x45xf32>) outs(%[[C]] : tensor<?x45xf32>)
  // CHECK: return %[[R]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x60xf32>, tensor<30x45xf32>, tensor<30x45xi8>)
    outs(%c : tensor<?x45xf32>) -> tensor<?x45xf32>
  return %r : tensor<?x45xf32>
}

// Sums of narrow floats are f32. An epilogue takes the whole ones; those of a
// transposed C are transposed too.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<45xf16>, %[[C:.*]]: tensor<2x45x3xf16>
func.func @epilogue(%a: tensor<2x3x60xf16>, %v: tensor<30x45xf16>, %i: tensor<30x45xi8>, %b: tensor<45xf16>, %c: tensor<2x45x3xf16>) -> tensor<2x45x3xf16> {
  // CHECK: %[[SUMS:.*]] = scf.forall {{.*}} -> (tensor<4x2x45x3xf32>)
  // CHECK: nm.spmm <2:4> transpose_c
  // CHECK-NOT: epilogue
  // CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0, 0] [1, 2, 45, 3]
  // CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x45x3xf32>
  // CHECK: %[[SUM:.*]] = nm.combine ins(%[[SUMS]] : {{.*}}) outs(%[[ZEROS]] :
  // CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[BIAS]], %[[SUM]] : {{.*}}) outs(%[[C]] :
  // CHECK: return %[[R]]
  %r = nm.spmm <2:4> transpose_c ins(%a, %v, %i : tensor<2x3x60xf16>, tensor<30x45xf16>, tensor<30x45xi8>)
    outs(%c : tensor<2x45x3xf16>) -> tensor<2x45x3xf16>
    epilogue ins(%b : tensor<45xf16>) maps [affine_map<(b, m, n) -> (n)>] {
    ^bb0(%s: f32, %x: f16):
      %y = arith.truncf %s : f32 to f16
      %z = arith.addf %y, %x : f16
      nm.yield %z : f16
    }
  return %r : tensor<2x45x3xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %plain = transform.structured.match ops{["func.func"]} attributes{sym_name = "parts"} in %root : (!transform.any_op) -> !transform.any_op
    %p = transform.structured.match ops{["nm.spmm"]} in %plain : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_reduction_using_forall %p by tile_sizes = [0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %other = transform.structured.match ops{["func.func"]} attributes{sym_name = "epilogue"} in %root : (!transform.any_op) -> !transform.any_op
    %e = transform.structured.match ops{["nm.spmm"]} in %other : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_reduction_using_forall %e by tile_sizes = [0, 0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @vector
func.func @vector(%x: tensor<64xi8>, %v: tensor<32x45xi8>, %i: tensor<32x45xi8>, %y: tensor<45xi32>) -> tensor<45xi32> {
  // CHECK: scf.forall {{.*}} -> (tensor<2x45xi32>)
  // CHECK: nm.spmv <2:4> {{.*}} outs(%{{.*}} : tensor<45xi32>)
  // CHECK: nm.combine ins(%{{.*}} : tensor<2x45xi32>) outs(%{{.*}} : tensor<45xi32>)
  %r = nm.spmv <2:4> ins(%x, %v, %i : tensor<64xi8>, tensor<32x45xi8>, tensor<32x45xi8>)
    outs(%y : tensor<45xi32>) -> tensor<45xi32>
  return %r : tensor<45xi32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %p = transform.structured.match ops{["nm.spmv"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.structured.tile_reduction_using_forall %p by tile_sizes = [0, 32]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
