// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_86 format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_86 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_89 format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_89 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_100a format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_100a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_120 format=isa schedule=gemv" | %python %S/Inputs/assemble.py %ptxas sm_120 | FileCheck %s

// Products of few rows, of every type, are kernels that ptxas takes, with all
// they have in registers, on every chip at the schedule that is chosen for it.
// CHECK: vector_f32_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_f16_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: rows_bf16_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: rows_i8_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: rows_f8_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: rows_f8_e5m2_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: rows_f32_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: blocks_f32_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: idle_lanes_f16_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

func.func @vector_f32(%x: tensor<4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<8:32>>, %c: tensor<4096xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.vecmat ins(%x, %b : tensor<4096xf32>, tensor<4096x4096xf32, #nm.encoding<8:32>>) outs(%y : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

func.func @vector_f16(%x: tensor<4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<3:32>>, %c: tensor<4096xf16>) -> tensor<4096xf16> {
  %zero = arith.constant 0.0 : f16
  %y = linalg.fill ins(%zero : f16) outs(%c : tensor<4096xf16>) -> tensor<4096xf16>
  %r = linalg.vecmat ins(%x, %b : tensor<4096xf16>, tensor<4096x4096xf16, #nm.encoding<3:32>>) outs(%y : tensor<4096xf16>) -> tensor<4096xf16>
  return %r : tensor<4096xf16>
}

func.func @rows_bf16(%a: tensor<8x1000xbf16>, %b: tensor<1000x1001xbf16, #nm.encoding<5:12>>, %c: tensor<8x1001xf32>) -> tensor<8x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<8x1001xf32>) -> tensor<8x1001xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8x1000xbf16>, tensor<1000x1001xbf16, #nm.encoding<5:12>>) outs(%y : tensor<8x1001xf32>) -> tensor<8x1001xf32>
  return %r : tensor<8x1001xf32>
}

func.func @rows_i8(%a: tensor<16x2048xi8>, %b: tensor<2048x2048xi8, #nm.encoding<8:32, block = 1x8>>, %c: tensor<16x2048xi32>) -> tensor<16x2048xi32> {
  %zero = arith.constant 0 : i32
  %y = linalg.fill ins(%zero : i32) outs(%c : tensor<16x2048xi32>) -> tensor<16x2048xi32>
  %r = linalg.matmul ins(%a, %b : tensor<16x2048xi8>, tensor<2048x2048xi8, #nm.encoding<8:32, block = 1x8>>) outs(%y : tensor<16x2048xi32>) -> tensor<16x2048xi32>
  return %r : tensor<16x2048xi32>
}

func.func @rows_f8(%a: tensor<3x2048xf8E4M3FN>, %b: tensor<2048x2048xf8E4M3FN, #nm.encoding<2:4>>, %c: tensor<3x2048xf32>) -> tensor<3x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<3x2048xf32>) -> tensor<3x2048xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x2048xf8E4M3FN>, tensor<2048x2048xf8E4M3FN, #nm.encoding<2:4>>) outs(%y : tensor<3x2048xf32>) -> tensor<3x2048xf32>
  return %r : tensor<3x2048xf32>
}

func.func @rows_f8_e5m2(%a: tensor<3x2048xf8E5M2>, %b: tensor<2048x2048xf8E5M2, #nm.encoding<2:4>>, %c: tensor<3x2048xf32>) -> tensor<3x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<3x2048xf32>) -> tensor<3x2048xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x2048xf8E5M2>, tensor<2048x2048xf8E5M2, #nm.encoding<2:4>>) outs(%y : tensor<3x2048xf32>) -> tensor<3x2048xf32>
  return %r : tensor<3x2048xf32>
}

func.func @rows_f32(%a: tensor<16x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<16:32>>, %c: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x4096xf32>, tensor<4096x4096xf32, #nm.encoding<16:32>>) outs(%y : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}

func.func @blocks_f32(%a: tensor<1x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<1:2, block = 128x128>>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %y = linalg.fill ins(%zero : f32) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xf32>, tensor<4096x4096xf32, #nm.encoding<1:2, block = 128x128>>) outs(%y : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// Lanes that have no columns do not store their sums.
func.func @idle_lanes_f16(%a: tensor<7x8192xf16>, %b: tensor<8192x256xf16, #nm.encoding<1:2, block = 1x24>>, %c: tensor<7x256xf16>) -> tensor<7x256xf16> {
  %zero = arith.constant 0.0 : f16
  %y = linalg.fill ins(%zero : f16) outs(%c : tensor<7x256xf16>) -> tensor<7x256xf16>
  %r = linalg.matmul ins(%a, %b : tensor<7x8192xf16>, tensor<8192x256xf16, #nm.encoding<1:2, block = 1x24>>) outs(%y : tensor<7x256xf16>) -> tensor<7x256xf16>
  return %r : tensor<7x256xf16>
}
