// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A step loads the entries of the list that the next one copies by, before it
// waits: those of the last tile once more after the last.
// CHECK-LABEL: func.func @m_major
// CHECK-SAME: %[[A:[^:]*]]: memref<256x64xf32>, %{{[^:]*}}: memref<4x24x32xf32>, %{{[^:]*}}: memref<4x24x1xi8>, %[[LIST:[^:]*]]: memref<4x24x1xi8>
// CHECK: %[[LISTED1:.*]] = memref.subview %[[LIST]][0, 6, 0] [4, 6, 1]
// CHECK: %[[FIRST:.*]] = memref.load %[[LISTED1]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c192 step %c64 iter_args({{.*}}%[[ENTRY:[a-z0-9]+]] = %[[FIRST]],
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c64
// CHECK: %[[K1:.*]] = arith.minui %[[NEXT]], %c128
// CHECK: %[[K2:.*]] = arith.addi %[[K1]], %c64
// CHECK: %[[UNITS:.*]] = affine.apply #{{.*}}(%[[K2]])
// CHECK: %[[LISTED:.*]] = memref.subview %[[LIST]][0, %[[UNITS]], 0] [4, 6, 1]
// CHECK: %[[AHEAD:.*]] = memref.load %[[LISTED]]
// CHECK: gpu.barrier
// CHECK-NOT: memref.load {{.*}} : memref<4x6x1xi8
// CHECK: %[[POSITION:.*]] = arith.index_castui %[[ENTRY]] : i8 to index
// CHECK: %[[ROW:.*]] = arith.addi %[[POSITION]], %
// CHECK: nvgpu.device_async_copy %{{.*}}[%[[ROW]], %
// CHECK: scf.yield {{.*}}%[[AHEAD]]
func.func @m_major(%a: memref<256x64xf32>, %v: memref<4x24x32xf32>, %i: memref<4x24x1xi8>, %l: memref<4x24x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 3)>(%k)
      %at = memref.subview %a[%k, 0] [64, 64] [1, 1] : memref<256x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 6, 32] [1, 1, 1] : memref<4x24x32xf32> to memref<4x6x32xf32, strided<[768, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 6, 1] [1, 1, 1] : memref<4x24x1xi8> to memref<4x6x1xi8, strided<[24, 1, 1], offset: ?>>
      %lt = memref.subview %l[0, %w, 0] [4, 6, 1] [1, 1, 1] : memref<4x24x1xi8> to memref<4x6x1xi8, strided<[24, 1, 1], offset: ?>>
      nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, prefetch = true, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[64, 1], offset: ?>>, memref<4x6x32xf32, strided<[768, 32, 1], offset: ?>>, memref<4x6x1xi8, strided<[24, 1, 1], offset: ?>>)
        lists(%lt : memref<4x6x1xi8, strided<[24, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major: what is loaded to registers, by the entry that the loop carries,
// which four accesses share.
// CHECK-LABEL: func.func @row_major
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}} : memref<4x2x1xi8, strided<[8, 1, 1], offset: 2>>
// CHECK: scf.for {{.*}} iter_args({{.*}}%[[ENTRY:[a-z0-9]+]] = %[[FIRST]]
// CHECK: %[[AHEAD:.*]] = memref.load %{{.*}} : memref<4x2x1xi8
// CHECK: arith.index_castui %[[ENTRY]] : i8 to index
// CHECK-NOT: memref.load {{.*}} : memref<4x2x1xi8
// CHECK: scf.yield {{.*}}%[[AHEAD]]
func.func @row_major(%a: memref<64x256xf32>, %v: memref<4x8x32xf32>, %i: memref<4x8x1xi8>, %l: memref<4x8x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 2, 32] [1, 1, 1] : memref<4x8x32xf32> to memref<4x2x32xf32, strided<[256, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 2, 1] [1, 1, 1] : memref<4x8x1xi8> to memref<4x2x1xi8, strided<[8, 1, 1], offset: ?>>
      %lt = memref.subview %l[0, %w, 0] [4, 2, 1] [1, 1, 1] : memref<4x8x1xi8> to memref<4x2x1xi8, strided<[8, 1, 1], offset: ?>>
      nm.spmm <1:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2, prefetch = true, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x2x32xf32, strided<[256, 32, 1], offset: ?>>, memref<4x2x1xi8, strided<[8, 1, 1], offset: ?>>)
        lists(%lt : memref<4x2x1xi8, strided<[8, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Registers for six entries would cost more than the wait for them.
// CHECK-LABEL: func.func @many_entries
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-COUNT-6: memref.load %{{.*}} : memref<4x12x1xi8
// CHECK: scf.yield
func.func @many_entries(%a: memref<512x64xf32>, %v: memref<4x48x32xf32>, %i: memref<4x48x1xi8>, %l: memref<4x48x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c512 step %c128 {
      %w = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 3)>(%k)
      %at = memref.subview %a[%k, 0] [128, 64] [1, 1] : memref<512x64xf32> to memref<128x64xf32, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 12, 32] [1, 1, 1] : memref<4x48x32xf32> to memref<4x12x32xf32, strided<[1536, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 12, 1] [1, 1, 1] : memref<4x48x1xi8> to memref<4x12x1xi8, strided<[48, 1, 1], offset: ?>>
      %lt = memref.subview %l[0, %w, 0] [4, 12, 1] [1, 1, 1] : memref<4x48x1xi8> to memref<4x12x1xi8, strided<[48, 1, 1], offset: ?>>
      nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
        schedule #nm.simt<block = [64, 128, 128], warp = [64, 32], thread = [8, 8], stages = 2, prefetch = true, defer = true, pack = true, packing = <panel = 32, index_bits = 8>>
        ins(%at, %vt, %it : memref<128x64xf32, strided<[64, 1], offset: ?>>, memref<4x12x32xf32, strided<[1536, 32, 1], offset: ?>>, memref<4x12x1xi8, strided<[48, 1, 1], offset: ?>>)
        lists(%lt : memref<4x12x1xi8, strided<[48, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
