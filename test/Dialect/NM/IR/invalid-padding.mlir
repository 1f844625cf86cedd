// RUN: nm-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 12}}
func.func private @simt_c5() attributes {s = #nm.simt<pad_a = 12>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 128}}
func.func private @gemv_c5() attributes {s = #nm.gemv<pad_a = 128>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got -8}}
func.func private @mma_sync_c6() attributes {s = #nm.mma_sync<pad_a = -8>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 4}}
func.func private @mma_sp_c6() attributes {s = #nm.mma_sp<pad_a = 4>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 4}}
func.func private @mma_bitmap_c4() attributes {s = #nm.mma_bitmap<pad_a = 4>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 4}}
func.func private @wgmma_c10() attributes {s = #nm.wgmma<pad_a = 4>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 4}}
func.func private @wgmma_sp_c10() attributes {s = #nm.wgmma_sp<pad_a = 4>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 4}}
func.func private @simt_columns_c5() attributes {s = #nm.simt_columns<pad_a = 4>}

// -----

// expected-error @+1 {{expected pad_a to be a multiple of 8 in 0..64, but got 72}}
func.func private @cublas_c3() attributes {s = #nm.cublas<pad_a = 72>}
