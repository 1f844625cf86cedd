// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f" --nm-pack-weights 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f" --nm-pack-weights 2>/dev/null | FileCheck %s --check-prefix=ONE

// Where rows of k are long, threads cut them, and L1 has a tile's rows of k.
// CHECK-LABEL: func.func @planes(
// CHECK: nm.spmm <1:1> transpose_a transpose_c packing #nm.columns<kept = 1638, tile_rows = 128>
// CHECK-SAME: schedule #nm.vector<block = [1568, 64, 256], thread = [96, 1], kept = 1638, tile_rows = 128>
// ONE: nm.spmm
// ONE-SAME: schedule #nm.vector<block = [3136, 64, 256], thread = [96, 1],
func.func @planes(%a: tensor<256x3136xf32>, %v: tensor<1x1638xf32> {nm.values_of = 1 : i64}, %i: tensor<1x2048xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x3136xf32>) -> tensor<64x3136xf32> {
  %r = nm.spmm <unstructured, kept = 1638> transpose_a transpose_c ins(%a, %v, %i : tensor<256x3136xf32>, tensor<1x1638xf32>, tensor<1x2048xi8>)
    outs(%c : tensor<64x3136xf32>) -> tensor<64x3136xf32>
  return %r : tensor<64x3136xf32>
}
