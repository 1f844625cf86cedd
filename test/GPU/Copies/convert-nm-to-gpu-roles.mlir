// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Threads branch by their warp. The first one gets barriers ready: a step's slot
// is filled when 128 threads' copies and one bulk copy have arrived, and free
// when two warpgroups are done with it.
// CHECK-LABEL: func.func @roles
// CHECK-DAG: %[[FILLED:.*]] = arith.constant 129 : i32
// CHECK-DAG: %[[DONE:.*]] = arith.constant 2 : i32
// CHECK: gpu.launch blocks({{.*}}) threads({{.*}}) in (%{{.*}} = %c384,
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[FILLED]]
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.mbarrier.init %{{.*}}, %[[DONE]]
// CHECK: gpu.barrier
// CHECK: arith.cmpi ult, %{{.*}}, %c256
// CHECK: scf.if
// CHECK: nvvm.setmaxregister increase 208
// CHECK: scf.for {{.*}} iter_args({{.*}}llvm.struct
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive
// The slot of the last product is free before its sums are stored, from
// registers: two columns that are neighbours in C.
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-NEXT: llvm.fence syncscope("block") acq_rel
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: gpu.barrier
// CHECK: vector.store %{{.*}} {alignment = 4 : i64} : memref<256x128xf16>, vector<2xf16>
// CHECK: scf.if
// CHECK: nvvm.setmaxregister decrease 88
// Entries of a list are loaded a step ahead, and where their rows are is carried
// to the next step. Rows are gathered by threads, the weights come at once.
// CHECK: memref.load %{{.*}} : memref<1x64x1xi8
// CHECK: llvm.inline_asm has_side_effects
// CHECK: scf.for {{.*}} iter_args({{.*}}i32
// CHECK: memref.load %{{.*}} : memref<1x64x1xi8
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.shared.cluster.global
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true}
// CHECK: llvm.inline_asm has_side_effects
// CHECK: scf.yield {{.*}}i32
func.func @roles(%a: memref<1024x256xf16>, %v: memref<1x256x128xf16>, %i: memref<1x256x1xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<256x128xf16>)
    scf.for %k = %c0 to %c1024 step %c256 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[%k, 0] [256, 256] [1, 1] : memref<1024x256xf16> to memref<256x256xf16, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 64, 128] [1, 1, 1] : memref<1x256x128xf16> to memref<1x64x128xf16, strided<[32768, 128, 1], offset: ?>>
      %it = memref.subview %i[0, %row, 0] [1, 64, 1] [1, 1, 1] : memref<1x256x1xi8> to memref<1x64x1xi8, strided<[256, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
        schedule #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4, producers = 4, producer_registers = 88, consumer_registers = 208, packing = <panel = 128, index_bits = 8, tile_rows = 64>>
        ins(%at, %vt, %it : memref<256x256xf16, strided<[256, 1], offset: ?>>, memref<1x64x128xf16, strided<[32768, 128, 1], offset: ?>>, memref<1x64x1xi8, strided<[256, 1, 1], offset: ?>>)
        outs(%c : memref<256x128xf16>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
