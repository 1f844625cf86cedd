// RUN: nm-opt %s --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

#all = affine_map<(m, b, c) -> (m, b, c)>
#columns = affine_map<(m, b, c) -> (b, c)>

// Blocks combine the halves of their columns: an operand along n by the block's part, one
// of a matrix by its rows, too. The product's result is memory of no one but a block.

// CHECK: #[[$BLOCK:.*]] = affine_map<()[s0] -> (s0 floordiv 32)>
// CHECK: #[[$HALF:.*]] = affine_map<()[s0] -> (s0 floordiv 2)>
// CHECK-LABEL: func.func @combined(
// CHECK-SAME:    %[[BIAS:[^:]*]]: tensor<3x16xf16>, %[[X:[^:]*]]: tensor<?x3x16xf16>
// CHECK: %[[R:.*]] = scf.forall (%[[M:.*]], %[[N:.*]]) = {{.*}} to (%{{.*}}, 96) step (16, 32) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<?x48xf16>)
// CHECK-DAG: %[[ROWS:.*]] = affine.min
// CHECK: %[[S:.*]] = scf.for
// CHECK:   nm.spmm <2:4>
// CHECK-DAG: %[[P:.*]] = tensor.extract_slice %[[S]][0, 0] [%[[ROWS]], 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
// CHECK-DAG: %[[Q:.*]] = tensor.extract_slice %[[S]][0, 16] [%[[ROWS]], 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
// CHECK-DAG: %[[I:.*]] = affine.apply #[[$BLOCK]]()[%[[N]]]
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %[[BIAS]][%[[I]], 0] [1, 16] [1, 1] : tensor<3x16xf16> to tensor<16xf16>
// CHECK-DAG: %[[Y:.*]] = tensor.extract_slice %[[X]][%[[M]], %[[I]], 0] [%[[ROWS]], 1, 16] [1, 1, 1] : tensor<?x3x16xf16> to tensor<?x16xf16>
// CHECK-DAG: %[[J:.*]] = affine.apply #[[$HALF]]()[%[[N]]]
// CHECK-DAG: %[[T:.*]] = tensor.extract_slice %[[O]][%[[M]], %[[J]]] [%[[ROWS]], 16] [1, 1] : tensor<?x48xf16> to tensor<?x16xf16>
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[Q]], %[[B]], %[[Y]] : {{.*}}) outs(%[[T]] : tensor<?x16xf16>)
// CHECK: ^bb0(%[[U:.*]]: f32, %[[V:.*]]: f32, %[[W:.*]]: f16, %[[Z:.*]]: f16, %{{.*}}: f16):
// CHECK-DAG: %[[FIRST:.*]] = arith.truncf %[[U]] : f32 to f16
// CHECK-DAG: %[[SECOND:.*]] = arith.truncf %[[V]] : f32 to f16
// CHECK: arith.subf %[[SECOND]], %[[FIRST]]
// CHECK: tensor.parallel_insert_slice %[[C]] into %[[O]][%[[M]], %[[J]]] [%[[ROWS]], 16]
// CHECK: tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]] {{.*}} into tensor<?x3x16xf16>
func.func @combined(%bias: tensor<3x16xf16>, %x: tensor<?x3x16xf16>, %a: tensor<?x128xf16>, %v: tensor<64x96xf16>, %i: tensor<64x96xi8>, %e: tensor<?x96xf16>, %o: tensor<?x3x16xf16>) -> tensor<?x3x16xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x128xf16>
  %p = nm.spmm <2:4> schedule #nm.mma_sp<block = [16, 32, 64], warp = [16, 32], stages = 3, split_k = 1, cluster_k = 1, slice_k = 1>
    ins(%a, %v, %i : tensor<?x128xf16>, tensor<64x96xf16>, tensor<64x96xi8>) outs(%e : tensor<?x96xf16>) -> tensor<?x96xf16> epilogue {
    ^bb0(%s: f32):
      %r = arith.truncf %s : f32 to f16
      nm.yield %r : f16
    }
  %h = tensor.expand_shape %p [[0], [1, 2, 3]] output_shape [%m, 3, 2, 16] : tensor<?x96xf16> into tensor<?x3x2x16xf16>
  %f = tensor.extract_slice %h[0, 0, 0, 0] [%m, 3, 1, 16] [1, 1, 1, 1] : tensor<?x3x2x16xf16> to tensor<?x3x16xf16>
  %g = tensor.extract_slice %h[0, 0, 1, 0] [%m, 3, 1, 16] [1, 1, 1, 1] : tensor<?x3x2x16xf16> to tensor<?x3x16xf16>
  %c = linalg.generic {indexing_maps = [#all, #columns, #all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%g, %bias, %f, %x : tensor<?x3x16xf16>, tensor<3x16xf16>, tensor<?x3x16xf16>, tensor<?x3x16xf16>) outs(%o : tensor<?x3x16xf16>) {
  ^bb0(%second: f16, %b: f16, %first: f16, %y: f16, %out: f16):
    %0 = arith.subf %second, %first : f16
    %1 = arith.addf %0, %b : f16
    %2 = arith.mulf %1, %y : f16
    linalg.yield %2 : f16
  } -> tensor<?x3x16xf16>
  return %c : tensor<?x3x16xf16>
}

// -----

#all = affine_map<(m, b, c) -> (m, b, c)>

// Halves of other blocks than the schedule's are those of a result in memory.

// CHECK-LABEL: func.func @others(
// CHECK: scf.forall {{.*}} -> (tensor<16x96xf16>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<16x3x16xf16>)
func.func @others(%a: tensor<16x128xf16>, %v: tensor<64x96xf16>, %i: tensor<64x96xi8>, %e: tensor<16x96xf16>, %o: tensor<16x3x16xf16>) -> tensor<16x3x16xf16> {
  %p = nm.spmm <2:4> schedule #nm.mma_sp<block = [16, 16, 64], warp = [16, 16], stages = 3, split_k = 1, cluster_k = 1, slice_k = 1>
    ins(%a, %v, %i : tensor<16x128xf16>, tensor<64x96xf16>, tensor<64x96xi8>) outs(%e : tensor<16x96xf16>) -> tensor<16x96xf16> epilogue {
    ^bb0(%s: f32):
      %r = arith.truncf %s : f32 to f16
      nm.yield %r : f16
    }
  %h = tensor.expand_shape %p [[0], [1, 2, 3]] output_shape [16, 3, 2, 16] : tensor<16x96xf16> into tensor<16x3x2x16xf16>
  %f = tensor.extract_slice %h[0, 0, 0, 0] [16, 3, 1, 16] [1, 1, 1, 1] : tensor<16x3x2x16xf16> to tensor<16x3x16xf16>
  %g = tensor.extract_slice %h[0, 0, 1, 0] [16, 3, 1, 16] [1, 1, 1, 1] : tensor<16x3x2x16xf16> to tensor<16x3x16xf16>
  %c = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%g, %f : tensor<16x3x16xf16>, tensor<16x3x16xf16>) outs(%o : tensor<16x3x16xf16>) {
  ^bb0(%second: f16, %first: f16, %out: f16):
    %0 = arith.subf %second, %first : f16
    linalg.yield %0 : f16
  } -> tensor<16x3x16xf16>
  return %c : tensor<16x3x16xf16>
}
