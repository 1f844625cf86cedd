// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-tile-to-gpu-blocks --canonicalize --cse --one-shot-bufferize='bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map' --canonicalize --cse -o %t
// RUN: FileCheck %s --check-prefix=TILE --input-file=%t
// RUN: nm-opt %t --nm-stage-shared-memory --nm-pipeline-copies -o %t.roles
// RUN: FileCheck %s --check-prefix=ROLES --input-file=%t.roles
// RUN: nm-opt %t.roles --convert-nm-to-gpu --convert-transpose-to-gpu --canonicalize --cse | FileCheck %s

// Behind the loop over k it says what sums can be made again from. Of 128 rows of
// C, A has 384 columns.
// TILE-LABEL: func.func @product
// TILE: nm.split_floats 3 transpose
// TILE: scf.forall
// TILE: scf.for
// TILE: nm.spmm <8:32, block = 1x128> transpose_a packing {{.*}} ins(%{{.*}} : memref<128x384xbf16, {{.*}}>, memref<1x96x128xbf16, {{.*}}>, memref<1x32x1xi8, {{.*}}>)
// TILE: nm.recompute_from <8:32, block = 1x128> packing {{.*}} ins(%{{.*}} : memref<512x384xbf16, {{.*}}>, memref<1x384x128xbf16, {{.*}}>, memref<1x128x1xi8, {{.*}}>)

// A step's weights come at once, with all their splits, and rows of A have theirs
// in panels of 64 columns. The slot of a product is free behind it, for it has
// been waited for, and the last one's behind the loop.
// ROLES-LABEL: func.func @product
// ROLES: memref.alloc() : memref<4x1x96x128xbf16
// ROLES: memref.alloc() : memref<4x32x384xbf16, #nm.tile_layout
// ROLES: nm.warps 0 to 8 registers 208
// ROLES: scf.for
// ROLES: scf.for
// ROLES: nm.spmm <8:32, block = 1x128> transpose_a gathered [4, 8] packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
// ROLES: arith.cmpi ne, %{{.*}}, %c384
// ROLES: nm.signal <warpgroup> %{{.*}} where
// ROLES: nm.signal <warpgroup> %{{.*}} : <4>
// ROLES: nm.recompute_from
// ROLES: nm.warps 8 to 12 registers 88
// ROLES: nm.copy <bulk> %{{.*}} : memref<1x96x128xbf16, {{.*}}> to memref<1x96x128xbf16
// ROLES: nm.copy <direct> %{{.*}} rows
// ROLES-NOT: nm.recompute_from

// The splits of A: 16 bytes of a row are read, and by way of shared memory eight
// neighbours along m of each split written.
// CHECK-LABEL: func.func @product
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c32, {{.*}}) threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<256x512xf32>, vector<4xf32>
// CHECK: gpu.barrier
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK-COUNT-3: vector.store %{{.*}} {alignment = 16 : i64} : memref<512x768xbf16>, vector<8xbf16>

// Six products of two instructions each: the first makes the sums, which are
// waited for and added to those before them.
// CHECK: gpu.launch
// CHECK: scf.for {{.*}} iter_args({{.*}}f32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>, D[<f32>, <zero>]
// CHECK-COUNT-11: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-64: llvm.intr.fma
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.mbarrier.arrive
// Where one of a thread's sums is not finite, each in turn is looked at.
// CHECK: arith.cmpf uno
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c64
// CHECK: arith.cmpf uno
// CHECK: scf.if
// CHECK: scf.for {{.*}} to %c128
// CHECK: memref.load %{{.*}} : memref<1x128x1xi8
// CHECK-COUNT-3: memref.load %{{.*}} : memref<512x384xbf16
// CHECK-COUNT-3: memref.load %{{.*}} : memref<1x384x128xbf16
// CHECK: llvm.intr.fma
// CHECK: vector.store
func.func @product(%a: tensor<256x512xf32>, %v: tensor<2x384x128xbf16>, %i: tensor<2x128x1xi8>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  %empty = tensor.empty() : tensor<512x768xbf16>
  %s = nm.split_floats 3 transpose ins(%a : tensor<256x512xf32>) outs(%empty : tensor<512x768xbf16>) -> tensor<512x768xbf16>
  %r = nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    schedule #nm.wgmma<block = [128, 128, 128], warpgroup = [128, 64], stages = 4, producers = 4, blocks = 2, producer_registers = 88, consumer_registers = 208, packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%s, %v, %i : tensor<512x768xbf16>, tensor<2x384x128xbf16>, tensor<2x128x1xi8>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// With error compensation, the first splits' products of 16 rows make sums, which are
// waited for and added to the promoted sums. The same products are subtracted from
// these sums again, and so are the other five, and what is left of the sums
// from the promoted sums. The other 16 rows of the tile follow.
// ROLES-LABEL: func.func @residuals
// CHECK-LABEL: func.func @residuals
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.32830644E-10 : f32
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -2.32830644E-10 : f32
// CHECK: scf.for {{.*}} iter_args({{.*}}f32
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: %[[W:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[MADE:.*]] = nvvm.wgmma.mma_async %[[W]], %[[A]], %{{.*}}, {{.*}} D[<f32>, <zero>], A[<bf16>, <one>, <col>]
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[SCALE]], %{{.*}})
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-NEXT: %[[REST:.*]] = nvvm.wgmma.mma_async %[[W]], %[[A]], %{{.*}}, {{.*}} D[<f32>, <one>], A[<bf16>, <neg>, <col>]
// CHECK-COUNT-5: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>], A[<bf16>, <neg>, <col>]
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[MINUS]], %{{.*}})
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[W16:.*]] = arith.addi %[[W]], %c128_i64
// CHECK: %[[A16:.*]] = arith.addi %[[A]], %c128_i64
// CHECK: nvvm.wgmma.mma_async %[[W16]], %[[A16]], %{{.*}}, {{.*}} D[<f32>, <zero>]
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[SCALE]], %{{.*}})
// CHECK-COUNT-6: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>], A[<bf16>, <neg>, <col>]
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[MINUS]], %{{.*}})
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: scf.yield
func.func @residuals(%s: tensor<256x384xbf16>, %v: tensor<1x192x64xbf16>, %i: tensor<1x64x1xi8>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  %r = nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 4, producers = 4, blocks = 2, compensated = true, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%s, %v, %i : tensor<256x384xbf16>, tensor<1x192x64xbf16>, tensor<1x64x1xi8>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
