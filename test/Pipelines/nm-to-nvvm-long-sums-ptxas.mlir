// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt dense-fallback=false" 2>%t.remarks | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt dense-fallback=false" 2>/dev/null | FileCheck %s --check-prefix=PTX

// Promoted sums in shared memory leave the largest thread tile its registers. The
// stack has the second sums, a word for each of 128 sums.
// CHECK: half_kernel on {{.*}}, 512 bytes of stack, 0 bytes spilled
// CHECK: quarter_kernel on {{.*}}, 512 bytes of stack, 0 bytes spilled

// REMARK: thread = [16, 8]{{.*}} promote = true
// REMARK: thread = [16, 8]{{.*}} promote = true

// At the end of a chain, four promoted sums at a time, and one line of second sums.
// PTX: .entry half_kernel
// PTX: ld.shared.v4.b32
// PTX: add.rn.f32
// PTX: st.shared.v4.b32
// PTX: ld.local.v4.b32
// PTX: st.local.v4.b32

func.func @half(%a: tensor<1024x100000xf32>, %b: tensor<100000x4096xf32, #nm.encoding<16:32, block = 1x32>>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x100000xf32>, tensor<100000x4096xf32, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

func.func @quarter(%a: tensor<1024x100000xf32>, %b: tensor<100000x4096xf32, #nm.encoding<8:32, block = 1x32>>, %c: tensor<1024x4096xf32>) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x100000xf32>, tensor<100000x4096xf32, #nm.encoding<8:32, block = 1x32>>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
