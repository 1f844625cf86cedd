// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the op and the constraint in NMOps.td that it
// breaks.

func.func @compress_c1_rows(%b: memref<63x48xf32>, %v: memref<30x48xf32>, %i: memref<32x48xi8>) {
  // expected-error @+1 {{'nm.compress' op expected size of dim 0 of values to be 32, but got 30}}
  nm.compress <2:4> ins(%b : memref<63x48xf32>) outs(%v, %i : memref<30x48xf32>, memref<32x48xi8>)
  return
}

// -----

func.func @compress_c1_dim(%b: memref<48x64xf32>, %v: memref<24x64xf32>, %i: memref<24x64xi8>) {
  // expected-error @+1 {{expected size of dim 0 of values to be 32, but got 24}}
  nm.compress <2:4> dim 1 ins(%b : memref<48x64xf32>) outs(%v, %i : memref<24x64xf32>, memref<24x64xi8>)
  return
}

// -----

func.func @compress_c1_huge(%b: memref<9223372036854775807x?xf32>, %v: memref<?x?xf32>, %i: memref<?x?xi8>) {
  // expected-error @+1 {{expected k and n to be at most 1099511627776}}
  nm.compress <2:4> ins(%b : memref<9223372036854775807x?xf32>) outs(%v, %i : memref<?x?xf32>, memref<?x?xi8>)
  return
}

// -----

func.func @compress_c2(%b: memref<64x48xf32>, %v: memref<32x48xf16>, %i: memref<32x48xi8>) {
  // expected-error @+1 {{expected element type 'f32', but got 'f16'}}
  nm.compress <2:4> ins(%b : memref<64x48xf32>) outs(%v, %i : memref<32x48xf16>, memref<32x48xi8>)
  return
}

// -----

func.func @compress_c3(%b: tensor<64x48xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>) {
  // expected-error @+1 {{expected number of results to be 2 on tensors, but got 1}}
  nm.compress <2:4> ins(%b : tensor<64x48xf32>) outs(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>
  return
}

// -----

func.func @compress_c3_encoded(%b: tensor<64x48xf32, #nm.encoding<2:4>>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>) {
  // expected-error @+1 {{expected operand 0 to be a plain tensor, but it carries #nm.encoding<2:4>}}
  nm.compress <2:4> ins(%b : tensor<64x48xf32, #nm.encoding<2:4>>)
    outs(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>, tensor<32x48xi8>
  return
}

// -----

func.func @compress_dim(%b: memref<64x48xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>) {
  // expected-error @+1 {{attribute 'dim' failed to satisfy constraint}}
  nm.compress <2:4> dim 2 ins(%b : memref<64x48xf32>) outs(%v, %i : memref<32x48xf32>, memref<32x48xi8>)
  return
}

// -----

func.func @decompress_c1(%b: memref<64x48xf32>, %v: memref<32x48xf32>, %i: memref<16x48xi8>) {
  // expected-error @+1 {{'nm.decompress' op expected size of dim 0 of indices to be 32, but got 16}}
  nm.decompress <2:4> ins(%v, %i : memref<32x48xf32>, memref<16x48xi8>) outs(%b : memref<64x48xf32>)
  return
}

// -----

func.func @decompress_c2(%b: memref<64x48xi8>, %v: memref<32x48xf8E4M3FN>, %i: memref<32x48xi8>) {
  // expected-error @+1 {{expected element type 'i8', but got 'f8E4M3FN'}}
  nm.decompress <2:4> ins(%v, %i : memref<32x48xf8E4M3FN>, memref<32x48xi8>) outs(%b : memref<64x48xi8>)
  return
}

// -----

func.func @decompress_c3(%b: tensor<64x48xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>) {
  // expected-error @+1 {{expected all operands to be tensors or all to be memrefs}}
  nm.decompress <2:4> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>) outs(%b : tensor<64x48xf32>) -> tensor<64x48xf32>
  return
}

// -----

func.func @prune_c1_shape(%b: memref<64x48xf32>, %p: memref<48x64xf32>) {
  // expected-error @+1 {{'nm.prune' op expected size of dim 0 of output to be 64, but got 48}}
  nm.prune <2:4> ins(%b : memref<64x48xf32>) outs(%p : memref<48x64xf32>)
  return
}

// -----

func.func @prune_c1_type(%b: memref<64x48xf32>, %p: memref<64x48xf16>) {
  // expected-error @+1 {{expected element type 'f32', but got 'f16'}}
  nm.prune <2:4> ins(%b : memref<64x48xf32>) outs(%p : memref<64x48xf16>)
  return
}

// -----

func.func @prune_c2(%b: tensor<64x48xf32>, %p: tensor<?x48xf32>) {
  // expected-error @+1 {{expected result type 'tensor<?x48xf32>' (of its destination), but got 'tensor<64x48xf32>'}}
  nm.prune <2:4> ins(%b : tensor<64x48xf32>) outs(%p : tensor<?x48xf32>) -> tensor<64x48xf32>
  return
}

// -----

func.func @pack_c1_whole_units(%v: memref<31x48xf32>, %i: memref<31x48xi8>, %pv: memref<3x31x16xf32>, %pi: memref<3x31x4xi8>) {
  // expected-error @+1 {{'nm.pack' op expected size of dim 0 of values to be a multiple of 2, but got 31}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : memref<31x48xf32>, memref<31x48xi8>)
    outs(%pv, %pi : memref<3x31x16xf32>, memref<3x31x4xi8>)
  return
}

// -----

func.func @pack_c1_indices(%v: memref<32x48xf32>, %i: memref<32x48xi8>, %pv: memref<3x32x16xf32>, %pi: memref<3x8x1xi8>) {
  // expected-error @+1 {{expected size of dim 0 of indices to be 8, but got 32}}
  nm.pack <2:4, block = 4x4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>)
    outs(%pv, %pi : memref<3x32x16xf32>, memref<3x8x1xi8>)
  return
}

// -----

func.func @pack_c1_panels(%v: memref<32x50xf32>, %i: memref<32x50xi8>, %pv: memref<3x32x16xf32>, %pi: memref<4x32x4xi8>) {
  // expected-error @+1 {{expected size of dim 0 of packed values to be 4, but got 3}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : memref<32x50xf32>, memref<32x50xi8>)
    outs(%pv, %pi : memref<3x32x16xf32>, memref<4x32x4xi8>)
  return
}

// -----

func.func @pack_c1_bytes(%v: memref<32x48xf32>, %i: memref<32x48xi8>, %pv: memref<3x32x16xf32>, %pi: memref<3x32x16xi8>) {
  // expected-error @+1 {{expected size of dim 2 of packed indices to be 4, but got 16}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>)
    outs(%pv, %pi : memref<3x32x16xf32>, memref<3x32x16xi8>)
  return
}

// -----

func.func @pack_packing_c1(%v: memref<32x48xf32>, %i: memref<32x12xi8>, %pv: memref<?x?x?xf32>, %pi: memref<?x?x?xi8>) {
  // expected-error @+1 {{expected a panel of at most 65536 columns that is a multiple or a divisor of the block's 4, but got 6}}
  nm.pack <2:4, block = 1x4> #nm.packing<panel = 6, index_bits = 2> ins(%v, %i : memref<32x48xf32>, memref<32x12xi8>)
    outs(%pv, %pi : memref<?x?x?xf32>, memref<?x?x?xi8>)
  return
}

// -----

func.func @pack_packing_c2(%v: memref<32x48xf32>, %i: memref<32x48xi8>, %pv: memref<?x?x?xf32>, %pi: memref<?x?x?xi8>) {
  // expected-error @+1 {{expected 2 to 8 index bits for M = 4, but got 1}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 1> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>)
    outs(%pv, %pi : memref<?x?x?xf32>, memref<?x?x?xi8>)
  return
}

// -----

func.func @pack_c2(%v: memref<32x48xf32>, %i: memref<32x48xi8>, %pv: memref<3x32x16xbf16>, %pi: memref<3x32x4xi8>) {
  // expected-error @+1 {{expected element type 'f32', but got 'bf16'}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>)
    outs(%pv, %pi : memref<3x32x16xbf16>, memref<3x32x4xi8>)
  return
}

// -----

func.func @pack_c3(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %pv: tensor<3x32x16xf32>, %pi: tensor<3x32x4xi8>) {
  // expected-error @+1 {{expected number of results to be 2 on tensors, but got 0}}
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%pv, %pi : tensor<3x32x16xf32>, tensor<3x32x4xi8>)
  return
}

