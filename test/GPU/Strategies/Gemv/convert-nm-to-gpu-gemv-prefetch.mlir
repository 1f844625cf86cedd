// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// With early_bytes, each warp's first lane asks for a part of the weights before
// anything is read, so that it may be done before the kernel before has ended.
// CHECK-LABEL: func.func @vector
// CHECK: gpu.launch
// CHECK-NOT: vector.load
// CHECK: scf.if
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %{{.*}} : memref<1x16x128xf32> -> index
// CHECK: nvvm.cp.async.bulk.prefetch %{{.*}}, %{{.*}} : <1>
// CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<1x4x384xi8> -> index
// CHECK: nvvm.cp.async.bulk.prefetch
// CHECK: }
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x16x128xf32>, vector<4xf32>
// CHECK-NOT: nvvm
// CHECK: gpu.terminator
func.func @vector(%x: memref<256xf32>, %v: memref<1x16x128xf32>, %i: memref<1x4x384xi8>, %y: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%n) in (1) {
    linalg.fill ins(%zero : f32) outs(%y : memref<32xf32>)
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 4, early_bytes = 2048>
      ins(%x, %v, %i : memref<256xf32>, memref<1x16x128xf32>, memref<1x4x384xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// A warp asks for as many bytes as the schedule says.
// CHECK-LABEL: func.func @halves
// CHECK: %[[REST:.*]] = arith.minui %{{.*}}, %c2048 : index
// CHECK-NEXT: %[[BYTES:.*]] = arith.index_castui %[[REST]]
// CHECK-NEXT: nvvm.cp.async.bulk.prefetch %{{.*}}, %[[BYTES]] : <1>
func.func @halves(%x: memref<1024xf16>, %v: memref<1x32x256xf16>, %i: memref<1x16x384xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 8, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 1024], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 4, early_bytes = 2048>
      ins(%x, %v, %i : memref<1024xf16>, memref<1x32x256xf16>, memref<1x16x384xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// CHECK-LABEL: func.func @bytes
// CHECK-COUNT-2: arith.minui %{{.*}}, %c1024 : index
// CHECK: vector.load
func.func @bytes(%x: memref<1024xi8>, %v: memref<1x16x512xi8>, %i: memref<1x16x384xi8>, %y: memref<32xi32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 16, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 1024], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 4, early_bytes = 1024>
      ins(%x, %v, %i : memref<1024xi8>, memref<1x16x512xi8>, memref<1x16x384xi8>) outs(%y : memref<32xi32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// CHECK-LABEL: func.func @shared_indices
// CHECK: arith.minui %{{.*}}, %c2048 : index
// CHECK: nvvm.cp.async.bulk.prefetch
// CHECK: vector.load
func.func @shared_indices(%x: memref<1024xi8>, %v: memref<1x16x512xi8>, %i: memref<1x16x16xi8>, %y: memref<32xi32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 1024], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 4, early_bytes = 2048>
      ins(%x, %v, %i : memref<1024xi8>, memref<1x16x512xi8>, memref<1x16x16xi8>) outs(%y : memref<32xi32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Rows of 15 bytes are not asked for: copies are of multiples of 16 bytes.
// CHECK-LABEL: func.func @odd_rows
// CHECK-NOT: nvvm.cp.async.bulk.prefetch
// CHECK: gpu.terminator
func.func @odd_rows(%x: memref<64xi8>, %v: memref<1x8x60xi8>, %i: memref<1x4x1xi8>, %y: memref<15xi32>) {
  scf.forall (%n) in (1) {
    nm.spmv <1:2, block = 1x15> packing #nm.packing<panel = 15, index_bits = 1, chunk_rows = 4, index_rows = 8>
      schedule #nm.gemv<block = [1, 15, 64], warp = [1, 15], thread = [1, 1], early_bytes = 1024>
      ins(%x, %v, %i : memref<64xi8>, memref<1x8x60xi8>, memref<1x4x1xi8>) outs(%y : memref<15xi32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Without, it asks for nothing.
// CHECK-LABEL: func.func @late
// CHECK-NOT: nvvm.cp.async.bulk.prefetch
// CHECK: gpu.terminator
func.func @late(%x: memref<64xf32>, %v: memref<100x4x128xf32>, %i: memref<100x1x384xi8>, %y: memref<3200xf32>) {
  scf.forall (%n) = (0) to (3200) step (32) {
    %panel = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%n)
    %vt = memref.subview %v[%panel, 0, 0] [1, 4, 128] [1, 1, 1] : memref<100x4x128xf32> to memref<1x4x128xf32, strided<[512, 128, 1], offset: ?>>
    %it = memref.subview %i[%panel, 0, 0] [1, 1, 384] [1, 1, 1] : memref<100x1x384xi8> to memref<1x1x384xi8, strided<[384, 384, 1], offset: ?>>
    %yt = memref.subview %y[%n] [32] [1] : memref<3200xf32> to memref<32xf32, strided<[1], offset: ?>>
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 64], warp = [1, 32], thread = [1, 1]>
      ins(%x, %vt, %it : memref<64xf32>, memref<1x4x128xf32, strided<[512, 128, 1], offset: ?>>, memref<1x1x384xi8, strided<[384, 384, 1], offset: ?>>) outs(%yt : memref<32xf32, strided<[1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
