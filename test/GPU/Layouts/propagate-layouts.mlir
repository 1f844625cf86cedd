// RUN: nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=100,50" --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=100,100" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ALIKE
// RUN: nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=100,99" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SLIGHT
// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-propagate-layouts --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ALIKE
// RUN: not nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=1" --split-input-file 2>&1 | FileCheck %s --check-prefix=COSTS
// COSTS: error: expected product-costs to be two, of a row-major A and of an m-major one, or three, the third of a copied A, but got 1
// RUN: nm-opt %s --nm-attach-chip --nm-propagate-layouts="product-costs=100,50" --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Where an m-major A gains nothing, as with strategies simt and gemv, nothing
// changes. Where it gains less than a transposition takes, the second product
// of a chain has one all the same, which the first one gives.
// ALIKE-NOT: transpose
// SLIGHT-LABEL: func @chain
// SLIGHT-NOT: linalg.transpose
// SLIGHT: nm.spmm <2:4> transpose_c ins(%arg0, {{.*}} -> tensor<128x96xf16>
// SLIGHT: nm.spmm <2:4> transpose_a ins({{.*}} -> tensor<96x32xf16>
// SLIGHT-LABEL: func @elementwise_first

// The chain enters by one transposition; C is row-major where it leaves. What
// is between is m-major, with the row as the last dimension.
// CHECK-LABEL: func @chain
// CHECK-SAME: %[[X:.*]]: tensor<96x64xf16>
// CHECK: %[[XT:.*]] = linalg.transpose ins(%[[X]] : tensor<96x64xf16>) outs(%{{.*}} : tensor<64x96xf16>) permutation = [1, 0]
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<128x96xf16>
// CHECK: %[[H:.*]] = nm.spmm <2:4> transpose_a transpose_c ins(%[[XT]], %{{.*}}, %{{.*}}) outs(%[[ZEROS]] : tensor<128x96xf16>) -> tensor<128x96xf16>
// CHECK: %[[G:.*]] = linalg.generic {indexing_maps = [#[[KM:.*]], #[[K:.*]], #[[KM]]], {{.*}}} ins(%[[H]], %{{.*}} : tensor<128x96xf16>, tensor<128xf16>) outs(%{{.*}} : tensor<128x96xf16>)
// CHECK: nm.spmm <2:4> transpose_a ins(%[[G]], {{.*}} -> tensor<96x32xf16>
// CHECK-NOT: linalg.transpose
// REMARK: remark: transposes 'tensor<96x64xf16>', in about 2.0 us, for products that gain more by it
// REMARK: remark: activations have the layouts that cost least: estimated 102.0 us of products, transpositions and copies
func.func @chain(%x: tensor<96x64xf16>, %v1: tensor<32x128xf16>, %i1: tensor<32x128xi8>, %bias: tensor<128xf16>,
                 %v2: tensor<64x32xf16>, %i2: tensor<64x32xi8>) -> tensor<96x32xf16> {
  %zero = arith.constant 0.0 : f16
  %e1 = tensor.empty() : tensor<96x128xf16>
  %z1 = linalg.fill ins(%zero : f16) outs(%e1 : tensor<96x128xf16>) -> tensor<96x128xf16>
  %h = nm.spmm <2:4> ins(%x, %v1, %i1 : tensor<96x64xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%z1 : tensor<96x128xf16>) -> tensor<96x128xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%h, %bias : tensor<96x128xf16>, tensor<128xf16>) outs(%e1 : tensor<96x128xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %0 = arith.addf %a, %b : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<96x128xf16>
  %e2 = tensor.empty() : tensor<96x32xf16>
  %z2 = linalg.fill ins(%zero : f16) outs(%e2 : tensor<96x32xf16>) -> tensor<96x32xf16>
  %y = nm.spmm <2:4> ins(%g, %v2, %i2 : tensor<96x128xf16>, tensor<64x32xf16>, tensor<64x32xi8>) outs(%z2 : tensor<96x32xf16>) -> tensor<96x32xf16>
  return %y : tensor<96x32xf16>
}

// -----

// The transposition of an elementwise op's operand is the op's.
// CHECK-LABEL: func @elementwise_first
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[ROW:.*]], #[[K_MAJOR:.*]]], {{.*}}} ins(%{{.*}} : tensor<?x64xf32>) outs(%{{.*}} : tensor<64x?xf16>)
// CHECK: nm.spmm <2:4> transpose_a ins(%{{.*}} : tensor<64x?xf16>, {{.*}} -> tensor<?x32xf16>
func.func @elementwise_first(%x: tensor<?x64xf32>, %v: tensor<32x32xf16>, %i: tensor<32x32xi8>, %c: tensor<?x32xf16>) -> tensor<?x32xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x64xf16>
  %y = nm.spmm <2:4> ins(%h, %v, %i : tensor<?x64xf16>, tensor<32x32xf16>, tensor<32x32xi8>) outs(%c : tensor<?x32xf16>) -> tensor<?x32xf16>
  return %y : tensor<?x32xf16>
}

