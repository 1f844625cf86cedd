// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-select-gpu-schedule -o /dev/null 2>&1 | FileCheck %s

// cuBLAS feeds an A100's 64 multipliers nearly always, and takes less time with all
// weights than simt with half of them, which shared memory limits. Of vectors of 32
// columns with a quarter of the weights simt takes less.

// CHECK: <2:4> {{.*}}m = 512, n = 14336, k = 4096, f32: strategy cublas on sm_80
func.func @half(%a: tensor<512x4096xf32>, %v: tensor<2048x14336xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x14336xi8> {nm.indices_of = 1 : i64}, %c: tensor<512x14336xf32>) -> tensor<512x14336xf32> {
  %0 = nm.spmm <2:4> ins(%a, %v, %i : tensor<512x4096xf32>, tensor<2048x14336xf32>, tensor<2048x14336xi8>) outs(%c : tensor<512x14336xf32>) -> tensor<512x14336xf32>
  return %0 : tensor<512x14336xf32>
}

// CHECK: <8:32, block = 1x32> {{.*}}m = 512, n = 14336, k = 4096, f32: strategy simt on sm_80
func.func @quarter(%a: tensor<512x4096xf32>, %v: tensor<1024x14336xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x448xi8> {nm.indices_of = 1 : i64}, %c: tensor<512x14336xf32>) -> tensor<512x14336xf32> {
  %0 = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<512x4096xf32>, tensor<1024x14336xf32>, tensor<1024x448xi8>) outs(%c : tensor<512x14336xf32>) -> tensor<512x14336xf32>
  return %0 : tensor<512x14336xf32>
}
