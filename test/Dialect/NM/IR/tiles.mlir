// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --mlir-print-op-generic | nm-opt | FileCheck %s

!rows = memref<32x64xf32, #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>
!weights = memref<16x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>

// Two stages of strategy simt: what nm-pipeline-copies makes. A goes through
// registers to interleaved rows, the weights directly.
// CHECK-LABEL: func.func @two_stages
// CHECK: %[[SLOT:.*]] = nm.slot %{{.*}}[%{{.*}}] : memref<2x16x128xf32, strided<[2048, 128, 1]>, #gpu.address_space<workgroup>> to memref<16x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
// CHECK: %[[F:.*]] = nm.load_tile <squares> %{{.*}} transpose : memref<64x32xf32> -> <memref<32x64xf32, #nm.tile_layout<[68, 1], order = {{\[}}[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>>
// CHECK: %[[T:.*]] = nm.copy <direct> %{{.*}} to %[[SLOT]] : memref<16x128xf32> to memref<16x128xf32, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>> -> !nm.token
// CHECK: %[[G:.*]] = nm.group %[[T]]
// CHECK: nm.store_tile %[[F]] to %{{.*}} : <memref<32x64xf32
// CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %[[G]]) -> (!nm.token)
// CHECK: nm.await <block> %[[C]]
// CHECK: nm.release <block> %{{.*}} : memref<32x64xf32
func.func @two_stages(%a: memref<64x32xf32>, %v: memref<16x128xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.alloc() : !rows
  %ring = memref.alloc() : memref<2x16x128xf32, strided<[2048, 128, 1]>, #gpu.address_space<workgroup>>
  %slot = nm.slot %ring[%c0] : memref<2x16x128xf32, strided<[2048, 128, 1]>, #gpu.address_space<workgroup>> to !weights
  %f = nm.load_tile <squares> %a transpose : memref<64x32xf32> -> !nm.fragment<!rows>
  %t = nm.copy <direct> %v to %slot : memref<16x128xf32> to !weights -> !nm.token
  %g = nm.group %t
  nm.store_tile %f to %rows : !nm.fragment<!rows> to !rows
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%carried = %g) -> (!nm.token) {
    nm.await <block> %carried
    %next = nm.copy <direct> %v to %slot : memref<16x128xf32> to !weights -> !nm.token
    %ended = nm.group %next
    nm.release <block> %rows : !rows
    scf.yield %ended : !nm.token
  }
  nm.await <thread> %last
  nm.await <block>
  return
}

// A tile by way of a staging buffer, whose first turn has the memory of a slot.
// CHECK-LABEL: func.func @staging_buffer
// CHECK: %[[V:.*]] = nm.alias %{{.*}} : memref<64x64xf32, #gpu.address_space<workgroup>> to memref<2x4x16x32xf32, #nm.tile_layout<[2048, 512, 32, 1], xor = [3:3 with 2:2 for 2]>, #gpu.address_space<workgroup>>
// CHECK: nm.copy <direct> %{{.*}} to %[[V]] part [1, 2] where %{{.*}} : memref<64x64xf32>
// CHECK: nm.await <warp>
// CHECK: nm.copy <matrices> %[[V]] to %{{.*}} part [1, 2] : memref<2x4x16x32xf32,
// CHECK: nm.release <warp> %[[V]]
!staging = memref<2x4x16x32xf32, #nm.tile_layout<[2048, 512, 32, 1], xor = [3:3 with 2:2 for 2]>, #gpu.address_space<workgroup>>
func.func @staging_buffer(%a: memref<64x64xf32>, %more: i1) {
  %free = memref.alloc() : memref<64x64xf32, #gpu.address_space<workgroup>>
  %to = memref.alloc() : memref<64x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
  %staging = nm.alias %free : memref<64x64xf32, #gpu.address_space<workgroup>> to !staging
  %t = nm.copy <direct> %a to %staging part [1, 2] where %more : memref<64x64xf32> to !staging -> !nm.token
  %g = nm.group %t
  nm.await <warp> %g
  nm.copy <matrices> %staging to %to part [1, 2] : !staging to memref<64x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
  nm.release <warp> %staging : !staging
  return
}

// Rows that a list names; m-major activations are copied just so.
// CHECK-LABEL: func.func @listed_rows
// CHECK: nm.copy <direct> %{{.*}} to %{{.*}} rows %{{.*}} <pattern = <3:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 2> : memref<4x6x1xi8> : memref<64x64xf32> to
func.func @listed_rows(%a: memref<64x64xf32>, %list: memref<4x6x1xi8>) {
  %rows = memref.alloc() : memref<24x64xf32, #gpu.address_space<workgroup>>
  %t = nm.copy <direct> %a to %rows rows %list <pattern = <3:32, block = 1x32>, packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 2> : memref<4x6x1xi8>
    : memref<64x64xf32> to memref<24x64xf32, #gpu.address_space<workgroup>> -> !nm.token
  return
}

// Without col_info, a panel's indices are its list. The rows are copied to panels
// of 128-byte rows, swizzled, which wgmma reads.
// CHECK-LABEL: func.func @kept_rows
// CHECK: nm.copy <direct> %{{.*}} to %{{.*}} rows %{{.*}} <pattern = <5:16, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 3> : memref<1x15x1xi8> : memref<48x256xf16> to memref<16x256xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: nm.await <block> async_proxy %{{.*}}
func.func @kept_rows(%a: memref<48x256xf16>, %list: memref<1x15x1xi8>) {
  %rows = memref.alloc() : memref<16x256xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
  %t = nm.copy <direct> %a to %rows rows %list <pattern = <5:16, block = 1x128>, packing = <panel = 128, index_bits = 8>, windows = 3> : memref<1x15x1xi8>
    : memref<48x256xf16> to memref<16x256xf16, #nm.tile_layout<[64, 1], panels = [64, 1024], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>> -> !nm.token
  %g = nm.group %t
  nm.await <block> async_proxy %g
  return
}

// The 128-byte swizzle of tensor copies and wgmma, for f16, in a ring of three.
// CHECK-LABEL: func.func @swizzled_ring
// CHECK: nm.slot %{{.*}} : memref<3x64x64xf16, #nm.tile_layout<[4096, 64, 1], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>> to memref<64x64xf16, #nm.tile_layout<[64, 1], offset = ?, xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
func.func @swizzled_ring(%i: index) {
  %ring = memref.alloc() : memref<3x64x64xf16, #nm.tile_layout<[4096, 64, 1], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>>
  %slot = nm.slot %ring[%i] : memref<3x64x64xf16, #nm.tile_layout<[4096, 64, 1], xor = [2:3 with 1:0 for 3]>, #gpu.address_space<workgroup>> to memref<64x64xf16, #nm.tile_layout<[64, 1], offset = ?, xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
  return
}
