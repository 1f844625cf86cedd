// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --emit-bytecode | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

// Scales stand behind the weights.
// CHECK-LABEL: func.func @condensed
// CHECK: nm.spmm <2:4> quantization <bits = 4, group = 32> ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf16>, tensor<32x48xi8>, tensor<32x48xi8>) scales(%{{.*}} : tensor<2x48xf16>) outs(%{{.*}} : tensor<?x48xf16>) -> tensor<?x48xf16>
// CHECK-NEXT: nm.spmm <2:4> quantization <bits = 8, group = 64> ins({{.*}}) scales(%{{.*}} : tensor<1x48xf16>) outs({{.*}}) -> tensor<?x48xf16> epilogue ins(%{{.*}} : tensor<48xf16>) maps [#{{.*}}] {
func.func @condensed(%a: tensor<?x64xf16>, %v: tensor<32x48xi8>, %i: tensor<32x48xi8>, %s: tensor<2x48xf16>, %t: tensor<1x48xf16>, %bias: tensor<48xf16>, %c: tensor<?x48xf16>) -> (tensor<?x48xf16>, tensor<?x48xf16>) {
  %r = nm.spmm <2:4> quantization <bits = 4, group = 32>
    ins(%a, %v, %i : tensor<?x64xf16>, tensor<32x48xi8>, tensor<32x48xi8>)
    scales(%s : tensor<2x48xf16>) outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
  %e = nm.spmm <2:4> quantization <bits = 8, group = 64>
    ins(%a, %v, %i : tensor<?x64xf16>, tensor<32x48xi8>, tensor<32x48xi8>)
    scales(%t : tensor<1x48xf16>) outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
    epilogue ins(%bias : tensor<48xf16>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%sum: f32, %b: f16):
      %wide = arith.extf %b : f16 to f32
      %y = arith.addf %sum, %wide : f32
      %h = arith.truncf %y : f32 to f16
      nm.yield %h : f16
    }
  return %r, %e : tensor<?x48xf16>, tensor<?x48xf16>
}

// CHECK-LABEL: func.func @packed
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [8, 32, 128], warp = [8, 16], stages = 3, slice_k = 2, bits = 4> quantization <bits = 4, group = 128> ins(%{{.*}} : tensor<9x256xbf16>, tensor<2x4x256xi8>, tensor<2x4x128xi8>) scales(%{{.*}} : tensor<2x32xbf16>) outs(%{{.*}} : tensor<9x32xf32>) -> tensor<9x32xf32>
func.func @packed(%a: tensor<9x256xbf16>, %v: tensor<2x4x256xi8>, %i: tensor<2x4x128xi8>, %s: tensor<2x32xbf16>, %c: tensor<9x32xf32>) -> tensor<9x32xf32> {
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4>
    schedule #nm.mma_sp<block = [8, 32, 128], warp = [8, 16], stages = 3, slice_k = 2, bits = 4>
    quantization <bits = 4, group = 128>
    ins(%a, %v, %i : tensor<9x256xbf16>, tensor<2x4x256xi8>, tensor<2x4x128xi8>)
    scales(%s : tensor<2x32xbf16>) outs(%c : tensor<9x32xf32>) -> tensor<9x32xf32>
  return %r : tensor<9x32xf32>
}

// CHECK-LABEL: func.func @vector
// CHECK: nm.spmv <1:2> quantization <bits = 8, group = 16> ins({{.*}}) scales(%{{.*}} : tensor<4x8xf16>) outs({{.*}}) -> tensor<8xf32>
func.func @vector(%a: tensor<64xf16>, %v: tensor<32x8xi8>, %i: tensor<32x8xi8>, %s: tensor<4x8xf16>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %r = nm.spmv <1:2> quantization <bits = 8, group = 16> ins(%a, %v, %i : tensor<64xf16>, tensor<32x8xi8>, tensor<32x8xi8>)
    scales(%s : tensor<4x8xf16>) outs(%c : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
