// RUN: nm-opt %s --nm-expand-checks | FileCheck %s

// CHECK:       llvm.mlir.global internal constant @{{.*}}("got {0} of {1}")
// CHECK:       llvm.func @nmFailCheck(!llvm.ptr, i64, i64, i64, i64, i64)

// What lives at the check is freed, what was freed is not.

// CHECK-LABEL: func @check(
// CHECK-SAME:    %[[HOLDS:[a-z0-9]*]]: i1, %[[N:[a-z0-9]*]]: index)
// CHECK:         %[[FREED:.*]] = memref.alloc
// CHECK:         %[[LIVE:.*]] = memref.alloc
// CHECK:         memref.dealloc %[[FREED]]
// CHECK:         cf.cond_br %[[HOLDS]], ^[[REST:.*]], ^[[FAILED:.*]]
// CHECK:       ^[[REST]]:
// CHECK:         memref.dealloc %[[LIVE]]
// CHECK:         return
// CHECK:       ^[[FAILED]]:
// CHECK:         llvm.call @nmFailCheck(
// CHECK:         memref.dealloc %[[LIVE]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @check(%holds: i1, %n: index) {
  %freed = memref.alloc(%n) : memref<?xf32>
  %live = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %freed : memref<?xf32>
  nm.check %holds, "got {0} of {1}" (%n, %n)
  memref.dealloc %live : memref<?xf32>
  return
}

// CHECK-LABEL: func @index(
// CHECK-SAME:    %[[I:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index)
// CHECK:         %[[INSIDE:.*]] = arith.cmpi ult, %[[I]], %[[N]]
// CHECK:         cf.cond_br %[[INSIDE]], ^[[REST:.*]](%[[I]] : index), ^[[FAILED:.*]]
// CHECK:       ^[[FAILED]]:
// CHECK:         llvm.call @nmFailCheck(
// CHECK:         cf.br ^[[REST]](%c0
// CHECK:       ^[[REST]](%[[CHECKED:.*]]: index):
// CHECK:         return %[[CHECKED]]
func.func @index(%i: index, %n: index) -> index {
  %checked = nm.check_index %i in %n, "got {0} of {1}"
  return %checked : index
}
