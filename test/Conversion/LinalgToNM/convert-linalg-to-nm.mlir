// RUN: nm-opt %s --convert-linalg-to-nm --canonicalize | FileCheck %s
// RUN: nm-opt %s --convert-linalg-to-nm=dense-products --canonicalize | FileCheck %s --check-prefix=DENSE

#w24 = #nm.encoding<2:4>
#w24t = #nm.encoding<2:4, dim = 1>

// The example of the pass's description.
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x64xf32>, %[[W:[^:]*]]: tensor<64x48xf32, #nm.encoding<2:4>>, %[[C:[^:]*]]: tensor<?x48xf32>
func.func @matmul(%a: tensor<?x64xf32>, %w: tensor<64x48xf32, #w24>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: %[[V:.*]], %[[I:.*]] = nm.disassemble %[[W]] : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
  // CHECK: %[[R:.*]] = nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]] : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%[[C]] : tensor<?x48xf32>) -> tensor<?x48xf32>
  // CHECK: return %[[R]]
  %r = linalg.matmul ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #w24>)
                     outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @matmul_transpose_b
func.func @matmul_transpose_b(%a: tensor<5x64xf16>, %w: tensor<48x64xf16, #w24t>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // CHECK: nm.spmm <2:4> ins(%{{.*}} : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>) outs(%{{.*}} : tensor<5x48xf32>)
  %r = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : tensor<5x64xf16>, tensor<48x64xf16, #w24t>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// CHECK-LABEL: func.func @matmul_transpose_a
func.func @matmul_transpose_a(%a: tensor<64x5xf32>, %w: tensor<64x48xf32, #w24>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // CHECK: nm.spmm <2:4> transpose_a ins(%{{.*}} : tensor<64x5xf32>,
  %r = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : tensor<64x5xf32>, tensor<64x48xf32, #w24>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// Weights on the left: C[n×m] = W[n×k] · X[k×m].
// CHECK-LABEL: func.func @weight_on_the_left
func.func @weight_on_the_left(%w: tensor<48x64xf32, #w24t>, %x: tensor<64x?xf32>, %c: tensor<48x?xf32>) -> tensor<48x?xf32> {
  // CHECK: nm.spmm <2:4> transpose_a transpose_c ins(%{{.*}} : tensor<64x?xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%{{.*}} : tensor<48x?xf32>)
  %r = linalg.matmul ins(%w, %x : tensor<48x64xf32, #w24t>, tensor<64x?xf32>)
                     outs(%c : tensor<48x?xf32>) -> tensor<48x?xf32>
  return %r : tensor<48x?xf32>
}

// CHECK-LABEL: func.func @matvec
func.func @matvec(%w: tensor<48x64xbf16, #w24t>, %x: tensor<64xbf16>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: nm.spmv <2:4> ins(%{{.*}} : tensor<64xbf16>, tensor<32x48xbf16>, tensor<32x48xi8>) outs(%{{.*}} : tensor<48xf32>)
  %r = linalg.matvec ins(%w, %x : tensor<48x64xbf16, #w24t>, tensor<64xbf16>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// CHECK-LABEL: func.func @vecmat
func.func @vecmat(%x: tensor<64xi8>, %w: tensor<64x48xi8, #w24>, %y: tensor<48xi32>) -> tensor<48xi32> {
  // CHECK: nm.spmv <2:4> ins(%{{.*}} : tensor<64xi8>, tensor<32x48xi8>, tensor<32x48xi8>) outs(%{{.*}} : tensor<48xi32>)
  %r = linalg.vecmat ins(%x, %w : tensor<64xi8>, tensor<64x48xi8, #w24>) outs(%y : tensor<48xi32>) -> tensor<48xi32>
  return %r : tensor<48xi32>
}

// Leading batch dimensions are one long m.
// CHECK-LABEL: func.func @batch_matmul_shared_weight
func.func @batch_matmul_shared_weight(%a: tensor<?x7x64xf32>, %w: tensor<64x48xf32, #w24>, %c: tensor<?x7x48xf32>) -> tensor<?x7x48xf32> {
  // CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<?x7x64xf32> into tensor<?x64xf32>
  // CHECK: %[[C:.*]] = tensor.collapse_shape
  // CHECK: %[[R:.*]] = nm.spmm <2:4> ins(%[[A]]
  // CHECK: tensor.expand_shape %[[R]]
  %r = linalg.batch_matmul
    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%a, %w : tensor<?x7x64xf32>, tensor<64x48xf32, #w24>) outs(%c : tensor<?x7x48xf32>) -> tensor<?x7x48xf32>
  return %r : tensor<?x7x48xf32>
}

// A batch of column-major activations keeps its batch dimension.
// CHECK-LABEL: func.func @generic_batch_on_the_left
func.func @generic_batch_on_the_left(%w: tensor<48x64xf32, #w24t>, %x: tensor<3x64x9xf32>, %c: tensor<3x48x9xf32>) -> tensor<3x48x9xf32> {
  // CHECK: nm.spmm <2:4> transpose_a transpose_c ins(%{{.*}} : tensor<3x64x9xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%{{.*}} : tensor<3x48x9xf32>)
  %r = linalg.generic {
      indexing_maps = [affine_map<(b, n, m, k) -> (n, k)>, affine_map<(b, n, m, k) -> (b, k, m)>, affine_map<(b, n, m, k) -> (b, n, m)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<48x64xf32, #w24t>, tensor<3x64x9xf32>) outs(%c : tensor<3x48x9xf32>) {
    ^bb0(%wv: f32, %xv: f32, %cv: f32):
      %p = arith.mulf %xv, %wv : f32
      %s = arith.addf %cv, %p : f32
      linalg.yield %s : f32
  } -> tensor<3x48x9xf32>
  return %r : tensor<3x48x9xf32>
}

// n first and k first: neither fits, so both are transposed.
// CHECK-LABEL: func.func @generic_odd_order
func.func @generic_odd_order(%w: tensor<64x48xf32, #w24>, %x: tensor<64x3x9xf32>, %c: tensor<48x3x9xf32>) -> tensor<48x3x9xf32> {
  // CHECK: %[[A:.*]] = linalg.transpose ins(%{{.*}} : tensor<64x3x9xf32>) outs(%{{.*}} : tensor<3x9x64xf32>) permutation = [1, 2, 0]
  // CHECK: %[[C:.*]] = linalg.transpose ins(%{{.*}} : tensor<48x3x9xf32>) outs(%{{.*}} : tensor<3x9x48xf32>) permutation = [1, 2, 0]
  // CHECK: nm.spmm <2:4> ins(%{{.*}} : tensor<27x64xf32>
  // CHECK: linalg.transpose ins(%{{.*}} : tensor<3x9x48xf32>) outs(%{{.*}} : tensor<48x3x9xf32>) permutation = [2, 0, 1]
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (k, a, b)>, affine_map<(a, b, n, k) -> (n, a, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<64x48xf32, #w24>, tensor<64x3x9xf32>) outs(%c : tensor<48x3x9xf32>) {
    ^bb0(%wv: f32, %xv: f32, %cv: f32):
      %p = arith.mulf %xv, %wv : f32
      %s = arith.addf %p, %cv : f32
      linalg.yield %s : f32
  } -> tensor<48x3x9xf32>
  return %r : tensor<48x3x9xf32>
}

// Products without an encoded operand are upstream's.
// CHECK-LABEL: func.func @dense
func.func @dense(%a: tensor<5x64xf32>, %w: tensor<64x48xf32>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // CHECK: linalg.matmul
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf32>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// A weight behind a transposition, as PyTorch's exporters write it: the
// condensed form does not depend on the order of its dimensions.
// CHECK-LABEL: func.func @transposed_argument
// CHECK-SAME: %[[A:[^:]*]]: tensor<5x64xf32>, %[[W:[^:]*]]: tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>
// CHECK-NOT: linalg.transpose
// CHECK: %[[V:.*]], %[[I:.*]] = nm.disassemble %[[W]]
// CHECK: nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]] :
func.func @transposed_argument(%a: tensor<5x64xf32>, %w: tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>,
                               %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.transpose ins(%w : tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>)
                        outs(%e : tensor<64x48xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<5x64xf32>, tensor<64x48xf32>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// CHECK-LABEL: func.func @transposed_by_generic
// CHECK-NOT: linalg.generic
// CHECK: nm.spmm <2:4>
func.func @transposed_by_generic(%a: tensor<5x64xf32>, %w: tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>,
                                 %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<64x48xf32>
  %r = linalg.matmul ins(%a, %t : tensor<5x64xf32>, tensor<64x48xf32>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// With dense-products, a dense matrix is its own condensed form.
// DENSE-LABEL: func.func @dense
// DENSE-SAME: %[[A:[^:]*]]: tensor<5x64xf32>, %[[W:[^:]*]]: tensor<64x48xf32>
// DENSE: %[[I:.*]] = arith.constant dense<0> : tensor<64x1xi8>
// DENSE: nm.spmm <1:1, block = 1x48> ins(%[[A]], %[[W]], %[[I]] : tensor<5x64xf32>, tensor<64x48xf32>, tensor<64x1xi8>)

// DENSE-LABEL: func.func @dense_transposed
// DENSE: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<48x64xf16>) outs(%{{.*}} : tensor<64x48xf16>) permutation = [1, 0]
// DENSE: nm.spmv <1:1, block = 1x48> ins(%{{.*}}, %[[T]],
func.func @dense_transposed(%w: tensor<48x64xf16>, %x: tensor<64xf16>, %y: tensor<48xf32>) -> tensor<48xf32> {
  %r = linalg.matvec ins(%w, %x : tensor<48x64xf16>, tensor<64xf16>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// Both operands differ in the batch, so neither is one matrix.
// DENSE-LABEL: func.func @dense_batch
// DENSE: linalg.batch_matmul
func.func @dense_batch(%a: tensor<2x5x64xf32>, %b: tensor<2x64x48xf32>, %c: tensor<2x5x48xf32>) -> tensor<2x5x48xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x5x64xf32>, tensor<2x64x48xf32>) outs(%c : tensor<2x5x48xf32>) -> tensor<2x5x48xf32>
  return %r : tensor<2x5x48xf32>
}

// Blocks of columns, between which the product can be cut into tiles.
// DENSE-LABEL: func @dense_blocks
// DENSE: nm.spmm <1:1, block = 1x64> ins(%{{.*}} : tensor<5x3xf32>, tensor<3x192xf32>, tensor<3x3xi8>)
func.func @dense_blocks(%a: tensor<5x3xf32>, %w: tensor<3x192xf32>, %c: tensor<5x192xf32>) -> tensor<5x192xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<5x3xf32>, tensor<3x192xf32>) outs(%c : tensor<5x192xf32>) -> tensor<5x192xf32>
  return %r : tensor<5x192xf32>
}
// A prime n has no such blocks.
// DENSE-LABEL: func @dense_prime
// DENSE: nm.spmm <1:1, block = 1x97> ins(%{{.*}} : tensor<5x3xf32>, tensor<3x97xf32>, tensor<3x1xi8>)
func.func @dense_prime(%a: tensor<5x3xf32>, %w: tensor<3x97xf32>, %c: tensor<5x97xf32>) -> tensor<5x97xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<5x3xf32>, tensor<3x97xf32>) outs(%c : tensor<5x97xf32>) -> tensor<5x97xf32>
  return %r : tensor<5x97xf32>
}
