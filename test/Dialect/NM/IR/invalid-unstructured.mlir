// RUN: nm-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{expected kept to be at least 1, but got 0; leave it out for any number of weights}}
func.func private @pattern_c3(tensor<4x4xf32, #nm.encoding<unstructured, kept = 0>>)

// -----

// expected-error @+1 {{expected 'kept', 'block' or 'dim', but got 'bloc'}}
func.func private @pattern_field(tensor<4x4xf32, #nm.encoding<unstructured, bloc = 1x4>>)

// -----

// expected-error @+1 {{'kept' is given twice}}
func.func private @pattern_twice(tensor<4x4xf32, #nm.encoding<unstructured, kept = 4, block = 1x4, kept = 4>>)

// -----

// expected-error @+1 {{expected block 1x8 to fit in k x n = 4x4}}
func.func private @pattern_c3_block(tensor<4x4xf32, #nm.encoding<unstructured, block = 1x8>>)

// -----

// expected-error @+1 {{expected 1 <= M <= 256 in pattern N:M, but got M = 0}}
func.func private @no_windows(tensor<4x4xf32, #nm.encoding<2:0>>)

// -----

// expected-error @+1 {{expected at most 1099511627776 unstructured weights, but got k x n = 1099511627776x2}}
func.func private @encoding_c4(tensor<1099511627776x2xf32, #nm.encoding<unstructured>>)

// -----

func.func @spmm_c3_values(%a: tensor<2x60xf32>, %v: tensor<1x98xf32>, %i: tensor<1x384xi8>, %c: tensor<2x48xf32>) -> tensor<2x48xf32> {
  // expected-error @+1 {{expected size of dim 1 of values to be 99, but got 98}}
  %r = nm.spmm <unstructured, kept = 99> ins(%a, %v, %i : tensor<2x60xf32>, tensor<1x98xf32>, tensor<1x384xi8>)
    outs(%c : tensor<2x48xf32>) -> tensor<2x48xf32>
  return %r : tensor<2x48xf32>
}

// -----

func.func @spmm_c3_bits(%a: tensor<2x60xf32>, %v: tensor<1x99xf32>, %i: tensor<1x360xi8>, %c: tensor<2x48xf32>) -> tensor<2x48xf32> {
  // expected-error @+1 {{expected size of dim 1 of indices to be 384, but got 360}}
  %r = nm.spmm <unstructured, kept = 99> ins(%a, %v, %i : tensor<2x60xf32>, tensor<1x99xf32>, tensor<1x360xi8>)
    outs(%c : tensor<2x48xf32>) -> tensor<2x48xf32>
  return %r : tensor<2x48xf32>
}

// -----

func.func @spmm_c3_dynamic(%a: tensor<2x?xf32>, %v: tensor<1x99xf32>, %i: tensor<1x384xi8>, %c: tensor<2x48xf32>) -> tensor<2x48xf32> {
  // expected-error @+1 {{expected k and n of unstructured weights to be static}}
  %r = nm.spmm <unstructured, kept = 99> ins(%a, %v, %i : tensor<2x?xf32>, tensor<1x99xf32>, tensor<1x384xi8>)
    outs(%c : tensor<2x48xf32>) -> tensor<2x48xf32>
  return %r : tensor<2x48xf32>
}

// -----

// expected-error @+1 {{expected kept to be in 1..4294967295, but got 0}}
func.func private @columns_c2() attributes {s = #nm.columns<kept = 0, tile_rows = 4>}

// -----

// expected-error @+1 {{expected tile_rows to be in 1..65536, but got 65537}}
func.func private @columns_c3() attributes {s = #nm.columns<kept = 4, tile_rows = 65537>}

// -----

func.func @columns_c1(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %pv: tensor<1x1x74xf32>, %pi: tensor<1x1x74xi8>, %pl: tensor<48x1x8xi8>)
    -> (tensor<1x1x74xf32>, tensor<1x1x74xi8>, tensor<48x1x8xi8>) {
  // expected-error @+1 {{expected pattern 1:1 for #nm.columns<kept = 10, tile_rows = 256>, but got 2:4}}
  %a, %b, %c = nm.pack <2:4> #nm.columns<kept = 10, tile_rows = 256> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%pv, %pi : tensor<1x1x74xf32>, tensor<1x1x74xi8>) lists(%pl : tensor<48x1x8xi8>)
    -> tensor<1x1x74xf32>, tensor<1x1x74xi8>, tensor<48x1x8xi8>
  return %a, %b, %c : tensor<1x1x74xf32>, tensor<1x1x74xi8>, tensor<48x1x8xi8>
}

// -----

// expected-error @+1 {{expected kept to be in 1..4294967295, but got 0}}
func.func private @bitmap_panels_c2() attributes {s = #nm.bitmap_panels<kept = 0, word_rows = 1>}

// -----

// expected-error @+1 {{expected word_rows to be 1, 2 or 4, but got 3}}
func.func private @bitmap_panels_c3() attributes {s = #nm.bitmap_panels<kept = 4, word_rows = 3>}

// -----

func.func @bitmap_panels_c1(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %pv: tensor<1x1x74xf32>, %pi: tensor<1x64x8xi8>, %pl: tensor<1x1x4xi8>)
    -> (tensor<1x1x74xf32>, tensor<1x64x8xi8>, tensor<1x1x4xi8>) {
  // expected-error @+1 {{expected pattern 1:1 for #nm.bitmap_panels<kept = 10, word_rows = 1>, but got 2:4}}
  %a, %b, %c = nm.pack <2:4> #nm.bitmap_panels<kept = 10, word_rows = 1> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%pv, %pi : tensor<1x1x74xf32>, tensor<1x64x8xi8>) lists(%pl : tensor<1x1x4xi8>)
    -> tensor<1x1x74xf32>, tensor<1x64x8xi8>, tensor<1x1x4xi8>
  return %a, %b, %c : tensor<1x1x74xf32>, tensor<1x64x8xi8>, tensor<1x1x4xi8>
}

// -----

func.func @bitmap_panels_c4(%v: tensor<32x48xf16>, %i: tensor<32x48xi8>, %pv: tensor<1x1x74xf16>, %pi: tensor<1x16x16xi8>, %pl: tensor<1x1x4xi8>)
    -> (tensor<1x1x74xf16>, tensor<1x16x16xi8>, tensor<1x1x4xi8>) {
  // expected-error @+1 {{expected word_rows = 1 for weights of f32, f16 or bf16, 2 for bf16, or 4 for i8, but got 2 for f16}}
  %a, %b, %c = nm.pack <1:1> #nm.bitmap_panels<kept = 10, word_rows = 2> ins(%v, %i : tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%pv, %pi : tensor<1x1x74xf16>, tensor<1x16x16xi8>) lists(%pl : tensor<1x1x4xi8>)
    -> tensor<1x1x74xf16>, tensor<1x16x16xi8>, tensor<1x1x4xi8>
  return %a, %b, %c : tensor<1x1x74xf16>, tensor<1x16x16xi8>, tensor<1x1x4xi8>
}

// -----

// expected-error @+1 {{expected steps to be in 1..4096, but got 0}}
func.func private @ell_c2_steps() attributes {s = #nm.ell<steps = 0, bits = 4, parts = 1>}

// -----

// expected-error @+1 {{expected gaps of 2, 4 or 8 bits or rows of 16, but got 3}}
func.func private @ell_c2_bits() attributes {s = #nm.ell<steps = 1, bits = 3, parts = 1>}

// -----

// expected-error @+1 {{expected parts to be in 1..32, but got 33}}
func.func private @ell_c2_parts() attributes {s = #nm.ell<steps = 1, bits = 4, parts = 33>}

// -----

func.func @ell_c1(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %pv: tensor<2x4x512xf32>, %pi: tensor<2x4x256xi8>, %pl: tensor<2x2x64xi8>)
    -> (tensor<2x4x512xf32>, tensor<2x4x256xi8>, tensor<2x2x64xi8>) {
  // expected-error @+1 {{expected pattern 1:1 for #nm.ell<steps = 4, bits = 4, parts = 1>, but got 2:4}}
  %a, %b, %c = nm.pack <2:4> #nm.ell<steps = 4, bits = 4, parts = 1> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%pv, %pi : tensor<2x4x512xf32>, tensor<2x4x256xi8>) lists(%pl : tensor<2x2x64xi8>)
    -> tensor<2x4x512xf32>, tensor<2x4x256xi8>, tensor<2x2x64xi8>
  return %a, %b, %c : tensor<2x4x512xf32>, tensor<2x4x256xi8>, tensor<2x2x64xi8>
}

// -----

// expected-error @+1 {{expected 'gap_bits' with 'steps'}}
func.func private @gemv_columns_c3() attributes {s = #nm.gemv_columns<steps = 8>}

// -----

// expected-error @+1 {{expected gaps of 2, 4 or 8 bits or rows of 16, but got 5}}
func.func private @gemv_columns_c3_bits() attributes {s = #nm.gemv_columns<steps = 8, gap_bits = 5>}

// -----

// expected-error @+1 {{expected warps of 32 columns and threads of one, each of all rows of the block}}
func.func private @gemv_columns_c4_warp() attributes {s = #nm.gemv_columns<block = [2, 64, 9], warp = [1, 32]>}

// -----

// expected-error @+1 {{expected warps of 32 columns and threads of one, each of all rows of the block}}
func.func private @gemv_columns_c4_thread() attributes {s = #nm.gemv_columns<warp = [2, 32], thread = [2, 2]>}

// -----

// expected-error @+1 {{expected stages in 1..4, but got 5}}
func.func private @gemv_columns_stages() attributes {s = #nm.gemv_columns<stages = 5>}

// -----

// expected-error @+1 {{expected 'kept' and 'tile_rows' together}}
func.func private @vector_c3() attributes {s = #nm.vector<kept = 4>}

// -----

// expected-error @+1 {{expected 'kept' and 'tile_rows' without 'packing'}}
func.func private @vector_c3_panels() attributes {s = #nm.vector<packing = <panel = 16, index_bits = 8>, kept = 4, tile_rows = 64>}

// -----

// expected-error @+1 {{expected 'word_rows' with 'kept', and without 'tile_rows'}}
func.func private @vector_c3_words() attributes {s = #nm.vector<word_rows = 2>}

// -----

// expected-error @+1 {{expected 'word_rows' with 'kept', and without 'tile_rows'}}
func.func private @vector_c3_both() attributes {s = #nm.vector<kept = 4, tile_rows = 64, word_rows = 2>}

// -----

// expected-error @+1 {{expected word_rows to be 1, 2 or 4, but got 8}}
func.func private @vector_c3_rows() attributes {s = #nm.vector<kept = 4, word_rows = 8>}
