// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm='chip=sm_90a format=isa dense-fallback=false schedule="wgmma<copy_a = tensor>"' | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Gathered units of 8 bits: no wgmma waits for the one before it, which ptxas
// would warn of.
// CHECK-NOT: Potential Performance Loss
// CHECK: integers_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: narrow_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: floats_kernel on sm_90a: {{.*}}
// CHECK: wide_floats_kernel on sm_90a: {{.*}}
// CHECK-NOT: Potential Performance Loss

// PTX-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k32.s32.s8.s8
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k32.f32.e4m3.e4m3
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k32.f32.e5m2.e5m2

func.func @integers(%a: tensor<1024x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<8:32, block = 64x64>>) -> tensor<1024x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x4096xi8>, tensor<4096x4096xi8, #nm.encoding<8:32, block = 64x64>>) outs(%f : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  return %r : tensor<1024x4096xi32>
}

func.func @narrow(%a: tensor<1024x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<4:32, block = 16x64>>) -> tensor<1024x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x4096xi8>, tensor<4096x4096xi8, #nm.encoding<4:32, block = 16x64>>) outs(%f : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  return %r : tensor<1024x4096xi32>
}

func.func @floats(%a: tensor<1024x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x128>>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x128>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

func.func @wide_floats(%a: tensor<1024x4096xf8E5M2>, %b: tensor<4096x4096xf8E5M2, #nm.encoding<8:32, block = 64x128>>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x4096xf8E5M2>, tensor<4096x4096xf8E5M2, #nm.encoding<8:32, block = 64x128>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
