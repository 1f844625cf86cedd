// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false schedule=wgmma_select" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Products whose operand is selected into registers: ptxas would warn where it
// left out setmaxnreg, or let a wgmma wait for the one before it.
// CHECK-NOT: Potential Performance Loss
// CHECK: two_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: narrow_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: one_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: floats_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// PTX-DAG: .minnctapersm 1
// PTX-DAG: prmt.b32
// PTX-DAG: ld.shared.v4.b32
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3

func.func @two(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<2:8, block = 1x128>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<2:8, block = 1x128>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @narrow(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<2:8, block = 1x32>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<2:8, block = 1x32>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @one(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<1:8, block = 1x64>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<1:8, block = 1x64>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @floats(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<4:8, block = 1x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<4:8, block = 1x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
