// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the op and the constraint in NMOps.td that it
// breaks.

func.func @spmm_c1_rank(%a: tensor<64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<48xf32>) {
  // expected-error @+1 {{'nm.spmm' op expected A to have rank at least 2, but got 'tensor<64xf32>'}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<48xf32>) -> tensor<48xf32>
  return
}

// -----

func.func @spmm_c1_ranks_differ(%a: tensor<2x3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) {
  // expected-error @+1 {{expected C to have A's rank 3, but got 'tensor<3x48xf32>'}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<2x3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return
}

// -----

func.func @spmm_c1_batch(%a: tensor<2x3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<5x3x48xf32>) {
  // expected-error @+1 {{expected size of dim 0 of C to be 2, but got 5}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<2x3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x3x48xf32>) -> tensor<5x3x48xf32>
  return
}

// -----

func.func @spmm_c1_m(%a: memref<64x3xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<48x4xf32>) {
  // expected-error @+1 {{expected size of dim 1 of C to be 3, but got 4}}
  nm.spmm <2:4> transpose_a transpose_c
    ins(%a, %v, %i : memref<64x3xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<48x4xf32>)
  return
}

// -----

func.func @spmm_c2_values(%a: memref<3x64xf32>, %v: memref<32x48xf16>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected values of A's element type 'f32', but got 'f16'}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf16>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c2_float_output(%a: memref<3x64xf16>, %v: memref<32x48xf16>, %i: memref<32x48xi8>, %c: memref<3x48xbf16>) {
  // expected-error @+1 {{expected C to have element type 'f32' or 'f16', but got 'bf16'}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf16>, memref<32x48xf16>, memref<32x48xi8>) outs(%c : memref<3x48xbf16>)
  return
}

// -----

func.func @spmm_c2_integer_output(%a: memref<3x64xi8>, %v: memref<32x48xi8>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected C to have element type 'i32', but got 'f32'}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xi8>, memref<32x48xi8>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c2_f64(%a: memref<3x64xf64>, %v: memref<32x48xf64>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type or 8-bit signless integer or f8E4M3FN type or f8E5M2 type values or memref of}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf64>, memref<32x48xf64>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c3_rows(%a: memref<?x62xf32>, %v: memref<31x48xf32>, %i: memref<32x48xi8>, %c: memref<?x48xf32>) {
  // expected-error @+1 {{expected size of dim 0 of values to be 32, but got 31}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<?x62xf32>, memref<31x48xf32>, memref<32x48xi8>) outs(%c : memref<?x48xf32>)
  return
}

// -----

func.func @spmm_c3_padded_columns(%a: memref<?x64xf32>, %v: memref<32x45xf32>, %i: memref<32x3xi8>, %c: memref<?x45xf32>) {
  // expected-error @+1 {{expected size of dim 1 of values to be 48, but got 45}}
  nm.spmm <2:4, block = 1x16> ins(%a, %v, %i : memref<?x64xf32>, memref<32x45xf32>, memref<32x3xi8>)
    outs(%c : memref<?x45xf32>)
  return
}

// -----

func.func @spmm_c3_unit_rows(%a: memref<?x64xf32>, %v: memref<32x48xf32>, %i: memref<32x12xi8>, %c: memref<?x48xf32>) {
  // expected-error @+1 {{expected size of dim 0 of indices to be 8, but got 32}}
  nm.spmm <2:4, block = 4x4> ins(%a, %v, %i : memref<?x64xf32>, memref<32x48xf32>, memref<32x12xi8>)
    outs(%c : memref<?x48xf32>)
  return
}

// -----