// -----

// One transposition serves both products; the reshape before them is of its
// source, and their sum, by an epilogue, of the residual as it is.
// CHECK-LABEL: func @shared
// CHECK-SAME: %[[X:.*]]: tensor<3x40x64xf16>, {{.*}}, %[[RESIDUAL:.*]]: tensor<120x64xf16>
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[ROWS]] : tensor<120x64xf16>)
// CHECK-NOT: linalg.transpose
// CHECK: %[[P:.*]] = nm.spmm <2:4> transpose_a transpose_c ins(%[[T]],
// CHECK: %[[Q:.*]] = nm.spmm <2:4> transpose_a ins(%[[T]], {{.*}} epilogue ins(%[[RESIDUAL]] : tensor<120x64xf16>) maps [#{{.*}}]
// CHECK: nm.spmm <2:4> transpose_a ins(%[[P]],
func.func @shared(%x: tensor<3x40x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %residual: tensor<120x64xf16>) -> (tensor<120x64xf16>, tensor<120x64xf16>) {
  %e = tensor.empty() : tensor<120x64xf16>
  %zero = arith.constant dense<0.0> : tensor<120x64xf16>
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<3x40x64xf16> into tensor<120x64xf16>
  %p = nm.spmm <2:4> ins(%rows, %v, %i : tensor<120x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%zero : tensor<120x64xf16>) -> tensor<120x64xf16>
  %q = nm.spmm <2:4> ins(%rows, %v, %i : tensor<120x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%e : tensor<120x64xf16>) -> tensor<120x64xf16>
    epilogue ins(%residual : tensor<120x64xf16>) maps [affine_map<(m, n) -> (m, n)>] {
    ^bb0(%sum: f32, %r: f16):
      %0 = arith.truncf %sum : f32 to f16
      %1 = arith.addf %0, %r : f16
      nm.yield %1 : f16
    }
  %s = nm.spmm <2:4> ins(%p, %v, %i : tensor<120x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%zero : tensor<120x64xf16>) -> tensor<120x64xf16>
  return %q, %s : tensor<120x64xf16>, tensor<120x64xf16>
}

// -----

// A layer of an encoder. The sums of a normalisation are of rows, which threads
// share, so that its operand stays row-major; the op behind the sums writes what
// the last product takes.
// CHECK-LABEL: func @normalised
// CHECK-SAME: %[[X:.*]]: tensor<96x64xf16>
// CHECK: %[[XT:.*]] = linalg.transpose
// CHECK: %[[H:.*]] = nm.spmm <2:4> transpose_a transpose_c ins(%[[XT]],
// CHECK: %[[R:.*]] = nm.spmm <2:4> transpose_a ins(%[[H]], {{.*}} epilogue ins(%[[X]] : tensor<96x64xf16>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[R]] : tensor<96x64xf16>)
// CHECK: %[[N:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[SUM]] : tensor<96x64xf16>, tensor<96xf32>) outs(%{{.*}} : tensor<64x96xf16>)
// CHECK: nm.spmm <2:4> transpose_a ins(%[[N]], {{.*}} -> tensor<96x64xf16>
// CHECK-NOT: linalg.transpose
func.func @normalised(%x: tensor<96x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>) -> tensor<96x64xf16> {
  %zero = arith.constant 0.0 : f16
  %zero32 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<96x64xf16>) -> tensor<96x64xf16>
  %h = nm.spmm <2:4> ins(%x, %v, %i : tensor<96x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%zeros : tensor<96x64xf16>) -> tensor<96x64xf16>
  %r = nm.spmm <2:4> ins(%h, %v, %i : tensor<96x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%e : tensor<96x64xf16>) -> tensor<96x64xf16>
    epilogue ins(%x : tensor<96x64xf16>) maps [affine_map<(m, n) -> (m, n)>] {
    ^bb0(%sum: f32, %r: f16):
      %0 = arith.truncf %sum : f32 to f16
      %1 = arith.addf %0, %r : f16
      nm.yield %1 : f16
    }
  %es = tensor.empty() : tensor<96xf32>
  %s0 = linalg.fill ins(%zero32 : f32) outs(%es : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%r : tensor<96x64xf16>) outs(%s0 : tensor<96xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<96xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %s : tensor<96x64xf16>, tensor<96xf32>) outs(%e : tensor<96x64xf16>) {
  ^bb0(%a: f16, %b: f32, %o: f16):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.subf %0, %b : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<96x64xf16>
  %y = nm.spmm <2:4> ins(%n, %v, %i : tensor<96x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%zeros : tensor<96x64xf16>) -> tensor<96x64xf16>
  return %y : tensor<96x64xf16>
}

