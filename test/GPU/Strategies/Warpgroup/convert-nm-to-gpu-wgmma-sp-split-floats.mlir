// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Three products of two splits, the smaller ones first: of the second splits of
// weights, which stand 4096 bytes behind the first (256 of a descriptor), of
// those of A, a panel of 64 rows of 128 bytes behind (512), and of both first
// ones. Each is two instructions, of the same metadata. The first makes the
// sums of the tile, which are then scaled and added to promoted sums.
// CHECK-LABEL: func.func @splits
// CHECK: scf.for {{.*}} -> ({{.*}}f32, f32,
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: %[[W:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[W1:.*]] = arith.addi %[[W]], %c256_i64
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16 {{.*}}, 0, p, 1, 1, 0, 1; }", {{.*}}, %[[W1]], %[[A]], %[[WORD:.*]] :
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; {{.*}}, 1, p, 1, 1, 0, 1; }"
// CHECK: %[[A1:.*]] = arith.addi %[[A]], %c512_i64
// CHECK: llvm.inline_asm {{.*}}, 0, p, 1, 1, 0, 1; }", {{.*}}, %[[W]], %[[A1]], %[[WORD]] :
// CHECK: llvm.inline_asm {{.*}}, 1, p, 1, 1, 0, 1; }"
// CHECK: llvm.inline_asm {{.*}}, 0, p, 1, 1, 0, 1; }", {{.*}}, %[[W]], %[[A]], %[[WORD]] :
// CHECK: llvm.inline_asm {{.*}}, 1, p, 1, 1, 0, 1; }"
// CHECK-NOT: llvm.inline_asm
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %{{.*}}, %{{.*}}) : (f32, f32, f32) -> f32
// CHECK: scf.yield
// Sums that are not finite are made again of what is in memory, where what
// fills up, of splits 0 and -0, is left out.
// CHECK: %[[FILLED:.*]] = arith.cmpi eq, %{{.*}}, %c-2147483648_i32
// CHECK: arith.select %[[FILLED]], %c1099511627776, %{{.*}} : index
func.func @splits(%a: memref<512x128xbf16>, %v: memref<1x8x4096xbf16>, %i: memref<1x8x512xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%k, 0] [64, 128] [1, 1] : memref<512x128xbf16> to memref<64x128xbf16, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 1, 4096] [1, 1, 1] : memref<1x8x4096xbf16> to memref<1x1x4096xbf16, strided<[32768, 4096, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 1, 512] [1, 1, 1] : memref<1x8x512xi8> to memref<1x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 2> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 2> arithmetic <bf16x3>
        ins(%at, %vt, %it : memref<64x128xbf16, strided<[128, 1], offset: ?>>, memref<1x1x4096xbf16, strided<[32768, 4096, 1], offset: ?>>, memref<1x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
    nm.recompute_from <2:4> packing #nm.sparse_operand<wgmma_pairs, splits = 2>
      ins(%a, %v, %i : memref<512x128xbf16>, memref<1x8x4096xbf16>, memref<1x8x512xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// With error compensation, an instruction makes the sums of 16 kept rows of first splits,
// which are added to promoted sums; that again, and those of the five other products,
// are subtracted from these sums, and what is left from the promoted sums. The second
// half of the step's rows follows, of the same metadata.
// CHECK-LABEL: func.func @residuals
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 2.32830644E-10 : f32
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -2.32830644E-10 : f32
// CHECK: scf.for {{.*}} -> ({{.*}}f32, f32,
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: %[[W:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; {{.*}}, 0, p, 1, 1, 0, 1; }", {{.*}}, %[[W]], %[[A]], %[[WORD:.*]] :
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[SCALE]], %{{.*}})
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; {{.*}}, 0, p, -1, 1, 0, 1; }", {{.*}}, %[[W]], %[[A]], %[[WORD]] :
// CHECK-COUNT-5: setp.ne.b32 p, 1, 0; {{.*}}, 0, p, -1, 1, 0, 1; }", {{.*}}, %[[WORD]] :
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[MINUS]], %{{.*}})
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; {{.*}}, 1, p, 1, 1, 0, 1; }", {{.*}}, %[[WORD]] :
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[SCALE]], %{{.*}})
// CHECK-COUNT-6: setp.ne.b32 p, 1, 0; {{.*}}, 1, p, -1, 1, 0, 1; }", {{.*}}, %[[WORD]] :
// CHECK-NOT: wgmma.mma_async
// CHECK-COUNT-32: llvm.intr.fma(%{{.*}}, %[[MINUS]], %{{.*}})
// CHECK: scf.yield
func.func @residuals(%a: memref<512x192xbf16>, %v: memref<1x8x6144xbf16>, %i: memref<1x8x512xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%k, 0] [64, 192] [1, 1] : memref<512x192xbf16> to memref<64x192xbf16, strided<[192, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 1, 6144] [1, 1, 1] : memref<1x8x6144xbf16> to memref<1x1x6144xbf16, strided<[49152, 6144, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 1, 512] [1, 1, 1] : memref<1x8x512xi8> to memref<1x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs, splits = 3> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 3, compensated = true>
        ins(%at, %vt, %it : memref<64x192xbf16, strided<[192, 1], offset: ?>>, memref<1x1x6144xbf16, strided<[49152, 6144, 1], offset: ?>>, memref<1x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
    nm.recompute_from <2:4> packing #nm.sparse_operand<wgmma_pairs, splits = 3>
      ins(%a, %v, %i : memref<512x192xbf16>, memref<1x8x6144xbf16>, memref<1x8x512xi8>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
