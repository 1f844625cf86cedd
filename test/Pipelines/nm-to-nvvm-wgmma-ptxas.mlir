// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa dense-fallback=false" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm='chip=sm_90a format=isa dense-fallback=false schedule="wgmma<producers = 4>"' | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s

// Exact gather: ptxas has all in registers, and no wgmma waits for the one
// before it, which it would warn of.
// CHECK-NOT: Potential Performance Loss
// CHECK: vector_128_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_64_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: blocks_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#ct = affine_map<(m, n, k) -> (n, m)>

func.func @vector_128(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<8:32, block = 1x128>>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #ct], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16, #nm.encoding<8:32, block = 1x128>>) outs(%f : tensor<4096x4096xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

func.func @vector_64(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16, #nm.encoding<8:32, block = 1x64>>, %c: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #nm.encoding<8:32, block = 1x64>>) outs(%f : tensor<4096x4096xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}

func.func @blocks(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16, #nm.encoding<4:8, block = 64x64>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #ct], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16, #nm.encoding<4:8, block = 64x64>>) outs(%f : tensor<1024x1024xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @ragged(%a: tensor<1003x1016xf16>, %b: tensor<1003x1001xf16, #nm.encoding<5:20, block = 1x192>>, %c: tensor<1016x1001xf16>) -> tensor<1016x1001xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<1016x1001xf16>) -> tensor<1016x1001xf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<1003x1016xf16>, tensor<1003x1001xf16, #nm.encoding<5:20, block = 1x192>>) outs(%f : tensor<1016x1001xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<1016x1001xf16>
  return %r : tensor<1016x1001xf16>
}
