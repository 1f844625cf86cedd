// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each case is named for the constraint in NMWgmmaSchedules.td that it breaks.

//===----------------------------------------------------------------------===//
// #nm.wgmma
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected sizes in 'warpgroup' to be multiples of 64, 64, but got 96, 64}}
func.func private @wgmma_c1_warpgroup() attributes {s = #nm.wgmma<warpgroup = [96, 64]>}

// -----

// expected-error @+1 {{expected at most 256 rows of A in 'warpgroup', but got 320}}
func.func private @wgmma_c1_rows() attributes {s = #nm.wgmma<warpgroup = [320, 64]>}

// -----

// expected-error @+1 {{expected stages in 3..65536, but got 2}}
func.func private @wgmma_c2_stages() attributes {s = #nm.wgmma<stages = 2>}

// -----

// expected-error @+1 {{expected copy_a to be one of direct, tensor, bulk, but got elements}}
func.func private @wgmma_c6_copy() attributes {s = #nm.wgmma<copy_a = elements>}

// -----

// expected-error @+1 {{expected a packing with index_bits = 8 and without col_info or chunks, but got #nm.packing<panel = 64, index_bits = 5>}}
func.func private @wgmma_c3_packing() attributes {s = #nm.wgmma<packing = <panel = 64, index_bits = 5>>}

// -----

// expected-error @+1 {{expected producers to be a multiple of 4 in 0..16, but got 3}}
func.func private @wgmma_c5_producers() attributes {s = #nm.wgmma<producers = 3>}

// -----

// expected-error @+1 {{expected producers for 'blocks', but got none}}
func.func private @wgmma_c5_blocks() attributes {s = #nm.wgmma<producers = 0, blocks = 132>}

// -----

// expected-error @+1 {{expected group_n in 1..65536, but got 0}}
func.func private @wgmma_c5_group() attributes {s = #nm.wgmma<group_n = 0>}

// -----

// expected-error @+1 {{expected store_buffers in 0..16, but got 17}}
func.func private @wgmma_c7_count() attributes {s = #nm.wgmma<store_buffers = 17>}

// -----

// expected-error @+1 {{expected producers for 'store_buffers', but got none}}
func.func private @wgmma_c7_producers() attributes {s = #nm.wgmma<producers = 0, store_buffers = 2>}

// -----

// expected-error @+1 {{expected producer_registers and consumer_registers, or neither}}
func.func private @wgmma_c9() attributes {s = #nm.wgmma<producers = 4, consumer_registers = 232>}

// -----

// expected-error @+1 {{expected producers for 'producer_registers', but got none}}
func.func private @wgmma_sp_c9_producers() attributes {s = #nm.wgmma_sp<producers = 0, producer_registers = 40, consumer_registers = 232>}

// -----

// expected-error @+1 {{expected producer_registers to be a multiple of 8 in 24..240, but got 36}}
func.func private @wgmma_select_c9() attributes {s = #nm.wgmma_select<producer_registers = 36, consumer_registers = 232>}

// -----

// expected-error @+1 {{expected k in one part for 'store_buffers', but got 2}}
func.func private @wgmma_c7_parts() attributes {s = #nm.wgmma<split_k = 2, store_buffers = 2>}

// -----

//===----------------------------------------------------------------------===//
// #nm.wgmma_sp
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected sizes in 'block' to be multiples of 1, 1, 64, but got 64, 64, 32}}
func.func private @wgmma_sp_c1_k() attributes {s = #nm.wgmma_sp<block = [64, 64, 32]>}

// -----

// expected-error @+1 {{expected sizes in 'warpgroup' to be multiples of 64, 64, but got 64, 32}}
func.func private @wgmma_sp_c1_warpgroup() attributes {s = #nm.wgmma_sp<warpgroup = [64, 32]>}

// -----

// expected-error @+1 {{expected at most 256 rows of A in 'warpgroup', but got 320}}
func.func private @wgmma_sp_c1_rows() attributes {s = #nm.wgmma_sp<warpgroup = [320, 64]>}

// -----

// expected-error @+1 {{expected 'warpgroup' to divide the block's 192, 128, but got 128, 64}}
func.func private @wgmma_sp_c1_divides() attributes {s = #nm.wgmma_sp<block = [192, 128, 64], warpgroup = [128, 64]>}

// -----

// expected-error @+1 {{expected stages in 3..65536, but got 2}}
func.func private @wgmma_sp_c2() attributes {s = #nm.wgmma_sp<stages = 2>}

// -----

// expected-error @+1 {{expected producers to be a multiple of 4 in 0..16, but got 3}}
func.func private @wgmma_sp_c4_producers() attributes {s = #nm.wgmma_sp<producers = 3>}

// -----

// expected-error @+1 {{expected producers for 'blocks', but got none}}
func.func private @wgmma_sp_c4_blocks() attributes {s = #nm.wgmma_sp<producers = 0, blocks = 4>}

// -----

// expected-error @+1 {{expected a group_m or a group_n of 1, but got 4 and 2}}
func.func private @wgmma_sp_c4_groups() attributes {s = #nm.wgmma_sp<group_m = 4, group_n = 2>}

// -----

// expected-error @+1 {{expected store_buffers to divide the 3 parts of 64 x 64 of a warpgroup's tile, but got 2}}
func.func private @wgmma_sp_c6_divides() attributes {s = #nm.wgmma_sp<block = [192, 64, 64], warpgroup = [192, 64], store_buffers = 2>}

// -----

// expected-error @+1 {{expected k of the block to be 64, with splits, but got 128}}
func.func private @wgmma_sp_c5_k() attributes {s = #nm.wgmma_sp<block = [64, 64, 128], producers = 4, splits = 3>}

// -----

// expected-error @+1 {{expected a cluster_k of 1, with producers, but got 2}}
func.func private @wgmma_sp_c4_cluster() attributes {s = #nm.wgmma_sp<producers = 4, cluster_k = 2>}

// -----

// expected-error @+1 {{expected cluster_k to divide split_k, 3, but got 2}}
func.func private @wgmma_sp_c3() attributes {s = #nm.wgmma_sp<split_k = 3, cluster_k = 2>}

// -----

// expected-error @+1 {{expected box_rows in 0..256, but got 512}}
func.func private @wgmma_sp_c9() attributes {s = #nm.wgmma_sp<box_rows = 512>}

// -----

// expected-error @+1 {{expected box_rows in 0..256, but got -8}}
func.func private @wgmma_select_box_rows() attributes {s = #nm.wgmma_select<box_rows = -8>}