func.func @spmm_c3_condensed_rank(%a: memref<3x64xf32>, %v: memref<3x32x16xf32>, %i: memref<3x32x4xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected values to have rank 2, but got 'memref<3x32x16xf32>'}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf32>, memref<3x32x16xf32>, memref<3x32x4xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c3_packed_rank(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected values to have rank 3, but got 'memref<32x48xf32>'}}
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c3_packed_bytes(%a: memref<3x64xf32>, %v: memref<3x32x16xf32>, %i: memref<3x32x4xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected size of dim 2 of indices to be 6, but got 4}}
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 3>
    ins(%a, %v, %i : memref<3x64xf32>, memref<3x32x16xf32>, memref<3x32x4xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c3_huge(%a: memref<3x9223372036854775807xf32>, %v: memref<?x?xf32>, %i: memref<?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected k and n to be at most 1099511627776, but got k x n = 9223372036854775807x48}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x9223372036854775807xf32>, memref<?x?xf32>, memref<?x?xi8>)
    outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_packing_c1(%a: memref<3x64xf32>, %v: memref<?x?x?xf32>, %i: memref<?x?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected a panel of at most 65536 columns that is a multiple or a divisor of the block's 4, but got 6}}
  nm.spmm <2:4, block = 1x4> packing #nm.packing<panel = 6, index_bits = 2>
    ins(%a, %v, %i : memref<3x64xf32>, memref<?x?x?xf32>, memref<?x?x?xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_packing_c2(%a: memref<3x64xf32>, %v: memref<?x?x?xf32>, %i: memref<?x?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected 3 to 8 index bits for M = 5, but got 2}}
  nm.spmm <2:5> packing #nm.packing<panel = 6, index_bits = 2>
    ins(%a, %v, %i : memref<3x64xf32>, memref<?x?x?xf32>, memref<?x?x?xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_schedule_packing(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected 2 to 8 index bits for M = 4, but got 1}}
  nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 1>>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_packing_c4_panels(%a: memref<3x64xf32>, %v: memref<?x?x?xf32>, %i: memref<?x?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected col_info of at most 65536 columns in whole panels of 32, but got 48}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 48>
    ins(%a, %v, %i : memref<3x64xf32>, memref<?x?x?xf32>, memref<?x?x?xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_packing_c4_bits(%a: memref<3x64xf32>, %v: memref<?x?x?xf32>, %i: memref<?x?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected index_bits = 8 without chunks or index rows for col_info, but got panel = 32, index_bits = 5, col_info = 64}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 5, col_info = 64>
    ins(%a, %v, %i : memref<3x64xf32>, memref<?x?x?xf32>, memref<?x?x?xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_packing_c4_all(%a: memref<3x64xf32>, %v: memref<?x?x?xf32>, %i: memref<?x?x?xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected the 128 columns of col_info to keep fewer than the 32 units of a window between them, but 4 units of columns that keep 8 each may keep 32: no rows of A would be left out}}
  nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
    ins(%a, %v, %i : memref<3x64xf32>, memref<?x?x?xf32>, memref<?x?x?xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

// The last tile has lists too: two of 64 columns.
func.func @spmm_packing_c4_shape(%a: memref<3x64xf32>, %v: memref<3x6x32xf32>, %i: memref<3x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<3x96xf32>) {
  // expected-error @+1 {{expected size of dim 0 of indices to be 4, but got 3}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
    ins(%a, %v, %i : memref<3x64xf32>, memref<3x6x32xf32>, memref<3x6x1xi8>) lists(%l : memref<4x6x1xi8>) outs(%c : memref<3x96xf32>)
  return
}

// -----

func.func @spmm_lists_shape(%a: memref<3x64xf32>, %v: memref<3x6x32xf32>, %i: memref<4x6x1xi8>, %l: memref<3x6x1xi8>, %c: memref<3x96xf32>) {
  // expected-error @+1 {{expected size of dim 0 of lists to be 4, but got 3}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
    ins(%a, %v, %i : memref<3x64xf32>, memref<3x6x32xf32>, memref<4x6x1xi8>) lists(%l : memref<3x6x1xi8>) outs(%c : memref<3x96xf32>)
  return
}

// -----

func.func @spmm_lists_left_out(%a: memref<3x64xf32>, %v: memref<3x6x32xf32>, %i: memref<4x6x1xi8>, %c: memref<3x96xf32>) {
  // expected-error @+1 {{expected lists of rows, of which #nm.packing<panel = 32, index_bits = 8, col_info = 64> has 4x6x1, but got none}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
    ins(%a, %v, %i : memref<3x64xf32>, memref<3x6x32xf32>, memref<4x6x1xi8>) outs(%c : memref<3x96xf32>)
  return
}

// -----

func.func @spmm_lists_of_none(%a: memref<3x64xf32>, %v: memref<3x6x32xf32>, %i: memref<3x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<3x96xf32>) {
  // expected-error @+1 {{expected no lists of rows, of which #nm.packing<panel = 32, index_bits = 8> has none, but got 'memref<4x6x1xi8>'}}
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    ins(%a, %v, %i : memref<3x64xf32>, memref<3x6x32xf32>, memref<3x6x1xi8>) lists(%l : memref<4x6x1xi8>) outs(%c : memref<3x96xf32>)
  return
}

// -----

func.func @spmm_lists_of_condensed(%a: memref<3x64xf32>, %v: memref<6x96xf32>, %i: memref<6x3xi8>, %l: memref<4x6x1xi8>, %c: memref<3x96xf32>) {
  // expected-error @+1 {{expected no lists of rows, of which the condensed form has none, but got 'memref<4x6x1xi8>'}}
  nm.spmm <3:32, block = 1x32>
    ins(%a, %v, %i : memref<3x64xf32>, memref<6x96xf32>, memref<6x3xi8>) lists(%l : memref<4x6x1xi8>) outs(%c : memref<3x96xf32>)
  return
}

// -----

func.func @pack_lists_left_out(%v: memref<6x64xf32>, %i: memref<6x2xi8>, %pv: memref<2x6x32xf32>, %pi: memref<2x6x1xi8>) {
  // expected-error @+1 {{expected lists of rows, of which #nm.packing<panel = 32, index_bits = 8, col_info = 64> has 2x6x1, but got none}}
  nm.pack <3:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8, col_info = 64>
    ins(%v, %i : memref<6x64xf32>, memref<6x2xi8>) outs(%pv, %pi : memref<2x6x32xf32>, memref<2x6x1xi8>)
  return
}

// -----

func.func @wgmma_c4_open(%a: tensor<32x8xf16>, %v: tensor<1x8x64xf16>, %i: tensor<1x8x1xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected 'block', 'warpgroup' and 'packing' of strategy wgmma, but got #nm.wgmma<stages = 3>}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8> schedule #nm.wgmma<stages = 3>
    ins(%a, %v, %i : tensor<32x8xf16>, tensor<1x8x64xf16>, tensor<1x8x1xi8>) outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @wgmma_c4_panel(%a: tensor<32x8xf16>, %v: tensor<1x8x64xf16>, %i: tensor<1x8x1xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected the block tile's n to be the panel's 64 columns, but got 128}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
    schedule #nm.wgmma<block = [64, 128, 32], warpgroup = [64, 64], packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : tensor<32x8xf16>, tensor<1x8x64xf16>, tensor<1x8x1xi8>) outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @wgmma_c4_unit(%a: tensor<32x8xf16>, %v: tensor<1x8x128xf16>, %i: tensor<1x8x2xi8>, %c: tensor<8x128xf16>) -> tensor<8x128xf16> {
  // expected-error @+1 {{expected columns of a block that share a unit of 64, but got a panel of 128}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
    schedule #nm.wgmma<block = [64, 128, 32], warpgroup = [64, 64], packing = <panel = 128, index_bits = 8>>
    ins(%a, %v, %i : tensor<32x8xf16>, tensor<1x8x128xf16>, tensor<1x8x2xi8>) outs(%c : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %r : tensor<8x128xf16>
}

// -----

func.func @wgmma_c4_warpgroup(%a: tensor<32x8xf16>, %v: tensor<1x8x64xf16>, %i: tensor<1x8x1xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+2 {{expected 'warpgroup' to divide the block's 64, 64, but got 128, 64}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
    schedule #nm.wgmma<block = [64, 64, 32], warpgroup = [128, 64], packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : tensor<32x8xf16>, tensor<1x8x64xf16>, tensor<1x8x1xi8>) outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @spmm_schedule_pack_no_packing(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected 'block' and 'packing' with 'pack'}}
  nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], pack = true>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_schedule_pack_no_block(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected 'block' and 'packing' with 'pack'}}
  nm.spmm <2:4> schedule #nm.simt<pack = true, packing = <panel = 32, index_bits = 8>>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_schedule_kind(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{invalid kind of attribute specified}}
  nm.spmm <2:4> schedule #nm.pattern<2:4>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_schedule_pack(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected the 64 columns of col_info to keep fewer than the 4 units of a window between them, but 64 units of columns that keep 2 each may keep 128: no rows of A would be left out}}
  nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], pack = true, packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c4_mixed(%a: tensor<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected all operands to be tensors or all to be memrefs}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%c : memref<3x48xf32>)
  return
}

// -----

func.func @spmm_c4_no_result(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) {
  // expected-error @+1 {{expected number of results to be 1 on tensors, but got 0}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%c : tensor<3x48xf32>)
  return
}

// -----

func.func @spmm_c4_result_on_memrefs(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @+1 {{expected number of results to be 0 on memrefs, but got 1}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%c : memref<3x48xf32>) -> tensor<3x48xf32>
  return
}

// -----

func.func @spmm_c4_result_type(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) {
  // expected-error @+1 {{expected result type 'tensor<3x48xf32>' (of its destination), but got 'tensor<?x48xf32>'}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<?x48xf32>
  return
}

// -----

func.func @spmm_c4_encoded(%a: tensor<3x64xf32, #nm.encoding<2:4, dim = 1>>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
                           %c: tensor<3x48xf32>) {
  // expected-error @+1 {{expected operand 0 to be a plain tensor, but it carries #nm.encoding<2:4, dim = 1>}}
  nm.spmm <2:4>
    ins(%a, %v, %i : tensor<3x64xf32, #nm.encoding<2:4, dim = 1>>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return
}

// -----

func.func @spmm_unranked(%a: tensor<*xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor}}
  nm.spmm <2:4> ins(%a, %v, %i : tensor<*xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return
}

// -----

func.func @spmv_c1(%x: memref<1x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %y: memref<48xf32>) {
  // expected-error @+1 {{'nm.spmv' op expected x and y to have rank 1, but got 'memref<1x64xf32>' and 'memref<48xf32>'}}
  nm.spmv <2:4> ins(%x, %v, %i : memref<1x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%y : memref<48xf32>)
  return
}

// -----

func.func @spmv_c2(%x: memref<64xbf16>, %v: memref<32x48xbf16>, %i: memref<32x48xi8>, %y: memref<48xf16>) {
  // expected-error @+1 {{expected C to have element type 'f32' or 'bf16', but got 'f16'}}
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xbf16>, memref<32x48xbf16>, memref<32x48xi8>) outs(%y : memref<48xf16>)
  return
}

// -----

func.func @spmv_c3(%x: memref<64xf32>, %v: memref<32x48xf32>, %i: memref<32x47xi8>, %y: memref<48xf32>) {
  // expected-error @+1 {{expected size of dim 1 of indices to be 48, but got 47}}
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xf32>, memref<32x48xf32>, memref<32x47xi8>) outs(%y : memref<48xf32>)
  return
}

