// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A line of 128 bytes has two steps, each one instruction. Sums are i32.
// CHECK-LABEL: func.func @integers
// CHECK: scf.for {{.*}}!llvm.struct<(i32,
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: %[[B:.*]] = arith.ori %{{.*}}, %c{{[0-9]+}}_i64
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.s32.s8.s8 {$0, {{.*}}$31}, $64, $65, $66, 0, p; }", "=r,{{.*}}=r,0,1,{{.*}},31,l,l,r" %{{.*}}, %[[B]], %[[A]], %{{.*}} :
// CHECK: %[[A1:.*]] = arith.addi %[[A]], %c4_i64
// CHECK: %[[B1:.*]] = arith.addi %[[B]], %c128_i64
// CHECK: llvm.inline_asm {{.*}}k64.s32.s8.s8 {{.*}} %[[B1]], %[[A1]], %{{.*}} :
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: scf.yield
// CHECK: vector.store %{{.*}} : memref<64x64xi32
func.func @integers(%a: memref<64x1024xi8>, %v: memref<1x16x2048xi8>, %i: memref<1x16x512xi8>, %c: memref<64x64xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : i32) outs(%c : memref<64x64xi32>)
    scf.for %k = %c0 to %c1024 step %c128 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[0, %k] [64, 128] [1, 1] : memref<64x1024xi8> to memref<64x128xi8, strided<[1024, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 2, 2048] [1, 1, 1] : memref<1x16x2048xi8> to memref<1x2x2048xi8, strided<[32768, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 2, 512] [1, 1, 1] : memref<1x16x512xi8> to memref<1x2x512xi8, strided<[8192, 512, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3>
        ins(%at, %vt, %it : memref<64x128xi8, strided<[1024, 1], offset: ?>>, memref<1x2x2048xi8, strided<[32768, 2048, 1], offset: ?>>, memref<1x2x512xi8, strided<[8192, 512, 1], offset: ?>>)
        outs(%c : memref<64x64xi32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Sums of f8 begin at zero with each tile, and are then added to f32.
// CHECK-LABEL: func.func @floats
// CHECK: scf.for {{.*}} -> ({{.*}}f32, f32,
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 0, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.f32.e4m3.e4m3 {$0, {{.*}}$31}, $64, $65, $66, 0, p, 1, 1; }", "=f,
// CHECK-NOT: nvvm.wgmma.commit.group
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sp.sync.aligned.m64n64k64.f32.e4m3.e4m3 {
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: arith.addf %{{.*}} : f32
// CHECK: scf.yield
func.func @floats(%a: memref<64x512xf8E4M3FN>, %v: memref<1x8x2048xf8E4M3FN>, %i: memref<1x8x512xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %c512 step %c128 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[0, %k] [64, 128] [1, 1] : memref<64x512xf8E4M3FN> to memref<64x128xf8E4M3FN, strided<[512, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 2, 2048] [1, 1, 1] : memref<1x8x2048xf8E4M3FN> to memref<1x2x2048xf8E4M3FN, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 2, 512] [1, 1, 1] : memref<1x8x512xi8> to memref<1x2x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, promote = true>
        ins(%at, %vt, %it : memref<64x128xf8E4M3FN, strided<[512, 1], offset: ?>>, memref<1x2x2048xf8E4M3FN, strided<[16384, 2048, 1], offset: ?>>, memref<1x2x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
