// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule=mma_bitmap" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=mma_bitmap" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_120 format=isa schedule=mma_bitmap" | %python %S/Inputs/assemble.py %ptxas sm_120 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule=mma_bitmap" 2>/dev/null | FileCheck %s --check-prefix=PTX

// CHECK: half_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: edge_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: bytes_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

// PTX: .entry half_kernel
// PTX: cp.async.cg.shared.global
// PTX: ld.shared.b16
// PTX: dp4a.u32.u32
// PTX: prmt.b32
// PTX: mma.sync{{.*}}m16n8k16.row.col.f32.f16.f16.f32
// PTX: .entry edge_kernel
// PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX: mma.sync{{.*}}m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: .entry bytes_kernel
// PTX: popc.b32
// PTX: prmt.b32.f4e
// PTX: prmt.b32
// PTX: mma.sync{{.*}}m16n8k32.row.col.s32.s8.s8.s32

func.func @half(%a: tensor<8x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<8:16>>, %c: tensor<8x4096xf16>) -> tensor<8x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %r = linalg.matmul ins(%a, %b : tensor<8x4096xf16>, tensor<4096x4096xf16, #nm.encoding<8:16>>) outs(%f : tensor<8x4096xf16>) -> tensor<8x4096xf16>
  return %r : tensor<8x4096xf16>
}

func.func @edge(%a: tensor<500x31xbf16>, %v: tensor<250x996xbf16>, %i: tensor<250x996xi8>, %c: tensor<31x996xf32>) -> tensor<31x996xf32> {
  %r = nm.spmm <5:10> transpose_a ins(%a, %v, %i : tensor<500x31xbf16>, tensor<250x996xbf16>, tensor<250x996xi8>) outs(%c : tensor<31x996xf32>) -> tensor<31x996xf32>
  return %r : tensor<31x996xf32>
}

func.func @bytes(%a: tensor<30x4000xi8>, %b: tensor<4000x996xi8, #nm.encoding<62:128>>, %c: tensor<30x996xi32>) -> tensor<30x996xi32> {
  %zero = arith.constant 0 : i32
  %f = linalg.fill ins(%zero : i32) outs(%c : tensor<30x996xi32>) -> tensor<30x996xi32>
  %r = linalg.matmul ins(%a, %b : tensor<30x4000xi8>, tensor<4000x996xi8, #nm.encoding<62:128>>) outs(%f : tensor<30x996xi32>) -> tensor<30x996xi32>
  return %r : tensor<30x996xi32>
}
