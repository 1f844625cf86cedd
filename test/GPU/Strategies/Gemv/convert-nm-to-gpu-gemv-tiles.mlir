// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Of several tiles of k, the rows of A and the first weights are loaded a tile
// ahead, and A's are stored when all warps are done with those before.
// CHECK-LABEL: func.func @tiles
// CHECK: %[[FIRST:.*]] = vector.load %{{.*}} : memref<2x256xf32, {{.*}}>, vector<4xf32>
// CHECK: %[[WEIGHTS:.*]]:6 = scf.if
// CHECK: vector.load %{{.*}} : memref<1x16x128xf32, {{.*}}>, vector<4xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[NOW:[a-z0-9]*]] = %[[FIRST]], %[[W:[a-z0-9]*]] = %[[WEIGHTS]]#0, {{.*}})
// CHECK: %[[NEXT:.*]] = vector.load %{{.*}} : memref<2x256xf32, {{.*}}>, vector<4xf32>
// CHECK: %[[MORE:.*]]:6 = scf.if
// CHECK: gpu.barrier
// CHECK-NOT: vector.load
// CHECK: vector.store %[[NOW]]
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} = %[[W]]
// CHECK: vector.fma
// CHECK: scf.yield {{.*}}, %[[NEXT]], %[[MORE]]#0, {{.*}} :
func.func @tiles(%a: memref<2x1024xf32>, %v: memref<1x64x128xf32>, %i: memref<1x16x384xi8>, %c: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%n) in (1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<2x32xf32>)
    scf.for %k = %c0 to %c1024 step %c256 {
      %row = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%k)
      %group = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[0, %k] [2, 256] [1, 1] : memref<2x1024xf32> to memref<2x256xf32, strided<[1024, 1], offset: ?>>
      %vt = memref.subview %v[0, %row, 0] [1, 16, 128] [1, 1, 1] : memref<1x64x128xf32> to memref<1x16x128xf32, strided<[8192, 128, 1], offset: ?>>
      %it = memref.subview %i[0, %group, 0] [1, 4, 384] [1, 1, 1] : memref<1x16x384xi8> to memref<1x4x384xi8, strided<[6144, 384, 1], offset: ?>>
      nm.spmm <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
        schedule #nm.gemv<block = [2, 32, 256], warp = [2, 32], thread = [2, 1], stages = 2, slice_k = 4>
        ins(%at, %vt, %it : memref<2x256xf32, strided<[1024, 1], offset: ?>>, memref<1x16x128xf32, strided<[8192, 128, 1], offset: ?>>, memref<1x4x384xi8, strided<[6144, 384, 1], offset: ?>>) outs(%c : memref<2x32xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
