// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// A lane has the bits of two columns, and of four rows a byte each. The place
// of a row's value is as many slots further as rows before it are kept. Values
// of two instructions are loaded before the first of those is made.
// CHECK-LABEL: func.func @tile
// CHECK: gpu.launch
// CHECK: %[[BYTES:.*]] = vector.load %{{.*}} : memref<1x1x256xi8>, vector<8xi8>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[BYTES]] : vector<8xi8> to vector<2xi32>
// CHECK: %[[BITS:.*]] = vector.extract %[[WORDS]][0]
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: %[[KEPT:.*]] = arith.andi %[[BITS]], %c16843009_i32
// CHECK: %[[DIFFERENCE:.*]] = arith.muli %[[KEPT]], %c-34_i32
// CHECK: %[[SELECTORS:.*]] = arith.addi %[[DIFFERENCE]], %c1983018546_i32
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> i16
// CHECK: %[[A:.*]] = arith.extui %[[FIRST]] : i16 to i32
// CHECK: nvvm.dot.accumulate.4way %{{.*}} <unsigned>, %{{.*}} <unsigned>, %{{.*}}
// CHECK: %[[SECOND:.*]] = llvm.load
// CHECK: %[[B:.*]] = arith.extui %[[SECOND]] : i16 to i32
// CHECK-COUNT-22: llvm.load
// CHECK: nvvm.prmt {{.*}}%[[A]]
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @tile(%a: memref<8x128xf16>, %v: memref<1x1x1024xf16>, %i: memref<1x1x256xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [8, 16, 128], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x128xf16>, memref<1x1x1024xf16>, memref<1x1x256xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of an m-major A ldmatrix loads the same rows of k.
// CHECK-LABEL: func.func @m_major
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK: nvvm.mma.sync
func.func @m_major(%a: memref<128x8xf16>, %v: memref<1x1x1024xf16>, %i: memref<1x1x256xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32> transpose_a packing #nm.bitmap schedule #nm.mma_bitmap<block = [8, 16, 128], warp = [8, 16]>
      ins(%a, %v, %i : memref<128x8xf16>, memref<1x1x1024xf16>, memref<1x1x256xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 8-bit weights a lane loads two words of its string for each four rows,
// shifts the first value to the front, and picks from there by the ranks of
// those that are kept.
// CHECK-LABEL: func.func @bytes
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK: %[[KEPT:.*]] = arith.andi %{{.*}}, %c4369_i32
// CHECK: %[[RANKS:.*]] = arith.muli %[[KEPT]], %c4364_i32
// CHECK: %[[SELECTORS:.*]] = arith.addi %[[RANKS]], %c17476_i32
// CHECK: llvm.intr.ctpop
// CHECK: %[[FOUR:.*]] = llvm.intr.fshr
// CHECK: nvvm.prmt <default> %[[SELECTORS]], %[[FOUR]], %c0_i32
// CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK-COUNT-3: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @bytes(%a: memref<8x128xi8>, %v: memref<1x1x1024xi8>, %i: memref<1x1x256xi8>, %c: memref<8x16xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32> packing #nm.bitmap schedule #nm.mma_bitmap<block = [8, 16, 128], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x128xi8>, memref<1x1x1024xi8>, memref<1x1x256xi8>)
      outs(%c : memref<8x16xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
