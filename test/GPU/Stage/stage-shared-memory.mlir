// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// A goes through registers to an m-major tile, as squares of 4 x 4; weights are
// copied as they are, panels side by side, and the bytes of a panel's indices as
// one row. All is awaited at once.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: %[[A:[^:]*]]: memref<64x32xf32>, %[[V:[^:]*]]: memref<4x16x32xf32>, %[[I:[^:]*]]: memref<4x16x1xi8>, %[[C:[^:]*]]: memref<64x128xf32>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[FRAGMENT:.*]] = nm.load_tile <squares> %[[A]] transpose
// CHECK: %[[VS:.*]] = memref.alloc() : memref<4x16x32xf32, strided<[32, 128, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[V]] to %[[VS]]
// CHECK: %[[IS:.*]] = memref.alloc() : memref<4x16x1xi8, strided<[16, 1, 1]>, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[FROM:.*]] = memref.collapse_shape %[[I]] {{\[}}[0], [1, 2]]
// CHECK-DAG: %[[TO:.*]] = memref.collapse_shape %[[IS]] {{\[}}[0], [1, 2]]
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[FROM]] to %[[TO]]
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]]
// CHECK: nm.store_tile %[[FRAGMENT]] to %[[AS]]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[IS]]
// CHECK-SAME: outs(%[[C]] : memref<64x128xf32>)
// CHECK-NOT: nm.release
func.func @whole(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], copy_a = squares>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A warp's columns share their units: indices stay where they are, and rows of
// A's tile are interleaved, those of a square's columns eight apart.
// CHECK-LABEL: func.func @units_of_warps
// CHECK-SAME: %[[I:[^:]*]]: memref<4x16x1xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf32, #nm.tile_layout<[68, 1], order = {{\[}}[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>
// CHECK: nm.load_tile <squares>
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %{{.*}}, %[[I]] :
func.func @units_of_warps(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, layout_a = interleaved, prefetch = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Without prefetch they are copied, as the weights.
// CHECK-LABEL: func.func @no_prefetch
// CHECK: %[[IS:.*]] = memref.alloc() : memref<4x16x1xi8, {{.*}}#gpu.address_space<workgroup>>
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: prefetch = false
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %[[IS]] :
func.func @no_prefetch(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], prefetch = false>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Rows that are not multiples of four elements go by elements. C has no constant
// size where it is less than the tile.
// CHECK-LABEL: func.func @edge
// CHECK: nm.load_tile <elements> %{{.*}} transpose : memref<?x30xf32> -> <memref<32x64xf32,
// CHECK: nm.copy <direct> %{{.*}} : memref<16x100xf32> to memref<16x128xf32,
// CHECK: memref.cast %{{.*}} : memref<?x100xf32> to memref<?x?xf32, strided<[100, 1]>>
func.func @edge(%a: memref<?x30xf32>, %v: memref<16x100xf32>, %i: memref<16x100xi8>, %c: memref<?x100xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
      ins(%a, %v, %i : memref<?x30xf32>, memref<16x100xf32>, memref<16x100xi8>)
      outs(%c : memref<?x100xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A that is m-major already is copied like weights.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[A:[^:]*]]: memref<32x64xf32>
// CHECK-NOT: nm.load_tile
// CHECK: nm.copy <direct> %[[A]] to
func.func @transposed(%a: memref<32x64xf32>, %v: memref<16x128xf32>, %i: memref<16x128xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
      ins(%a, %v, %i : memref<32x64xf32>, memref<16x128xf32>, memref<16x128xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Nobody knows how far apart batches are, but that they are whole rows.
// CHECK-LABEL: func.func @dynamic_batches
// CHECK: nm.load_tile <squares> %{{.*}} : memref<?x32xf32, strided<[32, 1], offset: ?>>
func.func @dynamic_batches(%a: memref<2x?x32xf32>, %v: memref<16x128xf32>, %i: memref<16x128xi8>, %c: memref<2x?x128xf32>, %size: index) {
  scf.forall (%b) in (2) {
    %at = memref.subview %a[%b, 0, 0] [1, %size, 32] [1, 1, 1] : memref<2x?x32xf32> to memref<1x?x32xf32, strided<[?, 32, 1], offset: ?>>
    %ct = memref.subview %c[%b, 0, 0] [1, %size, 128] [1, 1, 1] : memref<2x?x128xf32> to memref<1x?x128xf32, strided<[?, 128, 1], offset: ?>>
    nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], copy_a = squares>
      ins(%at, %v, %i : memref<1x?x32xf32, strided<[?, 32, 1], offset: ?>>, memref<16x128xf32>, memref<16x128xi8>)
      outs(%ct : memref<1x?x128xf32, strided<[?, 128, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Of a window's 32 rows the tile's columns use 12 at most, which the list
// names: those are copied, and become the windows of the product.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>, %[[V:[^:]*]]: memref<4x6x32xf32>, %[[IS:[^:]*]]: memref<4x6x1xi8>, %[[LIST:[^:]*]]: memref<4x6x1xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<24x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %[[A]] to %[[AS]] rows %[[LIST]] <pattern = <3:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 2>
// CHECK: nm.spmm <3:32, block = 1x32> transpose_a gathered [2, 12] packing #nm.packing<panel = 32, index_bits = 8> schedule
// CHECK-NOT: pack = true
// CHECK-SAME: ins(%[[AS]], %{{.*}}, %[[IS]] :
func.func @packed(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<4x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], prefetch = true, pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<4x6x1xi8>)
      lists(%l : memref<4x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major goes by elements.
// CHECK-LABEL: func.func @packed_row_major
// CHECK: %[[AS:.*]] = memref.alloc() : memref<24x64xf32, strided<[68, 1]>
// CHECK: nm.load_tile <elements> %{{.*}} transpose rows
// CHECK: nm.spmm <3:32, block = 1x32> transpose_a gathered [2, 12]
// CHECK-SAME: ins(%[[AS]], %
func.func @packed_row_major(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<4x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<4x6x1xi8>)
      lists(%l : memref<4x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Columns of one unit: what is staged is what is kept, whatever the positions.
// The last rows of A and windows of weights may be missing.
// CHECK-LABEL: func.func @packed_unit
// CHECK: %[[AS:.*]] = memref.alloc() : memref<16x64xf32
// CHECK: nm.load_tile <elements> %{{.*}} transpose rows
// CHECK: nm.spmm <2:8, block = 4x64> transpose_a gathered [2, 2] packing
// CHECK-SAME: ins(%[[AS]], %
func.func @packed_unit(%a: memref<64x?xf32>, %v: memref<1x?x64xf32>, %i: memref<?x?x1xi8>, %l: memref<?x?x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x64> packing #nm.packing<panel = 64, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 64, 64], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x?xf32>, memref<1x?x64xf32>, memref<?x?x1xi8>)
      lists(%l : memref<?x?x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Four kept rows of a unit are a 16-byte word of a row of A: rows may stay as
// they are, their words in an order that four rows share.
// CHECK-LABEL: func.func @row_major
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x64xf32, #nm.tile_layout<[64, 1], xor = [1:2 with 0:2 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %[[A]] to %[[AS]]
// CHECK: nm.spmm <2:8, block = 4x4> packing
// CHECK-SAME: ins(%[[AS]], %
func.func @row_major(%a: memref<64x64xf32>, %v: memref<1x16x64xf32>, %i: memref<1x4x16xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x4> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4], layout_a = row_major>
      ins(%a, %v, %i : memref<64x64xf32>, memref<1x16x64xf32>, memref<1x4x16xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Without a field that says otherwise, A goes to an m-major tile by elements.
// CHECK-LABEL: func.func @default
// CHECK: memref.alloc() : memref<64x64xf32, strided<[68, 1]>
// CHECK: nm.load_tile <elements>
// CHECK: nm.spmm <2:8, block = 4x4> transpose_a
func.func @default(%a: memref<64x64xf32, strided<[68, 1]>>, %v: memref<1x16x64xf32>, %i: memref<1x4x16xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x4> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4]>
      ins(%a, %v, %i : memref<64x64xf32, strided<[68, 1]>>, memref<1x16x64xf32>, memref<1x4x16xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
