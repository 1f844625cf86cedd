// RUN: nm-opt %s --nm-attach-chip=chip=sm_89 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: nm-opt %s --nm-attach-chip=chip=sm_120 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,ORDERED

// An instruction's sums start at zero, and are added to those of the
// instructions before: the tensor cores cut off what they add to.
// CHECK-LABEL: func.func @tile
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: vector.load %{{.*}} : memref<1x2x512xf8E4M3FN{{.*}}, vector<16xf8E4M3FN>
// CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// PLAIN: %[[FIRST:.*]] = llvm.inline_asm has_side_effects "mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9, $10, $11}, {$12, $13, $14, $15}, $16, 0;", "=f,=f,=f,=f,r,r,r,r,r,r,r,r,f,f,f,f,r"
// ORDERED: %[[FIRST:.*]] = llvm.inline_asm has_side_effects "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32
// CHECK-SAME: %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %{{[0-9]+}} : (
// CHECK: %[[SUM:.*]] = llvm.extractvalue %[[FIRST]][0]
// CHECK: %[[TOTAL:.*]] = arith.addf %[[SUM]], %[[ZERO]]
// CHECK: %[[SECOND:.*]] = llvm.inline_asm has_side_effects "mma.sp
// CHECK-SAME: %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]], %{{[0-9]+}} : (
// CHECK: %[[MORE:.*]] = llvm.extractvalue %[[SECOND]][0]
// CHECK: arith.addf %[[TOTAL]], %[[MORE]]
// CHECK-NOT: mma.sp
func.func @tile(%a: memref<8x128xf8E4M3FN>, %v: memref<1x2x512xf8E4M3FN>, %i: memref<1x2x128xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 128], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x128xf8E4M3FN>, memref<1x2x512xf8E4M3FN>, memref<1x2x128xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// CHECK-LABEL: func.func @e5m2
// CHECK: m16n8k64.row.col.f32.e5m2.e5m2.f32
func.func @e5m2(%a: memref<8x64xf8E5M2>, %v: memref<1x1x512xf8E5M2>, %i: memref<1x1x128xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x64xf8E5M2>, memref<1x1x512xf8E5M2>, memref<1x1x128xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
