// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm='chip=sm_90a format=isa schedule=wgmma_sp' | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s

// f32 on the tensor cores that skip zeros: ptxas has the sums of a tile and
// those that they are added to in registers.
// CHECK-NOT: Potential Performance Loss
// CHECK: half_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: half_kernel_0 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: two_splits_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: two_splits_kernel_1 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel_2 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: short_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: short_kernel_3 on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

func.func @half(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<2:4>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @two_splits(%a: tensor<1024x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<1:4>>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul {nm.arithmetic = #nm.arithmetic<bf16x3>} ins(%a, %b : tensor<1024x4096xf32>, tensor<4096x4096xf32, #nm.encoding<1:4>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

func.func @ragged(%a: tensor<?x1003xf32>, %b: tensor<1003x1001xf32, #nm.encoding<2:8>>, %c: tensor<?x1001xf32>) -> tensor<?x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<?x1001xf32>) -> tensor<?x1001xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x1003xf32>, tensor<1003x1001xf32, #nm.encoding<2:8>>) outs(%f : tensor<?x1001xf32>) -> tensor<?x1001xf32>
  return %r : tensor<?x1001xf32>
}

// The sums of 16 rows have residuals. Longer ones spill in as wide tiles.
func.func @short(%a: tensor<4096x128xf32>, %b: tensor<128x8192xf32, #nm.encoding<2:4>>, %c: tensor<4096x8192xf32>) -> tensor<4096x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x128xf32>, tensor<128x8192xf32, #nm.encoding<2:4>>) outs(%f : tensor<4096x8192xf32>) -> tensor<4096x8192xf32>
  return %r : tensor<4096x8192xf32>
}
