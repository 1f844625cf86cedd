// RUN: nm-opt %s --nm-align-operands | FileCheck %s

// CHECK-LABEL: func @odd(
// CHECK-SAME: %[[X:.*]]: memref<?x100xf32>, %[[Y:.*]]: memref<?x65xf32>, %[[Z:.*]]: memref<64xf32>
// CHECK-DAG: %[[A:.*]] = memref.subview %[[X]]
// CHECK-DAG: %[[C:.*]] = memref.subview %[[Y]]
// CHECK: %[[SIZE:.*]] = memref.dim %[[A]]
// CHECK: %[[IN:.*]] = memref.alloc(%[[SIZE]]) : memref<?x64xf32>
// CHECK: memref.copy %[[A]], %[[IN]]
// CHECK: %[[OUT:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// CHECK: memref.copy %[[C]], %[[OUT]]
// CHECK: scf.forall
// CHECK: %[[AT:.*]] = memref.subview %[[IN]][%{{.*}}, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<64xf32, strided<[1], offset: ?>>
// CHECK: %[[CT:.*]] = memref.subview %[[OUT]]
// CHECK: linalg.generic {{.*}} ins(%[[AT]], %[[Z]] : {{.*}}) outs(%[[CT]]
// CHECK: mapping
// CHECK-DAG: memref.copy %[[OUT]], %[[C]]
// CHECK-DAG: memref.dealloc %[[OUT]]
// CHECK-DAG: memref.dealloc %[[IN]]
// CHECK-NOT: memref.copy %[[IN]]
func.func @odd(%x: memref<?x100xf32>, %y: memref<?x65xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x100xf32>
  %a = memref.subview %x[0, 1] [%m, 64] [1, 1] : memref<?x100xf32> to memref<?x64xf32, strided<[100, 1], offset: 1>>
  %c = memref.subview %y[0, 1] [%m, 64] [1, 1] : memref<?x65xf32> to memref<?x64xf32, strided<[65, 1], offset: 1>>
  scf.forall (%i) in (%m) {
    %at = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<?x64xf32, strided<[100, 1], offset: 1>> to memref<64xf32, strided<[1], offset: ?>>
    %ct = memref.subview %c[%i, 0] [1, 64] [1, 1] : memref<?x64xf32, strided<[65, 1], offset: 1>> to memref<64xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%at, %z : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32>) outs(%ct : memref<64xf32, strided<[1], offset: ?>>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %r = arith.addf %v, %w : f32
      linalg.yield %r : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// At a multiple of 16 bytes, or on the CPU, nothing is copied.
// CHECK-LABEL: func @even(
// CHECK-NOT: memref.copy
func.func @even(%x: memref<8x100xf32>, %y: memref<8xf32>) {
  %a = memref.subview %x[0, 4] [8, 64] [1, 1] : memref<8x100xf32> to memref<8x64xf32, strided<[100, 1], offset: 4>>
  %b = memref.subview %x[0, 1] [8, 64] [1, 1] : memref<8x100xf32> to memref<8x64xf32, strided<[100, 1], offset: 1>>
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (8) {
    %v = memref.load %a[%i, %c0] : memref<8x64xf32, strided<[100, 1], offset: 4>>
    memref.store %v, %y[%i] : memref<8xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%i) in (8) {
    %v = memref.load %b[%i, %c0] : memref<8x64xf32, strided<[100, 1], offset: 1>>
    memref.store %v, %y[%i] : memref<8xf32>
  }
  return
}

// Squares are of whole 16-byte words: rows of 102 elements are copied, to rows
// of 64, where those of 100 are not, and elements can be anywhere.
// CHECK-LABEL: func @odd_rows(
// CHECK-SAME: %[[ODD:.*]]: memref<64x64xf32, strided<[102, 1]>>, %[[EVEN:.*]]: memref<64x64xf32, strided<[100, 1]>>
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<64x64xf32>
// CHECK: memref.copy %[[ODD]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
// CHECK: memref.dealloc %[[COPY]]
// CHECK-NOT: memref.copy
// CHECK: nm.spmm {{.*}} ins(%[[EVEN]],
// CHECK: nm.spmm {{.*}} ins(%[[ODD]],
func.func @odd_rows(%odd: memref<64x64xf32, strided<[102, 1]>>, %even: memref<64x64xf32, strided<[100, 1]>>, %v: memref<32x64xf32>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <2:4> schedule #nm.simt<copy_a = squares>
      ins(%odd, %v, %i : memref<64x64xf32, strided<[102, 1]>>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <2:4> schedule #nm.simt<copy_a = squares>
      ins(%even, %v, %i : memref<64x64xf32, strided<[100, 1]>>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <2:4> schedule #nm.simt<copy_a = elements>
      ins(%odd, %v, %i : memref<64x64xf32, strided<[102, 1]>>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A buffer whose elements are permuted stays as it is.
// CHECK-LABEL: func @permuted(
// CHECK-NOT: memref.alloc
// CHECK: nm.spmm
func.func @permuted(%a: memref<64x256xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, %v: memref<2x1x2048xf16, #gpu.address_space<workgroup>>, %i: memref<2x1x512xi8, #gpu.address_space<workgroup>>, %c: memref<256x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 3>
      ins(%a, %v, %i : memref<64x256xf16, #nm.tile_layout<[64, 1], panels = [64, 4096], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>, memref<2x1x2048xf16, #gpu.address_space<workgroup>>, memref<2x1x512xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<256x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Rows that are whole accesses apart, whatever their number is, stay, too.
// CHECK-LABEL: func @padded_rows(
// CHECK: %[[ROWS:.*]] = memref.subview
// CHECK-NOT: memref.copy
// CHECK: nm.spmm {{.*}} ins(%[[ROWS]],
func.func @padded_rows(%chunks: memref<64x?x4xf32>, %m: index, %v: memref<32x64xf32>, %i: memref<32x64xi8>, %c: memref<?x64xf32>) {
  %flat = memref.collapse_shape %chunks [[0], [1, 2]] : memref<64x?x4xf32> into memref<64x?xf32>
  %rows = memref.subview %flat[0, 0] [64, %m] [1, 1] : memref<64x?xf32> to memref<64x?xf32, strided<[?, 1]>>
  scf.forall (%b) in (1) {
    nm.spmm <2:4> transpose_a schedule #nm.simt<copy_a = direct>
      ins(%rows, %v, %i : memref<64x?xf32, strided<[?, 1]>>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<?x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Tensor copies take rows at multiples of 16 bytes, whichever way A lies; the
// threads' copies take others.
// CHECK-LABEL: func @tensor_copies(
// CHECK-SAME: %[[ROWS:.*]]: memref<128x64xf16, strided<[68, 1]>>, %[[COLUMNS:.*]]: memref<64x128xf16, strided<[132, 1]>>
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<128x64xf16>
// CHECK: memref.copy %[[ROWS]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<64x128xf16>
// CHECK: memref.copy %[[COLUMNS]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
// CHECK: nm.spmm {{.*}} ins(%[[ROWS]],
func.func @tensor_copies(%a: memref<128x64xf16, strided<[68, 1]>>, %t: memref<64x128xf16, strided<[132, 1]>>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%a, %v, %i : memref<128x64xf16, strided<[68, 1]>>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4>
      ins(%t, %v, %i : memref<64x128xf16, strided<[132, 1]>>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3>
      ins(%a, %v, %i : memref<128x64xf16, strided<[68, 1]>>, memref<2x1x2048xf16>, memref<2x1x512xi8>) outs(%c : memref<128x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A whose rows are not contiguous, and rows that start at odd places however
// long they are: of the latter the copy's are longer than they say.
// CHECK-LABEL: func @demands_of_wgmma(
// CHECK-SAME: %[[SPREAD:.*]]: memref<512x16xf16, strided<[128, 8]>>, %[[ODD:.*]]: memref<512x33xf16>, %[[UNKNOWN:.*]]: memref<512x?xf16>
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<512x16xf16>
// CHECK: memref.copy %[[SPREAD]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
// CHECK: memref.alloc() : memref<512x40xf16>
// CHECK: %[[COPY:.*]] = memref.subview
// CHECK: memref.copy %[[ODD]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
// CHECK: memref.alloc(%{{.*}}) : memref<512x?x8xf16>
// CHECK: %[[COPY:.*]] = memref.subview
// CHECK: memref.copy %[[UNKNOWN]], %[[COPY]]
// CHECK: nm.spmm {{.*}} ins(%[[COPY]],
func.func @demands_of_wgmma(%a: memref<512x16xf16, strided<[128, 8]>>, %odd: memref<512x33xf16>, %unknown: memref<512x?xf16>, %v: memref<1x128x64xf16>, %i: memref<1x128x1xi8>, %c: memref<?x64xf16>) {
  scf.forall (%m) in (1) {
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<512x16xf16, strided<[128, 8]>>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%c : memref<?x64xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%odd, %v, %i : memref<512x33xf16>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%c : memref<?x64xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%unknown, %v, %i : memref<512x?xf16>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%c : memref<?x64xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Rows that a reshape joins start where their strides say, whatever the sizes
// of their parts; a slice of whole rows at an unknown place does, too.
// CHECK-LABEL: func @views(
// CHECK-NOT: memref.copy
func.func @views(%parts: memref<512x8x197xf16>, %rows: memref<1024x200xf16>, %at: index, %v: memref<1x128x64xf16>, %i: memref<1x128x1xi8>, %c: memref<?x64xf16>) {
  %joined = memref.collapse_shape %parts [[0], [1, 2]] : memref<512x8x197xf16> into memref<512x1576xf16>
  %slice = memref.subview %rows[%at, 0] [512, 200] [1, 1] : memref<1024x200xf16> to memref<512x200xf16, strided<[200, 1], offset: ?>>
  scf.forall (%m) in (1) {
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%joined, %v, %i : memref<512x1576xf16>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%c : memref<?x64xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  scf.forall (%m) in (1) {
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128> schedule #nm.wgmma<block = [64, 64, 512], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%slice, %v, %i : memref<512x200xf16, strided<[200, 1], offset: ?>>, memref<1x128x64xf16>, memref<1x128x1xi8>) outs(%c : memref<?x64xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
