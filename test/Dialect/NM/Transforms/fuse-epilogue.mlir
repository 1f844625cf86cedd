// RUN: nm-opt %s --nm-fuse-epilogue --canonicalize --split-input-file | FileCheck %s

// The example of the pass's description, and an activation behind it. The
// arithmetic stays what it was.

// CHECK: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @bias_relu
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<48xf32>)
func.func @bias_relu(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %bias: tensor<48xf32>) -> tensor<5x48xf16> {
  // CHECK-NOT: linalg
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<5x48xf16>
  // CHECK: %[[R:.*]] = nm.spmm <2:4> arithmetic <ieee> ins({{.*}}) outs(%[[E]] : tensor<5x48xf16>) -> tensor<5x48xf16> epilogue ins(%[[BIAS]] : tensor<48xf32>) maps [#[[$N]]] {
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[SUM]], %[[B]] : f32
  // CHECK-NEXT: %[[RELU:.*]] = arith.maximumf %[[BIASED]], %[[ZERO]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[RELU]] : f32 to f16
  // CHECK-NEXT: nm.yield %[[Y]] : f16
  // CHECK: return %[[R]]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
  %p = nm.spmm <2:4> arithmetic <ieee> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%z : tensor<5x48xf32>) -> tensor<5x48xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<5x48xf32>, tensor<48xf32>) outs(%e : tensor<5x48xf32>) {
  ^bb0(%s: f32, %b: f32, %o: f32):
    %x = arith.addf %s, %b : f32
    linalg.yield %x : f32
  } -> tensor<5x48xf32>
  %h = tensor.empty() : tensor<5x48xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%q : tensor<5x48xf32>) outs(%h : tensor<5x48xf16>) {
  ^bb0(%s: f32, %o: f16):
    %x = arith.maximumf %s, %zero : f32
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<5x48xf16>
  return %r : tensor<5x48xf16>
}

// -----

// Named ops; a bias is taken before it is broadcast, and what the sums were
// added to is an operand like it.

// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$MN:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @named
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<48xf16>, %[[C:[^:]*]]: tensor<5x48xf16>)
func.func @named(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %bias: tensor<48xf16>, %c: tensor<5x48xf16>) -> tensor<5x48xf16> {
  // CHECK-NOT: linalg
  // CHECK: nm.spmm
  // CHECK-SAME: epilogue ins(%[[C]], %[[BIAS]] : tensor<5x48xf16>, tensor<48xf16>) maps [#[[$MN]], #[[$N]]] {
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BEFORE:.*]]: f16, %[[B:.*]]: f16):
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[BEFORE]] : f16 to f32
  // CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[WIDE]], %[[SUM]] : f32
  // CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[ALL]] : f32 to f16
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[ROUNDED]], %[[B]] : f16
  // CHECK-NEXT: nm.yield %[[Y]] : f16
  %e = tensor.empty() : tensor<5x48xf16>
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
  %b = linalg.broadcast ins(%bias : tensor<48xf16>) outs(%e : tensor<5x48xf16>) dimensions = [0]
  %r = linalg.add ins(%p, %b : tensor<5x48xf16>, tensor<5x48xf16>) outs(%e : tensor<5x48xf16>) -> tensor<5x48xf16>
  return %r : tensor<5x48xf16>
}

// -----

// A result of 8 bits is rounded by the product that makes it.

