// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f" 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f,+avx512bf16" 2>&1 | FileCheck %s --check-prefix=DOTS
// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f,+avx512bf16,+amx-bf16" 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f,+avx512bw,+avxvnni,+avx512bf16,+sse4a" 2>&1 | FileCheck %s --check-prefix=PAIRS

// The dense product that an estimate stands beside is one of the same type on the
// unit that the processor has for it.

// CHECK: bf16: strategy vector{{.*}}(1.{{[0-9]+}}x) on 1 thread; {{.*}}skipped is faster
// DOTS: bf16: strategy vector{{.*}}(0.{{[5-9][0-9]*}}x) on 1 thread; a dense BLAS would be faster
// TILES: bf16: strategy vector{{.*}}(0.{{[0-2][0-9]*}}x) on 1 thread; a dense BLAS would be faster
// PAIRS: bf16: strategy vector{{.*}}(1.{{[0-9]+}}x) on 1 thread; {{.*}}skipped is faster; bf16 is multiplied by pairs, in which subnormal numbers are zero; {{.*}}panel = 16
func.func @bf16(%a: tensor<256x1024xbf16>, %v: tensor<512x1024xbf16> {nm.values_of = 1 : i64}, %i: tensor<512x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<256x1024xf32>) -> tensor<256x1024xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<256x1024xbf16>, tensor<512x1024xbf16>, tensor<512x1024xi8>) outs(%c : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  return %r : tensor<256x1024xf32>
}
