// RUN: nm-opt %s --convert-forall-to-threads --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @scale(
// CHECK-SAME:    %[[X:.*]]: memref<64x32xf32>, %[[S:.*]]: f32)
// CHECK-DAG:     %[[TASK:.*]] = constant @scale.forall : (i64, !llvm.ptr) -> ()
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 16 : i64
// CHECK-DAG:     %[[CONTEXT:.*]] = llvm.alloca {{.*}} x !llvm.struct<(f32, struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>)>
// CHECK:         llvm.store %[[S]]
// CHECK:         %[[DESCRIPTOR:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<64x32xf32> to !llvm.struct<
// CHECK:         llvm.store %[[DESCRIPTOR]]
// CHECK:         %[[POINTER:.*]] = builtin.unrealized_conversion_cast %[[TASK]] : (i64, !llvm.ptr) -> () to !llvm.ptr
// CHECK:         call @nmParallelFor(%[[COUNT]], %[[POINTER]], %[[CONTEXT]])
// CHECK-LABEL: func.func private @scale.forall(
// CHECK-SAME:    %[[INDEX:.*]]: i64, %{{.*}}: !llvm.ptr)
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK:         %[[S:.*]] = llvm.load {{.*}} -> f32
// CHECK:         %[[FIELD:.*]] = llvm.load {{.*}} -> !llvm.struct<
// CHECK:         %[[X:.*]] = builtin.unrealized_conversion_cast %[[FIELD]] : {{.*}} to memref<64x32xf32>
// CHECK:         %[[LINEAR:.*]] = arith.index_cast %[[INDEX]] : i64 to index
// CHECK:         %[[COLUMN:.*]] = arith.remui %[[LINEAR]], %[[C4]]
// CHECK:         %[[ROW:.*]] = arith.divui %[[LINEAR]], %[[C4]]
// CHECK:         %[[J:.*]] = arith.muli %[[COLUMN]], %[[C8]]
// CHECK:         %[[I:.*]] = arith.muli %[[ROW]], %[[C16]]
// CHECK:         memref.store %[[S]], %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT:    return
func.func @scale(%x: memref<64x32xf32>, %s: f32) {
  scf.forall (%i, %j) = (0, 0) to (64, 32) step (16, 8) {
    memref.store %s, %x[%i, %j] : memref<64x32xf32>
  }
  return
}

// -----

// The number of iterations of a dynamic loop is found by the caller, and never
// negative. A loop around does not grow the stack.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %[[X:.*]]: memref<?xf32, strided<[2]>>, %[[FIRST:.*]]: index, %[[END:.*]]: index)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[CONTEXT:.*]] = llvm.alloca
// CHECK:         scf.for
// CHECK:           %[[EXTENT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK:           %[[TRIPS:.*]] = arith.ceildivsi %[[EXTENT]], %[[C3]]
// CHECK:           %[[BOUNDED:.*]] = arith.maxsi %[[TRIPS]], %[[C0]]
// CHECK:           %[[COUNT:.*]] = arith.index_cast %[[BOUNDED]] : index to i64
// CHECK:           call @nmParallelFor(%[[COUNT]],
// CHECK-LABEL: func.func private @dynamic.forall(
// A nested loop is sequential: its thread is one task already.
// CHECK-NOT:     scf.forall
// CHECK:         scf.for
func.func @dynamic(%x: memref<?xf32, strided<[2]>>, %first: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  scf.for %batch = %c0 to %c8 step %c1 {
    scf.forall (%i) = (%first) to (%end) step (3) {
      scf.forall (%j) = (0) to (3) step (1) {
        %at = arith.addi %i, %j : index
        memref.store %one, %x[%at] : memref<?xf32, strided<[2]>>
      }
    }
  }
  return
}

// -----

// CHECK-LABEL: func.func @one_iteration(
// CHECK-NOT:     nmParallelFor
// CHECK:         %[[C5:.*]] = arith.constant 5 : index
// CHECK:         memref.store {{.*}}[%[[C5]]]
func.func @one_iteration(%x: memref<64xf32>, %s: f32) {
  scf.forall (%i) = (5) to (37) step (32) {
    memref.store %s, %x[%i] : memref<64xf32>
  }
  return
}

// -----

// Mappings of other targets say nothing here.
// CHECK-LABEL: func.func @two_loops(
// CHECK-DAG:     constant @two_loops.forall :
// CHECK-DAG:     constant @two_loops.forall_0 :
// CHECK:       func.func private @two_loops.forall
// CHECK:       func.func private @two_loops.forall
func.func @two_loops(%x: memref<64xi8>, %s: i8) {
  scf.forall (%i) in (64) {
    memref.store %s, %x[%i] : memref<64xi8>
  } {mapping = [#gpu.block<x>]}
  scf.forall (%i) in (32) {
    memref.store %s, %x[%i] : memref<64xi8>
  }
  return
}
