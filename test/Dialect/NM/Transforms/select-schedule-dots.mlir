// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avxvnni,+avx512vnni" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avxvnni" --split-input-file 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw schedule=amx" 2>&1 | FileCheck %s --check-prefix=FEATURES

// Products of i8 by vectors that sum quads, in the packed form of tiles.

// FEATURES: error: 'nm.spmm' op expected a processor with avx512vnni and avx512bw, amx-int8, or dotprod or i8mm of Arm, for strategy amx; see the option features

// VECTOR: strategy vector
// CHECK-LABEL: func.func @units
func.func @units(%a: tensor<128x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xi32>) -> tensor<128x4096xi32> {
  // CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.amx<block = [128, {{[0-9]+}}, {{[0-9]+}}], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, tiles of kept rows, copied side by side; {{.*}}; the product with its zeros skipped is faster;{{.*}}}}
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<128x4096xi8>, tensor<1024x4096xi8>, tensor<1024x128xi8>) outs(%c : tensor<128x4096xi32>) -> tensor<128x4096xi32>
  return %r : tensor<128x4096xi32>
}

// -----

// VECTOR: strategy vector
// CHECK-LABEL: func.func @elements
func.func @elements(%a: tensor<128x4096xi8>, %v: tensor<2048x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xi32>) -> tensor<128x4096xi32> {
  // CHECK: nm.spmm <1:1, block = 1x16> schedule #nm.amx<
  // expected-remark-re @+1 {{{{.*}}strategy amx, tiles of dense weights; {{.*}}; falls back to dense weights, which are faster:{{.*}}}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<128x4096xi8>, tensor<2048x4096xi8>, tensor<2048x4096xi8>) outs(%c : tensor<128x4096xi32>) -> tensor<128x4096xi32>
  return %r : tensor<128x4096xi32>
}
