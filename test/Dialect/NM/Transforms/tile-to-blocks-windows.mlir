// RUN: nm-opt %s --nm-tile-to-blocks=min-task-elements=2000 --canonicalize --cse --split-input-file | FileCheck %s

// A task pads its own channels' image, sums its windows from zero and does what
// follows to them: no padded image nor sums of all channels are in memory.

#image = affine_map<(n, c, y, t, u, x) -> (n, c, y * 2 + t, x * 2 + u)>
#filter = affine_map<(n, c, y, t, u, x) -> (c, t, u)>
#result = affine_map<(n, c, y, t, u, x) -> (n, c, y, x)>
#all = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channel = affine_map<(n, c, y, x) -> (c)>
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME: %[[X:.*]]: tensor<1x32x10x10xf32>, %[[F:.*]]: tensor<32x3x3xf32>, %[[B:.*]]: tensor<32xf32>)
func.func @depthwise(%x: tensor<1x32x10x10xf32>, %f: tensor<32x3x3xf32>, %b: tensor<32xf32>) -> tensor<1x32x5x5xf32> {
  // CHECK-NOT: tensor<1x32x12x12xf32>
  // CHECK: scf.forall (%[[C:.*]]) = (0) to (32) step (9)
  // CHECK-DAG: %[[SIZE:.*]] = affine.min
  // The last row and column of the padding are not read.
  // CHECK-DAG: %[[OWN:.*]] = tensor.extract_slice %[[X]][0, %[[C]], 0, 0] [1, %[[SIZE]], 10, 10]
  // CHECK-DAG: %[[EMPTY:.*]] = tensor.empty(%[[SIZE]]) : tensor<1x?x11x11xf32>
  // CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
  // CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[OWN]] into %[[ZEROS]][0, 0, 1, 1] [1, %[[SIZE]], 10, 10]
  // CHECK: %[[START:.*]] = linalg.fill {{.*}} -> tensor<1x?x5x5xf32>
  // CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[PADDED]], {{.*}} outs(%[[START]]
  // CHECK: linalg.generic {{.*}} ins(%[[SUMS]],
  // CHECK: tensor.parallel_insert_slice
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x12x12xf32>
  %around = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x12x12xf32>) -> tensor<1x32x12x12xf32>
  %padded = tensor.insert_slice %x into %around[0, 0, 1, 1] [1, 32, 10, 10] [1, 1, 1, 1] : tensor<1x32x10x10xf32> into tensor<1x32x12x12xf32>
  %c = tensor.empty() : tensor<1x32x5x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x32x5x5xf32>) -> tensor<1x32x5x5xf32>
  %sums = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%padded, %f : tensor<1x32x12x12xf32>, tensor<32x3x3xf32>) outs(%start : tensor<1x32x5x5xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  } -> tensor<1x32x5x5xf32>
  %r = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums, %b : tensor<1x32x5x5xf32>, tensor<32xf32>) outs(%c : tensor<1x32x5x5xf32>) {
  ^bb0(%sum: f32, %bias: f32, %out: f32):
    %new = arith.addf %sum, %bias : f32
    linalg.yield %new : f32
  } -> tensor<1x32x5x5xf32>
  return %r : tensor<1x32x5x5xf32>
}

// -----

// Not where the sums have another user: they are made once, for both.

#image = affine_map<(c, t, x) -> (c, x + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
#all = affine_map<(c, x) -> (c, x)>
// CHECK-LABEL: func.func @twice(
func.func @twice(%x: tensor<64x70xf32>, %f: tensor<64x3xf32>, %c: tensor<64x68xf32>) -> (tensor<64x68xf32>, tensor<64x68xf32>) {
  // CHECK: %[[SUMS:.*]] = scf.forall
  // CHECK: %[[RESULT:.*]] = scf.forall
  // CHECK: return %[[SUMS]], %[[RESULT]]
  %sums = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : tensor<64x70xf32>, tensor<64x3xf32>) outs(%c : tensor<64x68xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  } -> tensor<64x68xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<64x68xf32>) outs(%c : tensor<64x68xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %new = arith.negf %sum : f32
    linalg.yield %new : f32
  } -> tensor<64x68xf32>
  return %sums, %r : tensor<64x68xf32>, tensor<64x68xf32>
}

// -----

// Nor where there are any number of channels.

#image = affine_map<(c, t, x) -> (c, x + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
#all = affine_map<(c, x) -> (c, x)>
// CHECK-LABEL: func.func @dynamic(
func.func @dynamic(%x: tensor<?x70xf32>, %f: tensor<?x3xf32>, %c: tensor<?x68xf32>) -> tensor<?x68xf32> {
  // CHECK: %[[SUMS:.*]] = scf.forall
  // CHECK: %[[RESULT:.*]] = scf.forall
  // CHECK: return %[[RESULT]]
  %sums = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : tensor<?x70xf32>, tensor<?x3xf32>) outs(%c : tensor<?x68xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  } -> tensor<?x68xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<?x68xf32>) outs(%c : tensor<?x68xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %new = arith.negf %sum : f32
    linalg.yield %new : f32
  } -> tensor<?x68xf32>
  return %r : tensor<?x68xf32>
}
