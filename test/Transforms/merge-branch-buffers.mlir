// RUN: nm-opt %s --allow-unregistered-dialect --nm-merge-branch-buffers --canonicalize | FileCheck %s

// Both of a known size and of one that each branch asks for.
// CHECK-LABEL: func.func @alike(
// CHECK-SAME:    %[[CONDITION:[^:]*]]: i1, %[[LIKE:[^:]*]]: memref<?x4xf32>
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK:         %[[M:.*]] = memref.dim %[[LIKE]]
// CHECK:         %[[B:.*]] = memref.alloc(%[[M]]) : memref<?xf32>
// CHECK:         scf.if %[[CONDITION]] {
// CHECK-NEXT:      "test.write"(%[[A]], %[[B]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      "test.write_other"(%[[A]], %[[B]])
// CHECK:         return %[[A]], %[[B]]
func.func @alike(%condition: i1, %like: memref<?x4xf32>) -> (memref<4xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %r:2 = scf.if %condition -> (memref<4xf32>, memref<?xf32>) {
    %m = memref.dim %like, %c0 : memref<?x4xf32>
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc(%m) : memref<?xf32>
    "test.write"(%a, %b) : (memref<4xf32>, memref<?xf32>) -> ()
    scf.yield %a, %b : memref<4xf32>, memref<?xf32>
  } else {
    %a = memref.alloc() : memref<4xf32>
    %m = memref.dim %like, %c0 : memref<?x4xf32>
    %b = memref.alloc(%m) : memref<?xf32>
    "test.write_other"(%a, %b) : (memref<4xf32>, memref<?xf32>) -> ()
    scf.yield %a, %b : memref<4xf32>, memref<?xf32>
  }
  return %r#0, %r#1 : memref<4xf32>, memref<?xf32>
}

// Other sizes, sizes that only a branch computes, memory that another has.
// CHECK-LABEL: func.func @unlike(
// CHECK-NOT:     memref.alloc
// CHECK:         scf.if %{{.*}} -> (memref<?xf32>, memref<?xf32>, memref<4xf32>) {
// CHECK-COUNT-2:   memref.alloc
// CHECK:         } else {
// CHECK-COUNT-3:   memref.alloc
func.func @unlike(%condition: i1, %m: index, %n: index, %c: memref<4xf32>) -> (memref<?xf32>, memref<?xf32>, memref<4xf32>) {
  %r:3 = scf.if %condition -> (memref<?xf32>, memref<?xf32>, memref<4xf32>) {
    %a = memref.alloc(%m) : memref<?xf32>
    %size = "test.size"() : () -> index
    %b = memref.alloc(%size) : memref<?xf32>
    "test.write"(%a, %b, %c) : (memref<?xf32>, memref<?xf32>, memref<4xf32>) -> ()
    scf.yield %a, %b, %c : memref<?xf32>, memref<?xf32>, memref<4xf32>
  } else {
    %a = memref.alloc(%n) : memref<?xf32>
    %size = "test.size"() : () -> index
    %b = memref.alloc(%size) : memref<?xf32>
    %d = memref.alloc() : memref<4xf32>
    "test.write"(%a, %b, %d) : (memref<?xf32>, memref<?xf32>, memref<4xf32>) -> ()
    scf.yield %a, %b, %d : memref<?xf32>, memref<?xf32>, memref<4xf32>
  }
  return %r#0, %r#1, %r#2 : memref<?xf32>, memref<?xf32>, memref<4xf32>
}

// Where a library may compute, the other branch writes where the library does.
// CHECK-LABEL: func.func @library(
// CHECK:         %[[BEFORE:.*]] = memref.alloc() : memref<1x4xf32>
// CHECK:         %[[A:.*]] = memref.alloc() : memref<1x4xf32>
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:      "test.write"(%[[BEFORE]], %[[A]])
// CHECK-NEXT:    } else {
// CHECK:           memref.copy %{{.*}}, %[[BEFORE]]
// CHECK:           memref.copy %{{.*}}, %[[A]]
// CHECK:         return %[[BEFORE]], %[[A]]
func.func @library() -> (memref<1x4xf32>, memref<1x4xf32>) {
  %has = nm.has_cudnn
  %before = memref.alloc() : memref<1x4xf32>
  %r:2 = scf.if %has -> (memref<1x4xf32>, memref<1x4xf32>) {
    %a = memref.alloc() : memref<1x4xf32>
    "test.write"(%before, %a) : (memref<1x4xf32>, memref<1x4xf32>) -> ()
    scf.yield %before, %a : memref<1x4xf32>, memref<1x4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    "test.write_other"(%b) : (memref<4xf32>) -> ()
    %wide = memref.expand_shape %b [[0, 1]] output_shape [1, 4] : memref<4xf32> into memref<1x4xf32>
    scf.yield %wide, %wide : memref<1x4xf32>, memref<1x4xf32>
  }
  return %r#0, %r#1 : memref<1x4xf32>, memref<1x4xf32>
}
