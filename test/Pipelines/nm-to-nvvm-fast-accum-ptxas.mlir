// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa arithmetic=fast_accum" 2>/dev/null | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa arithmetic=fast_accum" 2>/dev/null | FileCheck %s --check-prefix=PTX --implicit-check-not=add.rn.f32
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" 2>/dev/null | FileCheck %s --check-prefix=TOTALS

// Sums of 8-bit floats stay in the registers of the tensor cores' products, and
// no thread adds anything.
// CHECK-NOT: Potential Performance Loss
// CHECK: groups_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: selected_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: units_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// PTX: .entry groups_kernel
// PTX: wgmma.mma_async.sp.sync.aligned.m64n256k64.f32.e4m3.e4m3
// PTX: .entry selected_kernel
// PTX: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2
// PTX: .entry units_kernel
// PTX: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3

// TOTALS: .entry groups_kernel
// TOTALS: add.rn.f32
// TOTALS: .entry selected_kernel
// TOTALS: add.rn.f32
// TOTALS: .entry units_kernel
// TOTALS: add.rn.f32

func.func @groups(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<2:4>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}

func.func @selected(%a: tensor<4096x4096xf8E5M2>, %b: tensor<4096x4096xf8E5M2, #nm.encoding<4:8, block = 1x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E5M2>, tensor<4096x4096xf8E5M2, #nm.encoding<4:8, block = 1x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}

func.func @units(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %p : tensor<4096x4096xf32>
}