// CHECK-LABEL: func.func @to_8_bits
func.func @to_8_bits(%a: tensor<5x64xf8E5M2>, %v: tensor<32x48xf8E5M2>, %i: tensor<32x48xi8>) -> tensor<5x48xf8E5M2> {
  // CHECK-NOT: linalg
  // CHECK: nm.spmm <2:4> ins({{.*}}) outs(%{{.*}} : tensor<5x48xf8E5M2>) -> tensor<5x48xf8E5M2> epilogue {
  // CHECK: arith.truncf %{{.*}} : f32 to f8E5M2
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf8E5M2>, tensor<32x48xf8E5M2>, tensor<32x48xi8>)
    outs(%z : tensor<5x48xf32>) -> tensor<5x48xf32>
  %o = tensor.empty() : tensor<5x48xf8E5M2>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p : tensor<5x48xf32>) outs(%o : tensor<5x48xf8E5M2>) {
  ^bb0(%s: f32, %w: f8E5M2):
    %x = arith.truncf %s : f32 to f8E5M2
    linalg.yield %x : f8E5M2
  } -> tensor<5x48xf8E5M2>
  return %r : tensor<5x48xf8E5M2>
}

// -----

// Integer sums with a scale for each column, and one for the result. C is
// transposed, the maps are of (m, n) nevertheless.

// CHECK: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[$NONE:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @quantized
func.func @quantized(%a: tensor<5x64xi8>, %v: tensor<32x48xi8>, %i: tensor<32x48xi8>, %scale: tensor<48xf32>, %out: tensor<f32>,
                     %e: tensor<48x5xi8>) -> tensor<48x5xi8> {
  // CHECK: nm.spmm <2:4> transpose_c ins({{.*}}) outs(%{{.*}} : tensor<48x5xi8>) -> tensor<48x5xi8> epilogue ins(%{{.*}}, %{{.*}} : tensor<48xf32>, tensor<f32>) maps [#[[$N]], #[[$NONE]]] {
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: i32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT: arith.sitofp %[[SUM]] : i32 to f32
  // CHECK: arith.fptosi
  // CHECK-NOT: linalg
  %c0 = arith.constant 0 : i32
  %ei = tensor.empty() : tensor<48x5xi32>
  %z = linalg.fill ins(%c0 : i32) outs(%ei : tensor<48x5xi32>) -> tensor<48x5xi32>
  %p = nm.spmm <2:4> transpose_c ins(%a, %v, %i : tensor<5x64xi8>, tensor<32x48xi8>, tensor<32x48xi8>)
    outs(%z : tensor<48x5xi32>) -> tensor<48x5xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> ()>, affine_map<(n, m) -> (n, m)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%p, %scale, %out : tensor<48x5xi32>, tensor<48xf32>, tensor<f32>) outs(%e : tensor<48x5xi8>) {
  ^bb0(%s: i32, %t: f32, %u: f32, %o: i8):
    %f = arith.sitofp %s : i32 to f32
    %g = arith.mulf %f, %t : f32
    %h = arith.mulf %g, %u : f32
    %q = arith.fptosi %h : f32 to i8
    linalg.yield %q : i8
  } -> tensor<48x5xi8>
  return %r : tensor<48x5xi8>
}

// -----

// Past the reshape of a product whose leading dimensions are one m.

// CHECK-LABEL: func.func @expanded
func.func @expanded(%a: tensor<10x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<10x48xf32>, %residual: tensor<2x5x48xf32>)
    -> tensor<2x5x48xf32> {
  // CHECK: %[[RESIDUAL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x5x48xf32> into tensor<10x48xf32>
  // CHECK: %[[R:.*]] = nm.spmm
  // CHECK-SAME: epilogue ins(%{{.*}}, %[[RESIDUAL]] :
  // CHECK: math.exp
  // CHECK: %[[X:.*]] = tensor.expand_shape %[[R]]
  // CHECK: return %[[X]]
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<10x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<10x48xf32>) -> tensor<10x48xf32>
  %x = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 5, 48] : tensor<10x48xf32> into tensor<2x5x48xf32>
  %e = tensor.empty() : tensor<2x5x48xf32>
  %q = linalg.add ins(%x, %residual : tensor<2x5x48xf32>, tensor<2x5x48xf32>) outs(%e : tensor<2x5x48xf32>) -> tensor<2x5x48xf32>
  %r = linalg.exp ins(%q : tensor<2x5x48xf32>) outs(%e : tensor<2x5x48xf32>) -> tensor<2x5x48xf32>
  return %r : tensor<2x5x48xf32>
}

