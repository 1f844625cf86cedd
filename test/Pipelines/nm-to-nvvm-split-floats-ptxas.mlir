// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm='chip=sm_90a format=isa dense-fallback=false schedule=wgmma' | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s

// f32 on the tensor cores, three splits and two: ptxas has the sums of a tile and
// those that they are added to in registers, and no wgmma waits for the one
// before it, which it would warn of.
// CHECK-NOT: Potential Performance Loss
// CHECK: vector_128_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_128_kernel_0 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_64_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_64_kernel_1 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: blocks_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: blocks_kernel_2 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel_3 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: unknown_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: unknown_kernel_4 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: short_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: short_kernel_5 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

func.func @vector_128(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x128>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x128>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @vector_64(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x64>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul {nm.arithmetic = #nm.arithmetic<bf16x3>} ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @blocks(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<4:8, block = 64x64>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<4:8, block = 64x64>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @ragged(%a: tensor<1003x1003xf32>, %b: tensor<1003x1001xf32, #nm.encoding<5:20, block = 1x192>>, %c: tensor<1003x1001xf32>) -> tensor<1003x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1003x1001xf32>) -> tensor<1003x1001xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1003x1003xf32>, tensor<1003x1001xf32, #nm.encoding<5:20, block = 1x192>>) outs(%f : tensor<1003x1001xf32>) -> tensor<1003x1001xf32>
  return %r : tensor<1003x1001xf32>
}

func.func @unknown(%a: tensor<?x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<8:32, block = 1x128>>, %c: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x1024xf32>, tensor<1024x1024xf32, #nm.encoding<8:32, block = 1x128>>) outs(%f : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  return %r : tensor<?x1024xf32>
}

// The sums of 16 rows have residuals.
func.func @short(%a: tensor<4096x128xf32>, %b: tensor<128x4096xf32, #nm.encoding<16:32, block = 1x64>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x128xf32>, tensor<128x4096xf32, #nm.encoding<16:32, block = 1x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
