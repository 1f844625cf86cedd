// RUN: nm-opt %s --nm-attach-chip="chip=sm_90a" --nm-propagate-layouts="product-costs=100,100,50" --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip="chip=sm_90a" --nm-propagate-layouts="product-costs=100,100,99" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SLIGHT
// RUN: nm-opt %s --nm-attach-chip="chip=sm_90a" --nm-propagate-layouts="product-costs=100,100,50" --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A copy that costs more than it gains is not made.
// SLIGHT-LABEL: func @m_major
// SLIGHT-NOT: bufferization.alloc_tensor

// Rows of 77 elements of 16 bits start anywhere; those of the copy are laid out
// by nm-pad-rows.
// CHECK-LABEL: func @m_major
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x77xf16>
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[A]]) : tensor<64x77xf16>
// CHECK: nm.spmm <2:4> transpose_a ins(%[[COPY]],
// REMARK: remark: copies 'tensor<64x77xf16>' to rows that start with lines, in about {{.*}} us, for products that gain more by it
// REMARK: remark: activations have the layouts that cost least: estimated 52.{{.}} us of products, transpositions and copies
func.func @m_major(%a: tensor<64x77xf16>, %v: tensor<32x128xf16>, %i: tensor<32x128xi8>, %c: tensor<77x128xf16>) -> tensor<77x128xf16> {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x77xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%c : tensor<77x128xf16>) -> tensor<77x128xf16>
  return %r : tensor<77x128xf16>
}

// -----

// So are those of an unknown number of elements, and of a row-major A whose k
// is no multiple of 8.
// CHECK-LABEL: func @unknown
// CHECK-SAME: %[[A:[^:]*]]: tensor<2x64x?xbf16>
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[A]]) : tensor<2x64x?xbf16>
// CHECK: nm.spmm <2:4> transpose_a ins(%[[COPY]],
// CHECK-LABEL: func @row_major
// CHECK: bufferization.alloc_tensor() copy(%{{.*}}) : tensor<96x68xf16>
func.func @unknown(%a: tensor<2x64x?xbf16>, %v: tensor<32x128xbf16>, %i: tensor<32x128xi8>, %c: tensor<2x?x128xbf16>) -> tensor<2x?x128xbf16> {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<2x64x?xbf16>, tensor<32x128xbf16>, tensor<32x128xi8>) outs(%c : tensor<2x?x128xbf16>) -> tensor<2x?x128xbf16>
  return %r : tensor<2x?x128xbf16>
}
func.func @row_major(%a: tensor<96x68xf16>, %v: tensor<34x128xf16>, %i: tensor<34x128xi8>, %c: tensor<96x128xf16>) -> tensor<96x128xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<96x68xf16>, tensor<34x128xf16>, tensor<34x128xi8>) outs(%c : tensor<96x128xf16>) -> tensor<96x128xf16>
  return %r : tensor<96x128xf16>
}

// -----

// One copy serves both products, and nothing else.
// CHECK-LABEL: func @shared
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x77xf16>
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[A]]) : tensor<64x77xf16>
// CHECK-NOT: bufferization.alloc_tensor
// CHECK: nm.spmm <2:4> transpose_a ins(%[[COPY]],
// CHECK: nm.spmm <2:4> transpose_a ins(%[[COPY]],
// CHECK: return %{{.*}}, %{{.*}}, %[[A]]
func.func @shared(%a: tensor<64x77xf16>, %v: tensor<32x128xf16>, %i: tensor<32x128xi8>, %c: tensor<77x128xf16>) -> (tensor<77x128xf16>, tensor<77x128xf16>, tensor<64x77xf16>) {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x77xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%c : tensor<77x128xf16>) -> tensor<77x128xf16>
  %s = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x77xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%c : tensor<77x128xf16>) -> tensor<77x128xf16>
  return %r, %s, %a : tensor<77x128xf16>, tensor<77x128xf16>, tensor<64x77xf16>
}

// -----

// Rows that start with lines, rows of temporaries, which nm-pad-rows lays out
// as they are, and those of other elements are not copied.
// CHECK-LABEL: func @left
// CHECK-NOT: bufferization.alloc_tensor
func.func @left(%a: tensor<64x128xf16>, %v: tensor<32x128xf16>, %i: tensor<32x128xi8>, %c: tensor<128x128xf16>,
                %x: tensor<64x77xf16>, %d: tensor<77x128xf16>,
                %w: tensor<64x77xf32>, %v32: tensor<32x128xf32>, %c32: tensor<77x128xf32>)
    -> (tensor<128x128xf16>, tensor<77x128xf16>, tensor<77x128xf32>) {
  %r = nm.spmm <2:4> transpose_a ins(%a, %v, %i : tensor<64x128xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%c : tensor<128x128xf16>) -> tensor<128x128xf16>
  %e = tensor.empty() : tensor<64x77xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<64x77xf16>) outs(%e : tensor<64x77xf16>) {
  ^bb0(%in: f16, %o: f16):
    %0 = arith.addf %in, %in : f16
    linalg.yield %0 : f16
  } -> tensor<64x77xf16>
  %s = nm.spmm <2:4> transpose_a ins(%h, %v, %i : tensor<64x77xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%d : tensor<77x128xf16>) -> tensor<77x128xf16>
  %t = nm.spmm <2:4> transpose_a ins(%w, %v32, %i : tensor<64x77xf32>, tensor<32x128xf32>, tensor<32x128xi8>) outs(%c32 : tensor<77x128xf32>) -> tensor<77x128xf32>
  return %r, %s, %t : tensor<128x128xf16>, tensor<77x128xf16>, tensor<77x128xf32>
}
