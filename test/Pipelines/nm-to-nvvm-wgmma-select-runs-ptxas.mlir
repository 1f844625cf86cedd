// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Windows of which threads make several words, or that are of panels without a
// swizzle, or in three words.
// CHECK-NOT: Potential Performance Loss
// CHECK: three_of_eight_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: seven_of_eight_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: two_of_three_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: three_of_five_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: five_of_six_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: three_of_seven_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// A run is loaded once for all of its words, by the widest accesses that are free
// of bank conflicts: 16 bytes, of a run of 24 eight, and of others four. Selectors
// are 16 bits each.
// PTX: .entry three_of_eight_kernel(
// PTX-NOT: ld.shared.{{(v2.)?}}b32
// PTX-COUNT-8: ld.shared.v4.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry seven_of_eight_kernel(
// PTX-NOT: ld.shared.{{(v2.)?}}b32
// PTX-COUNT-8: ld.shared.v4.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry two_of_three_kernel(
// PTX-COUNT-30: ld.shared.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry three_of_five_kernel(
// PTX-COUNT-60: ld.shared.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry five_of_six_kernel(
// PTX-COUNT-12: ld.shared.v2.b32
// PTX-NOT: ld.shared.{{(v2.|v4.)?}}b32
// PTX: .entry three_of_seven_kernel(
// PTX-COUNT-28: ld.shared.b32
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

func.func @two_of_three(%a: tensor<4096x4608xi8>, %b: tensor<4608x4096xi8, #nm.encoding<2:3, block = 1x64>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4608xi8>, tensor<4608x4096xi8, #nm.encoding<2:3, block = 1x64>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @three_of_five(%a: tensor<4096x4800xf8E4M3FN>, %b: tensor<4800x4096xf8E4M3FN, #nm.encoding<3:5, block = 1x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4800xf8E4M3FN>, tensor<4800x4096xf8E4M3FN, #nm.encoding<3:5, block = 1x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @five_of_six(%a: tensor<4096x4608xi8>, %b: tensor<4608x4096xi8, #nm.encoding<5:6, block = 1x128>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4608xi8>, tensor<4608x4096xi8, #nm.encoding<5:6, block = 1x128>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @three_of_seven(%a: tensor<4096x4480xf8E4M3FN>, %b: tensor<4480x4096xf8E4M3FN, #nm.encoding<3:7, block = 1x32>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4480xf8E4M3FN>, tensor<4480x4096xf8E4M3FN, #nm.encoding<3:7, block = 1x32>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
