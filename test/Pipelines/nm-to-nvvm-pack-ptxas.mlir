// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule='simt<pack = true>'" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='simt<pack = true>'" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='simt<pack = true>'" | FileCheck %s --check-prefix=PTX

// Kernels that stage only the rows of A that their columns use have all that
// they hold in registers. A column-major A goes by cp.async of 16 bytes, from
// the row that an entry of the list names.
// CHECK: vector_75_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_90_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: row_major_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: block_64x64_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// PTX-LABEL: .entry vector_90_kernel
// PTX: ld.global{{[.a-z]*}}.{{[bsu]}}8
// PTX-NOT: cp.async.ca
// PTX: cp.async.cg.shared.global {{.*}}, 16;
// PTX-NOT: cp.async.ca
// PTX-LABEL: .entry row_major_kernel

func.func @vector_75(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @vector_90(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @row_major(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @block_64x64(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32, #nm.encoding<1:4, block = 64x64>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32, #nm.encoding<1:4, block = 64x64>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
