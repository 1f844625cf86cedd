// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --cse | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --canonicalize --cse | FileCheck %s --check-prefix=ROLES

#schedule = #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3, producers = 4, blocks = 2, store_buffers = 2>

// Each of two warpgroups has two slots, through which the product stores C.
// CHECK-LABEL: func.func @product
// CHECK: scf.forall
// CHECK: %[[SLOTS:.*]] = memref.alloc() : memref<2x2x64x64xf16, #nm.tile_layout<[8192, 4096, 64, 1], panels = [64, 4096], xor = [3:3 with 2:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[C:.*]] = nm.stage_stores %{{.*}} through %[[SLOTS]]
// CHECK: nm.spmm {{.*}} outs(%[[C]] : memref<128x128xf16>)

// Slots are the block's, before the rings of tiles, and consumers have them.
// ROLES-LABEL: func.func @product
// ROLES: scf.forall
// ROLES: %[[SLOTS:.*]] = memref.alloc() : memref<2x2x64x64xf16
// ROLES: memref.alloc() : memref<3x128x64xf16
// ROLES: nm.warps 0 to 8
// ROLES-NOT: memref.alloc
// ROLES: %[[C:.*]] = nm.stage_stores %{{.*}} through %[[SLOTS]]
// ROLES: nm.spmm {{.*}} outs(%[[C]] :
// ROLES: nm.warps 8 to 12
// ROLES-NOT: nm.stage_stores
// ROLES: return
func.func @product(%a: memref<128x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xf16>) {
  %zero = arith.constant 0.0 : f16
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<128x128xf16>)
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #schedule
      ins(%a, %v, %i : memref<128x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<128x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// An epilogue stores C, of a type that sums do not have.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[SLOTS:.*]] = memref.alloc() : memref<2x2x64x64xbf16
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<128x128xf32>
// CHECK: nm.spmm {{.*}} outs(%[[SUMS]] : memref<128x128xf32>)
// CHECK: %[[C:.*]] = nm.stage_stores %{{.*}} through %[[SLOTS]] : memref<128x128xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[SUMS]] : memref<128x128xf32>) outs(%[[C]] : memref<128x128xbf16>)
func.func @epilogue(%a: memref<128x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<128x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) in (1, 1) {
    %sums = memref.alloc() : memref<128x128xf32>
    linalg.fill ins(%zero : f32) outs(%sums : memref<128x128xf32>)
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #schedule
      ins(%a, %v, %i : memref<128x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%sums : memref<128x128xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<128x128xf32>) outs(%c : memref<128x128xbf16>) {
    ^bb0(%x: f32, %unused: bf16):
      %y = arith.truncf %x : f32 to bf16
      linalg.yield %y : bf16
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
