// RUN: nm-opt %s --nm-tile-to-blocks --canonicalize --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-tile-to-blocks="min-task-elements=1024" --canonicalize --split-input-file | FileCheck %s --check-prefix=TASKS

// The example of the pass's description.
// CHECK-LABEL: func.func @spmm
// CHECK-SAME: %[[A:[^:]*]]: tensor<128x64xf32>, %[[V:[^:]*]]: tensor<32x96xf32>, %[[I:[^:]*]]: tensor<32x96xi8>, %[[C:[^:]*]]: tensor<128x96xf32>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (128, 96) step (64, 32) shared_outs(%[[OUT:.*]] = %[[C]])
// CHECK-DAG: tensor.extract_slice %[[A]][%[[M]], 0] [64, 64] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[V]][0, %[[N]]] [32, 32] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[I]][0, %[[N]]] [32, 32] [1, 1]
// CHECK-DAG: tensor.extract_slice %[[OUT]][%[[M]], %[[N]]] [64, 32] [1, 1]
// CHECK: %[[T:.*]] = nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
// CHECK: tensor.parallel_insert_slice %[[T]] into %[[OUT]][%[[M]], %[[N]]]
// TASKS-LABEL: func.func @spmm
func.func @spmm(%a: tensor<128x64xf32>, %v: tensor<32x96xf32>, %i: tensor<32x96xi8>, %c: tensor<128x96xf32>) -> tensor<128x96xf32> {
  %r = nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
    outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r : tensor<128x96xf32>
}

// -----

// The tile is rounded up to whole panels; a ragged k and n stay inside it, and
// a batch is cut into its entries.
// CHECK-LABEL: func.func @packed_batch
// CHECK: scf.forall (%[[B:.*]], %[[N:.*]]) = (0, 0) to (3, 90) step (1, 32)
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[B]], 0, 0] [1, 61, 7]
// CHECK-DAG: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 0] [%{{.*}}, 32, 16]
// CHECK: nm.spmm <2:4> transpose_a packing #nm.packing<panel = 16, index_bits = 2>
// TASKS-LABEL: func.func @packed_batch
func.func @packed_batch(%a: tensor<3x61x7xf32>, %v: tensor<6x32x16xf32>, %i: tensor<6x32x4xi8>, %c: tensor<3x7x90xf32>) -> tensor<3x7x90xf32> {
  %r = nm.spmm <2:4> transpose_a packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<block = [64, 17, 64]>
    ins(%a, %v, %i : tensor<3x61x7xf32>, tensor<6x32x16xf32>, tensor<6x32x4xi8>)
    outs(%c : tensor<3x7x90xf32>) -> tensor<3x7x90xf32>
  return %r : tensor<3x7x90xf32>
}

// -----

// A block that covers the op makes no loop.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: scf.forall
// TASKS-LABEL: func.func @whole
func.func @whole(%a: tensor<64xf32>, %v: tensor<32x90xf32>, %i: tensor<32x90xi8>, %c: tensor<90xf32>) -> tensor<90xf32> {
  %r = nm.spmv <2:4> schedule #nm.vector<block = [1, 96, 64]>
    ins(%a, %v, %i : tensor<64xf32>, tensor<32x90xf32>, tensor<32x90xi8>) outs(%c : tensor<90xf32>) -> tensor<90xf32>
  return %r : tensor<90xf32>
}

// -----

// CHECK-LABEL: func.func @elementwise
// CHECK-NOT: scf.forall
// TASKS-LABEL: func.func @elementwise
// TASKS: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (11)
// TASKS: linalg.exp
func.func @elementwise(%x: tensor<?x100xf32>, %c: tensor<?x100xf32>) -> tensor<?x100xf32> {
  %r = linalg.exp ins(%x : tensor<?x100xf32>) outs(%c : tensor<?x100xf32>) -> tensor<?x100xf32>
  return %r : tensor<?x100xf32>
}

// -----

// Of one sequence, whose first loop runs once, the rows are cut.

