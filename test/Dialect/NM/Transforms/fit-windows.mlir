// RUN: nm-opt %s --nm-fit-windows --split-input-file --verify-diagnostics | FileCheck %s

// What windows of 32 keep at most is what the pattern keeps.
// CHECK-LABEL: func.func @constant
// CHECK-NOT: unstructured
// How columns can be walked along is said, too: with gaps of 2 bits, rows 3 and 9
// are zeros apart, and row 39 takes 13 weights.
// CHECK: nm.spmm <3:32> ins(%{{.*}} : tensor<4x40xf16>, tensor<6x2xf16>, tensor<6x2xi8>)
// CHECK-SAME: nm.ell_steps = array<i64: 1, 1, 1, 1, 1, 1, 1, 1>
func.func @constant(%a: tensor<4x40xf16>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // Rows 0, 3 and 9 of column 0, row 39 of column 1.
  %v = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf16>
  %i = arith.constant dense<[[9, 2, 0, 0, 0, 0, 0, 0, 0, -128]]> : tensor<1x10xi8>
  // expected-remark @+1 {{unstructured weights get pattern 3:32, the most that a window keeps}}
  %r = nm.spmm <unstructured, kept = 4> ins(%a, %v, %i : tensor<4x40xf16>, tensor<1x4xf16>, tensor<1x10xi8>)
    outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @argument
// CHECK: nm.decompress <unstructured, kept = 4>
// CHECK: nm.compress <1:1, block = 1x2>
// CHECK: nm.spmm <1:1, block = 1x2>
func.func @argument(%a: tensor<4x40xf16>, %v: tensor<1x4xf16>, %i: tensor<1x10xi8>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-remark @+1 {{unstructured weights get dense weights: where they are kept is not known when it is compiled; weights with the encoding of an N:M pattern that holds, as nm.check names it, are packed when they are loaded}}
  %r = nm.spmm <unstructured, kept = 4> ins(%a, %v, %i : tensor<4x40xf16>, tensor<1x4xf16>, tensor<1x10xi8>)
    outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @loaded
// CHECK: nm.spmm <1:1, block = 1x2>
func.func @loaded(%a: tensor<4x40xf16>, %v: tensor<1x4xf16> {nm.values_of = 1 : i64}, %i: tensor<1x10xi8> {nm.indices_of = 1 : i64}, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-remark @+1 {{unstructured weights get dense weights, whose zeros simt_columns, gemv_columns and mma_bitmap skip where that is faster: where they are kept is not known}}
  %r = nm.spmm <unstructured, kept = 4> ins(%a, %v, %i : tensor<4x40xf16>, tensor<1x4xf16>, tensor<1x10xi8>)
    outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Of 8-bit weights a bit for each row says where they are, and an even number
// is kept. Of four windows of 32 one is full, and of 128 rows three quarters
// are empty.
// CHECK-LABEL: func.func @bytes
// CHECK: nm.spmm <4:128> ins(%{{.*}} : tensor<4x128xi8>, tensor<4x1xi8>, tensor<4x1xi8>)
func.func @bytes(%a: tensor<4x128xi8>, %c: tensor<4x1xi32>) -> tensor<4x1xi32> {
  %v = arith.constant dense<[[1, 2, 3]]> : tensor<1x3xi8>
  %i = arith.constant dense<[[7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x16xi8>
  // expected-remark @+1 {{unstructured weights get pattern 4:128, the most that a window keeps}}
  %r = nm.spmm <unstructured, kept = 3> ins(%a, %v, %i : tensor<4x128xi8>, tensor<1x3xi8>, tensor<1x16xi8>)
    outs(%c : tensor<4x1xi32>) -> tensor<4x1xi32>
  return %r : tensor<4x1xi32>
}
