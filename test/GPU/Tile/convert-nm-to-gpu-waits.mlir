// RUN: nm-opt %s --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// What a product prefetches is loaded before the wait for its own copies,
// whatever else is waited for behind that.
// CHECK-LABEL: func.func @wait
// CHECK: vector.load %{{.*}} : memref<1x1x128xi8>, vector<4xi8>
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: nvvm.mma.sp.sync
!a = memref<8x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
!v = memref<1x1x512xf16, strided<[512, 512, 1]>, #gpu.address_space<workgroup>>
module attributes {nm.chip = #nm.chip<"sm_80">} {
  func.func @wait(%a: memref<8x64xf16>, %v: memref<1x1x512xf16>, %i: memref<1x1x128xi8>, %next: memref<8x64xf16>, %c: memref<8x16xf32>) {
    scf.forall (%m, %n) in (1, 1) {
      %ta = memref.alloc() : !a
      %0 = nm.copy <direct> %a to %ta : memref<8x64xf16> to !a -> !nm.token
      %tv = memref.alloc() : !v
      %1 = nm.copy <direct> %v to %tv : memref<1x1x512xf16> to !v -> !nm.token
      %own = nm.group %0, %1
      %tn = memref.alloc() : !a
      %2 = nm.copy <direct> %next to %tn : memref<8x64xf16> to !a -> !nm.token
      %other = nm.group %2
      nm.await <block> %own
      nm.await <block> %other
      nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16]>
        ins(%ta, %tv, %i : !a, !v, memref<1x1x128xi8>) outs(%c : memref<8x16xf32>)
    } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
    return
  }
}
