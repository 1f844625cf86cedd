// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

// CHECK-LABEL: func.func private @encodings
// CHECK-SAME: tensor<64x48xf32, #nm.encoding<2:4>>
// CHECK-SAME: tensor<48x64xf16, #nm.encoding<8:32, block = 1x16, dim = 1>>
// CHECK-SAME: tensor<20x12xi8, #nm.encoding<3:5, block = 4x4>>
// CHECK-SAME: tensor<300x2xf8E4M3FN, #nm.encoding<1:256>>
// CHECK-SAME: tensor<16x4xf8E5M2, #nm.encoding<1:4>>
// CHECK-SAME: tensor<16x4xf32, #nm.encoding<unstructured>>
// CHECK-SAME: tensor<16x4xf32, #nm.encoding<unstructured, kept = 9, dim = 1>>
// CHECK-SAME: tensor<16x4xf32, #nm.encoding<unstructured, kept = 16, block = 4x2>>
func.func private @encodings(
    tensor<64x48xf32, #nm.encoding<2:4, dim = 0>>,
    tensor<48x64xf16, #nm.encoding<8:32, dim = 1, block = 1x16>>,
    tensor<20x12xi8, #nm.encoding<3:5, block = 4x4>>,
    tensor<300x2xf8E4M3FN, #nm.encoding<1:256>>,
    tensor<16x4xf8E5M2, #nm.encoding<1:4>>,
    tensor<16x4xf32, #nm.encoding<unstructured, dim = 0>>,
    tensor<16x4xf32, #nm.encoding<unstructured, dim = 1, kept = 9>>,
    tensor<16x4xf32, #nm.encoding<unstructured, block = 4x2, kept = 16>>)

// CHECK-LABEL: func.func @unstructured
func.func @unstructured(%a: tensor<?x60xf32>, %b: tensor<60x48xf32>, %v0: tensor<1x99xf32>, %i0: tensor<1x384xi8>,
                        %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: nm.compress <unstructured, kept = 99>
  %v, %i = nm.compress <unstructured, kept = 99> ins(%b : tensor<60x48xf32>)
    outs(%v0, %i0 : tensor<1x99xf32>, tensor<1x384xi8>) -> tensor<1x99xf32>, tensor<1x384xi8>
  // CHECK: nm.spmm <unstructured, kept = 99>
  %r = nm.spmm <unstructured, kept = 99> ins(%a, %v, %i : tensor<?x60xf32>, tensor<1x99xf32>, tensor<1x384xi8>)
    outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @columns
func.func @columns(%a: tensor<?x600xf32>, %v: tensor<1x1x114xf32>, %i: tensor<1x1x228xi8>, %l: tensor<48x2x8xi8>,
                   %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: nm.spmm <1:1> packing #nm.columns<kept = 50, tile_rows = 300>
  // CHECK-SAME: schedule #nm.vector<thread = [64, 1], kept = 50, tile_rows = 300>
  %r = nm.spmm <1:1> packing #nm.columns<kept = 50, tile_rows = 300>
    schedule #nm.vector<thread = [64, 1], kept = 50, tile_rows = 300>
    ins(%a, %v, %i : tensor<?x600xf32>, tensor<1x1x114xf32>, tensor<1x1x228xi8>)
    lists(%l : tensor<48x2x8xi8>) outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @bitmap_panels
func.func @bitmap_panels(%a: tensor<1x601xbf16>, %v: tensor<1x1x114xbf16>, %i: tensor<2x301x16xi8>, %l: tensor<2x1x4xi8>,
                         %c: tensor<1x70xf32>) -> tensor<1x70xf32> {
  // CHECK: nm.spmm <1:1> packing #nm.bitmap_panels<kept = 50, word_rows = 2>
  // CHECK-SAME: schedule #nm.vector<thread = [1, 64], kept = 50, word_rows = 2>
  %r = nm.spmm <1:1> packing #nm.bitmap_panels<kept = 50, word_rows = 2>
    schedule #nm.vector<thread = [1, 64], word_rows = 2, kept = 50>
    ins(%a, %v, %i : tensor<1x601xbf16>, tensor<1x1x114xbf16>, tensor<2x301x16xi8>)
    lists(%l : tensor<2x1x4xi8>) outs(%c : tensor<1x70xf32>) -> tensor<1x70xf32>
  return %r : tensor<1x70xf32>
}

// CHECK-LABEL: func.func @ell
func.func @ell(%a: tensor<1x600xf16>, %v: tensor<2x5x512xf16>, %i: tensor<2x5x256xi8>, %l: tensor<2x3x64xi8>,
               %c: tensor<1x48xf32>) -> tensor<1x48xf32> {
  // CHECK: nm.spmm <1:1> packing #nm.ell<steps = 5, bits = 4, parts = 2>
  // CHECK-SAME: schedule #nm.gemv_columns<slice_k = 2, steps = 5, gap_bits = 4>
  %r = nm.spmm <1:1> packing #nm.ell<steps = 5, bits = 4, parts = 2>
    schedule #nm.gemv_columns<slice_k = 2, steps = 5, gap_bits = 4>
    ins(%a, %v, %i : tensor<1x600xf16>, tensor<2x5x512xf16>, tensor<2x5x256xi8>)
    lists(%l : tensor<2x3x64xi8>) outs(%c : tensor<1x48xf32>) -> tensor<1x48xf32>
  return %r : tensor<1x48xf32>
}

// CHECK-LABEL: func.func @spmm_tensor
func.func @spmm_tensor(%a: tensor<?x64xf32>, %v: tensor<32x48xf32>,
                       %i: tensor<32x48xi8>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: nm.spmm <2:4> ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) outs(%{{.*}} : tensor<?x48xf32>) -> tensor<?x48xf32>
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
                     outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: func.func @spmm_memref
func.func @spmm_memref(%a: memref<2x70x9xbf16, strided<[1000, 10, 1], offset: ?>>,
                       %v: memref<6x128xbf16>, %i: memref<6x4xi8>, %c: memref<2x100x9xf32, 3>) {
  // CHECK: nm.spmm <2:32, block = 1x32> transpose_a transpose_c
  nm.spmm <2:32, block = 1x32> transpose_a transpose_c
    ins(%a, %v, %i : memref<2x70x9xbf16, strided<[1000, 10, 1], offset: ?>>, memref<6x128xbf16>, memref<6x4xi8>)
    outs(%c : memref<2x100x9xf32, 3>)
  return
}

// CHECK-LABEL: func.func @spmv_packed_in_chunks
func.func @spmv_packed_in_chunks(%x: tensor<100xf32>, %v: tensor<2x16x128xf32>, %i: tensor<2x4x256xi8>,
                                 %y: tensor<50xf32>) -> tensor<50xf32> {
  // CHECK: nm.spmv <2:4> packing #nm.packing<panel = 32, index_bits = 3, chunk_rows = 4, index_rows = 16> ins
  %r = nm.spmv <2:4> packing #nm.packing<panel = 32, index_bits = 3, chunk_rows = 4, index_rows = 16>
      ins(%x, %v, %i : tensor<100xf32>, tensor<2x16x128xf32>, tensor<2x4x256xi8>)
      outs(%y : tensor<50xf32>) -> tensor<50xf32>
  return %r : tensor<50xf32>
}

// CHECK-LABEL: func.func @spmm_packed
func.func @spmm_packed(%a: tensor<3x64xi8>, %v: tensor<4x32x16xi8>, %i: tensor<4x32x4xi8>,
                       %c: tensor<3x50xi32>) -> tensor<3x50xi32> {
  // CHECK: nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<block = [64, 512, 128], thread = [16, 6], packing = <panel = 16, index_bits = 2>> ins
  %r = nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2>
      schedule #nm.vector<block = [64, 512, 128], thread = [16, 6], packing = <panel = 16, index_bits = 2>>
      ins(%a, %v, %i : tensor<3x64xi8>, tensor<4x32x16xi8>, tensor<4x32x4xi8>)
      outs(%c : tensor<3x50xi32>) -> tensor<3x50xi32>
  return %r : tensor<3x50xi32>
}

// CHECK-LABEL: func.func private @schedules
// CHECK-SAME: a = #nm.simt<stages = 3, prefetch = false>, b = #nm.simt<prefetch = true, promote = true, late_loads = true>
// CHECK-SAME: c = #nm.simt, d = #nm.loops, e = #nm.cublas
// CHECK-SAME: f = #nm.cublas<own = #nm.simt<stages = 2>, pad_a = 64>, g = #nm.vector, h = #nm.gemv<stages = 2, split_k = 2, slice_k = 4, early_bytes = 2048>
// CHECK-SAME: i = #nm.mma_sync<block = [128, 256, 64], warp = [128, 32], stages = 4, split_k = 2, cluster_k = 2, slice_k = 4, pack = true, pad_a = 64>
// CHECK-SAME: j = #nm.simt_columns<block = [128, 8, 512], warp = [128, 1], thread = [4, 1], slice_k = 2, kept = 26214, tile_rows = 512, pad_a = 8>
// CHECK-SAME: k = #nm.gemv_columns<block = [1, 32, 4096], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 16, steps = 134, gap_bits = 4>
func.func private @schedules() attributes {
  a = #nm.simt<prefetch = false, stages = 3>, b = #nm.simt<late_loads = true, promote = true, prefetch = true>,
  c = #nm.simt<>, d = #nm.loops, e = #nm.cublas,
  f = #nm.cublas<pad_a = 64, own = #nm.simt<stages = 2>>, g = #nm.vector, h = #nm.gemv<early_bytes = 2048, slice_k = 4, split_k = 2, stages = 2>,
  i = #nm.mma_sync<pad_a = 64, pack = true, slice_k = 4, stages = 4, warp = [128, 32], cluster_k = 2, split_k = 2, block = [128, 256, 64]>,
  j = #nm.simt_columns<pad_a = 8, slice_k = 2, kept = 26214, warp = [128, 1], thread = [4, 1], tile_rows = 512, block = [128, 8, 512]>,
  k = #nm.gemv_columns<gap_bits = 4, steps = 134, slice_k = 16, stages = 2, thread = [1, 1], warp = [1, 32], block = [1, 32, 4096]>
}

// CHECK-LABEL: func.func @spmm_col_info
func.func @spmm_col_info(%a: tensor<3x64xf32>, %v: tensor<2x6x32xf32>, %i: tensor<2x6x1xi8>, %l: tensor<2x6x1xi8>,
                         %c: tensor<3x50xf32>) -> tensor<3x50xf32> {
  // CHECK: nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 32, index_bits = 8>> ins({{.*}}) lists(%{{.*}} : tensor<2x6x1xi8>) outs
  %r = nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : tensor<3x64xf32>, tensor<2x6x32xf32>, tensor<2x6x1xi8>)
      lists(%l : tensor<2x6x1xi8>)
      outs(%c : tensor<3x50xf32>) -> tensor<3x50xf32>
  // CHECK: schedule #nm.simt<stages = 2, pack = false> ins
  %s = nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64> schedule #nm.simt<stages = 2, pack = false>
      ins(%a, %v, %i : tensor<3x64xf32>, tensor<2x6x32xf32>, tensor<2x6x1xi8>)
      lists(%l : tensor<2x6x1xi8>)
      outs(%r : tensor<3x50xf32>) -> tensor<3x50xf32>
  return %s : tensor<3x50xf32>
}

// CHECK-LABEL: func.func @spmv
func.func @spmv(%x: tensor<64xf16>, %v: tensor<16x48xf16>, %i: tensor<16x48xi8>,
                %y: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: nm.spmv <1:4> ins
  %r = nm.spmv <1:4> ins(%x, %v, %i : tensor<64xf16>, tensor<16x48xf16>, tensor<16x48xi8>)
                     outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// CHECK-LABEL: func.func @formats
func.func @formats(%w: tensor<48x64xf32>, %v0: tensor<32x48xf32>, %i0: tensor<32x48xi8>,
                   %pv0: tensor<3x32x16xf32>, %pi0: tensor<3x32x4xi8>) {
  // CHECK: nm.prune <2:4> dim 1 ins
  %p = nm.prune <2:4> dim 1 ins(%w : tensor<48x64xf32>) outs(%w : tensor<48x64xf32>) -> tensor<48x64xf32>
  // CHECK: nm.compress <2:4> dim 1 ins
  %v, %i = nm.compress <2:4> dim 1 ins(%p : tensor<48x64xf32>)
    outs(%v0, %i0 : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>, tensor<32x48xi8>
  // CHECK: nm.decompress <2:4> dim 1 ins
  %d = nm.decompress <2:4> dim 1 ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%w : tensor<48x64xf32>) -> tensor<48x64xf32>
  // CHECK: nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins
  %pv, %pi = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2>
    ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%pv0, %pi0 : tensor<3x32x16xf32>, tensor<3x32x4xi8>) -> tensor<3x32x16xf32>, tensor<3x32x4xi8>
  return
}

// CHECK-LABEL: func.func @edge
func.func @edge(%w: tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>) -> tensor<48x64xf32, #nm.encoding<2:4, dim = 1>> {
  // CHECK: nm.disassemble %{{.*}} : tensor<48x64xf32, #nm.encoding<2:4, dim = 1>> -> tensor<32x48xf32>, tensor<32x48xi8>
  %v, %i = nm.disassemble %w : tensor<48x64xf32, #nm.encoding<2:4, dim = 1>> -> tensor<32x48xf32>, tensor<32x48xi8>
  // CHECK: nm.assemble %{{.*}}, %{{.*}} : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>
  %r = nm.assemble %v, %i : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>
  return %r : tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>
}

// Every field of a schedule and of a packing.
// CHECK: func.func private @fields() attributes
// CHECK-SAME: p = #nm.packing<panel = 64, index_bits = 5, chunk_rows = 4, chunk_columns = 2, index_rows = 32>
// CHECK-SAME: s = #nm.simt<block = [8, 64, 512], warp = [8, 64], thread = [8, 2], stages = 2, split_k = 4, cluster_k = 2, slice_k = 8, copy_a = squares, layout_a = interleaved, prefetch = true, defer = true>
func.func private @fields() attributes {
  p = #nm.packing<panel = 64, index_bits = 5, chunk_rows = 4, chunk_columns = 2, index_rows = 32>,
  s = #nm.simt<defer = true, prefetch = true, layout_a = interleaved, copy_a = squares, slice_k = 8, cluster_k = 2, split_k = 4, stages = 2, thread = [8, 2], warp = [8, 64], block = [8, 64, 512]>
}

// The blocks of a cluster, inside the blocks of a grid.
// CHECK-LABEL: func.func @cluster_blocks
// CHECK: {mapping = [#nm.cluster_block]}
// CHECK: {mapping = [#gpu.block<linear_dim_0>]}
func.func @cluster_blocks() {
  scf.forall (%tile) in (12) {
    scf.forall (%part) in (4) {
    } {mapping = [#nm.cluster_block]}
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// CHECK-LABEL: func.func @spmm_sparse_operand
func.func @spmm_sparse_operand(%a: tensor<9x100xf16>, %v: tensor<4x2x512xf16>, %i: tensor<4x2x128xi8>,
                               %c: tensor<9x50xf32>) -> tensor<9x50xf32> {
  // CHECK: nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [16, 64, 64], warp = [8, 32], stages = 2, split_k = 2, cluster_k = 2, slice_k = 4> ins
  %r = nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [16, 64, 64], warp = [8, 32], stages = 2, split_k = 2, cluster_k = 2, slice_k = 4>
    ins(%a, %v, %i : tensor<9x100xf16>, tensor<4x2x512xf16>, tensor<4x2x128xi8>)
    outs(%c : tensor<9x50xf32>) -> tensor<9x50xf32>
  return %r : tensor<9x50xf32>
}

// CHECK-LABEL: func.func @spmm_bitmap
func.func @spmm_bitmap(%a: tensor<9x200xf16>, %v: tensor<4x2x1024xf16>, %i: tensor<4x2x256xi8>,
                       %c: tensor<9x50xf32>) -> tensor<9x50xf32> {
  // CHECK: nm.spmm <16:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [16, 64, 256], warp = [8, 32], stages = 2, split_k = 2, cluster_k = 2, slice_k = 2> ins
  %r = nm.spmm <16:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [16, 64, 256], warp = [8, 32], stages = 2, split_k = 2, cluster_k = 2, slice_k = 2>
    ins(%a, %v, %i : tensor<9x200xf16>, tensor<4x2x1024xf16>, tensor<4x2x256xi8>)
    outs(%c : tensor<9x50xf32>) -> tensor<9x50xf32>
  return %r : tensor<9x50xf32>
}

// CHECK-LABEL: func.func @spmm_wgmma_select
func.func @spmm_wgmma_select(%a: tensor<70x512xi8>, %v: tensor<1x128x128xi8>, %i: tensor<1x32x4xi8>,
                             %c: tensor<70x100xi32>) -> tensor<70x100xi32> {
  // CHECK: nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], stages = 4, producers = 8, blocks = 132, group_m = 2, promote = false, producer_registers = 40, consumer_registers = 232, packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>> ins
  %r = nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>
    schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], stages = 4, producers = 8, blocks = 132, group_m = 2, promote = false, producer_registers = 40, consumer_registers = 232, packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 64>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x128x128xi8>, tensor<1x32x4xi8>)
    outs(%c : tensor<70x100xi32>) -> tensor<70x100xi32>
  return %r : tensor<70x100xi32>
}

// CHECK-LABEL: func.func @spmm_wgmma_select_lanes
func.func @spmm_wgmma_select_lanes(%a: tensor<70x512xi8>, %v: tensor<1x192x128xi8>, %i: tensor<1x48x4xi8>,
                                   %c: tensor<70x100xi32>) -> tensor<70x100xi32> {
  // CHECK: nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3> schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>> ins
  %r = nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>
    schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>>
    ins(%a, %v, %i : tensor<70x512xi8>, tensor<1x192x128xi8>, tensor<1x48x4xi8>)
    outs(%c : tensor<70x100xi32>) -> tensor<70x100xi32>
  return %r : tensor<70x100xi32>
}

// CHECK: func.func private @empty_wgmma_select() attributes {s = #nm.wgmma_select}
func.func private @empty_wgmma_select() attributes {s = #nm.wgmma_select}

// CHECK-LABEL: func.func @spmm_wgmma_sp
func.func @spmm_wgmma_sp(%a: tensor<100x64xbf16>, %v: tensor<1x2x2048xbf16>, %i: tensor<1x2x512xi8>,
                         %c: tensor<64x50xf32>) -> tensor<64x50xf32> {
  // CHECK: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, split_k = 1> ins
  %r = nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, split_k = 1>
    ins(%a, %v, %i : tensor<100x64xbf16>, tensor<1x2x2048xbf16>, tensor<1x2x512xi8>)
    outs(%c : tensor<64x50xf32>) -> tensor<64x50xf32>
  return %r : tensor<64x50xf32>
}

// A pattern of units of 40 columns and windows of 3 rows, padded to whole ones.
// CHECK-LABEL: func.func @pack_sparse_operand
func.func @pack_sparse_operand(%v: tensor<22x80xbf16>, %i: tensor<22x2xi8>, %pv: tensor<2x2x2048xbf16>,
                               %pi: tensor<2x2x512xi8>) -> (tensor<2x2x2048xbf16>, tensor<2x2x512xi8>) {
  // CHECK: nm.pack <1:3, block = 1x40> #nm.sparse_operand<wgmma> ins
  %r:2 = nm.pack <1:3, block = 1x40> #nm.sparse_operand<wgmma> ins(%v, %i : tensor<22x80xbf16>, tensor<22x2xi8>)
    outs(%pv, %pi : tensor<2x2x2048xbf16>, tensor<2x2x512xi8>) -> tensor<2x2x2048xbf16>, tensor<2x2x512xi8>
  return %r#0, %r#1 : tensor<2x2x2048xbf16>, tensor<2x2x512xi8>
}

// Panels of rows whose number is not known.
// CHECK-LABEL: func.func @panels_of_unknown_rows
// CHECK-SAME: memref<4x?x256xf16, #nm.tile_layout<[16384, 64, 1], panels = [64, 4096]
func.func @panels_of_unknown_rows(%ring: memref<4x?x256xf16, #nm.tile_layout<[16384, 64, 1], panels = [64, 4096]>, #gpu.address_space<workgroup>>) {
  return
}
