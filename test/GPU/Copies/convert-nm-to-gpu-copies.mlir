// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// What one thread does of the copies that stage-shared-memory.mlir shows.

// A thread loads four rows of four elements, and stores each column of the four
// eight rows apart, where the layout has it; an asynchronous copy takes 16 bytes.
// CHECK-LABEL: func.func @units_of_warps
// CHECK-SAME: %[[A:[^:]*]]: memref<64x32xf32>, %[[V:[^:]*]]: memref<4x16x32xf32>
// CHECK: %[[AS:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [32, 64], strides: [68, 1]
// CHECK: %[[A0:.*]] = vector.load %[[A]][%[[ROW:.*]], %[[K:.*]]] {alignment = 16 : i64} : memref<64x32xf32>, vector<4xf32>
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c1
// CHECK: %[[A1:.*]] = vector.load %[[A]][%[[ROW1]], %[[K]]]
// CHECK: %[[A2:.*]] = vector.load %[[A]]
// CHECK: %[[A3:.*]] = vector.load %[[A]]
// CHECK: nvgpu.device_async_copy %[[V]][%{{.*}}], %{{.*}}, 4 {bypassL1} : memref<4x16x32xf32> to memref<4x16x32xf32, strided<[32, 128, 1]>, #gpu.address_space<workgroup>>
// CHECK: nvvm.cp.async.commit.group
// CHECK: %[[X0:.*]] = vector.extract %[[A0]][0]
// CHECK: %[[X1:.*]] = vector.extract %[[A1]][0]
// CHECK: %[[X2:.*]] = vector.extract %[[A2]][0]
// CHECK: %[[X3:.*]] = vector.extract %[[A3]][0]
// CHECK: %[[X:.*]] = vector.from_elements %[[X0]], %[[X1]], %[[X2]], %[[X3]]
// CHECK: vector.store %[[X]], %[[AS]][%[[PLACE:.*]], %[[ROW]]] {alignment = 16 : i64}
// CHECK: %[[NEXT:.*]] = arith.addi %[[PLACE]], %c8
// CHECK: vector.store %{{.*}}, %[[AS]][%[[NEXT]], %[[ROW]]]
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
func.func @units_of_warps(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, layout_a = interleaved, prefetch = true, defer = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// What the operands lack is never read: loads stay in A, and what was loaded in
// its place is zero in the tile; copies of weights read no element.
// CHECK-LABEL: func.func @edge
// CHECK-SAME: %[[A:[^:]*]]: memref<?x30xf32>
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: arith.minui %{{.*}}, %[[FIRST]]
// CHECK: vector.load %[[A]]{{.*}} {alignment = 8 : i64} : memref<?x30xf32>, vector<2xf32>
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %c4, %c0 : index
// CHECK: nvgpu.device_async_copy {{.*}}, 4, %[[COUNT]] {bypassL1}
// CHECK: arith.select %{{.*}} : vector<2xf32>
func.func @edge(%a: memref<?x30xf32>, %v: memref<16x100xf32>, %i: memref<16x100xi8>, %c: memref<?x100xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
      ins(%a, %v, %i : memref<?x30xf32>, memref<16x100xf32>, memref<16x100xi8>)
      outs(%c : memref<?x100xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Four of the eight rows that threads copy at once are of one window, so that a
// thread reads one panel of the list, in which its rounds are constants apart.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>, %[[V:[^:]*]]: memref<4x6x32xf32>, %[[I:[^:]*]]: memref<4x6x1xi8>, %[[LIST:[^:]*]]: memref<4x6x1xi8>
// CHECK: %[[SLOT:.*]] = arith.divui %{{.*}}, %c16
// CHECK: %[[WINDOW:.*]] = arith.divui %[[SLOT]], %c4
// CHECK: %[[PANEL:.*]] = arith.remui %[[SLOT]], %c4
// CHECK: %[[UNIT:.*]] = arith.muli %[[WINDOW]], %c3
// CHECK: %[[ENTRY:.*]] = memref.load %[[LIST]][%[[PANEL]], %[[UNIT]], %c0]
// CHECK: %[[POSITION:.*]] = arith.index_castui %[[ENTRY]] : i8 to index
// CHECK: %[[START:.*]] = arith.muli %[[WINDOW]], %c32
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[PANEL]]
// CHECK: %[[ROW:.*]] = arith.addi %[[POSITION]], %[[START]]
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW]], %[[COLUMN:.*]]], %{{.*}}[%[[PLACE]], %[[COLUMN]]], 4
// CHECK: %[[UNIT1:.*]] = arith.addi %[[UNIT]], %c1
// CHECK: memref.load %[[LIST]][%[[PANEL]], %[[UNIT1]], %c0]
// CHECK: arith.addi %[[PLACE]], %c4
func.func @packed(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<4x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], prefetch = true, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<4x6x1xi8>)
      lists(%l : memref<4x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major: eight rows of four columns by a warp, element by element.
// CHECK-LABEL: func.func @packed_row_major
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK: %[[SLOT:.*]] = arith.remui %[[LANE]], %c8
// CHECK: %[[PANEL:.*]] = arith.remui %[[SLOT]], %c4
// CHECK: memref.load %{{.*}}[%[[PANEL]], %{{.*}}, %c0]
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[PANEL]]
// CHECK-COUNT-4: vector.load %[[A]][%{{.*}}, %{{.*}}] {alignment = 4 : i64} : memref<64x64xf32>, vector<1xf32>
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[PLACE]], %{{.*}}]
func.func @packed_row_major(%a: memref<64x64xf32>, %v: memref<4x6x32xf32>, %i: memref<4x6x1xi8>, %l: memref<4x6x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
      schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], prefetch = true, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x64xf32>, memref<4x6x32xf32>, memref<4x6x1xi8>)
      lists(%l : memref<4x6x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The last rows of A and windows of weights may be missing.
// CHECK-LABEL: func.func @packed_unit
// CHECK-SAME: %[[A:[^:]*]]: memref<64x?xf32>, %[[V:[^:]*]]: memref<1x?x64xf32>, %[[I:[^:]*]]: memref<?x?x1xi8>, %[[L:[^:]*]]: memref<?x?x1xi8>
// CHECK-DAG: %[[UNITS:.*]] = memref.dim %[[L]], %c1
// CHECK: %[[LIST:.*]] = memref.subview %[[L]][0, 0, 0] [1, %[[UNITS]], 1] [1, 1, 1]
// CHECK: %[[LAST:.*]] = arith.subi %[[UNITS]], %c1
// CHECK: %[[BOUND:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: %[[UNIT:.*]] = arith.minui %{{.*}}, %[[BOUND]]
// CHECK: memref.load %[[LIST]][%c0, %[[UNIT]], %c0]
// CHECK: %[[K:.*]] = memref.dim %[[A]], %c1
// CHECK: arith.cmpi ult, %{{.*}}, %[[K]]
func.func @packed_unit(%a: memref<64x?xf32>, %v: memref<1x?x64xf32>, %i: memref<?x?x1xi8>, %l: memref<?x?x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x64> packing #nm.packing<panel = 64, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 64, 64], warp = [32, 32], thread = [8, 4], defer = true, pack = true, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x?xf32>, memref<1x?x64xf32>, memref<?x?x1xi8>)
      lists(%l : memref<?x?x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Panels of one byte follow one another: those of blocks start at any byte,
// though the rows of a panel start at whole tiles.
// CHECK-LABEL: func.func @panels_of_one_byte
// CHECK: %[[BYTES:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : memref<1x?x1xi8, strided<[1, 1, 1], offset: ?>>
// CHECK: vector.load %[[BYTES]][%{{.*}}] {alignment = 1 : i64} : {{.*}}, vector<1xi8>
func.func @panels_of_one_byte(%a: memref<2x64xf32>, %v: memref<1x1x32xf32>, %i: memref<6x1x1xi8>, %l: memref<1x1x1xi8>, %c: memref<64x32xf32>, %rows: index) {
  scf.forall (%m, %n) in (1, 6) {
    %panel = memref.subview %i[%n, 0, 0] [1, %rows, 1] [1, 1, 1] : memref<6x1x1xi8> to memref<1x?x1xi8, strided<[1, 1, 1], offset: ?>>
    %as = memref.subview %a[0, 0] [%rows, 64] [1, 1] : memref<2x64xf32> to memref<?x64xf32, strided<[64, 1]>>
    %vs = memref.subview %v[0, 0, 0] [1, %rows, 32] [1, 1, 1] : memref<1x1x32xf32> to memref<1x?x32xf32, strided<[32, 32, 1]>>
    %ls = memref.subview %l[0, 0, 0] [1, %rows, 1] [1, 1, 1] : memref<1x1x1xi8> to memref<1x?x1xi8, strided<[1, 1, 1]>>
    nm.spmm <1:2, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 32>
      schedule #nm.simt<block = [64, 32, 32], warp = [32, 32], thread = [4, 8], prefetch = false, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%as, %vs, %panel : memref<?x64xf32, strided<[64, 1]>>, memref<1x?x32xf32, strided<[32, 32, 1]>>, memref<1x?x1xi8, strided<[1, 1, 1], offset: ?>>)
      lists(%ls : memref<1x?x1xi8, strided<[1, 1, 1]>>)
      outs(%c : memref<64x32xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The number of a 16-byte word is XORed with its row's bits 2 to 4.
// CHECK-LABEL: func.func @rows_stay
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf32>
// CHECK: %[[LANE:.*]] = arith.andi %[[ROW:.*]], %c28
// CHECK: %[[PLACE:.*]] = arith.xori %[[K:.*]], %[[LANE]]
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW]], %[[K]]], %{{.*}}[%[[ROW]], %[[PLACE]]], 4 {bypassL1} : memref<64x64xf32> to memref<64x64xf32, strided<[64, 1]>
func.func @rows_stay(%a: memref<64x64xf32>, %v: memref<1x16x64xf32>, %i: memref<1x4x16xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 4x4> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4], layout_a = row_major, defer = true>
      ins(%a, %v, %i : memref<64x64xf32>, memref<1x16x64xf32>, memref<1x4x16xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Rows of 24 accesses are copied by 64 threads, eight of them side by side: a
// thread's accesses are eight rows and eight accesses apart in every round.
// CHECK-LABEL: func.func @threads_along_rows
// CHECK-SAME: %[[A:[^:]*]]: memref<64x96xf32>
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK-DAG: %[[ROW:.*]] = arith.divui %[[T]], %c8
// CHECK-DAG: %[[LANE:.*]] = arith.remui %[[T]], %c8
// CHECK: %[[COLUMN:.*]] = arith.muli %[[LANE]], %c4
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW]], %[[COLUMN]]], {{.*}}, 4
// CHECK: %[[COLUMN1:.*]] = arith.addi %[[COLUMN]], %c32
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW]], %[[COLUMN1]]], {{.*}}, 4
// CHECK: %[[COLUMN2:.*]] = arith.addi %[[COLUMN]], %c64
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW]], %[[COLUMN2]]], {{.*}}, 4
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c8
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW1]], %[[COLUMN]]], {{.*}}, 4
// CHECK: nvgpu.device_async_copy %[[A]][%[[ROW1]], %[[COLUMN1]]], {{.*}}, 4
// CHECK-COUNT-19: nvgpu.device_async_copy %[[A]]
// CHECK-NOT: nvgpu.device_async_copy %[[A]]
// CHECK: return
func.func @threads_along_rows(%a: memref<64x96xf32>, %v: memref<1x32x64xf32>, %i: memref<1x4x4xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <1:3, block = 8x16> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 96], warp = [64, 32], thread = [8, 8], layout_a = row_major, defer = true>
      ins(%a, %v, %i : memref<64x96xf32>, memref<1x32x64xf32>, memref<1x4x4xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
