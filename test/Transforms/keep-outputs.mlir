// RUN: nm-opt %s --nm-keep-outputs | FileCheck %s
// Upstream's passes keep what is kept then.
// RUN: nm-opt %s --nm-keep-outputs --canonicalize --linalg-fuse-elementwise-ops | FileCheck %s --check-prefix=UPSTREAM

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// The example of the pass's description.
// CHECK-LABEL: func @every_second
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<16xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[Y]][0] [8] [2]
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[S]] : tensor<8xf32>)
// CHECK: %[[R:.*]] = tensor.insert_slice %[[P]] into %[[Y]][0] [8] [2]
// CHECK: return %[[R]]
func.func @every_second(%x: tensor<8xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8xf32>) outs(%y : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// One column of a transposed output, of a size that is not known.
// CHECK-LABEL: func @column
// CHECK: tensor.extract_slice %{{.*}}[1, 2] [%{{.*}}, 1] [3, 1] : tensor<?x5xf32> to tensor<?x1xf32>
// CHECK: linalg.generic
// CHECK: tensor.insert_slice
func.func @column(%x: tensor<?xf32>, %y: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> (d0 * 3 + 1, 2)>], iterator_types = ["parallel"]}
    ins(%x : tensor<?xf32>) outs(%y : tensor<?x5xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}

// Equal maps make no copy of it.
// CHECK-LABEL: func @diagonal
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[E:.*]] = arith.cmpi sge, %[[I]], %{{.*}}
// CHECK: arith.select %[[E]], %[[A]], %[[B]]
// UPSTREAM-LABEL: func @diagonal
// UPSTREAM: outs(%{{.*}} : tensor<8x8xf32>)
// UPSTREAM: arith.select
func.func @diagonal(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0, d0)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8x8xf32>) outs(%y : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// A row of no elements leaves its last one as it was.
// CHECK-LABEL: func @last_of_a_row
// CHECK: arith.select
// UPSTREAM-LABEL: func @last_of_a_row
// UPSTREAM: outs(%{{.*}} : tensor<4xf32>)
// UPSTREAM: arith.select
func.func @last_of_a_row(%x: tensor<4x?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x?xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// linalg.reduce may do so as well.
// CHECK-LABEL: func @last_by_reduce
// CHECK: linalg.generic
// CHECK: arith.select
func.func @last_by_reduce(%x: tensor<4x?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce ins(%x : tensor<4x?xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) { linalg.yield %a : f32 }
  return %r : tensor<4xf32>
}

// What is written whole, was never written, or is read, stays as it is.
// CHECK-LABEL: func @whole
// CHECK-NOT: tensor.extract_slice
// CHECK-NOT: linalg.index
// CHECK: return
func.func @whole(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>, %z: tensor<16xf32>, %v: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<16xf32>, tensor<16xf32>) {
  %transposed = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<8x4xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<16xf32>
  %empty = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]}
    ins(%v : tensor<8xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<16xf32>
  %read = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]}
    ins(%v : tensor<8xf32>) outs(%z : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %transposed, %empty, %read : tensor<4x8xf32>, tensor<16xf32>, tensor<16xf32>
}
