// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule=mma_sp" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=mma_sp" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_120 format=isa schedule=mma_sp" | %python %S/Inputs/assemble.py %ptxas sm_120 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=mma_sp" 2>/dev/null | FileCheck %s --check-prefix=PTX

// CHECK: half_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: bytes_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

// Values are not converted by cvt, and both of a pair at once.
// PTX: .entry half_kernel
// PTX-NOT: cvt.rn.f16
// PTX: fma.rn.f16x2
// PTX: mul.rn.f16x2
// PTX: mma.sp{{.*}}m16n8k32.row.col.f32.f16.f16.f32
// PTX: .entry bytes_kernel
// PTX: {{fma|mul}}.rn.bf16x2
// PTX: mma.sp{{.*}}m16n8k32.row.col.f32.bf16.bf16.f32

func.func @half(%a: tensor<16x4096xf16>, %v: tensor<2048x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %s: tensor<32x4096xf16>, %c: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %r = nm.spmm <2:4> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<16x4096xf16>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    scales(%s : tensor<32x4096xf16>) outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}

func.func @bytes(%a: tensor<1024x4096xbf16>, %v: tensor<2048x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %s: tensor<64x4096xbf16>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %r = nm.spmm <2:4> quantization <bits = 8, group = 64> ins(%a, %v, %i : tensor<1024x4096xbf16>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    scales(%s : tensor<64x4096xbf16>) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
