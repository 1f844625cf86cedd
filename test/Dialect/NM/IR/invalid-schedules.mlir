// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// What follows from selection, and passes read.

// expected-error @+1 {{expected a warp's tile of few enough sums for 'promote', but got 128 x 32}}
func.func private @mma_sync_c5() attributes {s = #nm.mma_sync<warp = [128, 32], promote = true>}

// -----

// expected-error @+1 {{expected a warp's tile of few enough sums for 'promote', but got 64 x 64}}
func.func private @mma_sp_c6() attributes {s = #nm.mma_sp<warp = [64, 64], promote = true>}

// -----

// expected-error @+1 {{expected a warp's tile of few enough sums for 'promote', but got 16 x 256}}
func.func private @mma_bitmap_c4() attributes {s = #nm.mma_bitmap<warp = [16, 256], promote = true>}

// -----

// What the three mnemonics of mma start with is none.
// expected-error @+1 {{unknown attribute `mma` in dialect `nm`}}
func.func private @mma() attributes {s = #nm.mma<stages = 2>}

// -----

// expected-error @+1 {{expected no 'pairs' of strategy mma_sync}}
func.func private @mma_sync_pairs() attributes {s = #nm.mma_sync<pairs = true>}

// -----

// expected-error @+1 {{expected no 'packing' of strategy mma_sp}}
func.func private @mma_sp_packing() attributes {s = #nm.mma_sp<packing = <panel = 32, index_bits = 8>>}

// -----

// expected-error @+1 {{expected no 'bits' of strategy mma_bitmap}}
func.func private @mma_bitmap_bits() attributes {s = #nm.mma_bitmap<bits = 4>}

// -----

// expected-error @+1 {{expected early_bytes to be a multiple of 128 in 0..65536, but got 100}}
func.func private @gemv_c3() attributes {s = #nm.gemv<early_bytes = 100>}

// -----

// expected-error @+1 {{expected early_bytes to be a multiple of 128 in 0..65536, but got -128}}
func.func private @gemv_c3_negative() attributes {s = #nm.gemv<early_bytes = -128>}

// -----

// expected-error @+1 {{expected a block of one row for 'early_bytes', but got 2}}
func.func private @gemv_c3_rows() attributes {s = #nm.gemv<block = [2, 32, 64], early_bytes = 128>}
