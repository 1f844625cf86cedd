// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_86 format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_86 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_89 format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_89 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_100a format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_100a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_120 format=isa schedule=mma_sync" | %python %S/Inputs/assemble.py %ptxas sm_120 | FileCheck %s

// Products by tensor cores are kernels that ptxas takes on every chip at the
// schedule that is chosen for it, with all that they have in registers.
// CHECK: vector_32_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_16_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_8_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: vector_64_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: blocks_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: odd_windows_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: ragged_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

func.func @vector_32(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16, #nm.encoding<16:32, block = 1x32>>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

func.func @vector_16(%a: tensor<1024x1024xbf16>, %b: tensor<1024x1024xbf16, #nm.encoding<8:32, block = 1x16>>, %c: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1024x1024xbf16>, tensor<1024x1024xbf16, #nm.encoding<8:32, block = 1x16>>) outs(%f : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
  return %r : tensor<1024x1024xbf16>
}

func.func @vector_8(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16, #nm.encoding<3:5, block = 1x8>>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16, #nm.encoding<3:5, block = 1x8>>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

func.func @vector_64(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16, #nm.encoding<4:32, block = 1x64>>, %c: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16, #nm.encoding<4:32, block = 1x64>>) outs(%f : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}

func.func @blocks(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16, #nm.encoding<1:2, block = 64x64>>, %c: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16, #nm.encoding<1:2, block = 64x64>>) outs(%f : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %r : tensor<1024x1024xf16>
}

func.func @odd_windows(%a: tensor<1000x200xf16>, %b: tensor<1000x1000xf16, #nm.encoding<7:20, block = 1x32>>, %c: tensor<200x1000xf16>) -> tensor<200x1000xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<200x1000xf16>) -> tensor<200x1000xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1000x200xf16>, tensor<1000x1000xf16, #nm.encoding<7:20, block = 1x32>>) outs(%f : tensor<200x1000xf16>) -> tensor<200x1000xf16>
  return %r : tensor<200x1000xf16>
}

func.func @ragged(%a: tensor<1001x?xf16>, %b: tensor<1001x1003xf16, #nm.encoding<3:24, block = 1x24>>, %c: tensor<?x1003xf16>) -> tensor<?x1003xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<?x1003xf16>) -> tensor<?x1003xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1001x?xf16>, tensor<1001x1003xf16, #nm.encoding<3:24, block = 1x24>>) outs(%f : tensor<?x1003xf16>) -> tensor<?x1003xf16>
  return %r : tensor<?x1003xf16>
}
