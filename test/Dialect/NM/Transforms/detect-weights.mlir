// RUN: nm-opt %s --nm-detect-weights --split-input-file --verify-diagnostics | FileCheck %s
// What detection takes, the conversion takes.
// RUN: nm-opt %s --nm-detect-weights --convert-linalg-to-nm --split-input-file 2>/dev/null | FileCheck %s --check-prefix=NM
// RUN: nm-opt %s --nm-detect-weights=min-sparsity=0.6 --split-input-file 2>&1 | FileCheck %s --check-prefix=MIN

// The example of the pass's description.
// MIN: remark: weight 'constant' (tensor<4x2xf32>) stays dense: the sparsest pattern that holds is 2:4 (50.0 % sparse), below the asked 60.0 %
// CHECK-LABEL: func.func @matmul
// NM-LABEL: func.func @matmul
func.func @matmul(%a: tensor<?x4xf32>, %c: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // CHECK-NOT: tensor<4x2xf32>
  // CHECK: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<4x2xf32, #nm.encoding<2:4>>
  // CHECK: linalg.matmul ins(%{{.*}}, %[[W]] : tensor<?x4xf32>, tensor<4x2xf32, #nm.encoding<2:4>>)
  // NM: nm.spmm <2:4>
  // expected-remark @+1 {{weight 'constant' (tensor<4x2xf32>) is taken as N:M-sparse: the sparsest pattern that holds is 2:4 (50.0 % sparse)}}
  %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf32>
  %r = linalg.matmul ins(%a, %w : tensor<?x4xf32>, tensor<4x2xf32>)
                     outs(%c : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

// PyTorch's layout, and -0.0 is a zero.
// CHECK-LABEL: func.func @linear
// NM-LABEL: func.func @linear
func.func @linear(%a: tensor<3x8xf16>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: linalg.matmul {{.*}} tensor<2x8xf16, #nm.encoding<1:4, dim = 1>>
  // NM: nm.spmm <1:4>
  // expected-remark @+1 {{the sparsest pattern that holds is 1:4 (75.0 % sparse)}}
  %w = arith.constant dense<[[1.0, -0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0],
                             [0.0, 2.0, 0.0, 0.0, 3.0, -0.0, 0.0, 0.0]]> : tensor<2x8xf16>
  %r = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : tensor<3x8xf16>, tensor<2x8xf16>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// A resource keeps its bytes, and names the weight.
// CHECK-LABEL: func.func @resource
// NM-LABEL: func.func @resource
func.func @resource(%x: tensor<4xi8>, %y: tensor<2xi32>) -> tensor<2xi32> {
  // CHECK: arith.constant dense_resource<layer0> : tensor<4x2xi8, #nm.encoding<1:2, block = 1x2>>
  // NM: nm.spmv <1:2, block = 1x2>
  // expected-remark @+1 {{weight 'layer0' (tensor<4x2xi8>) is taken as N:M-sparse: the sparsest pattern that holds is 1:2, block = 1x2 (50.0 % sparse)}}
  %w = arith.constant dense_resource<layer0> : tensor<4x2xi8>
  %r = linalg.vecmat ins(%x, %w : tensor<4xi8>, tensor<4x2xi8>) outs(%y : tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
{-# dialect_resources: { builtin: { layer0: "0x010000000102000000000304" } } #-}

// -----

// CHECK-LABEL: func.func @through_transpose
// NM-LABEL: func.func @through_transpose
func.func @through_transpose(%a: tensor<3x4xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00], [0.000000e+00, 4.000000e+00], [2.000000e+00, 0.000000e+00]]> : tensor<4x2xf32, #nm.encoding<1:2>>
  // CHECK-NOT: linalg.transpose
  // CHECK: linalg.matmul ins(%{{.*}}, %[[W]] :
  // NM: nm.spmm <1:2>
  // expected-remark @+1 {{weight 'constant' (tensor<2x4xf32>) is taken as N:M-sparse: the sparsest pattern that holds is 1:2 (50.0 % sparse)}}
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 4.0, 0.0]]> : tensor<2x4xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<3x4xf32>, tensor<4x2xf32>)
                     outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// torch-mlir writes a transposition as a linalg.generic.
// CHECK-LABEL: func.func @through_generic
// NM-LABEL: func.func @through_generic
func.func @through_generic(%a: tensor<3x4xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[W:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00], [0.000000e+00, 4.000000e+00], [2.000000e+00, 0.000000e+00]]> : tensor<4x2xf32, #nm.encoding<1:2>>
  // CHECK-NOT: linalg.generic
  // CHECK: linalg.matmul ins(%{{.*}}, %[[W]] :
  // NM: nm.spmm <1:2>
  // expected-remark @+1 {{weight 'constant' (tensor<2x4xf32>) is taken as N:M-sparse: the sparsest pattern that holds is 1:2 (50.0 % sparse)}}
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 4.0, 0.0]]> : tensor<2x4xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<2x4xf32>) outs(%e : tensor<4x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x2xf32>
  %r = linalg.matmul ins(%a, %t : tensor<3x4xf32>, tensor<4x2xf32>)
                     outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// Weights on the left, used twice and by another op as well: one remark, and
// the other op keeps the plain constant.
// CHECK-LABEL: func.func @shared
// NM-LABEL: func.func @shared
func.func @shared(%a: tensor<4x3xbf16>, %b: tensor<4x5xbf16>, %c: tensor<2x3xf32>, %d: tensor<2x5xf32>)
    -> (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x4xbf16>) {
  // CHECK-DAG: %[[E:.*]] = arith.constant dense<{{.*}}> : tensor<2x4xbf16, #nm.encoding<1:2, dim = 1>>
  // CHECK-DAG: %[[W:.*]] = arith.constant dense<{{.*}}> : tensor<2x4xbf16>
  // CHECK: linalg.matmul ins(%[[E]],
  // CHECK: linalg.matmul ins(%[[E]],
  // CHECK: return {{.*}}, %[[W]] :
  // NM-COUNT-2: nm.spmm <1:2> transpose_a transpose_c
  // expected-remark @+1 {{is taken as N:M-sparse}}
  %w = arith.constant dense<[[1.0, 0.0, 0.0, 2.0], [0.0, 3.0, 4.0, 0.0]]> : tensor<2x4xbf16>
  %r = linalg.matmul ins(%w, %a : tensor<2x4xbf16>, tensor<4x3xbf16>)
                     outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = linalg.matmul ins(%w, %b : tensor<2x4xbf16>, tensor<4x5xbf16>)
                     outs(%d : tensor<2x5xf32>) -> tensor<2x5xf32>
  return %r, %s, %w : tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x4xbf16>
}

// -----

// The same constant along each of its dimensions.
// CHECK-LABEL: func.func @both_dimensions
// NM-LABEL: func.func @both_dimensions
func.func @both_dimensions(%x: tensor<2xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) {
  // CHECK-DAG: tensor<2x4xf32, #nm.encoding<1:2, block = 1x4>>
  // CHECK-DAG: tensor<2x4xf32>
  // NM: nm.spmv <1:2, block = 1x4>
  // NM: linalg.matvec
  // expected-remark @+2 {{the sparsest pattern that holds is 1:2, block = 1x4 (50.0 % sparse)}}
  // expected-remark @+1 {{weight 'constant' (tensor<2x4xf32>) stays dense: its zeros (50.0 %) follow no N:M pattern: in each one tried some window is full}}
  %w = arith.constant dense<[[1.0, 5.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = arith.constant dense<0.0> : tensor<4xf32>
  %d = arith.constant dense<0.0> : tensor<2xf32>
  %r = linalg.vecmat ins(%x, %w : tensor<2xf32>, tensor<2x4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.matvec ins(%w, %y : tensor<2x4xf32>, tensor<4xf32>) outs(%d : tensor<2xf32>) -> tensor<2xf32>
  return %r, %s : tensor<4xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @not_taken
// CHECK-NOT: #nm.encoding
// NM-LABEL: func.func @not_taken
func.func @not_taken(%a: tensor<3x4xf32>, %c: tensor<3x2xf32>, %a64: tensor<3x4xf64>, %c64: tensor<3x2xf64>,
                     %a3: tensor<2x3x4xf32>, %c3: tensor<2x3x2xf32>, %x: tensor<3x4xf16>) {
  // expected-remark @+1 {{weight 'constant' (tensor<4x2xf32>) stays dense: it has no zeros}}
  %full = arith.constant dense<1.0> : tensor<4x2xf32>
  %0 = linalg.matmul ins(%a, %full : tensor<3x4xf32>, tensor<4x2xf32>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>

  %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf32>
  %ca = arith.constant dense<2.0> : tensor<3x4xf32>
  // expected-remark @+1 {{weight 'constant' (tensor<4x2xf32>) stays dense: the activations are constant too}}
  %1 = linalg.matmul ins(%ca, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>

  // expected-remark @+1 {{stays dense: expected activations of the weight's element type f32, but got f16}}
  %2 = linalg.matmul ins(%x, %w : tensor<3x4xf16>, tensor<4x2xf32>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>

  %w64 = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf64>
  // expected-remark @+1 {{stays dense: expected element type f32, f16, bf16, i8, f8E4M3FN or f8E5M2, but got f64}}
  %3 = linalg.matmul ins(%a64, %w64 : tensor<3x4xf64>, tensor<4x2xf64>) outs(%c64 : tensor<3x2xf64>) -> tensor<3x2xf64>

  %w3 = arith.constant dense<0.0> : tensor<2x4x2xf32>
  // expected-remark @+1 {{weight 'constant' (tensor<2x4x2xf32>) stays dense: expected a weight of rank 2, but got rank 3}}
  %4 = linalg.batch_matmul ins(%a3, %w3 : tensor<2x3x4xf32>, tensor<2x4x2xf32>) outs(%c3 : tensor<2x3x2xf32>) -> tensor<2x3x2xf32>

  // Not the weight of a contraction, so not worth a word.
  %bias = arith.constant dense<[[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]> : tensor<3x2xf32>
  %5 = linalg.add ins(%c, %bias : tensor<3x2xf32>, tensor<3x2xf32>) outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

// A weight that was encoded by hand is left as it is.
// CHECK-LABEL: func.func @encoded
// NM-LABEL: func.func @encoded
func.func @encoded(%a: tensor<3x4xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: tensor<4x2xf32, #nm.encoding<3:4>>
  // NM: nm.spmm <3:4>
  %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf32, #nm.encoding<3:4>>
  %r = linalg.matmul ins(%a, %w : tensor<3x4xf32>, tensor<4x2xf32, #nm.encoding<3:4>>)
                     outs(%c : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// -----

// A product of something else than the weight: it stays dense, and says why.
// CHECK-LABEL: func.func @exp_of_weight
// NM-LABEL: func.func @exp_of_weight
func.func @exp_of_weight(%a: tensor<3x4xf32>, %c: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: math.exp
  // NM: math.exp
  %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf32>
  // expected-remark @+1 {{weight 'constant' (tensor<4x2xf32>) stays dense: op is not a contraction (a sum of products of two operands): its body has 'math.exp'}}
  %r = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%c : tensor<3x2xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %e = math.exp %y : f32
    %p = arith.mulf %x, %e : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
