// Few rows of weights pruned anywhere, which vectors expand.
//
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512vbmi2,+avx512bf16,+avx512vnni,+avxvnni,+sse4a" --nm-pack-weights --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512bf16,+avx512vnni,+avxvnni,+sse4a" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=ROWS
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx2,+fma" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: word_rows

// Each panel has 32 weights, both of each of 16 columns.
// CHECK-LABEL: func.func @constant
// CHECK: arith.constant dense<{{.*}}> : tensor<2x1x4xi8>
// CHECK: nm.spmm <1:1> packing #nm.bitmap_panels<kept = 64, word_rows = 1>
// CHECK-SAME: schedule #nm.vector<block = [1, 64, 2], thread = [1, 64], kept = 64, word_rows = 1>
// CHECK-SAME: tensor<1x1x128xf32>, tensor<2x2x8xi8>
// CHECK-SAME: reason = "25.0 % of the weights are kept, and vectors expand them; dense weights would take
func.func @constant(%a: tensor<1x2xf32>, %c: tensor<1x128xf32>) -> tensor<1x128xf32> {
  %v = arith.constant dense<1.0> : tensor<1x64xf32>
  %i = arith.constant dense<[[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<1x128xi8>
  %r = nm.spmm <unstructured, kept = 64> ins(%a, %v, %i : tensor<1x2xf32>, tensor<1x64xf32>, tensor<1x128xi8>)
    outs(%c : tensor<1x128xf32>) -> tensor<1x128xf32>
  return %r : tensor<1x128xf32>
}

// -----

// Pairs of bf16, with AVX512_VBMI2, and else a row at a time.
// CHECK-LABEL: func.func @pairs.pack
// CHECK: nm.pack <1:1> #nm.bitmap_panels<kept = 838860, word_rows = 2>
// CHECK: func.func @pairs(
// CHECK: nm.spmm <1:1> packing #nm.bitmap_panels<kept = 838860, word_rows = 2>
// CHECK-SAME: bf16 is multiplied by pairs, in which subnormal numbers are zero
// ROWS-LABEL: func.func @pairs
// ROWS: word_rows = 1>
// ROWS-NOT: subnormal
func.func @pairs(%a: tensor<1x2048xbf16>, %v: tensor<1x838860xbf16> {nm.values_of = 1 : i64}, %i: tensor<1x524288xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x2048xbf16>) -> tensor<1x2048xbf16> {
  %r = nm.spmm <unstructured, kept = 838860> ins(%a, %v, %i : tensor<1x2048xbf16>, tensor<1x838860xbf16>, tensor<1x524288xi8>)
    outs(%c : tensor<1x2048xbf16>) -> tensor<1x2048xbf16>
  return %r : tensor<1x2048xbf16>
}

// -----

// Quads of i8, of eight rows by half panels, and not without AVX512_VBMI2.
// CHECK-LABEL: func.func @quads(
// CHECK: nm.spmm <1:1> packing #nm.bitmap_panels<kept = 838860, word_rows = 4>
// CHECK-SAME: thread = [8, 32]
// ROWS-LABEL: func.func @quads
// ROWS-NOT: word_rows
// ROWS: return
func.func @quads(%a: tensor<8x2048xi8>, %v: tensor<1x838860xi8> {nm.values_of = 1 : i64}, %i: tensor<1x524288xi8> {nm.indices_of = 1 : i64}, %c: tensor<8x2048xi32>) -> tensor<8x2048xi32> {
  %r = nm.spmm <unstructured, kept = 838860> ins(%a, %v, %i : tensor<8x2048xi8>, tensor<1x838860xi8>, tensor<1x524288xi8>)
    outs(%c : tensor<8x2048xi32>) -> tensor<8x2048xi32>
  return %r : tensor<8x2048xi32>
}

// -----

// Rows of a number that is not known, or weights of which one in a hundred is
// not zero, are walked along columns.
// CHECK-LABEL: func.func @dynamic(
// CHECK: packing #nm.columns<
func.func @dynamic(%a: tensor<?x2048xf32>, %v: tensor<1x838860xf32> {nm.values_of = 1 : i64}, %i: tensor<1x524288xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x2048xf32>) -> tensor<?x2048xf32> {
  %r = nm.spmm <unstructured, kept = 838860> ins(%a, %v, %i : tensor<?x2048xf32>, tensor<1x838860xf32>, tensor<1x524288xi8>)
    outs(%c : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  return %r : tensor<?x2048xf32>
}

// CHECK-LABEL: func.func @sparse(
// CHECK: packing #nm.columns<
func.func @sparse(%a: tensor<1x2048xf32>, %v: tensor<1x41943xf32> {nm.values_of = 1 : i64}, %i: tensor<1x524288xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x2048xf32>) -> tensor<1x2048xf32> {
  %r = nm.spmm <unstructured, kept = 41943> ins(%a, %v, %i : tensor<1x2048xf32>, tensor<1x41943xf32>, tensor<1x524288xi8>)
    outs(%c : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  return %r : tensor<1x2048xf32>
}
