// RUN: nm-opt %s --nm-merge-products --split-input-file --verify-diagnostics | FileCheck %s

// Products of one A, each with a bias, are one; results are slices of columns.
// The results' readers have views; unknown rows stay unknown.

#map = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>
// CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01, 5.000000e-01], {{.*}}> : tensor<4x8xf32>
// CHECK-DAG: %[[I:.*]] = arith.constant {{.*}} : tensor<4x8xi8>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 5.000000e+00, 5.000000e+00, 5.000000e+00]> : tensor<8xf32>
// CHECK: %[[R:.*]] = nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]] : {{.*}}) outs(%{{.*}} : tensor<?x8xf32>) -> tensor<?x8xf32> epilogue ins(%[[B]] : tensor<8xf32>)
// CHECK-NOT: nm.spmm
// CHECK: %[[P:.*]] = tensor.extract_slice %[[R]][0, 0] [%{{.*}}, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[R]][0, 4] [%{{.*}}, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
// CHECK: linalg.mul ins(%[[P]], %[[Q]]
func.func @two(%a: tensor<?x8xf32>, %c: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %v0 = arith.constant dense<[[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0]]> : tensor<4x4xf32>
  %i0 = arith.constant dense<0> : tensor<4x4xi8>
  %b0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // expected-remark @below {{2 products of one A are one, of n = 4 + 4}}
  %p = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<?x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
    epilogue ins(%b0 : tensor<4xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.addf %s, %b : f32
      nm.yield %x : f32
    }
  %v1 = arith.constant dense<0.5> : tensor<4x4xf32>
  %i1 = arith.constant dense<1> : tensor<4x4xi8>
  %b1 = arith.constant dense<5.0> : tensor<4xf32>
  %q = nm.spmm <2:4> ins(%a, %v1, %i1 : tensor<?x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
    epilogue ins(%b1 : tensor<4xf32>) maps [#n] {
    ^bb0(%s: f32, %b: f32):
      %x = arith.addf %s, %b : f32
      nm.yield %x : f32
    }
  %r = linalg.mul ins(%p, %q : tensor<?x4xf32>, tensor<?x4xf32>) outs(%c : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Blocks of whole widths, C filled and m-major, and weights that are all kept,
// whose blocks are as wide as n.

// CHECK-LABEL: func.func @blocks(
// CHECK: nm.spmm <1:2, block = 4x4> transpose_c ins(%{{.*}} : tensor<5x8xf16>, tensor<4x24xf16>, tensor<1x6xi8>) outs(%[[Z:.*]] : tensor<24x5xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [8, 5] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[8, 0] [16, 5] [1, 1]
// CHECK: nm.spmm <1:1, block = 1x24> ins(%{{.*}} : tensor<5x8xf16>, tensor<8x24xf16>, tensor<8x1xi8>)
// CHECK-NOT: nm.spmm
func.func @blocks(%a: tensor<5x8xf16>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %s = tensor.empty() : tensor<f32>
  %e0 = tensor.empty() : tensor<8x5xf32>
  %e1 = tensor.empty() : tensor<16x5xf32>
  %c0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %c1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x5xf32>) -> tensor<16x5xf32>
  %v0 = arith.constant dense<1.0> : tensor<4x8xf16>
  %i0 = arith.constant dense<1> : tensor<1x2xi8>
  %v1 = arith.constant dense<2.0> : tensor<4x16xf16>
  %i1 = arith.constant dense<0> : tensor<1x4xi8>
  // expected-remark @below {{2 products of one A are one, of n = 8 + 16}}
  %p = nm.spmm <1:2, block = 4x4> transpose_c ins(%a, %v0, %i0 : tensor<5x8xf16>, tensor<4x8xf16>, tensor<1x2xi8>) outs(%c0 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %q = nm.spmm <1:2, block = 4x4> transpose_c ins(%a, %v1, %i1 : tensor<5x8xf16>, tensor<4x16xf16>, tensor<1x4xi8>) outs(%c1 : tensor<16x5xf32>) -> tensor<16x5xf32>
  %d0 = arith.constant dense<1.0> : tensor<8x8xf16>
  %d1 = arith.constant dense<2.0> : tensor<8x16xf16>
  %i = arith.constant dense<0> : tensor<8x1xi8>
  %f0 = tensor.empty() : tensor<5x8xf32>
  %f1 = tensor.empty() : tensor<5x16xf32>
  %g0 = linalg.fill ins(%zero : f32) outs(%f0 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %g1 = linalg.fill ins(%zero : f32) outs(%f1 : tensor<5x16xf32>) -> tensor<5x16xf32>
  // expected-remark @below {{2 products of one A are one, of n = 8 + 16}}
  %x = nm.spmm <1:1, block = 1x8> ins(%a, %d0, %i : tensor<5x8xf16>, tensor<8x8xf16>, tensor<8x1xi8>) outs(%g0 : tensor<5x8xf32>) -> tensor<5x8xf32>
  %y = nm.spmm <1:1, block = 1x16> ins(%a, %d1, %i : tensor<5x8xf16>, tensor<8x16xf16>, tensor<8x1xi8>) outs(%g1 : tensor<5x16xf32>) -> tensor<5x16xf32>
  %rp = linalg.reduce { arith.addf } ins(%p : tensor<8x5xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  %rq = linalg.reduce { arith.addf } ins(%q : tensor<16x5xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  %rx = linalg.reduce { arith.addf } ins(%x : tensor<5x8xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  %ry = linalg.reduce { arith.addf } ins(%y : tensor<5x16xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  return %rp, %rq, %rx, %ry : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// What is returned or is another's A would be copied; other patterns, columns
// that no block ends with, and starts at odd bytes are not one product.

// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-8: nm.spmm
// CHECK-NOT: tensor.extract_slice
func.func @apart(%a: tensor<4x8xf32>, %t: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = linalg.fill ins(%zero : f32) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %c3 = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = arith.constant dense<1.0> : tensor<4x4xf32>
  %v2 = arith.constant dense<1.0> : tensor<2x4xf32>
  %i = arith.constant dense<0> : tensor<4x4xi8>
  %i2 = arith.constant dense<0> : tensor<2x4xi8>
  %v3 = arith.constant dense<1.0> : tensor<4x3xf32>
  %i3 = arith.constant dense<0> : tensor<4x3xi8>
  %v4 = arith.constant dense<1.0> : tensor<2x4xf32>
  %returned = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %last = nm.spmm <2:4> ins(%next, %v4, %i2 : tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = nm.spmm <1:4> ins(%a, %v2, %i2 : tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %added = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %one = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  %odd0 = nm.spmm <2:4> ins(%a, %v3, %i3 : tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x3xi8>) outs(%c3 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %odd1 = nm.spmm <2:4> ins(%a, %v3, %i3 : tensor<4x8xf32>, tensor<4x3xf32>, tensor<4x3xi8>) outs(%c3 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %s = linalg.add ins(%odd0, %odd1 : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %p = tensor.pad %s low[0, 0] high[0, 1] {
  ^bb0(%x: index, %y: index):
    tensor.yield %zero : f32
  } : tensor<4x3xf32> to tensor<4x4xf32>
  %u = linalg.add ins(%q, %added : tensor<4x4xf32>, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = linalg.add ins(%u, %one : tensor<4x4xf32>, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.add ins(%w, %last : tensor<4x4xf32>, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  %zz = linalg.add ins(%z, %p : tensor<4x4xf32>, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %returned, %zz : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Sequences of one token: a dimension of one element goes, and rows and columns
// stay apart. A collapse that mixes rows with columns would copy.

// CHECK-LABEL: func.func @one_token(
// CHECK: nm.spmm <2:4> ins({{.*}} -> tensor<3x8xf32>
// CHECK: tensor.extract_slice
// CHECK: tensor.extract_slice
// CHECK: nm.spmm <2:4> ins({{.*}} -> tensor<3x4xf32>
// CHECK: nm.spmm <2:4> ins({{.*}} -> tensor<3x4xf32>
func.func @one_token(%a: tensor<3x8xf32>, %b: tensor<3x8xf32>) -> (tensor<3x2x2xf32>, tensor<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = arith.constant dense<1.0> : tensor<4x4xf32>
  %i = arith.constant dense<0> : tensor<4x4xi8>
  // expected-remark @below {{2 products of one A are one, of n = 4 + 4}}
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %q = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p4 = tensor.expand_shape %p [[0, 1], [2, 3]] output_shape [3, 1, 2, 2] : tensor<3x4xf32> into tensor<3x1x2x2xf32>
  %q4 = tensor.expand_shape %q [[0, 1], [2, 3]] output_shape [3, 1, 2, 2] : tensor<3x4xf32> into tensor<3x1x2x2xf32>
  %p3 = tensor.collapse_shape %p4 [[0], [1, 2], [3]] : tensor<3x1x2x2xf32> into tensor<3x2x2xf32>
  %q3 = tensor.collapse_shape %q4 [[0], [1, 2], [3]] : tensor<3x1x2x2xf32> into tensor<3x2x2xf32>
  %o3 = tensor.empty() : tensor<3x2x2xf32>
  %r3 = linalg.mul ins(%p3, %q3 : tensor<3x2x2xf32>, tensor<3x2x2xf32>) outs(%o3 : tensor<3x2x2xf32>) -> tensor<3x2x2xf32>
  %x = nm.spmm <2:4> ins(%b, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = nm.spmm <2:4> ins(%b, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %x1 = tensor.collapse_shape %x [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %y1 = tensor.collapse_shape %y [[0, 1]] : tensor<3x4xf32> into tensor<12xf32>
  %o1 = tensor.empty() : tensor<12xf32>
  %r1 = linalg.mul ins(%x1, %y1 : tensor<12xf32>, tensor<12xf32>) outs(%o1 : tensor<12xf32>) -> tensor<12xf32>
  return %r3, %r1 : tensor<3x2x2xf32>, tensor<12xf32>
}

// -----

// What is gathered from, and what is scattered into a cache, as rotary embedding
// and a step of decoding have them; a product that is scattered to stays.

// CHECK-LABEL: func.func @into_a_cache(
// CHECK: nm.spmm <2:4> ins({{.*}} -> tensor<3x8xf32>
// CHECK: nm.spmm <2:4> ins({{.*}} -> tensor<3x4xf32>
// CHECK: tensor.scatter
func.func @into_a_cache(%a: tensor<3x8xf32>, %cache: tensor<9x4xf32>, %at: tensor<3x1xindex>, %to: tensor<2x1xindex>, %rows: tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<9x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = arith.constant dense<1.0> : tensor<4x4xf32>
  %i = arith.constant dense<0> : tensor<4x4xi8>
  // expected-remark @below {{2 products of one A are one, of n = 4 + 4}}
  %q = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %k = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %d = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<3x4xf32>) -> tensor<3x4xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xf32>) {
  ^bb0(%out: f32):
    %row = linalg.index 0 : index
    %column = linalg.index 1 : index
    %three = arith.constant 3 : index
    %turned = arith.subi %three, %column : index
    %x = tensor.extract %q[%row, %turned] : tensor<3x4xf32>
    linalg.yield %x : f32
  } -> tensor<3x4xf32>
  %k3 = tensor.expand_shape %k [[0], [1, 2]] output_shape [3, 1, 4] : tensor<3x4xf32> into tensor<3x1x4xf32>
  %s = tensor.scatter %k3 into %cache[%at] scatter_dims([0]) unique : (tensor<3x1x4xf32>, tensor<9x4xf32>, tensor<3x1xindex>) -> tensor<9x4xf32>
  %r3 = tensor.expand_shape %rows [[0], [1, 2]] output_shape [2, 1, 4] : tensor<2x4xf32> into tensor<2x1x4xf32>
  %u = tensor.scatter %r3 into %d[%to] scatter_dims([0]) unique : (tensor<2x1x4xf32>, tensor<3x4xf32>, tensor<2x1xindex>) -> tensor<3x4xf32>
  return %g, %s, %u : tensor<3x4xf32>, tensor<9x4xf32>, tensor<3x4xf32>
}
