// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f" --nm-pack-weights --split-input-file 2>/dev/null | FileCheck %s

// Zeros that follow no pattern are skipped: rows 0, 3 and 9 of column 0, row 39
// of column 1.
// CHECK-LABEL: func.func @constant
// CHECK: arith.constant dense<{{.*}}> : tensor<2x1x8xi8>
// CHECK: nm.spmm <1:1> packing #nm.columns<kept = 4, tile_rows = 48>
// CHECK-SAME: schedule #nm.vector<block = [64, {{.*}}], thread = [64, 1], kept = 4, tile_rows = 48>
// CHECK-SAME: tensor<1x1x68xf32>, tensor<1x1x68xi8>
// CHECK-SAME: reason = "5.0 % of the weights are kept, and zeros are skipped; dense weights would take
func.func @constant(%a: tensor<64x40xf32>, %c: tensor<64x2xf32>) -> tensor<64x2xf32> {
  %v = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %i = arith.constant dense<[[9, 2, 0, 0, 0, 0, 0, 0, 0, -128]]> : tensor<1x10xi8>
  %r = nm.spmm <unstructured, kept = 4> ins(%a, %v, %i : tensor<64x40xf32>, tensor<1x4xf32>, tensor<1x10xi8>)
    outs(%c : tensor<64x2xf32>) -> tensor<64x2xf32>
  return %r : tensor<64x2xf32>
}

// -----

// Weights that are loaded are packed then; of what is kept, the pattern tells.
// CHECK-LABEL: func.func @argument.pack
// CHECK: nm.decompress <unstructured, kept = 40>
// CHECK: nm.pack <1:1> #nm.columns
// CHECK: func.func @argument(
// CHECK-SAME: nm.packed_lists_of
// CHECK: nm.spmm <1:1> packing #nm.columns<kept = 40, tile_rows = 65536>
func.func @argument(%a: tensor<1x400xf32>, %v: tensor<1x40xf32> {nm.values_of = 1 : i64}, %i: tensor<1x400xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %r = nm.spmm <unstructured, kept = 40> ins(%a, %v, %i : tensor<1x400xf32>, tensor<1x40xf32>, tensor<1x400xi8>)
    outs(%c : tensor<1x8xf32>) -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// -----

// All are kept, and read once.
// CHECK-LABEL: func.func @full(
// CHECK: nm.spmm <1:1, block
// CHECK-SAME: reason = "100.0 % of the weights are kept, it falls back to dense weights, which are faster
func.func @full(%a: tensor<1x400xf32>, %v: tensor<1x1638400xf32> {nm.values_of = 1 : i64}, %i: tensor<1x204800xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %r = nm.spmm <unstructured> ins(%a, %v, %i : tensor<1x400xf32>, tensor<1x1638400xf32>, tensor<1x204800xi8>)
    outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// -----

// Condensed weights that nothing loads.
// CHECK-LABEL: func.func @plain(
// CHECK: nm.decompress <unstructured, kept = 40>
// CHECK: nm.spmm <1:1, block
// CHECK-SAME: reason = "1.2 % of the weights are kept, it falls back to dense weights, which are made at each call, as columns would have to be; weights of an argument with the encoding are packed once, when they are loaded
func.func @plain(%a: tensor<64x400xf32>, %v: tensor<1x40xf32>, %i: tensor<1x400xi8>, %c: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = nm.spmm <unstructured, kept = 40> ins(%a, %v, %i : tensor<64x400xf32>, tensor<1x40xf32>, tensor<1x400xi8>)
    outs(%c : tensor<64x8xf32>) -> tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}
