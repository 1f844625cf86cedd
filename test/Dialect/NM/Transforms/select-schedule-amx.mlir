// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+amx-tile,+amx-bf16" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw" --split-input-file 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f schedule=amx" 2>&1 | FileCheck %s --check-prefix=FEATURES
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+amx-tile,+amx-bf16 schedule=amx dense-fallback=false" --split-input-file 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+amx-tile,+amx-bf16 schedule=amx" --split-input-file 2>&1 | FileCheck %s --check-prefix=FALLBACK

// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512vbmi2,+amx-tile,+amx-bf16" --split-input-file 2>&1 | FileCheck %s --check-prefix=EXPANDED
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+avx512vbmi2,+amx-tile,+amx-bf16 schedule=amx dense-fallback=false" --split-input-file 2>&1 | FileCheck %s --check-prefix=GIVEN

// FEATURES: error: 'nm.spmm' op expected a processor with amx-tile, amx-bf16 and avx512bw, or bf16 of Arm, for strategy amx; see the option features

// Units of whole tiles' columns: the kept rows of A are multiplied.
// VECTOR: strategy vector
// CHECK-LABEL: func.func @units
func.func @units(%a: tensor<128x4096xbf16>, %v: tensor<1024x4096xbf16> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xbf16>) -> tensor<128x4096xbf16> {
  // CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.amx<block = [128, {{[0-9]+}}, {{[0-9]+}}], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, tiles of kept rows, copied side by side, in which subnormal numbers are zero; {{.*}}; the product with its zeros skipped is faster;{{.*}}}}
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<128x4096xbf16>, tensor<1024x4096xbf16>, tensor<1024x128xi8>) outs(%c : tensor<128x4096xbf16>) -> tensor<128x4096xbf16>
  return %r : tensor<128x4096xbf16>
}

// -----

// Units of one column are dense for the tile unit, which is still faster than
// vectors are with half of the work. With AVX512_VBMI2 the weights are packed
// without the zeros, which dense-fallback=false does not let it multiply.
// GIVEN: error: 'nm.spmm' op expected units of a multiple of 16 columns for strategy amx, but got 1
// FALLBACK: strategy amx, tiles of dense weights, in which subnormal numbers are zero; {{.*}}; falls back to dense weights, which strategy amx can multiply;
// CHECK-LABEL: func.func @elements
func.func @elements(%a: tensor<128x4096xbf16>, %v: tensor<2048x4096xbf16> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xbf16>) -> tensor<128x4096xbf16> {
  // CHECK: nm.spmm <1:1, block = 1x16> schedule #nm.amx<
  // EXPANDED: remark: nm.spmm <2:4>{{.*}}strategy amx, tiles of dense weights, packed without their zeros, in which subnormal numbers are zero;{{.*}}, and more memory; pruned weights then turn infinite and NaN activations into NaN
  // EXPANDED: nm.spmm <2:4> schedule #nm.amx<block = [128, {{[0-9]+}}, {{[0-9]+}}], packing = <panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, tiles of dense weights, in which subnormal numbers are zero; {{.*}}; falls back to dense weights, which are faster:{{.*}}}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<128x4096xbf16>, tensor<2048x4096xbf16>, tensor<2048x4096xi8>) outs(%c : tensor<128x4096xbf16>) -> tensor<128x4096xbf16>
  return %r : tensor<128x4096xbf16>
}

// -----

// The tile unit has no f32, nor f16.
// FALLBACK: error: 'nm.spmm' op expected operands of bf16 or i8 for strategy amx, but got f16
// CHECK-LABEL: func.func @halves
func.func @halves(%a: tensor<128x256xf16>, %v: tensor<64x256xf16> {nm.values_of = 1 : i64}, %i: tensor<64x8xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x256xf16>) -> tensor<128x256xf16> {
  // CHECK: schedule #nm.vector<
  // expected-remark-re @+1 {{{{.*}}strategy vector{{.*}}}}
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<128x256xf16>, tensor<64x256xf16>, tensor<64x8xi8>) outs(%c : tensor<128x256xf16>) -> tensor<128x256xf16>
  return %r : tensor<128x256xf16>
}

// -----

// One row takes the form of many.
// EXPANDED-LABEL: func.func @row
func.func @row(%a: tensor<1x4096xbf16>, %v: tensor<2048x4096xbf16> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<1x4096xbf16>) -> tensor<1x4096xbf16> {
  // EXPANDED: schedule #nm.amx<block = [1, {{.*}}], packing = <panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>>
  // expected-remark-re @+1 {{{{.*}}strategy vector{{.*}}}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<1x4096xbf16>, tensor<2048x4096xbf16>, tensor<2048x4096xi8>) outs(%c : tensor<1x4096xbf16>) -> tensor<1x4096xbf16>
  return %r : tensor<1x4096xbf16>
}
