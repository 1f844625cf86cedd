// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" 2>/dev/null | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Products of 8-bit types with scales of rows and columns have all in registers,
// promoted sums of f8 among them.
// CHECK-NOT: Potential Performance Loss
// CHECK: integers_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: few_rows_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: floats_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: wide_floats_kernel on sm_90a: {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK-NOT: Potential Performance Loss

// PTX: .entry integers_kernel
// PTX-DAG: wgmma.mma_async.sp.sync.aligned.m64n{{[0-9]+}}k64.s32.s8.s8
// PTX-DAG: cvt.rn.f32.s32
// PTX: .entry few_rows_kernel
// PTX: mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32
// PTX: .entry floats_kernel
// PTX: wgmma.mma_async.sp.sync.aligned.m64n{{[0-9]+}}k64.f32.e4m3.e4m3
// PTX: .entry wide_floats_kernel
// PTX: wgmma.mma_async.sp.sync.aligned.m64n{{[0-9]+}}k64.f32.e5m2.e5m2

#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>

func.func @integers(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<2:4>>, %r: tensor<4096xf32>, %s: tensor<4096xf32>) -> tensor<4096x4096xf16> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %o = tensor.empty() : tensor<4096x4096xf16>
  %q = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %r, %s : tensor<4096x4096xi32>, tensor<4096xf32>, tensor<4096xf32>) outs(%o : tensor<4096x4096xf16>) {
  ^bb0(%x: i32, %y: f32, %z: f32, %w: f16):
    %1 = arith.sitofp %x : i32 to f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.mulf %2, %z : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<4096x4096xf16>
  return %q : tensor<4096x4096xf16>
}

func.func @few_rows(%a: tensor<16x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<2:4>>) -> tensor<16x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<16x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x4096xi32>) -> tensor<16x4096xi32>
  %p = linalg.matmul ins(%a, %b : tensor<16x4096xi8>, tensor<4096x4096xi8, #nm.encoding<2:4>>) outs(%f : tensor<16x4096xi32>) -> tensor<16x4096xi32>
  return %p : tensor<16x4096xi32>
}

func.func @floats(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<2:4>>, %s: tensor<f32>) -> tensor<4096x4096xf8E4M3FN> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = tensor.empty() : tensor<4096x4096xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> ()>, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4096x4096xf32>, tensor<f32>) outs(%o : tensor<4096x4096xf8E4M3FN>) {
  ^bb0(%x: f32, %y: f32, %w: f8E4M3FN):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.truncf %1 : f32 to f8E4M3FN
    linalg.yield %2 : f8E4M3FN
  } -> tensor<4096x4096xf8E4M3FN>
  return %q : tensor<4096x4096xf8E4M3FN>
}

func.func @wide_floats(%a: tensor<4096x4096xf8E5M2>, %b: tensor<4096x4096xf8E5M2, #nm.encoding<2:4>>, %s: tensor<f32>) -> tensor<4096x4096xf8E5M2> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E5M2>, tensor<4096x4096xf8E5M2, #nm.encoding<2:4>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = tensor.empty() : tensor<4096x4096xf8E5M2>
  %q = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> ()>, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<4096x4096xf32>, tensor<f32>) outs(%o : tensor<4096x4096xf8E5M2>) {
  ^bb0(%x: f32, %y: f32, %w: f8E5M2):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.truncf %1 : f32 to f8E5M2
    linalg.yield %2 : f8E5M2
  } -> tensor<4096x4096xf8E5M2>
  return %q : tensor<4096x4096xf8E5M2>
}
