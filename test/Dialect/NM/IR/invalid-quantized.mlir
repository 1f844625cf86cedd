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
  // expected-error @+1 {{expected values of 4 bits to be condensed, or packed as #nm.sparse_operand<mma> or #nm.packing of so many bits, but got #nm.sparse_operand<mma, bits = 8>}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 8> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<3x2x512xi8>, tensor<3x2x128xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// What nm-pack-weights dequantizes at each call.
func.func @q1_order(%a: tensor<4x128xf16>, %v: tensor<1x2x1024xi8>, %i: tensor<1x2x512xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected values of 4 bits to be condensed, or packed as #nm.sparse_operand<mma> or #nm.packing of so many bits, but got #nm.sparse_operand<wgmma, bits = 4>}}
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
  // expected-error @+1 {{expected a schedule of strategy loops, or of mma_sp or mma_sync with bits = 4, for quantized weights, but got #nm.simt}}
  %r = nm.spmm <2:4> schedule #nm.simt quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<64x48xi8>, tensor<64x48xi8>) scales(%s : tensor<2x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @q4_bits(%a: tensor<4x128xf16>, %v: tensor<64x48xi8>, %i: tensor<64x48xi8>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected a schedule of strategy loops, or of mma_sp or mma_sync with bits = 8, for quantized weights, but got #nm.mma_sp<bits = 4>}}
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

// -----

func.func @q1_panels(%a: tensor<4x128xf16>, %v: tensor<2x2x512xi8>, %i: tensor<2x32x1xi8>, %s: tensor<2x64xf16>, %c: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @+1 {{expected values of 4 bits to be condensed, or packed as #nm.sparse_operand<mma> or #nm.packing of so many bits, but got #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 8>}}
  %r = nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 8> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<4x128xf16>, tensor<2x2x512xi8>, tensor<2x32x1xi8>) scales(%s : tensor<2x64xf16>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

func.func @q1_panels_no_quantization(%a: tensor<4x128xi8>, %v: tensor<2x2x256xi8>, %i: tensor<2x32x1xi8>, %c: tensor<4x64xi32>) -> tensor<4x64xi32> {
  // expected-error @+1 {{expected a quantization for weights packed as #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>}}
  %r = nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4> ins(%a, %v, %i : tensor<4x128xi8>, tensor<2x2x256xi8>, tensor<2x32x1xi8>) outs(%c : tensor<4x64xi32>) -> tensor<4x64xi32>
  return %r : tensor<4x64xi32>
}

// -----

func.func @q4_slices(%a: tensor<4x256xf16>, %v: tensor<64x64xi8>, %i: tensor<64x2xi8>, %s: tensor<3x64xf16>, %c: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @+1 {{expected a block's k to be a multiple of the group of 96 rows that share a scale, a multiple of 1, and that of a slice a multiple or a divisor of it, but got 192 rows in 3 slices}}
  %r = nm.spmm <8:32, block = 1x32> schedule #nm.mma_sync<block = [16, 32, 192], warp = [16, 32], slice_k = 3, bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16>> quantization <bits = 4, group = 96> ins(%a, %v, %i : tensor<4x256xf16>, tensor<64x64xi8>, tensor<64x2xi8>) scales(%s : tensor<3x64xf16>) outs(%c : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

// expected-error @+1 {{expected quantized values of 4 or 8 bits, but got 6}}
func.func private @packing_c8_bits() attributes {p = #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 6>}

// -----

// expected-error @+1 {{expected a packing without bits, which follow from those of the schedule, but got #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>}}
func.func private @mma_sync_bits() attributes {s = #nm.mma_sync<bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>>}

// -----

func.func @packing_c8_rows(%v: tensor<64x64xi8>, %i: tensor<64x2xi8>, %pv: tensor<2x4x256xi8>, %pi: tensor<2x64x1xi8>) -> (tensor<2x4x256xi8>, tensor<2x64x1xi8>) {
  // expected-error @+1 {{expected chunk_rows of 2 or 16, and no chunk_columns, index_rows, col_info, tile_rows, splits or lane_words, for bits, but got panel = 32, index_bits = 8, chunk_rows = 4, bits = 4}}
  %0:2 = nm.pack <8:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, bits = 4> ins(%v, %i : tensor<64x64xi8>, tensor<64x2xi8>) outs(%pv, %pi : tensor<2x4x256xi8>, tensor<2x64x1xi8>) -> tensor<2x4x256xi8>, tensor<2x64x1xi8>
  return %0#0, %0#1 : tensor<2x4x256xi8>, tensor<2x64x1xi8>
}

// -----

func.func @packing_c8_type(%v: tensor<64x64xf16>, %i: tensor<64x2xi8>, %pv: tensor<2x4x256xf16>, %pi: tensor<2x64x1xi8>) -> (tensor<2x4x256xf16>, tensor<2x64x1xi8>) {
  // expected-error @+1 {{expected quantized weights of i8 for 4 bits, but got 'f16'}}
  %0:2 = nm.pack <8:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4> ins(%v, %i : tensor<64x64xf16>, tensor<64x2xi8>) outs(%pv, %pi : tensor<2x4x256xf16>, tensor<2x64x1xi8>) -> tensor<2x4x256xf16>, tensor<2x64x1xi8>
  return %0#0, %0#1 : tensor<2x4x256xf16>, tensor<2x64x1xi8>
}
