// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=wgmma_sp" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='wgmma_sp<stages = 3, producers = 0>'" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='wgmma_sp<stages = 3, producers = 0>'" 2>/dev/null | FileCheck %s --check-prefix=PTX
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=wgmma_sp" 2>/dev/null | FileCheck %s --check-prefix=TENSOR

// ptxas has all in registers, those of metadata that instructions in flight
// read among them, and no wgmma waits for the one before it, which it would
// warn of.
// CHECK-NOT: Potential Performance Loss
// CHECK: half_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: few_rows_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// A kernel has a tensor map in its parameters.
// TENSOR: .version 8.4
// TENSOR: .entry half_kernel
// TENSOR: .param .align 64 .b8 half_kernel_param_{{[0-9]+}}[128]
// TENSOR: setmaxnreg.inc.sync.aligned.u32
// TENSOR: mbarrier.try_wait.parity
// TENSOR: wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.f16.f16
// TENSOR: mbarrier.arrive.expect_tx
// TENSOR: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// TENSOR: .entry few_rows_kernel

// PTX: .version 8.4
// PTX: .entry half_kernel
// PTX: cp.async.cg.shared.global
// PTX: fence.proxy.async.shared::cta
// PTX: wgmma.mma_async.sp.sync.aligned.m64n{{[0-9]+}}k32.f32.f16.f16
// PTX: .entry few_rows_kernel
// PTX: wgmma.mma_async.sp.sync.aligned.m64n{{[0-9]+}}k32.f32.bf16.bf16

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#ct = affine_map<(m, n, k) -> (n, m)>

func.func @half(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<2:4>>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

func.func @few_rows(%a: tensor<4096x256xbf16>, %b: tensor<4096x4096xbf16, #nm.encoding<2:4>>, %c: tensor<4096x256xbf16>) -> tensor<4096x256xbf16> {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<4096x256xbf16>) -> tensor<4096x256xbf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #ct], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4096x256xbf16>, tensor<4096x4096xbf16, #nm.encoding<2:4>>) outs(%f : tensor<4096x256xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<4096x256xbf16>
  return %r : tensor<4096x256xbf16>
}

func.func @ragged(%a: tensor<1003x1002xf16>, %b: tensor<1003x1001xf16, #nm.encoding<1:5, block = 1x3>>, %c: tensor<1002x1001xf32>) -> tensor<1002x1001xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1002x1001xf32>) -> tensor<1002x1001xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1003x1002xf16>, tensor<1003x1001xf16, #nm.encoding<1:5, block = 1x3>>) outs(%f : tensor<1002x1001xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1002x1001xf32>
  return %r : tensor<1002x1001xf32>
}