// -----

func.func @spmv_c4(%x: memref<64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %y: tensor<48xf32>) {
  // expected-error @+1 {{expected all operands to be tensors or all to be memrefs}}
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return
}

// -----

func.func @spmm_c3_huge_m(%a: memref<9223372036854775807x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<9223372036854775807x48xf32>) {
  // expected-error @+1 {{expected size of dim 0 of A to be at most 1099511627776, but got 9223372036854775807}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<9223372036854775807x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%c : memref<9223372036854775807x48xf32>)
  return
}

// -----

func.func @spmv_c4_layout(%x: memref<64xf32, affine_map<(i) -> (i floordiv 2)>>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %y: memref<48xf32>) {
  // expected-error @+1 {{expected operand 0 to have a strided or tile layout, but got 'memref<64xf32, affine_map<(d0) -> (d0 floordiv 2)>>'}}
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xf32, affine_map<(i) -> (i floordiv 2)>>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%y : memref<48xf32>)
  return
}

// -----

func.func @sparse_operand_c1(%a: tensor<4x64xf16>, %v: tensor<1x1x512xf16>, %i: tensor<1x1x128xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected a pattern that keeps at most 2 of each 4 rows for a sparse operand, but 4:8 may keep 4}}
  %r = nm.spmm <4:8> packing #nm.sparse_operand<mma> ins(%a, %v, %i : tensor<4x64xf16>, tensor<1x1x512xf16>, tensor<1x1x128xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @sparse_operand_c2(%a: tensor<4x64xf32>, %v: tensor<1x1x512xf32>, %i: tensor<1x1x128xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a sparse operand, but got f32}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma> ins(%a, %v, %i : tensor<4x64xf32>, tensor<1x1x512xf32>, tensor<1x1x128xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @sparse_operand_shape(%a: tensor<4x65xf16>, %v: tensor<1x1x512xf16>, %i: tensor<1x1x128xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected size of dim 1 of values to be 2, but got 1}}
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma> ins(%a, %v, %i : tensor<4x65xf16>, tensor<1x1x512xf16>, tensor<1x1x128xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @bitmap_c1(%a: tensor<4x64xf16>, %v: tensor<1x1x2048xf16>, %i: tensor<1x1x256xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected a pattern that keeps at most 29 of each 32 rows for a bitmap, but 32:256 may keep 32}}
  %r = nm.spmm <32:256> packing #nm.bitmap ins(%a, %v, %i : tensor<4x64xf16>, tensor<1x1x2048xf16>, tensor<1x1x256xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @bitmap_c2(%a: tensor<4x64xf32>, %v: tensor<1x1x1024xf32>, %i: tensor<1x1x256xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected weights of f16, bf16, i8, f8E4M3FN or f8E5M2 for a bitmap, but got f32}}
  %r = nm.spmm <2:4> packing #nm.bitmap ins(%a, %v, %i : tensor<4x64xf32>, tensor<1x1x1024xf32>, tensor<1x1x256xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @bitmap_c2_odd(%a: tensor<4x64xi8>, %v: tensor<1x1x576xi8>, %i: tensor<1x1x256xi8>, %c: tensor<4x16xi32>) -> tensor<4x16xi32> {
  // expected-error @+1 {{expected a pattern that keeps an even number of each 32 rows for a bitmap of i8, but 9:32 may keep 9}}
  %r = nm.spmm <9:32> packing #nm.bitmap ins(%a, %v, %i : tensor<4x64xi8>, tensor<1x1x576xi8>, tensor<1x1x256xi8>)
    outs(%c : tensor<4x16xi32>) -> tensor<4x16xi32>
  return %r : tensor<4x16xi32>
}

