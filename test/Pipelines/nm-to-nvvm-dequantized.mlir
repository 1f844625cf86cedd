// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=wgmma_sp" 2>/dev/null | FileCheck %s

// Each call has two kernels, that which dequantizes and the product: metadata is
// packed when weights are loaded. What dequantizes has one load of a scale for
// eight values of four bits, and one store of their weights.
// CHECK: .entry layer_kernel(
// CHECK-NOT: .entry
// CHECK: ld.global.b16
// CHECK-NOT: ld.global.b16
// CHECK-COUNT-4: mul.rn.f16x2
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK: .entry layer_kernel_0(
// CHECK: wgmma.mma_async.sp
// CHECK-NOT: .entry
func.func @layer(%a: tensor<512x512xf16>, %v: tensor<256x512xi8> {nm.values_of = 1 : i64}, %i: tensor<256x512xi8> {nm.indices_of = 1 : i64}, %s: tensor<4x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<512x512xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<512x512xf16>) -> tensor<512x512xf16>
  %r = nm.spmm <2:4> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<512x512xf16>, tensor<256x512xi8>, tensor<256x512xi8>)
    scales(%s : tensor<4x512xf16>) outs(%f : tensor<512x512xf16>) -> tensor<512x512xf16>
  return %r : tensor<512x512xf16>
}
