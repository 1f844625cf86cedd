// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// The pipeline leaves the last tile behind its loop. The bits of that tile, and
// of the first one, are loaded in front of the loop, which has no more than two
// tiles' products: behind the loop nothing waits for bits.
// CHECK-LABEL: func.func @tiles
// CHECK: gpu.launch
// CHECK-COUNT-2: vector.load %{{.*}}memref<1x1x256xi8{{.*}}>, vector<8xi8>
// CHECK: scf.for
// CHECK: vector.load %{{.*}}memref<1x1x256xi8{{.*}}>, vector<8xi8>
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK-NOT: vector<8xi8>
// CHECK: nvvm.mma.sync
// CHECK-NOT: vector<8xi8>
// CHECK: gpu.terminator
func.func @tiles(%a: memref<8x512xf16>, %v: memref<1x1x4096xf16>, %i: memref<1x1x1024xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    scf.for %k = %c0 to %c512 step %c128 {
      %value = affine.apply affine_map<(d0) -> (d0 * 8)>(%k)
      %byte = affine.apply affine_map<(d0) -> (d0 * 2)>(%k)
      %at = memref.subview %a[0, %k] [8, 128] [1, 1] : memref<8x512xf16> to memref<8x128xf16, strided<[512, 1], offset: ?>>
      %vt = memref.subview %v[0, 0, %value] [1, 1, 1024] [1, 1, 1] : memref<1x1x4096xf16> to memref<1x1x1024xf16, strided<[4096, 4096, 1], offset: ?>>
      %it = memref.subview %i[0, 0, %byte] [1, 1, 256] [1, 1, 1] : memref<1x1x1024xi8> to memref<1x1x256xi8, strided<[1024, 1024, 1], offset: ?>>
      nm.spmm <16:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [8, 16, 128], warp = [8, 16], stages = 2>
        ins(%at, %vt, %it : memref<8x128xf16, strided<[512, 1], offset: ?>>, memref<1x1x1024xf16, strided<[4096, 4096, 1], offset: ?>>, memref<1x1x256xi8, strided<[1024, 1024, 1], offset: ?>>)
        outs(%c : memref<8x16xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
