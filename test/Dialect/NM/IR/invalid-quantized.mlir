// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each case is named for the constraint that it breaks.

// expected-error @+1 {{expected quantized values of 4 or 8 bits, but got 3}}
func.func private @quantization_c1() attributes {q = #nm.quantization<bits = 3, group = 64>}

// -----

// expected-error @+1 {{expected a group of 1 to 1099511627776 rows of k for each scale, but got 0}}
func.func private @quantization_c2() attributes {q = #nm.quantization<bits = 4, group = 0>}

// -----

// expected-error @+1 {{expected quantized values of 4 or 8 bits, but got 5}}
func.func private @sparse_operand_c3() attributes {p = #nm.sparse_operand<mma, bits = 5>}

// -----

// expected-error @+1 {{expected quantized values of 4 or 8 bits, but got 2}}
func.func private @mma_sp_c4() attributes {s = #nm.mma_sp<bits = 2>}

// -----

func.func @q1_activations(%a: tensor<4x128xf32>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected A to be f16 or bf16 for quantized weights, but got 'f32'}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf32>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q1_values(%a: tensor<4x128xf16>, %v: tensor<64x48xf16>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected quantized values of i8, but got 'f16'}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xf16>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q1_packing(%a: tensor<4x128xf16>, %v: tensor<3x2x512xi8>, %i: tensor<3x2x128xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected values of 4 bits to be condensed, or packed as #nm.sparse_operand<mma> of so many bits, but got #nm.sparse_operand<mma, bits = 8>}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 8> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<3x2x512xi8>, tensor<3x2x128xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// What nm-pack-weights dequantizes at each call.
func.func @q1_order(%a: tensor<4x128xf16>, %v: tensor<1x2x1024xi8>, %i: tensor<1x2x512xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected values of 4 bits to be condensed, or packed as #nm.sparse_operand<mma> of so many bits, but got #nm.sparse_operand<wgmma, bits = 4>}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<wgmma, bits = 4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<1x2x1024xi8>, tensor<1x2x512xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q2_type(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xbf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected scales of A's element type 'f16', but got 'tensor<2x48xbf16>'}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xbf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q2_shape(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<3x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected size of dim 0 of scales to be 2, but got 3}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<3x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q3(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected groups of a multiple of the window's 4 rows of k, but got 66}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 66> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q4_strategy(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected a schedule of strategy loops, or of mma_sp with bits = 4, for quantized weights, but got #nm.simt}}
  %r = nm.spmm <2:4> schedule #nm.simt quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q4_bits(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected a schedule of strategy loops, or of mma_sp with bits = 8, for quantized weights, but got #nm.mma_sp<bits = 4>}}
  %r = nm.spmm <2:4> schedule #nm.mma_sp<bits = 4> quantization <bits = 8, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q4_group(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected a block's k to be a multiple of the group of 96 rows that share a scale, a multiple of 32, and that of a slice a multiple or a divisor of it, but got 128 rows in 1 slices}}
  %r = nm.spmm <2:4> schedule #nm.mma_sp<block = [16, 48, 128], warp = [16, 16], bits = 4> quantization <bits = 4, group = 96> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q1_no_quantization(%a: tensor<4x128xf16>, %v: tensor<3x2x256xi8>, %i: tensor<3x2x128xi8>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected values of A's element type 'f16', but got 'i8'}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> ins(%a, %v, %i : tensor<4x128xf16>, tensor<3x2x256xi8>, tensor<3x2x128xi8>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q1_bytes(%a: tensor<4x128xi8>, %v: tensor<3x2x256xi8>, %i: tensor<3x2x128xi8>, %c: tensor<4x48xi32>) -> tensor<4x48xi32> {
  // expected-error @+1 {{expected a quantization for weights packed as #nm.sparse_operand<mma, bits = 4>}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> ins(%a, %v, %i : tensor<4x128xi8>, tensor<3x2x256xi8>, tensor<3x2x128xi8>) outs(%c : tensor<4x48xi32>) -> tensor<4x48xi32>
  return %r : tensor<4x48xi32>
}

// -----

func.func @q2_no_scales(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected the scales of quantized weights}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q2_scales(%a: tensor<4x128xf16>, %v: tensor<64x48xf16>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected no scales of weights without a quantization, but got 'tensor<2x48xf16>'}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xf16>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}
