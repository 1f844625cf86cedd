// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt" 2>/dev/null | FileCheck %s --check-prefix=PTX --implicit-check-not="ld.local" --implicit-check-not="st.local"

// Where A goes by way of a staging buffer, the largest tiles fit in registers, also
// at edges, and A has no other loads.
// CHECK: half_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: eighth_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: few_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: edge_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

// PTX: .entry half_kernel
// PTX: cp.async.cg.shared.global
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: st.shared.v4
// PTX: .entry eighth_kernel
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: .entry few_kernel
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: .entry edge_kernel
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16

func.func @half(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<16:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @eighth(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<4:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<4:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @few(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32, #nm.encoding<3:32, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @edge(%a: tensor<4000x4096xf32>, %b: tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x32>>, %c: tensor<4000x4096xf32>) -> tensor<4000x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4000x4096xf32>) -> tensor<4000x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4000x4096xf32>, tensor<4096x4096xf32, #nm.encoding<8:32, block = 1x32>>) outs(%f : tensor<4000x4096xf32>) -> tensor<4000x4096xf32>
  return %r : tensor<4000x4096xf32>
}
