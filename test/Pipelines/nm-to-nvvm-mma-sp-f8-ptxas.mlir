// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_89 format=isa schedule=mma_sp" | %python %S/Inputs/assemble.py %ptxas sm_89 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_120 format=isa schedule=mma_sp" | %python %S/Inputs/assemble.py %ptxas sm_120 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_89 format=isa schedule=mma_sp" 2>/dev/null | FileCheck %s --check-prefix=PTX

// CHECK: many_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: few_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: more_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

// PTX: .version 8.4
// PTX: .entry many_kernel
// PTX: cp.async.cg.shared.global
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32
// PTX: add.rn.f32
// PTX: .entry few_kernel
// PTX: mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e5m2.f32

func.func @many(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @few(%a: tensor<8x4096xf8E5M2>, %v: tensor<2048x4096xf8E5M2> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x4096xf8E5M2>, tensor<2048x4096xf8E5M2>, tensor<2048x4096xi8>)
    outs(%c : tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %r : tensor<8x4096xf32>
}

func.func @more(%a: tensor<32x1000xf8E4M3FN>, %v: tensor<250x996xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<250x996xi8> {nm.indices_of = 1 : i64}, %c: tensor<32x996xf32>) -> tensor<32x996xf32> {
  %r = nm.spmm <1:4> ins(%a, %v, %i : tensor<32x1000xf8E4M3FN>, tensor<250x996xf8E4M3FN>, tensor<250x996xi8>)
    outs(%c : tensor<32x996xf32>) -> tensor<32x996xf32>
  return %r : tensor<32x996xf32>
}
