// Columns that choose rows of A each by itself, on an AMD processor whose
// vectors choose bytes: words of lanes.
//
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512vbmi,+avx512bf16,+avx512vnni,+avxvnni,+sse4a" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512bf16,+avx512vnni,+avxvnni,+sse4a" --split-input-file 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f,+avx512bw,+avx512vbmi,+avx512bf16,+avx512vnni,+avxvnni" --split-input-file 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: chunk_rows = {{[24],}}
// OTHER: func.func @most

// CHECK-LABEL: func.func @pairs
func.func @pairs(%a: tensor<16x4096xbf16>, %v: tensor<2048x4096xbf16> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x4096xbf16>) -> tensor<16x4096xbf16> {
  // CHECK: nm.spmm <2:4> schedule #nm.amx<block = [16, {{[0-9]+}}, 1024], packing = <panel = 32, index_bits = 2, chunk_rows = 2, index_rows = 16>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, vectors along n, whose lanes choose the rows of A that they meet, in which subnormal numbers are zero; {{.*}}}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<16x4096xbf16>, tensor<2048x4096xbf16>, tensor<2048x4096xi8>) outs(%c : tensor<16x4096xbf16>) -> tensor<16x4096xbf16>
  return %r : tensor<16x4096xbf16>
}

// -----

// One form serves every number of rows.
// CHECK-LABEL: func.func @quads
func.func @quads(%a: tensor<1x4096xi8>, %b: tensor<1024x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 2 : i64}, %i: tensor<1024x4096xi8> {nm.indices_of = 2 : i64}, %c: tensor<1x4096xi32>, %d: tensor<1024x4096xi32>) -> (tensor<1x4096xi32>, tensor<1024x4096xi32>) {
  // CHECK: nm.spmm <2:8> schedule #nm.amx<{{.*}}packing = <panel = 32, index_bits = 4, chunk_rows = 4, index_rows = 8>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, vectors along n, whose lanes choose the rows of A that they meet; {{.*}}}}
  %r = nm.spmm <2:8> ins(%a, %v, %i : tensor<1x4096xi8>, tensor<1024x4096xi8>, tensor<1024x4096xi8>) outs(%c : tensor<1x4096xi32>) -> tensor<1x4096xi32>
  // CHECK: nm.spmm <2:8> schedule #nm.amx<{{.*}}packing = <panel = 32, index_bits = 4, chunk_rows = 4, index_rows = 8>>
  // expected-remark-re @+1 {{{{.*}}strategy amx, vectors along n, whose lanes choose the rows of A that they meet; {{.*}}}}
  %s = nm.spmm <2:8> ins(%b, %v, %i : tensor<1024x4096xi8>, tensor<1024x4096xi8>, tensor<1024x4096xi8>) outs(%d : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  return %r, %s : tensor<1x4096xi32>, tensor<1024x4096xi32>
}

// -----

// More than half of the weights: a word of lanes costs more than its zeros do.
// CHECK-LABEL: func.func @most
func.func @most(%a: tensor<128x4096xi8>, %v: tensor<3072x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<3072x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xi32>) -> tensor<128x4096xi32> {
  // CHECK-NOT: chunk_rows = 4
  // CHECK: return
  // expected-remark-re @+1 {{{{.*}}}}
  %r = nm.spmm <6:8> ins(%a, %v, %i : tensor<128x4096xi8>, tensor<3072x4096xi8>, tensor<3072x4096xi8>) outs(%c : tensor<128x4096xi32>) -> tensor<128x4096xi32>
  return %r : tensor<128x4096xi32>
}
