// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// expected-error @+1 {{expected 3 sizes in 'block', but got 2}}
func.func private @wgmma_select_c1_block() attributes {s = #nm.wgmma_select<block = [64, 64]>}

// -----

// expected-error @+1 {{expected 64 rows of A and at most 256 columns in 'warpgroup', but got 128 and 64}}
func.func private @wgmma_select_c1_rows() attributes {s = #nm.wgmma_select<block = [128, 64, 256], warpgroup = [128, 64]>}

// -----

// expected-error @+1 {{expected 64 rows of A and at most 256 columns in 'warpgroup', but got 64 and 320}}
func.func private @wgmma_select_c1_columns() attributes {s = #nm.wgmma_select<warpgroup = [64, 320]>}

// -----

// expected-error @+1 {{expected sizes in 'warpgroup' to be multiples of 64, 64, but got 64, 48}}
func.func private @wgmma_select_c1_step() attributes {s = #nm.wgmma_select<warpgroup = [64, 48]>}

// -----

// expected-error @+1 {{expected stages in 2..65536, but got 1}}
func.func private @wgmma_select_c2() attributes {s = #nm.wgmma_select<stages = 1>}

// -----

// expected-error @+1 {{expected producers to be a multiple of 4 in 4..16, but got 0}}
func.func private @wgmma_select_c3_none() attributes {s = #nm.wgmma_select<producers = 0>}

// -----

// expected-error @+1 {{expected producers to be a multiple of 4 in 4..16, but got 6}}
func.func private @wgmma_select_c3() attributes {s = #nm.wgmma_select<producers = 6>}

// -----

// expected-error @+1 {{expected blocks in 1..65536, but got 0}}
func.func private @wgmma_select_c3_blocks() attributes {s = #nm.wgmma_select<blocks = 0>}

// -----

func.func @wgmma_select_c5_window(%a: tensor<70x512xi8>, %v: tensor<1x96x128xi8>, %i: tensor<1x24x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected windows of 2, 4 or 8 rows, in units of one row and a multiple of 16 columns, for strategy wgmma_select, but got 3:16, block = 1x64}}
  %r = nm.spmm <3:16, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96> schedule #nm.wgmma_select<block = [128, 128, 512], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x96x128xi8>, tensor<1x24x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

// Of 3:8 a thread makes three words of its windows, and a tile has whole panels
// of an even number of words: 96 kept rows.
func.func @wgmma_select_c4_lane_words(%a: tensor<70x512xi8>, %v: tensor<1x192x128xi8>, %i: tensor<1x48x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected a packing with the block's columns as the panel, index_bits = 4, index_rows = 4, lane_words = 3, and as tile_rows what the block's k keeps, a multiple of 96, but got}}
  %r = nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x192x128xi8>, tensor<1x48x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_lane_words_of_one(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{lane_words = 1, and as tile_rows what the block's k keeps, a multiple of 32, but got}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64, lane_words = 2> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64, lane_words = 2>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c5_rows_of_window(%a: tensor<70x480xi8>, %v: tensor<1x320x128xi8>, %i: tensor<1x80x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected windows of 2, 4 or 8 rows, in units of one row and a multiple of 16 columns, for strategy wgmma_select, but got 2:3, block = 1x64}}
  %r = nm.spmm <2:3, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 160, lane_words = 2> schedule #nm.wgmma_select<block = [128, 128, 240], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 160, lane_words = 2>>
    ins(%a, %v, %i : tensor<70x480xi8>, tensor<1x320x128xi8>, tensor<1x80x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c5_columns(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x32xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{for strategy wgmma_select, but got 2:8, block = 1x8}}
  %r = nm.spmm <2:8, block = 1x8> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x32xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_fields(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected 'block', 'warpgroup' and 'packing' of strategy wgmma_select, but got #nm.wgmma_select<block = [128, 128, 256]>}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256]>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_panel(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected a packing with the block's columns as the panel, index_bits = 4, index_rows = 4, lane_words = 1, and as tile_rows what the block's k keeps, a multiple of 32, but got}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 64, 256], warpgroup = [64, 64], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_rows(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected a packing with the block's columns as the panel, index_bits = 4, index_rows = 4, lane_words = 1, and as tile_rows what the block's k keeps, a multiple of 32, but got}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 512], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_bits(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected a packing with the block's columns as the panel, index_bits = 4, index_rows = 4, lane_words = 1, and as tile_rows what the block's k keeps, a multiple of 32, but got}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 8, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

func.func @wgmma_select_c4_warpgroup(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>, %c: tensor<70x128xi32>) -> tensor<70x128xi32> {
  // expected-error @+1 {{expected 'warpgroup' to divide the block's 128, 128, but got 64, 192}}
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 192], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>) outs(%c : tensor<70x128xi32>) -> tensor<70x128xi32>
  return %r : tensor<70x128xi32>
}

// -----

// expected-error @+1 {{expected lane_words in 1..65536, but got 0}}
func.func private @packing_c7() attributes {s = #nm.packing<panel = 64, index_bits = 8, lane_words = 0>}
