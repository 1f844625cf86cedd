// REQUIRES: ptxas
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 format=isa" | %python %S/Inputs/assemble.py %ptxas sm_80 | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" | %python %S/Inputs/assemble.py %ptxas sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" | FileCheck %s --check-prefix=PTX

// CHECK: halves_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: floats_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: odd_rows_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled
// CHECK: widened_kernel on {{.*}}, 0 bytes of stack, 0 bytes spilled

// All 8 loads of a lane are in flight before the first word is transposed.
// PTX-LABEL: .entry halves_kernel
// PTX-COUNT-8: ld.global{{[.a-z]*}}.v4.{{[bu]}}32
// PTX: movmatrix.sync.aligned.m8n8.trans.b16
// PTX-NOT: ld.global
// PTX-COUNT-8: st.global.v4.b32
// PTX-NOT: st.global
// PTX-LABEL: .entry floats_kernel
// PTX-COUNT-16: ld.global{{[.a-z]*}}.b32
// PTX-COUNT-16: st.shared.b32
// PTX: bar.sync
// PTX-COUNT-16: ld.shared.b32
// At the edge, lanes have different accesses, but no branch is around a
// movmatrix.
// PTX-LABEL: .entry odd_rows_kernel
// PTX: bra.uni
// PTX: bar.warp.sync
// PTX-NOT: bra
// PTX-COUNT-16: movmatrix.sync.aligned.m8n8.trans.b16
// PTX-NOT: bra
// PTX: bar.warp.sync
// PTX-NOT: movmatrix
// PTX: bar.warp.sync
// PTX-NOT: bra
// PTX-COUNT-16: movmatrix.sync.aligned.m8n8.trans.b16
// PTX-NOT: bra
// PTX: bar.warp.sync
// PTX-NOT: movmatrix
// Of 8 bits, too, all loads come before what makes f16 of them.
// PTX-LABEL: .entry widened_kernel
// PTX-COUNT-8: ld.global{{[.a-z]*}}.v2.{{[bu]}}32
// PTX: mul.rn.f16x2
// PTX-NOT: ld.global
// PTX-COUNT-32: movmatrix.sync.aligned.m8n8.trans.b16
// PTX-COUNT-8: st.global.v4.b32

func.func @halves(%a: tensor<4096x4096xf16>, %e: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %t = linalg.transpose ins(%a : tensor<4096x4096xf16>) outs(%e : tensor<4096x4096xf16>) permutation = [1, 0]
  return %t : tensor<4096x4096xf16>
}

func.func @floats(%a: tensor<1024x4096xf32>, %e: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %t = linalg.transpose ins(%a : tensor<1024x4096xf32>) outs(%e : tensor<4096x1024xf32>) permutation = [1, 0]
  return %t : tensor<4096x1024xf32>
}

func.func @odd_rows(%a: tensor<1000x4096xbf16>) -> tensor<4096x1000xbf16> {
  %e = tensor.empty() : tensor<4096x1000xbf16>
  %t = linalg.transpose ins(%a : tensor<1000x4096xbf16>) outs(%e : tensor<4096x1000xbf16>) permutation = [1, 0]
  return %t : tensor<4096x1000xbf16>
}

func.func @widened(%a: tensor<4096x4096xf8E4M3FN>, %e: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %t = linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4096x4096xf8E4M3FN>) outs(%e : tensor<4096x4096xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %y = arith.extf %x : f8E4M3FN to f16
    linalg.yield %y : f16
  } -> tensor<4096x4096xf16>
  return %t : tensor<4096x4096xf16>
}