// TASKS-LABEL: func.func @one_sequence(
// TASKS: scf.forall (%{{.*}}) = (0) to (64) step (8)
// TASKS: linalg.exp ins(%{{.*}} : tensor<1x8x128xf32>)
func.func @one_sequence(%a: tensor<1x64x128xf32>, %c: tensor<1x64x128xf32>) -> tensor<1x64x128xf32> {
  %r = linalg.exp ins(%a : tensor<1x64x128xf32>) outs(%c : tensor<1x64x128xf32>) -> tensor<1x64x128xf32>
  return %r : tensor<1x64x128xf32>
}

// -----

// Windows are combined for a whole row of results at a time: the row's loop
// stands inside that over rows of taps, around that over a row's taps.

// TASKS-DAG: #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1 + d3, d4 + d5 * 2)>
// TASKS-DAG: #[[$TAPS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d3, d5)>
// TASKS-DAG: #[[$SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d4)>
// TASKS-LABEL: func.func @windows(
// TASKS: scf.forall
// TASKS: linalg.generic {indexing_maps = [#[[$IMAGE]], #[[$TAPS]], #[[$SUMS]]]
// TASKS-SAME: ["parallel", "parallel", "parallel", "reduction", "parallel", "reduction"]
func.func @windows(%x: tensor<1x32x12x14xf32>, %f: tensor<32x3x3xf32>, %c: tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32> {
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %f : tensor<1x32x12x14xf32>, tensor<32x3x3xf32>) outs(%c : tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32>
  return %r : tensor<1x32x10x10xf32>
}

// -----

// Not where a step along the row is more than one element, nor where rows are
// of what is combined.

// TASKS-LABEL: func.func @strided(
// TASKS: linalg.depthwise_conv_2d_nchw_chw
func.func @strided(%x: tensor<1x32x21x21xf32>, %f: tensor<32x3x3xf32>, %c: tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32> {
  %r = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
    ins(%x, %f : tensor<1x32x21x21xf32>, tensor<32x3x3xf32>) outs(%c : tensor<1x32x10x10xf32>) -> tensor<1x32x10x10xf32>
  return %r : tensor<1x32x10x10xf32>
}

// -----

// TASKS-LABEL: func.func @averages(
// TASKS: linalg.reduce {{.*}} dimensions = [2, 3]
func.func @averages(%x: tensor<1x32x10x10xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<1x32x10x10xf32>) outs(%c : tensor<1x32xf32>) dimensions = [2, 3]
  return %r : tensor<1x32xf32>
}

// -----

// Of no elements there are no tasks, whatever the number of rows.

// TASKS-LABEL: func.func @nothing(
// TASKS-NOT: scf.forall
// TASKS: linalg.generic
func.func @nothing(%x: tensor<?x0xf32>, %c: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<?x0xf32>) outs(%c : tensor<?x0xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x0xf32>
  return %r : tensor<?x0xf32>
}

// -----

// Zeros that C is filled with are not written and read: tasks store their sums,
// to a place of their own, as the other use of the zeros is another.
// CHECK-LABEL: func.func @stores
// CHECK: linalg.fill
// CHECK: %[[OUT:.*]] = tensor.empty() : tensor<128x96xf32>
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[OUT]])
// CHECK: nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
// CHECK: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: nm.yield %[[SUM]]
// CHECK: scf.forall
// CHECK: nm.spmm
// CHECK: ^bb0(%[[SUM2:.*]]: f32):
// CHECK: %[[MORE:.*]] = arith.addf %[[SUM2]], %{{.*}}
// CHECK-NEXT: nm.yield %[[MORE]]
// TASKS-LABEL: func.func @stores
func.func @stores(%a: tensor<128x64xf32>, %v: tensor<32x96xf32>, %i: tensor<32x96xi8>) -> (tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<128x96xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<128x96xf32>) -> tensor<128x96xf32>
  %r = nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
    outs(%zeros : tensor<128x96xf32>) -> tensor<128x96xf32>
  %e2 = tensor.empty() : tensor<128x96xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e2 : tensor<128x96xf32>) -> tensor<128x96xf32>
  %r2 = nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
    outs(%ones : tensor<128x96xf32>) -> tensor<128x96xf32>
  return %r, %r2, %zeros : tensor<128x96xf32>, tensor<128x96xf32>, tensor<128x96xf32>
}
