// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// Two warpgroups make 64 columns each of 128 rows. Entries of a list are loaded
// before copies are issued, and in the loop before those of a tile are awaited.
// Threads make what they copied visible to wgmma before others are told. Copies
// of a later tile come behind the products, of which one may be in flight.
// CHECK-LABEL: func.func @row_major
// CHECK: gpu.launch blocks({{.*}}) threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[GROUP:.*]] = nvvm.shfl.sync idx
// CHECK: memref.load %{{.*}} : memref<1x16x1xi8
// CHECK-NOT: memref.load
// CHECK: nvgpu.device_async_copy %{{.*}}, 8 {bypassL1} : memref<64x128xf16,
// CHECK: nvgpu.device_async_copy %{{.*}}, 8 {bypassL1} : memref<1x16x128xf16,
// CHECK: scf.for {{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}) -> ({{.*}}llvm.struct
// CHECK: memref.load %{{.*}} : memref<1x16x1xi8
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: gpu.barrier
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c4611686293313683456_i64
// CHECK: %[[B:.*]] = arith.ori %{{.*}}, %c4611686293313683456_i64
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[NEXT:.*]] = nvvm.wgmma.mma_async %[[B]], %[[A]], %[[SUMS]], <m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvgpu.device_async_copy
// CHECK: scf.yield %[[NEXT]]
// Its sums are read when all are made. Threads exchange them in the memory of
// the tiles, which none reads any more: eight neighbours are stored at once,
// rounded to C's elements.
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: llvm.extractvalue
// CHECK: llvm.inline_asm has_side_effects
// CHECK: gpu.barrier
// CHECK: vector.store %{{.*}} : memref<128x128xf32, strided<[132, 1]>, #gpu.address_space<workgroup>>, vector<1xf32>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<128x128xf32, strided<[132, 1]>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK: vector.store %{{.*}} : memref<128x128xf16>, vector<8xf16>
func.func @row_major(%a: memref<256x128xf16>, %v: memref<1x64x128xf16>, %i: memref<1x64x1xi8>, %c: memref<128x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<128x128xf16>)
    scf.for %k = %c0 to %c256 step %c64 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[%k, 0] [64, 128] [1, 1] : memref<256x128xf16> to memref<64x128xf16, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 16, 128] [1, 1, 1] : memref<1x64x128xf16> to memref<1x16x128xf16, strided<[8192, 128, 1], offset: ?>>
      %it = memref.subview %i[0, %row, 0] [1, 16, 1] [1, 1, 1] : memref<1x64x1xi8> to memref<1x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
        schedule #nm.wgmma<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
        ins(%at, %vt, %it : memref<64x128xf16, strided<[128, 1], offset: ?>>, memref<1x16x128xf16, strided<[8192, 128, 1], offset: ?>>, memref<1x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<128x128xf16>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Where C is transposed, pairs along m are exchanged. Rows that fill up an
// instruction are zeros, and of a row of A there is what it has.
// CHECK-LABEL: func.func @transposed
// CHECK: vector.store %cst{{.*}} : memref<16x1024xbf16, {{.*}}, vector<8xbf16>
// CHECK: %[[REST:.*]] = arith.subi %c60, %{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.minui %[[REST]], %c8 : index
// CHECK: arith.select %{{.*}}, %[[COUNT]], %c0 : index
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: vector.store %{{.*}} : memref<64x64xf32, strided<[72, 1]>, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK: vector.store %{{.*}} : memref<64x60xf32>, vector<4xf32>
func.func @transposed(%a: memref<48x60xbf16, strided<[64, 1]>>, %v: memref<1x15x64xbf16>, %i: memref<1x15x1xi8>, %c: memref<64x60xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x60xf32>)
    nm.spmm <5:16, block = 1x64> transpose_a transpose_c packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.wgmma<block = [64, 64, 48], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<48x60xbf16, strided<[64, 1]>>, memref<1x15x64xbf16>, memref<1x15x1xi8>)
      outs(%c : memref<64x60xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
