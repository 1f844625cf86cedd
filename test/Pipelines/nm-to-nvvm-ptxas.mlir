// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s

// The other chips are in nm-to-nvvm-ptxas-*.test, which run beside this.

// Every granularity becomes a kernel that ptxas takes, with all it has in
// registers, on every chip at the schedule that is chosen for it.
// CHECK: element_wise_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_4_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_32_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_128_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: block_4x4_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: block_64x64_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: odd_blocks_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: few_rows_kernel on {{.*}}: {{[1-9]?[0-9]}} registers, 0 bytes of stack, 0 bytes spilled

func.func @element_wise(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<2:4>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<2:4>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @vector_4(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<8:32, block = 1x4>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<8:32, block = 1x4>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @vector_32(%a: tensor<1024x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<16:32, block = 1x32>>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x4096xf32>, tensor<4096x4096xf32, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

func.func @vector_128(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<4:32, block = 1x128>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<4:32, block = 1x128>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @block_4x4(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<1:4, block = 4x4>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<1:4, block = 4x4>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @block_64x64(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<1:2, block = 64x64>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<1:2, block = 64x64>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @ragged(%a: tensor<?x1003xf32>, %b: tensor<1003x1001xf32, #nm.encoding<3:5, block = 1x8>>, %c: tensor<?x1001xf32>) -> tensor<?x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<?x1001xf32>) -> tensor<?x1001xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x1003xf32>, tensor<1003x1001xf32, #nm.encoding<3:5, block = 1x8>>) outs(%f : tensor<?x1001xf32>) -> tensor<?x1001xf32>
  return %r : tensor<?x1001xf32>
}

// Addresses of odd blocks leave no room for the tiles of even ones.
func.func @odd_blocks(%a: tensor<1024x2048xf32>, %b: tensor<2048x8192xf32, #nm.encoding<1:4, block = 5x1>>, %c: tensor<1024x8192xf32>) -> tensor<1024x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x2048xf32>, tensor<2048x8192xf32, #nm.encoding<1:4, block = 5x1>>) outs(%f : tensor<1024x8192xf32>) -> tensor<1024x8192xf32>
  return %r : tensor<1024x8192xf32>
}

// Of the tile's rows the last are never stored, and the sums of the others must
// not wait for the branch that stores them.
func.func @few_rows(%a: tensor<8x1024xf32>, %b: tensor<1024x1000xf32, #nm.encoding<1:5, block = 32x32>>, %c: tensor<8x1000xf32>) -> tensor<8x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<8x1000xf32>) -> tensor<8x1000xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x1024xf32>, tensor<1024x1000xf32, #nm.encoding<1:5, block = 32x32>>) outs(%f : tensor<8x1000xf32>) -> tensor<8x1000xf32>
  return %r : tensor<8x1000xf32>
}