// -----

// The result is used by two ops.

// CHECK-LABEL: func.func @two_users
func.func @two_users(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>)
    -> (tensor<5x48xf32>, tensor<5x48xf32>) {
  // CHECK: nm.spmm
  // CHECK-NOT: epilogue
  // CHECK: linalg.exp
  %p = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %e = tensor.empty() : tensor<5x48xf32>
  %r = linalg.exp ins(%p : tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %p, %r : tensor<5x48xf32>, tensor<5x48xf32>
}

// -----

// Ops that reduce, transpose, take a scalar, use places, or are of a type that
// no product has, stay.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: nm.spmm <2:4> ins
// CHECK-NOT: epilogue
func.func @others(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x48xf32>, %k: f32,
                  %e: tensor<5x48xf32>, %e5: tensor<5xf32>, %et: tensor<48x5xf32>, %ed: tensor<5x48xf64>)
    -> (tensor<5xf32>, tensor<48x5xf32>, tensor<5x48xf32>, tensor<5x48xf32>, tensor<5x48xf64>) {
  %p0 = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r0 = linalg.reduce { arith.addf } ins(%p0 : tensor<5x48xf32>) outs(%e5 : tensor<5xf32>) dimensions = [1]
  %p1 = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r1 = linalg.transpose ins(%p1 : tensor<5x48xf32>) outs(%et : tensor<48x5xf32>) permutation = [1, 0]
  %p2 = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p2 : tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) {
  ^bb0(%s: f32, %o: f32):
    %x = arith.mulf %s, %k : f32
    linalg.yield %x : f32
  } -> tensor<5x48xf32>
  %p3 = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p3 : tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) {
  ^bb0(%s: f32, %o: f32):
    %column = linalg.index 1 : index
    %j = arith.index_cast %column : index to i32
    %f = arith.sitofp %j : i32 to f32
    %x = arith.mulf %s, %f : f32
    linalg.yield %x : f32
  } -> tensor<5x48xf32>
  %p4 = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r4 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p4 : tensor<5x48xf32>) outs(%ed : tensor<5x48xf64>) {
  ^bb0(%s: f32, %o: f64):
    %x = arith.extf %s : f32 to f64
    linalg.yield %x : f64
  } -> tensor<5x48xf64>
  return %r0, %r1, %r2, %r3, %r4 : tensor<5xf32>, tensor<48x5xf32>, tensor<5x48xf32>, tensor<5x48xf32>, tensor<5x48xf64>
}

// -----

// Nothing follows a product that is added to a bias: its broadcast is not made.
// What else a product is added to stays.
// CHECK-LABEL: func.func @bias_alone
// CHECK-SAME: %[[A:.*]]: tensor<5x64xf16>, {{.*}} %[[BIAS:.*]]: tensor<48xf16>, %[[E:.*]]: tensor<48x5xf16>
// CHECK-NOT: linalg.broadcast
// CHECK: nm.spmm <2:4> transpose_c {{.*}} outs(%[[E]] : tensor<48x5xf16>)
// CHECK-SAME: epilogue ins(%[[BIAS]] : tensor<48xf16>) maps [#[[$N:.*]]]
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[B:.*]]: f16):
// CHECK: %[[WIDE:.*]] = arith.extf %[[B]] : f16 to f32
// CHECK: %[[ADDED:.*]] = arith.addf
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[ADDED]] : f32 to f16
// CHECK: nm.yield %[[ROUNDED]]
func.func @bias_alone(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %bias: tensor<48xf16>, %e: tensor<48x5xf16>) -> tensor<48x5xf16> {
  %c = linalg.broadcast ins(%bias : tensor<48xf16>) outs(%e : tensor<48x5xf16>) dimensions = [1]
  %r = nm.spmm <2:4> transpose_c ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>) outs(%c : tensor<48x5xf16>) -> tensor<48x5xf16>
  return %r : tensor<48x5xf16>
}

