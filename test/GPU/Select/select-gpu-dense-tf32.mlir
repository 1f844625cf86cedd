// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>&1 | FileCheck %s

// cuBLAS rounds f32 to TensorFloat-32 where a product allows it, which is faster
// than two splits of few pruned weights.
// CHECK: block = 1x32> (50.0 % sparse), m = 4096, n = 4096, k = 4096, f32: strategy cublas on sm_90; {{.*}} calls cuBLAS with dense weights, which is faster: {{.*}} by strategy wgmma
func.func @half(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x32> arithmetic <tf32> ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x128xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Of fewer weights two splits are faster.
// CHECK: block = 1x64> (75.0 % sparse), m = 4096, n = 4096, k = 4096, f32: strategy wgmma on sm_90
func.func @quarter(%a: tensor<4096x4096xf32>, %v: tensor<1024x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x64> arithmetic <tf32> ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<1024x4096xf32>, tensor<1024x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Without that leave, dense f32 takes eight times as long.
// CHECK: block = 1x32> (50.0 % sparse), m = 4096, n = 4096, k = 4096, f32: strategy wgmma on sm_90
func.func @bf16x3(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x32> arithmetic <bf16x3> ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x128xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