// -----

func.func @bitmap_shape(%a: tensor<4x129xf16>, %v: tensor<1x2x1024xf16>, %i: tensor<1x1x256xi8>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{expected size of dim 1 of indices to be 2, but got 1}}
  %r = nm.spmm <2:4> packing #nm.bitmap ins(%a, %v, %i : tensor<4x129xf16>, tensor<1x2x1024xf16>, tensor<1x1x256xi8>)
    outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

func.func @wgmma_c4_producers(%a: tensor<32x8xf16>, %v: tensor<1x8x64xf16>, %i: tensor<1x8x1xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected a packing with tile_rows where there are producers, and only there, but got}}
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8>
    schedule #nm.wgmma<block = [64, 64, 32], warpgroup = [64, 64], producers = 4, packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : tensor<32x8xf16>, tensor<1x8x64xf16>, tensor<1x8x1xi8>) outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @packing_c5_panel(%a: tensor<8x32xf16>, %v: tensor<2x16x32xf16>, %i: tensor<2x8x1xi8>, %c: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{expected panels of a multiple of 64 columns without chunks or col_info for tile_rows, but got panel = 32, index_bits = 8, tile_rows = 8}}
  %r = nm.spmm <8:32, block = 1x64> packing #nm.packing<panel = 32, index_bits = 8, tile_rows = 8>
    ins(%a, %v, %i : tensor<8x32xf16>, tensor<2x16x32xf16>, tensor<2x8x1xi8>) outs(%c : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %r : tensor<8x64xf16>
}