// CHECK-LABEL: func.func @adds
// CHECK-NOT: epilogue
// CHECK: return
func.func @adds(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %c: tensor<5x48xf16>) -> tensor<5x48xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>) outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
  return %r : tensor<5x48xf16>
}

// -----

// Sums that all readers round are rounded by their product, also where one of
// the readers is another product's epilogue.

// CHECK-LABEL: func.func @rounded_sums
// CHECK: %[[GATE:.*]] = nm.spmm {{.*}} -> tensor<5x48xf16> epilogue {
// CHECK-NEXT: ^bb0(%[[S:.*]]: f32):
// CHECK-NEXT: %[[T:.*]] = arith.truncf %[[S]] : f32 to f16
// CHECK-NEXT: nm.yield %[[T]] : f16
// CHECK: nm.spmm {{.*}} epilogue ins(%[[GATE]] : tensor<5x48xf16>)
// CHECK-NEXT: ^bb0(%[[UP:.*]]: f32, %[[U:.*]]: f16):
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[UP]] : f32 to f16
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[U]], %[[H]] : f16
// CHECK-NEXT: nm.yield %[[Y]] : f16
func.func @rounded_sums(%a: tensor<5x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %w: tensor<32x48xf16>, %j: tensor<32x48xi8>) -> tensor<5x48xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x48xf32>
  %h = tensor.empty() : tensor<5x48xf16>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
  %up = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %gate = nm.spmm <2:4> ins(%a, %w, %j : tensor<5x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%gate, %up : tensor<5x48xf32>, tensor<5x48xf32>) outs(%h : tensor<5x48xf16>) {
  ^bb0(%g: f32, %u: f32, %o: f16):
    %x = arith.truncf %g : f32 to f16
    %y = arith.truncf %u : f32 to f16
    %z = arith.mulf %x, %y : f16
    linalg.yield %z : f16
  } -> tensor<5x48xf16>
  return %r : tensor<5x48xf16>
}

// -----

// The same of products whose rows are those of several sequences: the reader
// takes the sums as they were before they were split.

// CHECK-LABEL: func.func @rounded_sums_of_sequences
// CHECK: %[[GATE:.*]] = nm.spmm {{.*}} -> tensor<6x48xf16> epilogue {
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: nm.spmm {{.*}} epilogue ins(%[[GATE]] : tensor<6x48xf16>)
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f16):
func.func @rounded_sums_of_sequences(%a: tensor<6x64xf16>, %v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %w: tensor<32x48xf16>, %j: tensor<32x48xi8>) -> tensor<2x3x48xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x48xf32>
  %h = tensor.empty() : tensor<2x3x48xf16>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<6x48xf32>) -> tensor<6x48xf32>
  %up = nm.spmm <2:4> ins(%a, %v, %i : tensor<6x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<6x48xf32>) -> tensor<6x48xf32>
  %ups = tensor.expand_shape %up [[0, 1], [2]] output_shape [2, 3, 48] : tensor<6x48xf32> into tensor<2x3x48xf32>
  %gate = nm.spmm <2:4> ins(%a, %w, %j : tensor<6x64xf16>, tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%c : tensor<6x48xf32>) -> tensor<6x48xf32>
  %gates = tensor.expand_shape %gate [[0, 1], [2]] output_shape [2, 3, 48] : tensor<6x48xf32> into tensor<2x3x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%gates, %ups : tensor<2x3x48xf32>, tensor<2x3x48xf32>) outs(%h : tensor<2x3x48xf16>) {
  ^bb0(%g: f32, %u: f32, %o: f16):
    %x = arith.truncf %g : f32 to f16
    %y = arith.truncf %u : f32 to f16
    %z = arith.mulf %x, %y : f16
    linalg.yield %z : f16
  } -> tensor<2x3x48xf16>
  return %r : tensor<2x3x48xf16>
}
