// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts --nm-select-gpu-schedule --split-input-file 2>&1 | FileCheck %s

// A block of few steps has its start and its end beside them, half a launch: 8 steps of 256 x 2048 x 1024 took 3.46 us on an H200.
// CHECK: m = 256, n = 2048, k = 1024, f16: strategy wgmma_sp {{.*}}; estimated 3.{{[0-9]}} us
func.func @steps(%a: tensor<256x1024xf16>, %v: tensor<512x2048xf16>, %i: tensor<512x2048xi8>, %c: tensor<256x2048xf16>) -> tensor<256x2048xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<256x1024xf16>, tensor<512x2048xf16>, tensor<512x2048xi8>) outs(%c : tensor<256x2048xf16>) -> tensor<256x2048xf16>
  return %r : tensor<256x2048xf16>
}

// -----

// With a transposition before it the product is not faster than dense weights, which took 5.8 us where it took 6.9.
// CHECK: m = 200, n = 3072, k = 1024, f16: strategy cublas
func.func @transposed(%a: tensor<1024x200xf16>, %v: tensor<512x3072xf16> {nm.values_of = 1 : i64}, %i: tensor<512x192xi8> {nm.indices_of = 1 : i64}, %c: tensor<200x3072xf16>) -> tensor<200x3072xf16> {
  %r = nm.spmm <2:4, block = 1x16> transpose_a ins(%a, %v, %i : tensor<1024x200xf16>, tensor<512x3072xf16>, tensor<512x192xi8>) outs(%c : tensor<200x3072xf16>) -> tensor<200x3072xf16>
  return %r : tensor<200x3072xf16>
}