// -----

func.func @disassemble_c1(%w: tensor<64x48xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor with an #nm.encoding, but got 'tensor<64x48xf32>'}}
  nm.disassemble %w : tensor<64x48xf32> -> tensor<32x48xf32>, tensor<32x48xi8>
  return
}

// -----

func.func @disassemble_c2_rows(%w: tensor<48x62xf32, #nm.encoding<2:4, dim = 1>>) {
  // expected-error @+1 {{'nm.disassemble' op expected size of dim 0 of values to be 32, but got 31}}
  nm.disassemble %w : tensor<48x62xf32, #nm.encoding<2:4, dim = 1>> -> tensor<31x48xf32>, tensor<32x48xi8>
  return
}

// -----

func.func @disassemble_c2_dynamic(%w: tensor<64x48xf32, #nm.encoding<2:4>>) {
  // expected-error @+1 {{expected the parts of 'tensor<64x48xf32, #nm.encoding<2:4>>' to have static shapes, as it has, but got 'tensor<?x48xi8>'}}
  nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<?x48xi8>
  return
}

// -----

func.func @disassemble_c2_type(%w: tensor<64x48xf32, #nm.encoding<2:4>>) {
  // expected-error @+1 {{expected element type 'f32', but got 'f16'}}
  nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf16>, tensor<32x48xi8>
  return
}

// -----

func.func @disassemble_memrefs(%w: tensor<64x48xf32, #nm.encoding<2:4>>) {
  // expected-error @+1 {{invalid kind of type specified: expected builtin.tensor, but found}}
  nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> memref<32x48xf32>, memref<32x48xi8>
  return
}

// -----

func.func @assemble_c1(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>) {
  // expected-error @+1 {{result #0 must be ranked tensor with an #nm.encoding, but got 'tensor<64x48xf32>'}}
  nm.assemble %v, %i : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32>
  return
}

// -----

func.func @assemble_c2(%v: tensor<32x48xf32>, %i: tensor<8x48xi8>) {
  // expected-error @+1 {{'nm.assemble' op expected size of dim 0 of indices to be 32, but got 8}}
  nm.assemble %v, %i : tensor<32x48xf32>, tensor<8x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
  return
}
