// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// An m-major tile and the kept rows of the weights are copied as they are, with
// the 16-byte words of eight rows in different banks: in rows of 128 bytes and
// more they are XORed with three bits of the row, in rows of 64 with two.
// Indices stay.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: %[[A:[^:]*]]: memref<32x64xf16>, %[[V:[^:]*]]: memref<4x16x32xf16>, %[[I:[^:]*]]: memref<4x16x1xi8>, %[[C:[^:]*]]: memref<64x128xf16>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A]] to %[[AS]]
// CHECK: %[[VS:.*]] = memref.alloc() : memref<4x16x32xf16, #nm.tile_layout<[512, 32, 1], xor = [2:3 with 1:1 for 2]>, #gpu.address_space<workgroup>>
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[V]] to %[[VS]]
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[I]]
// CHECK-SAME: outs(%[[C]] : memref<64x128xf16>)
func.func @whole(%a: memref<32x64xf16>, %v: memref<4x16x32xf16>, %i: memref<4x16x1xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<4x16x32xf16>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Only rows of A that lists name are copied; units are then places in those.
// CHECK-LABEL: func.func @listed
// CHECK: %[[AS:.*]] = memref.alloc() : memref<16x64xbf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %{{.*}} to %[[AS]] rows %{{.*}} <pattern = <4:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 1>
// CHECK: nm.spmm <4:32, block = 1x32> transpose_a gathered [1, 16] packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32], pack = false, packing = <panel = 32, index_bits = 8>>
func.func @listed(%a: memref<32x64xbf16>, %v: memref<4x4x32xbf16>, %i: memref<4x4x1xi8>, %l: memref<4x4x1xi8>, %c: memref<64x128xbf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <4:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<32x64xbf16>, memref<4x4x32xbf16>, memref<4x4x1xi8>)
      lists(%l : memref<4x4x1xi8>)
      outs(%c : memref<64x128xbf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major A stays so, for lanes to gather its elements. Rows of 64 bytes meet
// the banks of every second one.
// CHECK-LABEL: func.func @row_major
// CHECK: nm.copy <direct> %{{.*}} : memref<64x32xf16> to memref<64x32xf16, #nm.tile_layout<[32, 1], xor = [1:3 with 0:1 for 2]>
// CHECK: nm.spmm <16:32, block = 1x32> packing
func.func @row_major(%a: memref<64x32xf16>, %v: memref<4x16x32xf16>, %i: memref<4x16x1xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<64x32xf16>, memref<4x16x32xf16>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Weights in chunks stay where they are, as indices do: lanes load them to
// registers. Of eight windows of 16 rows the words of A are XORed with the number
// of the window, as ldmatrix reads a row of each.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[A:[^:]*]]: memref<128x64xf16>, %[[V:[^:]*]]: memref<4x16x128xf16>, %[[I:[^:]*]]: memref<4x8x8xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<128x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:4 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T:.*]] = nm.copy <direct> %[[A]] to %[[AS]]
// CHECK-NOT: nm.copy
// CHECK: nm.group %[[T]]
// CHECK: nm.spmm <8:16, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 8>
// CHECK-SAME: ins(%[[AS]], %[[V]], %[[I]]
func.func @in_place(%a: memref<128x64xf16>, %v: memref<4x16x128xf16>, %i: memref<4x8x8xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:16, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 8>
      schedule #nm.mma_sync<block = [64, 128, 128], warp = [32, 32]>
      ins(%a, %v, %i : memref<128x64xf16>, memref<4x16x128xf16>, memref<4x8x8xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// In blocks of fewer than 64 rows, rows of k share lines with those of other
// windows: of 32 bytes, four windows of eight have a row in each line, and the
// two words of those of the others change places. So do rows of the weights, of
// which windows have eight.
// CHECK-LABEL: func.func @few_rows
// CHECK: nm.copy <direct> %{{.*}} : memref<256x16xbf16> to memref<256x16xbf16, #nm.tile_layout<[16, 1], order = {{\[\[}}5, 6, 0, 1, 2, 3, 4], []], xor = [1:3 with 0:7 for 1]>
// CHECK: nm.copy <direct> %{{.*}} : memref<4x64x32xbf16> to memref<4x64x32xbf16, #nm.tile_layout<[2048, 32, 1], order = {{\[\[}}], [3, 0, 1, 2], []], xor = [2:3 with 1:4 for 2]>
func.func @few_rows(%a: memref<256x16xbf16>, %v: memref<4x64x32xbf16>, %i: memref<4x64x1xi8>, %c: memref<16x128xbf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [16, 128, 256], warp = [16, 32]>
      ins(%a, %v, %i : memref<256x16xbf16>, memref<4x64x32xbf16>, memref<4x64x1xi8>)
      outs(%c : memref<16x128xbf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Of windows of twelve kept rows, the three bits from the third on differ. Where
// windows of A are no power of two, its rows stay.
// CHECK-LABEL: func.func @odd_windows
// CHECK: nm.copy <direct> %{{.*}} : memref<192x32xbf16> to memref<192x32xbf16, #nm.tile_layout<[32, 1], xor = [1:3 with 0:1 for 2]>
// CHECK: nm.copy <direct> %{{.*}} : memref<8x96x16xbf16> to memref<8x96x16xbf16, #nm.tile_layout<[1536, 16, 1], order = {{\[\[}}], [2, 3, 0, 1], []], xor = [2:3 with 1:4 for 1]>
func.func @odd_windows(%a: memref<192x32xbf16>, %v: memref<8x96x16xbf16>, %i: memref<8x96x1xi8>, %c: memref<32x128xbf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <12:24, block = 1x16> transpose_a packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.mma_sync<block = [32, 128, 192], warp = [32, 32]>
      ins(%a, %v, %i : memref<192x32xbf16>, memref<8x96x16xbf16>, memref<8x96x1xi8>)
      outs(%c : memref<32x128xbf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Quantized weights lie as they are, and their scales beside them.
// CHECK-LABEL: func.func @quantized
// CHECK-SAME: %[[A:[^:]*]]: memref<16x256xf16>, %[[V:[^:]*]]: memref<1x4x256xi8>, %[[I:[^:]*]]: memref<1x64x1xi8>, %[[S:[^:]*]]: memref<2x32xf16>
// CHECK: nm.copy <direct> %[[V]] to %[[VS:[^ ]*]] : memref<1x4x256xi8> to memref<1x4x256xi8, strided<[1024, 256, 1]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %[[S]] to %[[SS:[^ ]*]] : memref<2x32xf16> to memref<2x32xf16, strided<[32, 1]>, #gpu.address_space<workgroup>>
// CHECK: nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>
// CHECK-SAME: ins(%{{.*}}, %[[VS]], %[[I]]
// CHECK-SAME: scales(%[[SS]]
func.func @quantized(%a: memref<16x256xf16>, %v: memref<1x4x256xi8>, %i: memref<1x64x1xi8>, %s: memref<2x32xf16>, %c: memref<16x32xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>
      schedule #nm.mma_sync<block = [16, 32, 256], warp = [16, 32], slice_k = 4, bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16>> quantization <bits = 4, group = 128>
      ins(%a, %v, %i : memref<16x256xf16>, memref<1x4x256xi8>, memref<1x64x1xi8>)
      scales(%s : memref<2x32xf16>) outs(%c : memref<16x32xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
