// RUN: nm-opt %s --nm-raise-attention --canonicalize --split-input-file | FileCheck %s

// The example of the pass's description, with a division.

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bnk = affine_map<(b, m, n, k) -> (b, n, k)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>

// CHECK-DAG: #[[$Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
// CHECK-DAG: #[[$K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3)>
// CHECK-DAG: #[[$V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>
// CHECK-DAG: #[[$O:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
// CHECK-LABEL: func.func @attend(
// CHECK-SAME: %[[X:.*]]: tensor<8x96x64xf32>, %[[Y:.*]]: tensor<8x80x64xf32>, %[[Z:.*]]: tensor<8x80x48xf32>
// CHECK-NEXT: %[[NEW:.*]] = tensor.empty() : tensor<8x96x48xf32>
// CHECK-NEXT: %[[R:.*]] = nm.attention indexing_maps = [#[[$Q]], #[[$K]], #[[$V]], #[[$O]]] scale = 1.250000e-01 ins(%[[X]], %[[Y]], %[[Z]] : {{.*}}) outs(%[[NEW]] : {{.*}})
// CHECK-NEXT: return %[[R]]
func.func @attend(%q: tensor<8x96x64xf32>, %k: tensor<8x80x64xf32>, %v: tensor<8x80x48xf32>) -> tensor<8x96x48xf32> {
  %zero = arith.constant 0.0 : f32
  %eight = arith.constant 8.0 : f32
  %e = tensor.empty() : tensor<8x96x80xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8x96x80xf32>) -> tensor<8x96x80xf32>
  %s = linalg.generic {indexing_maps = [#bmk, #bnk, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%q, %k : tensor<8x96x64xf32>, tensor<8x80x64xf32>) outs(%zeros : tensor<8x96x80xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %p : f32
    linalg.yield %sum : f32
  } -> tensor<8x96x80xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%s : tensor<8x96x80xf32>) outs(%e : tensor<8x96x80xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %a, %eight : f32
    linalg.yield %d : f32
  } -> tensor<8x96x80xf32>
  %p = linalg.softmax dimension(2) ins(%t : tensor<8x96x80xf32>) outs(%e : tensor<8x96x80xf32>) -> tensor<8x96x80xf32>
  %f = tensor.empty() : tensor<8x96x48xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%f : tensor<8x96x48xf32>) -> tensor<8x96x48xf32>
  %r = linalg.batch_matmul ins(%p, %v : tensor<8x96x80xf32>, tensor<8x80x48xf32>) outs(%zeros2 : tensor<8x96x48xf32>) -> tensor<8x96x48xf32>
  return %r : tensor<8x96x48xf32>
}

// -----

// Halves with sums of f32, and exponentials that are rounded.

#id = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @half(
// CHECK: nm.attention {{.*}} scale = 1.000000e+00 ins(%arg0, %arg1, %arg2 : tensor<?x16xf16>, tensor<16x24xf16>, tensor<24x16xf16>)
// CHECK-NOT: linalg
func.func @half(%q: tensor<?x16xf16>, %k: tensor<16x24xf16>, %v: tensor<24x16xf16>, %m: index) -> tensor<?x16xf16> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %e = tensor.empty(%m) : tensor<?x24xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<?x16xf16>, tensor<16x24xf16>) outs(%zeros : tensor<?x24xf32>) -> tensor<?x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x24xf32>) outs(%e : tensor<?x24xf32>) -> tensor<?x24xf32>
  %h = tensor.empty(%m) : tensor<?x24xf16>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%p : tensor<?x24xf32>) outs(%h : tensor<?x24xf16>) {
  ^bb0(%a: f32, %b: f16):
    %t = arith.truncf %a : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?x24xf16>
  %f = tensor.empty(%m) : tensor<?x16xf16>
  %zeros2 = linalg.fill ins(%none : f16) outs(%f : tensor<?x16xf16>) -> tensor<?x16xf16>
  %r = linalg.matmul ins(%w, %v : tensor<?x24xf16>, tensor<24x16xf16>) outs(%zeros2 : tensor<?x16xf16>) -> tensor<?x16xf16>
  return %r : tensor<?x16xf16>
}

// -----

// A softmax over rows is none over keys, and scores that something else reads stay.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT: nm.attention
func.func @rows(%q: tensor<32x16xf32>, %k: tensor<16x24xf32>, %v: tensor<24x16xf32>, %e: tensor<32x24xf32>, %f: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<32x16xf32>, tensor<16x24xf32>) outs(%zeros : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.softmax dimension(0) ins(%s : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.matmul ins(%p, %v : tensor<32x24xf32>, tensor<24x16xf32>) outs(%zeros2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// CHECK-LABEL: func.func @read_twice(
// CHECK-NOT: nm.attention
func.func @read_twice(%q: tensor<32x16xf32>, %k: tensor<16x24xf32>, %v: tensor<24x16xf32>, %e: tensor<32x24xf32>, %f: tensor<32x16xf32>) -> (tensor<32x24xf32>, tensor<32x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<32x16xf32>, tensor<16x24xf32>) outs(%zeros : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.matmul ins(%p, %v : tensor<32x24xf32>, tensor<24x16xf32>) outs(%zeros2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %p, %r : tensor<32x24xf32>, tensor<32x16xf32>
}

// -----

// What is pruned is multiplied as a weight.

// CHECK-LABEL: func.func @weights(
// CHECK-NOT: nm.attention
func.func @weights(%q: tensor<32x16xf32>, %k: tensor<16x24xf32, #nm.encoding<2:4>>, %v: tensor<24x16xf32>, %e: tensor<32x24xf32>, %f: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %s = linalg.matmul ins(%q, %k : tensor<32x16xf32>, tensor<16x24xf32, #nm.encoding<2:4>>) outs(%zeros : tensor<32x24xf32>) -> tensor<32x24xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<32x24xf32>) outs(%e : tensor<32x24xf32>) -> tensor<32x24xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%f : tensor<32x16xf32>) -> tensor<32x16xf32>
  %r = linalg.matmul ins(%p, %v : tensor<32x24xf32>, tensor<24x16xf32>) outs(%zeros2 : tensor<32x16xf32>) -> tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}
