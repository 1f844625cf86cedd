// RUN: nm-opt %s --allow-unregistered-dialect --nm-record-checks | FileCheck %s

// CHECK-LABEL: func @two(
// CHECK-SAME:    %[[P:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index, %[[HOLDS:[a-z0-9]*]]: i1)
// CHECK:         gpu.launch
// CHECK:           gpu.terminator
// CHECK:         %[[RECORD:.*]] = nm.open_checks : memref<6xi64>
// CHECK:         gpu.launch
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[P]], %[[N]] : index
// CHECK:           %[[OUTSIDE:.*]] = arith.xori %[[INSIDE]], %true
// CHECK:           scf.if %[[OUTSIDE]] {
// CHECK:             %[[BEFORE:.*]] = memref.atomic_rmw addi %{{.*}}, %[[RECORD]][%{{.*}}] : (i64, memref<6xi64>) -> i64
// CHECK:             arith.cmpi ne, %[[BEFORE]]
// CHECK:             scf.if
// CHECK-COUNT-3:       memref.store %{{.*}}, %[[RECORD]]
// CHECK:           %[[I:.*]] = arith.select %[[INSIDE]], %[[P]], %c0
// CHECK:           "test.use"(%[[I]])
// CHECK:         gpu.launch
// CHECK:           arith.xori %[[HOLDS]], %true
// CHECK:         nm.mark_checks %[[RECORD]] : memref<6xi64>
// CHECK:         gpu.launch
// CHECK:         nm.close_checks %[[RECORD]] ["got {0}", "never"] : memref<6xi64>
// CHECK-NEXT:    return
func.func @two(%p: index, %n: index, %holds: i1) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    gpu.terminator
  }
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    %x = nm.check_index %p in %n, "got {0}"
    "test.use"(%x) : (index) -> ()
    gpu.terminator
  }
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    nm.check %holds, "never"
    gpu.terminator
  }
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    gpu.terminator
  }
  return
}

// A check of the host stays.

// CHECK-LABEL: func @host(
// CHECK-NEXT:    nm.check %
// CHECK-NEXT:    return
func.func @host(%holds: i1) {
  nm.check %holds, "never"
  return
}
