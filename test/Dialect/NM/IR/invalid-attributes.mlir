// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each case is named for the constraint in NMAttributes.td or
// NMSchedules.td that it breaks.

//===----------------------------------------------------------------------===//
// #nm.pattern
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected 1 <= N <= M = 4 in pattern N:M, but got N = 5}}
func.func private @pattern_c1_n_above_m() attributes {p = #nm.pattern<5:4>}

// -----

// expected-error @+1 {{expected 1 <= N <= M = 4 in pattern N:M, but got N = 0}}
func.func private @pattern_c1_no_n() attributes {p = #nm.pattern<0:4>}

// -----

// expected-error @+1 {{expected 1 <= N <= M = 4 in pattern N:M, but got N = -1}}
func.func private @pattern_c1_negative_n() attributes {p = #nm.pattern<-1:4>}

// -----

// expected-error @+1 {{expected 1 <= M <= 256 in pattern N:M, but got M = 257}}
func.func private @pattern_c1_large_m() attributes {p = #nm.pattern<2:257>}

// -----

// expected-error @+1 {{expected 1 <= M <= 256 in pattern N:M, but got M = 0}}
func.func private @pattern_c1_no_m() attributes {p = #nm.pattern<0:0>}

// -----

// expected-error @+1 {{integer value too large}}
func.func private @pattern_c1_overflow() attributes {p = #nm.pattern<2:99999999999999999999>}

// -----

// expected-error @+1 {{expected a block of 1x1 to 65536x65536, but got 0x1}}
func.func private @pattern_c2_no_rows() attributes {p = #nm.pattern<2:4, block = 0x1>}

// -----

// expected-error @+1 {{expected a block of 1x1 to 65536x65536, but got 9223372036854775807x1}}
func.func private @pattern_c2_huge() attributes {p = #nm.pattern<1:256, block = 9223372036854775807x1>}

// -----

// expected-error @+1 {{expected static shape}}
func.func private @pattern_c2_dynamic() attributes {p = #nm.pattern<2:4, block = ?x1>}

// -----

// expected-error @+1 {{expected a block of the form bk x bn, such as 1x32, but got 1 sizes}}
func.func private @pattern_c2_one_size() attributes {p = #nm.pattern<2:4, block = 4>}

// -----

// expected-error @+1 {{expected a block of the form bk x bn, such as 1x32, but got 3 sizes}}
func.func private @pattern_c2_three_sizes() attributes {p = #nm.pattern<2:4, block = 4x4x4>}

// -----

// expected-error @+1 {{expected 'block'}}
func.func private @pattern_syntax() attributes {p = #nm.pattern<2:4, dim = 1>}

// -----

//===----------------------------------------------------------------------===//
// #nm.encoding
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected 1 <= N <= M = 2 in pattern N:M, but got N = 4}}
func.func private @encoding_pattern(tensor<8x8xf32, #nm.encoding<4:2>>)

// -----

// expected-error @+1 {{expected a weight with an N:M pattern to have rank 2, but got rank 3}}
func.func private @encoding_c1_rank(tensor<2x8x8xf32, #nm.encoding<2:4>>)

// -----

// expected-error @+1 {{expected a weight with an N:M pattern to have a static shape}}
func.func private @encoding_c1_dynamic(tensor<?x8xf32, #nm.encoding<2:4>>)

// -----

// expected-error @+1 {{expected k and n to be at most 1099511627776, but got k x n = 8x1099511627777}}
func.func private @encoding_c1_huge(tensor<1099511627777x8xf32, #nm.encoding<2:4, dim = 1>>)

// -----

// expected-error @+1 {{expected dim to be 0 or 1, but got 2}}
func.func private @encoding_c2(tensor<8x8xf32, #nm.encoding<2:4, dim = 2>>)

// -----

// expected-error @+1 {{expected element type f32, f16, bf16, i8, f8E4M3FN or f8E5M2, but got 'f64'}}
func.func private @encoding_c3_f64(tensor<8x8xf64, #nm.encoding<2:4>>)

// -----

// expected-error @+1 {{expected element type f32, f16, bf16, i8, f8E4M3FN or f8E5M2, but got 'ui8'}}
func.func private @encoding_c3_unsigned(tensor<8x8xui8, #nm.encoding<2:4>>)

// -----

// expected-error @+1 {{expected block 16x1 to fit in k x n = 8x32 (k is dimension 0)}}
func.func private @encoding_c4_rows(tensor<8x32xf32, #nm.encoding<1:2, block = 16x1>>)

// -----

// expected-error @+1 {{expected block 1x16 to fit in k x n = 32x8 (k is dimension 1)}}
func.func private @encoding_c4_columns(tensor<8x32xf32, #nm.encoding<1:2, block = 1x16, dim = 1>>)

// -----

// expected-error @+1 {{'block' is given twice}}
func.func private @encoding_syntax_twice(tensor<8x8xf32, #nm.encoding<2:4, block = 1x2, block = 1x4>>)

// -----

// expected-error @+1 {{expected 'block' or 'dim', but got 'axis'}}
func.func private @encoding_syntax_field(tensor<8x8xf32, #nm.encoding<2:4, axis = 1>>)

// -----

//===----------------------------------------------------------------------===//
// #nm.packing; what depends on the pattern is in invalid-products.mlir and invalid-formats.mlir
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected panel in 1..65536, but got 0}}
func.func private @packing_c1_no_panel() attributes {p = #nm.packing<panel = 0, index_bits = 8>}

// -----

// expected-error @+1 {{expected panel in 1..65536, but got 9223372036854775807}}
func.func private @packing_c1_huge() attributes {p = #nm.packing<panel = 9223372036854775807, index_bits = 8>}

// -----

// expected-error @+1 {{expected index_bits in 0..8, but got 9}}
func.func private @packing_c2_wide() attributes {p = #nm.packing<panel = 16, index_bits = 9>}

// -----

// expected-error @+1 {{expected index_bits in 0..8, but got -1}}
func.func private @packing_c2_none() attributes {p = #nm.packing<panel = 16, index_bits = -1>}

// -----

// expected-error @+1 {{expected chunk_rows in 1..65536, but got 0}}
func.func private @packing_c3_no_rows() attributes {p = #nm.packing<panel = 16, index_bits = 2, chunk_rows = 0>}

// -----

// expected-error @+1 {{expected index_rows in 1..65536, but got 65537}}
func.func private @packing_c3_many_rows() attributes {p = #nm.packing<panel = 16, index_bits = 2, index_rows = 65537>}

// -----

// expected-error @+1 {{expected col_info in 0..65536, but got -32}}
func.func private @packing_c4_negative() attributes {p = #nm.packing<panel = 32, index_bits = 8, col_info = -32>}

// -----

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

// expected-error @+1 {{unknown attribute `fast` in dialect `nm`}}
func.func private @strategy() attributes {s = #nm.fast}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: block}}
func.func private @repeated() attributes {s = #nm.vector<block = [64, 64, 8], block = [8]>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: tile}}
func.func private @syntax() attributes {s = #nm.simt<tile = [1]>}

// -----

// expected-error @+2 {{expected '['}}
// expected-error @+1 {{failed to parse NM_SimtScheduleAttr parameter 'block'}}
func.func private @syntax_sizes() attributes {s = #nm.simt<block = 64>}

// -----

// expected-error @+2 {{expected true or false, but got 'yes'}}
// expected-error @+1 {{failed to parse NM_SimtScheduleAttr parameter 'pack'}}
func.func private @syntax_choice() attributes {s = #nm.simt<pack = yes>}

// -----

// expected-error @+2 {{expected integer value}}
// expected-error @+1 {{failed to parse NM_SimtScheduleAttr parameter 'stages'}}
func.func private @syntax_count() attributes {s = #nm.simt<stages = two>}

// -----

// expected-error @+2 {{expected one of direct, matrices, elements, squares, bulk, tensor, but got 'rows'}}
// expected-error @+1 {{failed to parse NM_SimtScheduleAttr parameter 'copy_a'}}
func.func private @syntax_copy_a() attributes {s = #nm.simt<copy_a = rows>}

// -----

// expected-error @+1 {{expected 3 sizes in 'block', but got 2}}
func.func private @vector_c1_block() attributes {s = #nm.vector<block = [64, 64]>}

// -----

// expected-error @+1 {{expected 2 sizes in 'thread', but got 3}}
func.func private @vector_c1_thread() attributes {s = #nm.vector<thread = [1, 2, 3]>}

// -----

// expected-error @+1 {{expected sizes in 'block' to be in 1..1099511627776, but got 0}}
func.func private @vector_c1_zero() attributes {s = #nm.vector<block = [64, 0, 8]>}

// -----

// expected-error @+1 {{expected sizes in 'block' to be in 1..1099511627776, but got 9223372036854775807}}
func.func private @vector_c1_huge() attributes {s = #nm.vector<block = [9223372036854775807, 1, 8]>}

// -----

// expected-error @+1 {{expected sizes in 'thread' to be in 1..1024, but got 1099511627776}}
func.func private @vector_c1_unrolled() attributes {s = #nm.vector<thread = [1, 1099511627776]>}

// -----

// expected-error @+1 {{expected a packing without col_info, which follows from 'pack = true', but got #nm.packing<panel = 32, index_bits = 8, col_info = 64>}}
func.func private @vector_c2() attributes {s = #nm.vector<packing = <panel = 32, index_bits = 8, col_info = 64>>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: stages}}
func.func private @vector_stages() attributes {s = #nm.vector<stages = 2>}

// -----

// expected-error @+1 {{expected 3 sizes in 'block', but got 2}}
func.func private @amx_c1_rank() attributes {s = #nm.amx<block = [64, 64]>}

// -----

// expected-error @+1 {{expected sizes in 'block' to be in 1..1099511627776, but got 0}}
func.func private @amx_c1_zero() attributes {s = #nm.amx<block = [64, 0, 8]>}

// -----

// Words of lanes have index rows of 32 bits.
// expected-error @+1 {{expected a packing with panels of a multiple of 16 columns, chunks of one column, index rows of 32 bits and no col_info for chunks of 2 or 4 rows, but got #nm.packing<panel = 32, index_bits = 2, chunk_rows = 2, index_rows = 8>}}
func.func private @amx_c2_words() attributes {s = #nm.amx<packing = <panel = 32, index_bits = 2, chunk_rows = 2, index_rows = 8>>}

// -----

// expected-error @+1 {{expected a packing with panels of a multiple of 16 columns, chunks of 32 or 64 rows, or 2 or 4, and one column, index_bits = 8 and no col_info, but got #nm.packing<panel = 8, index_bits = 8, chunk_rows = 32, index_rows = 32>}}
func.func private @amx_c2() attributes {s = #nm.amx<packing = <panel = 8, index_bits = 8, chunk_rows = 32, index_rows = 32>>}

// -----

// expected-error @+1 {{expected a packing with panels of a multiple of 16 columns, chunks of index_rows rows, fewer than 32, and one column, and no col_info, for index_bits = 0, but got #nm.packing<panel = 32, index_bits = 0, chunk_rows = 8, index_rows = 16>}}
func.func private @amx_c2_bitmaps() attributes {s = #nm.amx<packing = <panel = 32, index_bits = 0, chunk_rows = 8, index_rows = 16>>}

// -----

// expected-error @+1 {{expected 2 sizes in 'warp', but got 1}}
func.func private @simt_c1_warp() attributes {s = #nm.simt<warp = [64]>}

// -----

// expected-error @+1 {{expected stages in 1..65536, but got 0}}
func.func private @simt_c2_stages() attributes {s = #nm.simt<stages = 0>}

// -----

// expected-error @+1 {{expected split_k in 1..65536, but got -4}}
func.func private @simt_c2_split_k() attributes {s = #nm.simt<split_k = -4>}

// -----

// expected-error @+1 {{expected slice_k in 1..32, but got 33}}
func.func private @simt_c2_slice_k() attributes {s = #nm.simt<slice_k = 33>}

// -----

// expected-error @+1 {{expected cluster_k in 1..8, but got 0}}
func.func private @simt_c3_none() attributes {s = #nm.simt<cluster_k = 0>}

// -----

// expected-error @+1 {{expected cluster_k in 1..8, but got 16}}
func.func private @simt_c3_large() attributes {s = #nm.simt<split_k = 16, cluster_k = 16>}

// -----

// expected-error @+1 {{expected cluster_k to divide split_k, 6, but got 4}}
func.func private @simt_c3_divides() attributes {s = #nm.simt<split_k = 6, cluster_k = 4>}

// -----

// expected-error @+1 {{expected a packing without col_info, which follows from 'pack = true', but got #nm.packing<panel = 32, index_bits = 8, col_info = 64>}}
func.func private @simt_c4_col_info() attributes {s = #nm.simt<packing = <panel = 32, index_bits = 8, col_info = 64>>}

// -----

// expected-error @+1 {{expected 2 sizes in 'warp', but got 1}}
func.func private @mma_sync_c1() attributes {s = #nm.mma_sync<warp = [64]>}

// -----

// expected-error @+1 {{expected stages in 1..65536, but got 0}}
func.func private @mma_sync_c2() attributes {s = #nm.mma_sync<stages = 0>}

// -----

// expected-error @+1 {{expected slice_k in 1..32, but got 33}}
func.func private @mma_sync_c2_slices() attributes {s = #nm.mma_sync<slice_k = 33>}

// -----

// expected-error @+1 {{expected cluster_k to divide split_k, 3, but got 2}}
func.func private @mma_sync_c3() attributes {s = #nm.mma_sync<split_k = 3, cluster_k = 2>}

// -----

// expected-error @+1 {{expected a packing without col_info, which follows from 'pack = true'}}
func.func private @mma_sync_c4() attributes {s = #nm.mma_sync<packing = <panel = 32, index_bits = 8, col_info = 64>>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: thread}}
func.func private @mma_sync_thread() attributes {s = #nm.mma_sync<thread = [8, 8]>}

// -----

// expected-error @+1 {{duplicate or unknown struct parameter name: cluster_k}}
func.func private @gemv_cluster_k() attributes {s = #nm.gemv<split_k = 4, cluster_k = 4>}

// -----

// expected-error @+1 {{expected slice_k in 1..32, but got 0}}
func.func private @gemv_c2_slice_k() attributes {s = #nm.gemv<slice_k = 0>}

// -----

// expected-error @+1 {{expected 'kept' and 'tile_rows' together}}
func.func private @simt_columns_c3() attributes {s = #nm.simt_columns<kept = 8>}

// -----

// expected-error @+1 {{expected warps of 32, 64 or 128 rows, of 32 threads each, and of one column with 'kept', else at most 64}}
func.func private @simt_columns_c4_columns() attributes {s = #nm.simt_columns<warp = [64, 2], kept = 8, tile_rows = 9>}

// -----

// expected-error @+1 {{expected warps of 32, 64 or 128 rows, of 32 threads each, and of one column with 'kept', else at most 64}}
func.func private @simt_columns_c4_thread() attributes {s = #nm.simt_columns<warp = [64, 1], thread = [4, 1]>}

// -----

// expected-error @+1 {{expected 'packing' to have chunks of one column, as high as an index row, but got }}
func.func private @cublas_c2_chunks() attributes {s = #nm.cublas<packing = <panel = 32, index_bits = 1, chunk_rows = 4, index_rows = 8>>}

// -----

// expected-error @+1 {{expected 'own' to be #nm.loops beside 'packing', but got #nm.simt}}
func.func private @cublas_c2_own() attributes {s = #nm.cublas<own = #nm.simt, packing = <panel = 32, index_bits = 1, chunk_rows = 8, index_rows = 8>>}

// -----

// expected-error @+1 {{expected 'own' to be a schedule of a GPU's kernels, but got #nm.cublas}}
func.func private @cublas_c1_itself() attributes {s = #nm.cublas<own = #nm.cublas>}

// -----

// expected-error @+1 {{expected 'own' to be a schedule of a GPU's kernels, but got #nm.vector}}
func.func private @cublas_c1_cpu() attributes {s = #nm.cublas<own = #nm.vector>}

// -----

// expected-error @+2 {{invalid kind of attribute specified}}
// expected-error @+1 {{failed to parse NM_CublasScheduleAttr parameter 'own'}}
func.func private @cublas_syntax() attributes {s = #nm.cublas<own = 3>}

// -----

// An element type that cannot be parsed, before an encoding.
// expected-error @+1 {{expected '<' in tensor type}}
func.func private @encoding_no_type(tensor<64x48xtensor, #nm.encoding<2:4>>)

// -----

//===----------------------------------------------------------------------===//
// #nm.chip
//===----------------------------------------------------------------------===//

// expected-error-re @+1 {{expected a chip of sm_80, {{.*}}, but got 'sm_12'}}
module attributes {nm.chip = #nm.chip<"sm_12">} {}

// -----

// expected-error @+1 {{expected nm.chip to be an #nm.chip, but got "sm_90a"}}
module attributes {nm.chip = "sm_90a"} {}

// -----

//===----------------------------------------------------------------------===//
// #nm.record
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected estimate_us to be a finite f64 that is not negative, but got -1.000000e+00}}
func.func private @record_c1_negative() attributes {r = #nm.record<source = model, pattern = <2:4>, estimate_us = -1.0, reason = "r">}

// -----

// expected-error @+1 {{expected dense_us to be a finite f64 that is not negative, but got 1.000000e+00 : f32}}
func.func private @record_c1_type() attributes {r = #nm.record<source = model, pattern = <2:4>, dense_us = 1.0 : f32, reason = "r">}

// -----

// expected-error @+1 {{expected memory_floor_us to be a finite f64 that is not negative, but got 0x7FF0000000000000}}
func.func private @record_c1_finite() attributes {r = #nm.record<source = model, pattern = <2:4>, memory_floor_us = 0x7FF0000000000000 : f64, reason = "r">}

// -----

// expected-error @+1 {{expected multiply_floor_us, memory_floor_us and shared_bytes together, with estimate_us and chip}}
func.func private @record_c2_alone() attributes {r = #nm.record<source = model, pattern = <2:4>, chip = "sm_90", estimate_us = 2.0, multiply_floor_us = 1.0, reason = "r">}

// -----

// expected-error @+1 {{expected multiply_floor_us, memory_floor_us and shared_bytes together, with estimate_us and chip}}
func.func private @record_c2_cpu() attributes {r = #nm.record<source = model, pattern = <2:4>, estimate_us = 2.0, multiply_floor_us = 1.0, memory_floor_us = 1.0, shared_bytes = 0, reason = "r">}

// -----

// expected-error @+1 {{expected threads to be at least 1, but got 0}}
func.func private @record_c3() attributes {r = #nm.record<source = model, pattern = <2:4>, threads = 0, reason = "r">}

// -----

// expected-error @+1 {{expected a reason, but got an empty one}}
func.func private @record_c4() attributes {r = #nm.record<source = model, pattern = <2:4>, reason = "">}

// -----

// expected-error @+1 {{expected nm.record on nm.spmm or nm.spmv alone}}
func.func private @record_c5() attributes {nm.record = #nm.record<source = model, pattern = <2:4>, reason = "r">}

// -----

// expected-error @+1 {{expected alternatives to be of #nm.alternative, but got 1 : i64}}
func.func private @record_c6_type() attributes {r = #nm.record<source = model, pattern = <2:4>, reason = "r", alternatives = [1]>}

// -----

// expected-error @+1 {{expected at most one alternative to be chosen, but got 2}}
func.func private @record_c6_chosen() attributes {r = #nm.record<source = model, pattern = <2:4>, reason = "r", alternatives = [#nm.alternative<name = "own", estimate_us = 1.0, chosen = true>, #nm.alternative<name = "dense", estimate_us = 1.0, chosen = true>]>}

// -----

// expected-error @+1 {{expected extra_us to be a finite f64 that is not negative, but got -1.000000e+00}}
func.func private @alternative_c1() attributes {r = #nm.alternative<name = "own", estimate_us = 1.0, extra_us = -1.0>}

// -----

// expected-error @+1 {{expected a name, but got an empty one}}
func.func private @alternative_c2() attributes {r = #nm.alternative<name = "", estimate_us = 1.0>}

// -----

// expected-error @+1 {{expected estimate_us or why_not for own, but got neither}}
func.func private @alternative_c3() attributes {r = #nm.alternative<name = "own">}

// -----

// expected-error @+1 {{expected no why_not of what is chosen, but got "zeros"}}
func.func private @alternative_c4() attributes {r = #nm.alternative<name = "own", estimate_us = 1.0, chosen = true, why_not = "zeros">}

// -----

func.func @record_type(%a: tensor<4x8xf32>, %v: tensor<4x8xf32>, %i: tensor<4x8xi8>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expected nm.record to be an #nm.record, but got "fast"}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi8>) outs(%c : tensor<4x8xf32>) {nm.record = "fast"} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// #nm.mma_sp
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected sizes in 'block' to be multiples of 1, 1, 64, but got 64, 64, 96}}
func.func private @mma_sp_c1_k() attributes {s = #nm.mma_sp<block = [64, 64, 96]>}

// -----

// expected-error @+1 {{expected sizes in 'warp' to be multiples of 8, 16, but got 64, 24}}
func.func private @mma_sp_c1_warp() attributes {s = #nm.mma_sp<warp = [64, 24]>}

// -----

// expected-error @+1 {{expected 'warp' to divide the block's 64, 128, but got 48, 64}}
func.func private @mma_sp_c1_divides() attributes {s = #nm.mma_sp<block = [64, 128, 64], warp = [48, 64]>}

// -----

// expected-error @+1 {{expected stages in 1..65536, but got 0}}
func.func private @mma_sp_c2() attributes {s = #nm.mma_sp<stages = 0>}

// -----

// expected-error @+1 {{expected slice_k in 1..32, but got 0}}
func.func private @mma_sp_c2_slices() attributes {s = #nm.mma_sp<slice_k = 0>}

// -----

// expected-error @+1 {{expected cluster_k in 1..8, but got 16}}
func.func private @mma_sp_c3() attributes {s = #nm.mma_sp<split_k = 16, cluster_k = 16>}

// -----

//===----------------------------------------------------------------------===//
// #nm.mma_bitmap
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected sizes in 'block' to be multiples of 1, 1, 128, but got 8, 32, 192}}
func.func private @mma_bitmap_c1_k() attributes {s = #nm.mma_bitmap<block = [8, 32, 192]>}

// -----

// expected-error @+1 {{expected sizes in 'warp' to be multiples of 8, 16, but got 4, 32}}
func.func private @mma_bitmap_c1_warp() attributes {s = #nm.mma_bitmap<warp = [4, 32]>}

// -----

// expected-error @+1 {{expected 'warp' to divide the block's 8, 64, but got 8, 48}}
func.func private @mma_bitmap_c1_divides() attributes {s = #nm.mma_bitmap<block = [8, 64, 128], warp = [8, 48]>}

// -----

// expected-error @+1 {{expected slice_k in 1..32, but got 33}}
func.func private @mma_bitmap_c2() attributes {s = #nm.mma_bitmap<slice_k = 33>}

// -----

// expected-error @+1 {{expected cluster_k to divide split_k, 3, but got 2}}
func.func private @mma_bitmap_c3() attributes {s = #nm.mma_bitmap<split_k = 3, cluster_k = 2>}

// -----

// expected-error @+1 {{expected copy_a to be one of direct, matrices, elements, squares, but got bulk}}
func.func private @simt_c4_bulk() attributes {s = #nm.simt<copy_a = bulk>}

// -----

// expected-error @+1 {{expected copy_a to be one of direct, matrices, elements, squares, but got tensor}}
func.func private @simt_c4_tensor() attributes {s = #nm.simt<copy_a = tensor>}

// -----

// expected-error @+1 {{expected tile_rows in 0..65536, but got -1}}
func.func private @packing_c5() attributes {s = #nm.packing<panel = 64, index_bits = 8, tile_rows = -1>}

// -----

// expected-error@+1 {{expected ops to have nm.chip, nm.rates, nm.device, nm.schedule_tables, nm.batch_invariant, nm.arithmetic, nm.record, nm.host, nm.temporary_bytes, nm.steps, nm.overlays_tiles, nm.early_load, nm.short_kernel, nm.alignment, nm.windows, nm.kept, nm.ell_steps alone of dialect nm, but got "nm.chop"}}
module attributes {nm.chop = #nm.chip<"sm_90">} {
}

// -----

// expected-error@+1 {{expected nm.host to be a unit attribute, but got true}}
func.func private @host() attributes {nm.host = true}

// -----

// expected-error@+1 {{expected nm.values_of to be an argument's number, of type i64, but got -1 : i64}}
func.func private @values_of(tensor<2xf32> {nm.values_of = -1 : i64})

// -----

// expected-error@+1 {{expected arguments to have nm.values_of, nm.indices_of, nm.packed_values_of, nm.packed_indices_of, nm.packed_lists_of alone of dialect nm, but got "nm.value_of"}}
func.func private @value_of(tensor<2xf32> {nm.value_of = 0 : i64})
