// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// A lane adds the products of two tiles, 64 kept rows, to sums that start at
// zero, and then these to promoted sums: the loop carries both. What rounding
// leaves out is where the next chain starts.
// CHECK-LABEL: func.func @promoted
// CHECK: scf.for %{{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32, i32) {
// CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %c2 : index
// CHECK: arith.cmpi eq, %[[PLACE]], %c1 : index
// CHECK: scf.if
// CHECK-COUNT-4: arith.addf
// CHECK: arith.subf
func.func @promoted(%a: memref<8x1024xf16>, %v: memref<1x16x512xf16>, %i: memref<1x16x128xi8>, %c: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c1024 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[0, %k] [8, 64] [1, 1] : memref<8x1024xf16> to memref<8x64xf16, strided<[1024, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [1, 1, 512] [1, 1, 1] : memref<1x16x512xf16> to memref<1x1x512xf16, strided<[8192, 512, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [1, 1, 128] [1, 1, 1] : memref<1x16x128xi8> to memref<1x1x128xi8, strided<[2048, 128, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16], promote = true>
        ins(%at, %vt, %it : memref<8x64xf16, strided<[1024, 1], offset: ?>>, memref<1x1x512xf16, strided<[8192, 512, 1], offset: ?>>, memref<1x1x128xi8, strided<[2048, 128, 1], offset: ?>>)
        outs(%c : memref<8x16xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
