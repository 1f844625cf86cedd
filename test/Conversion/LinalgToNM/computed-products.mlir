// RUN: nm-opt %s --convert-linalg-to-nm="dense-products computed-products" | FileCheck %s
// RUN: nm-opt %s --convert-linalg-to-nm="computed-products arithmetic=tf32" | FileCheck %s --check-prefix=TF32
// RUN: nm-opt %s --convert-linalg-to-nm | FileCheck %s --check-prefix=WITHOUT

// WITHOUT-NOT: nm.contract

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$BT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// Zeros are right before the product, which then need not read them.
// CHECK-LABEL: func.func @batch_matmul
// CHECK: linalg.fill
// CHECK-NEXT: %[[E:.*]] = tensor.empty
// CHECK-NEXT: %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[E]]
// CHECK-NEXT: nm.contract indexing_maps = [#[[$A]], #[[$B]], #[[$C]]] ins(%{{.*}}, %{{.*}} : tensor<8x?x32xf16>, tensor<8x32x?xf16>) outs(%[[Z]] : tensor<8x?x?xf32>)
func.func @batch_matmul(%a: tensor<8x?x32xf16>, %b: tensor<8x32x?xf16>, %m: index, %n: index) -> tensor<8x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<8x?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<8x?x32xf16>, tensor<8x32x?xf16>) outs(%c : tensor<8x?x?xf32>) -> tensor<8x?x?xf32>
  return %r : tensor<8x?x?xf32>
}

// What is transposed before is read as it was.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[Q:[^:]*]]: tensor<8x16x32xf32>, %[[K:[^:]*]]: tensor<8x24x32xf32>
// CHECK: nm.contract indexing_maps = [#[[$A]], #[[$BT]], #[[$C]]] ins(%[[Q]], %[[K]] :
// TF32-LABEL: func.func @transposed
// TF32: nm.contract {{.*}} arithmetic <tf32> ins(
func.func @transposed(%q: tensor<8x16x32xf32>, %k: tensor<8x24x32xf32>, %c: tensor<8x16x24xf32>) -> tensor<8x16x24xf32> {
  %e = tensor.empty() : tensor<8x32x24xf32>
  %t = linalg.transpose ins(%k : tensor<8x24x32xf32>) outs(%e : tensor<8x32x24xf32>) permutation = [0, 2, 1]
  %r = linalg.batch_matmul ins(%q, %t : tensor<8x16x32xf32>, tensor<8x32x24xf32>) outs(%c : tensor<8x16x24xf32>) -> tensor<8x16x24xf32>
  return %r : tensor<8x16x24xf32>
}

// Heads in between rows and columns, with several batches, are no batches of one
// stride: the transposition stays.
// CHECK-LABEL: func.func @two_strides
// CHECK: %[[T:.*]] = linalg.transpose
// CHECK: nm.contract {{.*}} ins(%{{.*}}, %[[T]] :
func.func @two_strides(%p: tensor<2x4x16x24xf16>, %v: tensor<2x24x4x32xf16>, %c: tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32> {
  %e = tensor.empty() : tensor<2x4x24x32xf16>
  %t = linalg.transpose ins(%v : tensor<2x24x4x32xf16>) outs(%e : tensor<2x4x24x32xf16>) permutation = [0, 2, 1, 3]
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
    ins(%p, %t : tensor<2x4x16x24xf16>, tensor<2x4x24x32xf16>) outs(%c : tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
  return %r : tensor<2x4x16x32xf32>
}

// With one batch they are.
// CHECK-LABEL: func.func @one_stride
// CHECK-SAME: %[[P:[^:]*]]: tensor<1x4x16x24xf16>, %[[V:[^:]*]]: tensor<1x24x4x32xf16>
// CHECK: nm.contract {{.*}} ins(%[[P]], %[[V]] :
func.func @one_stride(%p: tensor<1x4x16x24xf16>, %v: tensor<1x24x4x32xf16>, %c: tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32> {
  %e = tensor.empty() : tensor<1x4x24x32xf16>
  %t = linalg.transpose ins(%v : tensor<1x24x4x32xf16>) outs(%e : tensor<1x4x24x32xf16>) permutation = [0, 2, 1, 3]
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
    ins(%p, %t : tensor<1x4x16x24xf16>, tensor<1x4x24x32xf16>) outs(%c : tensor<1x4x16x32xf32>) -> tensor<1x4x16x32xf32>
  return %r : tensor<1x4x16x32xf32>
}

// The narrower operand is widened.
// CHECK-LABEL: func.func @mixed
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : tensor<8x32x24xf16> to tensor<8x32x24xf32>
// CHECK: nm.contract {{.*}} ins(%{{.*}}, %[[W]] : tensor<8x16x32xf32>, tensor<8x32x24xf32>)
func.func @mixed(%a: tensor<8x16x32xf32>, %b: tensor<8x32x24xf16>, %c: tensor<8x16x24xf32>) -> tensor<8x16x24xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<8x16x32xf32>, tensor<8x32x24xf16>) outs(%c : tensor<8x16x24xf32>) {
  ^bb0(%x: f32, %y: f16, %z: f32):
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %x, %w : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16x24xf32>
  return %r : tensor<8x16x24xf32>
}

// Left to others: products of a static matrix, integers, short sums, sums of
// nothing but batches, and sums of more than a product.
// CHECK-LABEL: func.func @others
// CHECK: nm.spmm
// CHECK-NOT: nm.contract
func.func @others(%a: tensor<8x16x32xf32>, %w: tensor<32x64xf32>, %i: tensor<8x16x32xi8>, %j: tensor<8x32x24xi8>,
                  %s: tensor<8x16x3xf32>, %t: tensor<8x3x24xf32>, %u: tensor<8x16x64xf32>, %v: tensor<8x16x24xi32>,
                  %x: tensor<8x16x24xf32>, %y: tensor<8x16xf32>)
    -> (tensor<8x16x64xf32>, tensor<8x16x24xi32>, tensor<8x16x24xf32>, tensor<8x16xf32>) {
  %p = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%a, %w : tensor<8x16x32xf32>, tensor<32x64xf32>) outs(%u : tensor<8x16x64xf32>) -> tensor<8x16x64xf32>
  %q = linalg.batch_matmul ins(%i, %j : tensor<8x16x32xi8>, tensor<8x32x24xi8>) outs(%v : tensor<8x16x24xi32>) -> tensor<8x16x24xi32>
  %r = linalg.batch_matmul ins(%s, %t : tensor<8x16x3xf32>, tensor<8x3x24xf32>) outs(%x : tensor<8x16x24xf32>) -> tensor<8x16x24xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(b, m, k) -> (b, m, k)>, affine_map<(b, m, k) -> (b, m, k)>, affine_map<(b, m, k) -> (b, m)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %a : tensor<8x16x32xf32>, tensor<8x16x32xf32>) outs(%y : tensor<8x16xf32>) {
  ^bb0(%l: f32, %m: f32, %n: f32):
    %product = arith.mulf %l, %m : f32
    %sum = arith.addf %n, %product : f32
    linalg.yield %sum : f32
  } -> tensor<8x16xf32>
  return %p, %q, %r, %d : tensor<8x16x64xf32>, tensor<8x16x24xi32>, tensor<8x16x24xf32>, tensor<8x16xf32>
}
