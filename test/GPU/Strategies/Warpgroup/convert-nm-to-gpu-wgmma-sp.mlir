// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A tile has one step of 64 rows of k: two instructions, and a word of metadata
// for each thread, in which zero stands for what there is no more of. They may
// read the word while the next tile's is loaded, so that two tiles are a turn
// of the loop, with a word each.
// CHECK-LABEL: func.func @one_step
// CHECK: gpu.launch blocks({{.*}}) threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: scf.for %{{.*}} = %c0 to %c{{[0-9]+}} step %c128 iter_args(%[[SUMS:.*]] = %{{.*}}) -> ({{.*}}llvm.struct
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: gpu.barrier
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c4611686293338849280_i64
// CHECK: %[[B:.*]] = arith.ori %{{.*}}, %c34363932672_i64
// CHECK: %[[LOADED:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<2x1x512xi8, {{.*}}#gpu.address_space<workgroup>>, vector<4xi8>
// CHECK: %[[BITS:.*]] = vector.bitcast %[[LOADED]]
// CHECK: %[[THERE:.*]] = vector.extract %[[BITS]][0]
// CHECK: %[[WORD:.*]] = arith.maxui %[[THERE]], %c1145324612_i32
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: %[[FIRST:.*]] = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {$0, {{.*}}$31}, $64, $65, $66, 0, p, 1, 1, 0, 1; }", "=f,{{.*}}=f,0,1,{{.*}},31,l,l,r" %{{.*}}, %[[B]], %[[A]], %[[WORD]] :
// CHECK: %[[A1:.*]] = arith.addi %[[A]], %c256_i64
// CHECK: %[[B1:.*]] = arith.addi %[[B]], %c128_i64
// CHECK: llvm.inline_asm has_side_effects "{{.*}}$66, 1, p, 1, 1, 0, 1; }", {{.*}} %[[B1]], %[[A1]], %[[WORD]] :
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvgpu.device_async_copy
// CHECK: gpu.barrier
// CHECK: %[[OTHER:.*]] = vector.load %{{.*}} : memref<2x1x512xi8,
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: scf.yield
func.func @one_step(%a: memref<512x64xf16>, %v: memref<2x8x2048xf16>, %i: memref<2x8x512xi8>, %c: memref<64x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<64x128xf16>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%k, 0] [64, 64] [1, 1] : memref<512x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 1, 2048] [1, 1, 1] : memref<2x8x2048xf16> to memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 1, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 128, 64], warpgroup = [64, 64], stages = 3>
        ins(%at, %vt, %it : memref<64x64xf16, strided<[64, 1], offset: ?>>, memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>, memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%c : memref<64x128xf16>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The metadata of both steps is loaded before their instructions, which are one
// group. A turn of the loop has two tiles, whose words are other registers.
// CHECK-LABEL: func.func @two_steps
// CHECK: scf.for %{{.*}} = %c0 to %c{{[0-9]+}} step %c256 iter_args(
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x2x512xi8,
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.load %{{.*}} : memref<1x2x512xi8,
// CHECK-COUNT-4: wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: scf.yield
func.func @two_steps(%a: memref<1024x64xbf16>, %v: memref<1x16x2048xbf16>, %i: memref<1x16x512xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %c1024 step %c128 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%k, 0] [128, 64] [1, 1] : memref<1024x64xbf16> to memref<128x64xbf16, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 2, 2048] [1, 1, 1] : memref<1x16x2048xbf16> to memref<1x2x2048xbf16, strided<[32768, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 2, 512] [1, 1, 1] : memref<1x16x512xi8> to memref<1x2x512xi8, strided<[8192, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 64, 128], warpgroup = [64, 64], stages = 3>
        ins(%at, %vt, %it : memref<128x64xbf16, strided<[64, 1], offset: ?>>, memref<1x2x2048xbf16, strided<[32768, 2048, 1], offset: ?>>, memref<1x2x512xi8, strided<[8192, 512, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A row-major A is contiguous along k: a row of a panel is a step's, of which
// an instruction has half, 64 bytes. 128 columns are two products of a
// warpgroup.
// CHECK-LABEL: func.func @row_major
// CHECK: %[[A:.*]] = arith.ori %{{.*}}, %c4611686293305294848_i64
// CHECK-COUNT-2: arith.maxui
// CHECK: wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {{[{].*[}]}}, $64, $65, $66, 0, p, 1, 1, 0, 0; }"
// CHECK-SAME: %[[A]],
// CHECK: wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {{[{].*[}]}}, $64, $65, $66, 0, p, 1, 1, 0, 0; }"
// CHECK-SAME: %[[A]],
// CHECK: %[[A1:.*]] = arith.addi %[[A]], %c4_i64
// CHECK: wgmma.mma_async.sp.sync.aligned.m64n64k32.f32.f16.f16 {{[{].*[}]}}, $64, $65, $66, 1, p, 1, 1, 0, 0; }"
// CHECK-SAME: %[[A1]],
func.func @row_major(%a: memref<64x64xf16>, %v: memref<2x1x2048xf16>, %i: memref<2x1x512xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma> schedule #nm.wgmma_sp<block = [64, 128, 64], warpgroup = [64, 128], stages = 3>
      ins(%a, %v, %i : memref<64x64xf16>, memref<2x1x2048xf16>, memref<2x1x512xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
