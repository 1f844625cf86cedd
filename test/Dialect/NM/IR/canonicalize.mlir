// RUN: nm-opt %s --canonicalize --split-input-file | FileCheck %s

// A product takes an input as it was before it was cast to a less static type.

// CHECK-LABEL: func.func @cast_of_tensors
// CHECK-SAME: %[[A:.*]]: tensor<3x64xf32>, %[[V:.*]]: tensor<32x48xf32>
func.func @cast_of_tensors(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK-NOT: tensor.cast
  // CHECK: nm.spmm <2:4> ins(%[[A]], %[[V]], %{{.*}} : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%{{.*}} : tensor<?x48xf32>)
  %0 = tensor.cast %a : tensor<3x64xf32> to tensor<?x64xf32>
  %1 = tensor.cast %v : tensor<32x48xf32> to tensor<?x?xf32>
  %r = nm.spmm <2:4> ins(%0, %1, %i : tensor<?x64xf32>, tensor<?x?xf32>, tensor<32x48xi8>)
    outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// -----

// CHECK-LABEL: func.func @cast_of_memrefs
// CHECK-SAME: %[[X:.*]]: memref<64xf32>
func.func @cast_of_memrefs(%x: memref<64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %y: memref<48xf32>) {
  // CHECK-NOT: memref.cast
  // CHECK: nm.spmv <2:4> ins(%[[X]], %{{.*}}, %{{.*}} : memref<64xf32>,
  %0 = memref.cast %x : memref<64xf32> to memref<64xf32, strided<[?], offset: ?>>
  nm.spmv <2:4> ins(%0, %v, %i : memref<64xf32, strided<[?], offset: ?>>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%y : memref<48xf32>)
  return
}

// -----

// A cast to a more static type says something and stays.

// CHECK-LABEL: func.func @cast_to_static
func.func @cast_to_static(%a: tensor<?x?xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // CHECK: %[[A:.*]] = tensor.cast
  // CHECK: nm.spmm <2:4> ins(%[[A]],
  %0 = tensor.cast %a : tensor<?x?xf32> to tensor<3x64xf32>
  %r = nm.spmm <2:4> ins(%0, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_a
// CHECK-SAME: %[[A:.*]]: tensor<64x3xf32>
func.func @transposed_a(%a: tensor<64x3xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: nm.spmm <2:4> transpose_a ins(%[[A]],
  %0 = tensor.empty() : tensor<3x64xf32>
  %1 = linalg.transpose ins(%a : tensor<64x3xf32>) outs(%0 : tensor<3x64xf32>) permutation = [1, 0]
  %r = nm.spmm <2:4> ins(%1, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

// -----

// A schedule was chosen for the layout that A has.

// CHECK-LABEL: func.func @transposed_for_its_schedule
func.func @transposed_for_its_schedule(%a: tensor<64x3xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // CHECK: %[[A:.*]] = linalg.transpose
  // CHECK: nm.spmm <2:4> schedule #nm.cublas ins(%[[A]],
  %0 = tensor.empty() : tensor<3x64xf32>
  %1 = linalg.transpose ins(%a : tensor<64x3xf32>) outs(%0 : tensor<3x64xf32>) permutation = [1, 0]
  %r = nm.spmm <2:4> schedule #nm.cublas<> ins(%1, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

// -----

// In a batch, and where A was to be transposed already.

// CHECK-LABEL: func.func @transposed_twice
// CHECK-SAME: %[[A:.*]]: tensor<2x3x64xf32>
func.func @transposed_twice(%a: tensor<2x3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<2x48x3xf32>) -> tensor<2x48x3xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: nm.spmm <2:4> transpose_c ins(%[[A]],
  %0 = tensor.empty() : tensor<2x64x3xf32>
  %1 = linalg.transpose ins(%a : tensor<2x3x64xf32>) outs(%0 : tensor<2x64x3xf32>) permutation = [0, 2, 1]
  %r = nm.spmm <2:4> transpose_a transpose_c
    ins(%1, %v, %i : tensor<2x64x3xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<2x48x3xf32>) -> tensor<2x48x3xf32>
  return %r : tensor<2x48x3xf32>
}

// -----

// The product cannot take another order of dimensions.

// CHECK-LABEL: func.func @transposed_batch
func.func @transposed_batch(%a: tensor<3x2x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<2x3x48xf32>) -> tensor<2x3x48xf32> {
  // CHECK: linalg.transpose
  // CHECK: nm.spmm <2:4> ins
  %0 = tensor.empty() : tensor<2x3x64xf32>
  %1 = linalg.transpose ins(%a : tensor<3x2x64xf32>) outs(%0 : tensor<2x3x64xf32>) permutation = [1, 0, 2]
  %r = nm.spmm <2:4> ins(%1, %v, %i : tensor<2x3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<2x3x48xf32>) -> tensor<2x3x48xf32>
  return %r : tensor<2x3x48xf32>
}

// -----

// Products over nothing, and of nothing, add nothing.

// CHECK-LABEL: func.func @empty_tensors
// CHECK-SAME: %[[C:[^:]*]]: tensor<3x48xf32>, %[[Y:[^:]*]]: tensor<0xf32>
func.func @empty_tensors(%c: tensor<3x48xf32>, %y: tensor<0xf32>, %a: tensor<3x0xf32>, %v: tensor<0x48xf32>, %i: tensor<0x48xi8>,
    %x: tensor<64xf32>, %w: tensor<32x0xf32>, %j: tensor<32x0xi8>) -> (tensor<3x48xf32>, tensor<0xf32>) {
  // CHECK: return %[[C]], %[[Y]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x0xf32>, tensor<0x48xf32>, tensor<0x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  %s = nm.spmv <2:4> ins(%x, %w, %j : tensor<64xf32>, tensor<32x0xf32>, tensor<32x0xi8>)
    outs(%y : tensor<0xf32>) -> tensor<0xf32>
  return %r, %s : tensor<3x48xf32>, tensor<0xf32>
}

// -----

// CHECK-LABEL: func.func @empty_memrefs
func.func @empty_memrefs(%a: memref<0x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<0x48xf32>) {
  // CHECK-NOT: nm.spmm
  nm.spmm <2:4> ins(%a, %v, %i : memref<0x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<0x48xf32>)
  return
}

// -----

// An op on memrefs writes memory: it stays though nobody reads its results, and
// a constant input does not fold it.

// CHECK-LABEL: func.func @effects
func.func @effects(%b: memref<8x4xf32>, %v: memref<4x4xf32>, %i: memref<4x4xi8>) {
  // CHECK: nm.prune
  // CHECK: nm.compress
  nm.prune <2:4> ins(%b : memref<8x4xf32>) outs(%b : memref<8x4xf32>)
  nm.compress <2:4> ins(%b : memref<8x4xf32>) outs(%v, %i : memref<4x4xf32>, memref<4x4xi8>)
  return
}

// -----

// On tensors, an op without uses goes.

// CHECK-LABEL: func.func @unused
func.func @unused(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) {
  // CHECK-NOT: nm.spmm
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return
}

// -----

// Nor where m and k are swapped beside others.

// CHECK-LABEL: func.func @transposed_batch_and_matrix
func.func @transposed_batch_and_matrix(%a: tensor<5x2x64x3xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
    %c: tensor<2x5x3x48xf32>) -> tensor<2x5x3x48xf32> {
  // CHECK: linalg.transpose
  // CHECK: nm.spmm <2:4> ins
  %0 = tensor.empty() : tensor<2x5x3x64xf32>
  %1 = linalg.transpose ins(%a : tensor<5x2x64x3xf32>) outs(%0 : tensor<2x5x3x64xf32>) permutation = [1, 0, 3, 2]
  %r = nm.spmm <2:4> ins(%1, %v, %i : tensor<2x5x3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<2x5x3x48xf32>) -> tensor<2x5x3x48xf32>
  return %r : tensor<2x5x3x48xf32>
}

// -----

// An epilogue that gives the sum is none: the sum is added to zeros.

// CHECK-LABEL: func.func @identity_epilogue
// CHECK-SAME: %[[C:[^:]*]]: tensor<3x48xf32>)
func.func @identity_epilogue(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %b: tensor<48xf32>,
                             %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[C]] : {{.*}})
  // CHECK: nm.spmm <2:4> ins({{.*}}) outs(%[[FILL]] : tensor<3x48xf32>) -> tensor<3x48xf32>
  // CHECK-NOT: epilogue
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %x: f32):
      nm.yield %s : f32
    }
  return %r : tensor<3x48xf32>
}

// -----

// An operand that is not used goes. Constants stay in the region.

// CHECK-LABEL: func.func @unused_epilogue_operand
// CHECK-SAME: %[[B:[^:]*]]: tensor<48xf32>, %[[D:[^:]*]]: tensor<3x48xf16>
func.func @unused_epilogue_operand(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %b: tensor<48xf32>,
                                   %d: tensor<3x48xf16>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // CHECK: epilogue ins(%[[B]] : tensor<48xf32>) maps [#{{.*}}] {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[X:.*]]: f32):
  // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.0
  // CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[TWO]]
  // CHECK-NEXT: arith.addf %[[S]], %[[P]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
    epilogue ins(%d, %b : tensor<3x48xf16>, tensor<48xf32>)
             maps [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %h: f16, %x: f32):
      %two = arith.constant 2.0 : f32
      %p = arith.mulf %x, %two : f32
      %y = arith.addf %s, %p : f32
      nm.yield %y : f32
    }
  return %r : tensor<3x48xf32>
}

// -----

// Sums over no rows of k are zeros, which the epilogue still takes.

// CHECK-LABEL: func.func @epilogue_of_an_empty_sum
func.func @epilogue_of_an_empty_sum(%a: tensor<3x0xf32>, %v: tensor<0x48xf32>, %i: tensor<0x48xi8>, %b: tensor<48xf32>,
                                    %c: tensor<3x48xf16>) -> tensor<3x48xf16> {
  // CHECK: linalg.fill
  // CHECK-NOT: nm.spmm
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: arith.truncf
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x0xf32>, tensor<0x48xf32>, tensor<0x48xi8>)
    outs(%c : tensor<3x48xf16>) -> tensor<3x48xf16>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %x: f32):
      %y = arith.addf %s, %x : f32
      %h = arith.truncf %y : f32 to f16
      nm.yield %h : f16
    }
  return %r : tensor<3x48xf16>
}