// -----

func.func @packing_c5_index_rows(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected index_rows of whole units that divide a tile's 64 rows, but got panel = 128, index_bits = 4, index_rows = 3, tile_rows = 64}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 3, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256]>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_c6_producers(%a: tensor<64x2048xi8>, %v: tensor<1x128x64xi8>, %i: tensor<1x2x1xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  // expected-error @+1 {{expected producers, and no splits, for 'promote' and 'copy_a = tensor' or 'bulk', but got #nm.wgmma<}}
  %r = nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], copy_a = tensor, packing = <panel = 64, index_bits = 8>>
    ins(%a, %v, %i : tensor<64x2048xi8>, tensor<1x128x64xi8>, tensor<1x2x1xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// -----

func.func @packing_c7_rows(%a: tensor<70x512xi8>, %v: tensor<1x192x128xi8>, %i: tensor<1x48x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected units of one row, index_rows = 4 and tile_rows of a multiple of 48 for lane_words, but got panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64, lane_words = 3 of 3:8, block = 1x64}}
  %r = nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64, lane_words = 3>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x192x128xi8>, tensor<1x48x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @packing_c5_bytes(%a: tensor<8x128xi8>, %v: tensor<1x96x64xi8>, %i: tensor<1x4x1xi8>, %c: tensor<8x64xi32>) -> tensor<8x64xi32> {
  // expected-error @+1 {{expected tile_rows of a multiple of 32 for elements of 8 bits, but got 48}}
  %r = nm.spmm <2:4, block = 16x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 48>
    ins(%a, %v, %i : tensor<8x128xi8>, tensor<1x96x64xi8>, tensor<1x4x1xi8>) outs(%c : tensor<8x64xi32>) -> tensor<8x64xi32>
  return %r : tensor<8x64xi32>
}

