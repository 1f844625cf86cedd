// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// A goes through registers to a k-major tile, as squares of 4 x 4: a load takes
// four elements of a row, a store four of a column; weights go as they are,
// panels side by side; the bytes of a panel's indices in one access.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: %[[A:[^:]*]]: memref<64x32xf32>, %[[V:[^:]*]]: memref<4x16x32xf32>, %[[I:[^:]*]]: memref<4x16x1xi8>, %[[C:[^:]*]]: memref<64x128xf32>
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[A0:.*]] = vector.load %[[A]][%[[ROW:.*]], %[[K:.*]]] {alignment = 16 : i64} : memref<64x32xf32>, vector<4xf32>
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c1
// CHECK: %[[A1:.*]] = vector.load %[[A]][%[[ROW1]], %[[K]]]
// CHECK: %[[A2:.*]] = vector.load %[[A]]
// CHECK: %[[A3:.*]] = vector.load %[[A]]
// CHECK: %[[X0:.*]] = vector.extract %[[A0]][0]
// CHECK: %[[X1:.*]] = vector.extract %[[A1]][0]
// CHECK: %[[X2:.*]] = vector.extract %[[A2]][0]
// CHECK: %[[X3:.*]] = vector.extract %[[A3]][0]
// CHECK: %[[X:.*]] = vector.from_elements %[[X0]], %[[X1]], %[[X2]], %[[X3]]
// CHECK: vector.store %[[X]], %[[AS]][%[[K]], %[[ROW]]] {alignment = 16 : i64}
// CHECK: %[[VS:.*]] = memref.alloc() : memref<4x16x32xf32, strided<[32, 128, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[W:.*]] = vector.transfer_read %[[V]][%[[P:.*]], %[[R:.*]], %[[COL:.*]]], %{{.*}} {in_bounds = [true]} : memref<4x16x32xf32>, vector<4xf32>
// CHECK: vector.transfer_write %[[W]], %[[VS]][%[[P]], %[[R]], %[[COL]]] {in_bounds = [true]}
// CHECK: %[[IS:.*]] = memref.alloc() : memref<4x16x1xi8, strided<[16, 1, 1]>, #gpu.address_space<workgroup>>
// CHECK: vector.transfer_read {{.*}} vector<16xi8>
// CHECK: gpu.barrier
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[IS]]
// CHECK-SAME: outs(%[[C]] : memref<64x128xf32>)
// CHECK-NEXT: gpu.barrier
func.func @whole(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing <panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
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
// CHECK: %[[AS:.*]] = memref.alloc() : memref<32x64xf32
// CHECK: vector.store %{{.*}}, %[[AS]][%[[PLACE:.*]], %[[ROW:.*]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[PLACE]], %c8
// CHECK: vector.store %{{.*}}, %[[AS]][%[[NEXT]], %[[ROW]]]
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %{{.*}}, %[[I]] :
// CHECK-SAME: nm.interleaved_rows
func.func @units_of_warps(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing <panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8]>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Without prefetch they are copied, as the weights.
// CHECK-LABEL: func.func @no_prefetch
// CHECK: memref.alloc() : memref<32x64xf32
// CHECK: memref.alloc() : memref<4x16x32xf32
// CHECK: %[[IS:.*]] = memref.alloc() : memref<4x16x1xi8, {{.*}}#gpu.address_space<workgroup>>
// CHECK: vector.transfer_read {{.*}} vector<16xi8>
// CHECK: nm.spmm <16:32, block = 1x32> transpose_a packing
// CHECK-SAME: prefetch = false
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %[[IS]] :
// CHECK-SAME: nm.interleaved_rows
func.func @no_prefetch(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing <panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], prefetch = false>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// What the operands lack is never read: loads stay in A, and what was loaded in
// its place is zero in the tile; copies of weights read no element. C has no
// constant size where it is less than the tile.
// CHECK-LABEL: func.func @edge
// CHECK-SAME: %[[A:[^:]*]]: memref<?x30xf32>
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: arith.minui %{{.*}}, %[[FIRST]]
// CHECK: vector.load %[[A]]{{.*}} {alignment = 8 : i64} : memref<?x30xf32>, vector<2xf32>
// CHECK: arith.select %{{.*}} : vector<2xf32>
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %c4, %c0 : index
// CHECK: vector.create_mask %[[COUNT]] : vector<4xi1>
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

// A that is k-major already is copied like weights, by 16 bytes.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %[[A:[^:]*]]: memref<32x64xf32>
// CHECK: vector.transfer_read %[[A]]{{.*}} memref<32x64xf32>, vector<4xf32>
// CHECK-NOT: memref.store
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
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x32xf32, strided<[32, 1], offset: ?>>, vector<4xf32>
func.func @dynamic_batches(%a: memref<2x?x32xf32>, %v: memref<16x128xf32>, %i: memref<16x128xi8>, %c: memref<2x?x128xf32>, %size: index) {
  scf.forall (%b) in (2) {
    %at = memref.subview %a[%b, 0, 0] [1, %size, 32] [1, 1, 1] : memref<2x?x32xf32> to memref<1x?x32xf32, strided<[?, 32, 1], offset: ?>>
    %ct = memref.subview %c[%b, 0, 0] [1, %size, 128] [1, 1, 1] : memref<2x?x128xf32> to memref<1x?x128xf32, strided<[?, 128, 1], offset: ?>>
    nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
      ins(%at, %v, %i : memref<1x?x32xf32, strided<[?, 32, 1], offset: ?>>, memref<16x128xf32>, memref<16x128xi8>)
      outs(%ct : memref<1x?x128xf32, strided<[?, 128, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Of a window's 32 rows the tile's columns use 12 at most, which the list after
// the indices names: those are copied, and become the windows of the product.
// Four of the eight rows that threads copy at once are of one window, so that a
// thread reads one panel of the list, in which its rounds are constants apart.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>, %[[V:[^:]*]]: memref<4x6x32xf32>, %[[I:[^:]*]]: memref<8x6x1xi8>
// CHECK-DAG: %[[IS:.*]] = memref.subview %[[I]][0, 0, 0] [4, 6, 1] [1, 1, 1]
// CHECK-DAG: %[[LIST:.*]] = memref.subview %[[I]][4, 0, 0] [4, 6, 1] [1, 1, 1]
// CHECK: %[[AS:.*]] = memref.alloc() : memref<24x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[SLOT:.*]] = arith.divui %{{.*}}, %c16
// CHECK: %[[WINDOW:.*]] = arith.divui %[[SLOT]], %c4
// CHECK: %[[PANEL:.*]] = arith.remui %[[SLOT]], %c4
// CHECK: %[[UNIT:.*]] = arith.muli %[[WINDOW]], %c3
// CHECK: %[[ENTRY:.*]] = memref.load %[[LIST]][%[[PANEL]], %[[UNIT]], %c0]
// CHECK: %[[POSITION:.*]] = arith.index_castui %[[ENTRY]] : i8 to index
// CHECK: %[[START:.*]] = arith.muli %[[WINDOW]], %c32
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[PANEL]]
// CHECK: %[[ROW:.*]] = arith.addi %[[POSITION]], %[[START]]
// CHECK: vector.transfer_read %[[A]][%[[ROW]], %[[COLUMN:.*]]], {{.*}} vector<4xf32>
// CHECK: vector.transfer_write %{{.*}}, %[[AS]][%[[PLACE]], %[[COLUMN]]]
// CHECK: %[[UNIT1:.*]] = arith.addi %[[UNIT]], %c1
// CHECK: memref.load %[[LIST]][%[[PANEL]], %[[UNIT1]], %c0]
// CHECK: arith.addi %[[PLACE]], %c4
// CHECK: gpu.barrier
// CHECK: nm.spmm <3:12, block = 1x32> transpose_a packing <panel = 32, index_bits = 8> schedule
// CHECK-NOT: pack = true
// CHECK-SAME: ins(%[[AS]], %{{.*}}, %[[IS]] :
func.func @packed(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<8x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> transpose_a packing <panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<8x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major: eight rows of four columns by a warp, element by element.
// CHECK-LABEL: func.func @packed_row_major
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>, %[[V:[^:]*]]: memref<4x6x32xf32>, %[[I:[^:]*]]: memref<8x6x1xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<24x64xf32
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[SLOT:.*]] = arith.remui %[[LANE]], %c8
// CHECK: %[[PANEL:.*]] = arith.remui %[[SLOT]], %c4
// CHECK: memref.load %{{.*}}[%[[PANEL]], %{{.*}}, %c0]
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[PANEL]]
// CHECK-COUNT-4: vector.load %[[A]][%{{.*}}, %{{.*}}] {alignment = 4 : i64} : memref<64x64xf32>, vector<1xf32>
// CHECK: memref.load
// CHECK: memref.store %{{.*}}, %[[AS]][%[[PLACE]], %{{.*}}]
// CHECK: nm.spmm <3:12, block = 1x32> transpose_a
// CHECK-NOT: nm.interleaved_rows
// CHECK: gpu.barrier
func.func @packed_row_major(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<8x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> packing <panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<8x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Columns of one unit: what is staged is what is kept, whatever the positions.
// The last rows of A and windows of weights may be missing.
// CHECK-LABEL: func.func @packed_unit
// CHECK-SAME: %[[A:[^:]*]]: memref<64x?xf32>, %[[V:[^:]*]]: memref<1x?x64xf32>, %[[I:[^:]*]]: memref<?x?x1xi8>
// CHECK-DAG: %[[UNITS:.*]] = memref.dim %[[I]], %c1
// CHECK-DAG: %[[LIST:.*]] = memref.subview %[[I]][1, 0, 0] [1, %[[UNITS]], 1] [1, 1, 1]
// CHECK: %[[AS:.*]] = memref.alloc() : memref<16x64xf32
// CHECK: %[[LAST:.*]] = arith.subi %[[UNITS]], %c1
// CHECK: %[[BOUND:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: %[[UNIT:.*]] = arith.minui %{{.*}}, %[[BOUND]]
// CHECK: memref.load %[[LIST]][%c0, %[[UNIT]], %c0]
// CHECK: %[[K:.*]] = memref.dim %[[A]], %c1
// CHECK: arith.cmpi ult, %{{.*}}, %[[K]]
// CHECK: nm.spmm <1:1, block = 4x64> transpose_a packing
// CHECK-SAME: ins(%[[AS]], %
func.func @packed_unit(%a: memref<64x?xf32>, %v: memref<1x?x64xf32>, %i: memref<?x?x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x64> packing <panel = 64, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 64, 64], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x?xf32>, memref<1x?x64xf32>, memref<?x?x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Four kept rows of a unit are a 16-byte word of a row of A: rows stay as they
// are, their words in an order that four rows share.
// CHECK-LABEL: func.func @rows_stay
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x64xf32, strided<[64, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[LANE:.*]] = arith.andi %[[ROW:.*]], %c28
// CHECK: %[[PLACE:.*]] = arith.xori %[[K:.*]], %[[LANE]]
// CHECK: %[[WORD:.*]] = vector.transfer_read %[[A]][%[[ROW]], %[[K]]], %{{.*}} {in_bounds = [true]} : memref<64x64xf32>, vector<4xf32>
// CHECK: vector.transfer_write %[[WORD]], %[[AS]][%[[ROW]], %[[PLACE]]]
// CHECK: nm.spmm <2:8, block = 4x4> packing
// CHECK-SAME: ins(%[[AS]], %
// CHECK-SAME: nm.swizzled_chunks
func.func @rows_stay(%a: memref<64x64xf32>, %v: memref<1x16x64xf32>, %i: memref<1x4x16xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x4> packing <panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4]>
      ins(%a, %v, %i : memref<64x64xf32>, memref<1x16x64xf32>, memref<1x4x16xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Rows that start within 128 bytes do not.
// CHECK-LABEL: func.func @rows_apart
// CHECK: memref.alloc() : memref<64x64xf32, strided<[68, 1]>
// CHECK: nm.spmm <2:8, block = 4x4> transpose_a
// CHECK-NOT: nm.swizzled_chunks
func.func @rows_apart(%a: memref<64x64xf32, strided<[68, 1]>>, %v: memref<1x16x64xf32>, %i: memref<1x4x16xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x4> packing <panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4]>
      ins(%a, %v, %i : memref<64x64xf32, strided<[68, 1]>>, memref<1x16x64xf32>, memref<1x4x16xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
