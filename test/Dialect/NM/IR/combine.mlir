// RUN: nm-opt %s --split-input-file | nm-opt --split-input-file | FileCheck %s
// RUN: nm-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s --check-prefix=TILED
// RUN: nm-opt %s --split-input-file --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=MEMORY

// A tile of C takes all parts of its elements. On memory, C is read and written
// where it is.

// CHECK-LABEL: func.func @tile
// TILED-LABEL: func.func @tile
// TILED-SAME: %[[P:.*]]: tensor<3x?x45xf32>, %[[C:.*]]: tensor<?x45xf16>
// MEMORY-LABEL: func.func @tile
// MEMORY-SAME: %[[P:.*]]: memref<3x?x45xf32>, %[[C:.*]]: memref<?x45xf16>
func.func @tile(%p: tensor<3x?x45xf32>, %c: tensor<?x45xf16>) -> tensor<?x45xf16> {
  // CHECK: nm.combine ins(%{{.*}} : tensor<3x?x45xf32>) outs(%{{.*}} : tensor<?x45xf16>) -> tensor<?x45xf16>
  // TILED: scf.for %[[M:.*]] = {{.*}} iter_args
  // TILED: scf.for %[[N:.*]] = {{.*}} iter_args(%[[OUT:.*]] = {{.*}})
  // TILED-DAG: %[[PT:.*]] = tensor.extract_slice %[[P]][0, %[[M]], %[[N]]] [3, %[[ROWS:.*]], %[[COLUMNS:.*]]] [1, 1, 1]
  // TILED-DAG: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[M]], %[[N]]] [%[[ROWS]], %[[COLUMNS]]] [1, 1]
  // TILED: nm.combine ins(%[[PT]] : tensor<3x?x?xf32>) outs(%[[CT]] : tensor<?x?xf16>)
  // MEMORY-NOT: memref.alloc
  // MEMORY: nm.combine ins(%[[P]] : memref<3x?x45xf32>) outs(%[[C]] : memref<?x45xf16>)
  // MEMORY: return %[[C]]
  %r = nm.combine ins(%p : tensor<3x?x45xf32>) outs(%c : tensor<?x45xf16>) -> tensor<?x45xf16>
  return %r : tensor<?x45xf16>
}

// C is read later, and so not written: it is added to a copy.
// MEMORY-LABEL: func.func @read_later
// MEMORY-SAME: %[[C:[^:]*]]: memref<7xi32>
// CHECK-LABEL: func.func @read_later
func.func @read_later(%c: tensor<7xi32>, %p: tensor<2x7xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  // MEMORY: %[[COPY:.*]] = memref.alloc()
  // MEMORY: memref.copy %[[C]], %[[COPY]]
  // MEMORY: nm.combine {{.*}} outs(%[[COPY]] : memref<7xi32>)
  // CHECK: nm.combine ins(%{{.*}} : tensor<2x7xi32>) outs(%{{.*}} : tensor<7xi32>) -> tensor<7xi32>
  %r = nm.combine ins(%p : tensor<2x7xi32>) outs(%c : tensor<7xi32>) -> tensor<7xi32>
  return %r, %c : tensor<7xi32>, tensor<7xi32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} attributes{sym_name = "tile"} in %root : (!transform.any_op) -> !transform.any_op
    %op = transform.structured.match ops{["nm.combine"]} in %f : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [8, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