// -----

// A product with a schedule keeps its layouts, and so does one on memrefs.
// CHECK-LABEL: func @given
// CHECK-NOT: transpose
// CHECK: return
func.func @given(%x: tensor<96x64xf32>, %v: tensor<32x64xf32>, %i: tensor<32x64xi8>, %c: tensor<96x64xf32>, %xm: memref<96x64xf32>, %vm: memref<32x64xf32>, %im: memref<32x64xi8>) -> tensor<96x64xf32> {
  %h = nm.spmm <2:4> schedule #nm.loops ins(%x, %v, %i : tensor<96x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) outs(%c : tensor<96x64xf32>) -> tensor<96x64xf32>
  nm.spmm <2:4> ins(%xm, %vm, %im : memref<96x64xf32>, memref<32x64xf32>, memref<32x64xi8>) outs(%xm : memref<96x64xf32>)
  return %h : tensor<96x64xf32>
}

// -----

// The loop's activations stay row-major; each turn transposes what it takes.
// CHECK-LABEL: func @loop
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<96x64xf16>)
// CHECK: %[[XT:.*]] = linalg.transpose ins(%[[X]] : tensor<96x64xf16>)
// CHECK: nm.spmm <2:4> transpose_a ins(%[[XT]], {{.*}} -> tensor<96x64xf16>
func.func @loop(%x: tensor<96x64xf16>, %v: tensor<32x64xf16>, %i: tensor<32x64xi8>) -> tensor<96x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zeros = arith.constant dense<0.0> : tensor<96x64xf16>
  %y = scf.for %t = %c0 to %c4 step %c1 iter_args(%a = %x) -> (tensor<96x64xf16>) {
    %h = nm.spmm <2:4> ins(%a, %v, %i : tensor<96x64xf16>, tensor<32x64xf16>, tensor<32x64xi8>) outs(%zeros : tensor<96x64xf16>) -> tensor<96x64xf16>
    scf.yield %h : tensor<96x64xf16>
  }
  return %y : tensor<96x64xf16>
}

// -----

// A fill of a view stays a fill in the other layout.
// CHECK-LABEL: func @filled_view
// CHECK: %[[VIEW:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : tensor<128x4x24xf16> into tensor<128x96xf16>
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f16) outs(%[[VIEW]] : tensor<128x96xf16>) -> tensor<128x96xf16>
// CHECK: nm.spmm <2:4> transpose_a transpose_c ins({{.*}}) outs(%[[ZEROS]] : tensor<128x96xf16>)
// CHECK: nm.spmm <2:4> transpose_a ins(
func.func @filled_view(%x: tensor<96x64xf16>, %v1: tensor<32x128xf16>, %i1: tensor<32x128xi8>,
                       %v2: tensor<64x32xf16>, %i2: tensor<64x32xi8>) -> tensor<96x32xf16> {
  %zero = arith.constant 0.0 : f16
  %e1 = tensor.empty() : tensor<4x24x128xf16>
  %c1 = tensor.collapse_shape %e1 [[0, 1], [2]] : tensor<4x24x128xf16> into tensor<96x128xf16>
  %z1 = linalg.fill ins(%zero : f16) outs(%c1 : tensor<96x128xf16>) -> tensor<96x128xf16>
  %h = nm.spmm <2:4> ins(%x, %v1, %i1 : tensor<96x64xf16>, tensor<32x128xf16>, tensor<32x128xi8>) outs(%z1 : tensor<96x128xf16>) -> tensor<96x128xf16>
  %e2 = tensor.empty() : tensor<96x32xf16>
  %z2 = linalg.fill ins(%zero : f16) outs(%e2 : tensor<96x32xf16>) -> tensor<96x32xf16>
  %r = nm.spmm <2:4> ins(%h, %v2, %i2 : tensor<96x128xf16>, tensor<64x32xf16>, tensor<64x32xi8>) outs(%z2 : tensor<96x32xf16>) -> tensor<96x32xf16>
  return %r : tensor<96x32xf16>
}