// -----

func.func @packing_c5_type(%a: tensor<8x32xf32>, %v: tensor<1x16x64xf32>, %i: tensor<1x8x1xi8>, %c: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expected elements of 8 or 16 bits for tile_rows, but got 'f32'}}
  %r = nm.spmm <8:32, block = 1x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 8>
    ins(%a, %v, %i : tensor<8x32xf32>, tensor<1x16x64xf32>, tensor<1x8x1xi8>) outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}

// -----

func.func @spmm_c1_panels_size(%a: tensor<16x2048xi8>, %v: tensor<128x64xi8>, %i: tensor<8x1xi8>, %c: tensor<130x64xi32>) -> tensor<130x64xi32> {
  // expected-error @+1 {{expected size of dim 1 of A to be 4096, but got 2048}}
  %r = nm.spmm <2:4, block = 16x64> panels_a 128
    ins(%a, %v, %i : tensor<16x2048xi8>, tensor<128x64xi8>, tensor<8x1xi8>) outs(%c : tensor<130x64xi32>) -> tensor<130x64xi32>
  return %r : tensor<130x64xi32>
}

// -----

func.func @spmm_c1_panels_type(%a: tensor<16x2048xf16>, %v: tensor<128x64xf16>, %i: tensor<8x1xi8>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // expected-error @+1 {{expected panels_a of an A of 8-bit elements, without transpose_a, but got}}
  %r = nm.spmm <2:4, block = 16x64> panels_a 128
    ins(%a, %v, %i : tensor<16x2048xf16>, tensor<128x64xf16>, tensor<8x1xi8>) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// -----

func.func @spmm_c1_panels_rows(%a: tensor<16x2048xi8>, %v: tensor<128x64xi8>, %i: tensor<8x1xi8>, %c: tensor<128x64xi32>) -> tensor<128x64xi32> {
  // expected-error @+1 {{expected panels_a of 1 to 1099511627776 rows, but got 0}}
  %r = nm.spmm <2:4, block = 16x64> panels_a 0
    ins(%a, %v, %i : tensor<16x2048xi8>, tensor<128x64xi8>, tensor<8x1xi8>) outs(%c : tensor<128x64xi32>) -> tensor<128x64xi32>
  return %r : tensor<128x64xi32>
}

// -----

func.func @spmm_c1_panels_schedule(%a: tensor<16x2048xi8>, %v: tensor<128x64xi8>, %i: tensor<8x1xi8>, %c: tensor<128x64xi32>) -> tensor<128x64xi32> {
  // expected-error @+1 {{expected no schedule, #nm.loops, or #nm.wgmma with copy_a = bulk, for panels_a, but got #nm.vector}}
  %r = nm.spmm <2:4, block = 16x64> panels_a 128 schedule #nm.vector<thread = [4, 2]>
    ins(%a, %v, %i : tensor<16x2048xi8>, tensor<128x64xi8>, tensor<8x1xi8>) outs(%c : tensor<128x64xi32>) -> tensor<128x64xi32>
  return %r : tensor<128x64xi32>
}
