// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Windows of which threads make several words.
// CHECK-NOT: Potential Performance Loss
// CHECK: three_of_eight_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: seven_of_eight_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// A run is loaded once for all of its words, by accesses of 16 bytes. Selectors
// are 16 bits each.
// PTX: .entry three_of_eight_kernel(
// PTX-NOT: ld.shared.{{(v2.)?}}b32
// PTX-COUNT-8: ld.shared.v4.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry seven_of_eight_kernel(
// PTX-NOT: ld.shared.{{(v2.)?}}b32
// PTX-COUNT-8: ld.shared.v4.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32

func.func @three_of_eight(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<3:8, block = 1x64>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<3:8, block = 1x64>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @seven_of_eight(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<7:8, block = 1x32>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<7:8, block = 1x32>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
