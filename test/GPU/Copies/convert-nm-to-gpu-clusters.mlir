// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Blocks of clusters of three: when all products are summed, a thread's eight
// lines go to shared memory, where the tiles were, which no warp may read any
// more; all meet, and each block loads every third line from itself and from
// those after it, by 16 bytes. Of the last two lines the third block has none.
// No block ends before all have read.
// CHECK-LABEL: func.func @cluster
// CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c3, %{{.*}} = %c1, %{{.*}} = %c1) blocks({{.*}}) in (%{{.*}} = %c12, %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[MEMORY:.*]] = gpu.dynamic_shared_memory
// CHECK: %[[VIEW:.*]] = memref.view %[[MEMORY]][%c0][] {{.*}} to memref<8192xf32,
// CHECK: %[[LINES:.*]] = memref.reinterpret_cast %[[VIEW]] {{.*}} to memref<8x256x4xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-COUNT-8: vector.store %{{.*}}, %[[LINES]][%{{.*}}, %{{.*}}, %c0] {alignment = 16 : i64}
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: nvvm.cluster.wait {aligned}
// CHECK: %[[RANK:.*]] = gpu.cluster_block_id x
// CHECK: %[[INT:.*]] = memref.extract_aligned_pointer_as_index %[[LINES]]
// CHECK: %[[ADDRESS:.*]] = arith.index_castui %[[INT]] : index to i64
// CHECK: %[[OWN:.*]] = llvm.inttoptr %[[ADDRESS]] : i64 to !llvm.ptr<3>
// CHECK: %[[ONE:.*]] = arith.addi %[[RANK]], %c1
// CHECK: %[[NEXT:.*]] = arith.remui %[[ONE]], %c3
// CHECK: %[[NEXT32:.*]] = arith.index_castui %[[NEXT]] : index to i32
// CHECK: %[[FIRST:.*]] = nvvm.mapa %[[OWN]], %[[NEXT32]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK: %[[SECOND:.*]] = nvvm.mapa %[[OWN]], %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NOT: nvvm.mapa
// CHECK: %[[L0:.*]] = vector.load %[[LINES]]
// CHECK: %[[A1:.*]] = llvm.getelementptr %[[FIRST]][%{{.*}}] : (!llvm.ptr<7>, i64) -> !llvm.ptr<7>, i8
// CHECK: %[[L1:.*]] = llvm.load %[[A1]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: %[[A2:.*]] = llvm.getelementptr %[[SECOND]]
// CHECK: %[[L2:.*]] = llvm.load %[[A2]] {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: %[[S:.*]] = arith.addf %[[L0]], %[[L1]]
// CHECK: arith.addf %[[S]], %[[L2]]
// CHECK-NOT: vector.store
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<7>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: vector.store {{.*}} : memref<64x128xf32, strided<[256, 1], offset: ?>>, vector<4xf32>
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c6
// CHECK: %[[THERE:.*]] = arith.cmpi ult, %[[LAST]], %c8
// CHECK: scf.if %[[THERE]]
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<7>
// CHECK: vector.store {{.*}} : memref<64x128xf32, strided<[256, 1], offset: ?>>, vector<4xf32>
// CHECK: }
// CHECK-NEXT: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: nvvm.cluster.wait {aligned}
// CHECK-NEXT: gpu.terminator
func.func @cluster(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<128x256xf32>) {
  scf.forall (%m, %n) = (0, 0) to (128, 256) step (64, 128) {
    %ct = memref.subview %c[%m, %n] [64, 128] [1, 1] : memref<128x256xf32> to memref<64x128xf32, strided<[256, 1], offset: ?>>
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], split_k = 3, cluster_k = 3, copy_a = squares, defer = true>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>)
        outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%ct : memref<64x128xf32, strided<[256, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
