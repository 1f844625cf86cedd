// RUN: nm-opt %s --nm-outline-equal --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-outline-equal=host-only --split-input-file | FileCheck %s --check-prefix=HOST
// RUN: nm-opt %s --nm-outline-equal=launches --split-input-file | FileCheck %s --check-prefix=LAUNCH

// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %[[Z:.*]]: memref<4xf32>)
// CHECK-NEXT: call @chain.equal(%[[X]], %[[Y]])
// CHECK-NEXT: call @chain.equal(%[[Y]], %[[Z]])
// CHECK-NEXT: return
// CHECK: func.func private @chain.equal(%[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>) attributes {passthrough = ["noinline"]}
// CHECK-NEXT: linalg.exp ins(%[[A]] : memref<4xf32>) outs(%[[B]] : memref<4xf32>)
// CHECK-NEXT: return
// HOST-LABEL: func.func @chain
// HOST-COUNT-2: linalg.exp
func.func @chain(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  linalg.exp ins(%y : memref<4xf32>) outs(%z : memref<4xf32>)
  return
}

// -----

// What one op takes twice and another of two is not the same; neither are other
// types, other constants, and other attributes.
// CHECK-LABEL: func.func @different
// CHECK-NOT: call
// CHECK: return
func.func @different(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %w: memref<?xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  linalg.add ins(%x, %y : memref<4xf32>, memref<4xf32>) outs(%z : memref<4xf32>)
  linalg.fill ins(%one : f32) outs(%x : memref<4xf32>)
  linalg.fill ins(%two : f32) outs(%x : memref<4xf32>)
  linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  linalg.exp ins(%w : memref<?xf32>) outs(%w : memref<?xf32>)
  linalg.log ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// A constant is a part of the function, whatever value it is; an index that is
// computed is passed. Loops inside are not taken apart.
// CHECK-LABEL: func.func @loops
// CHECK: call @loops.equal(%arg2, %arg0)
// CHECK: call @loops.equal(%arg3, %arg1)
// CHECK: func.func private @loops.equal(%[[I:.*]]: index, %[[A:.*]]: memref<8xf32>)
// CHECK-NEXT: %[[CST:.*]] = arith.constant 1.0
// CHECK-NEXT: scf.forall (%[[J:.*]]) in (8)
// CHECK-NEXT: arith.addi %[[J]], %[[I]]
// CHECK: memref.store %[[CST]], %[[A]]
func.func @loops(%a: memref<8xf32>, %b: memref<8xf32>, %i: index, %j: index) {
  %one = arith.constant 1.0 : f32
  scf.forall (%k) in (8) {
    %at = arith.addi %k, %i : index
    memref.store %one, %a[%at] : memref<8xf32>
  }
  %again = arith.constant 1.0 : f32
  scf.forall (%k) in (8) {
    %at = arith.addi %k, %j : index
    memref.store %again, %b[%at] : memref<8xf32>
  }
  return
}

// -----

// Functions of the host stay that.
// CHECK-LABEL: func.func @pack
// HOST-LABEL: func.func @pack
// HOST-COUNT-2: call @pack.equal
// HOST: func.func private @pack.equal
// HOST-SAME: nm.host
func.func @pack(%v: memref<2x8xf32>, %i: memref<2x8xi8>, %p: memref<2x1x16xf32>, %q: memref<2x1x16xf32>) attributes {nm.host} {
  linalg.exp ins(%v : memref<2x8xf32>) outs(%v : memref<2x8xf32>)
  linalg.exp ins(%v : memref<2x8xf32>) outs(%v : memref<2x8xf32>)
  return
}

// -----

// Equal ops of two functions are one, with one name for each that is free.
// CHECK-LABEL: func.func @first
// CHECK: call @first.equal_0
// CHECK-LABEL: func.func @second
// CHECK: call @first.equal_0
// CHECK: func.func private @first.equal_0
func.func @first(%x: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
func.func @second(%x: memref<4xf32>) {
  linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
func.func private @first.equal()

// -----

// Launches alone are taken where they are asked for, whose kernels have the name
// of the caller. Sizes are constants of the function; a launch that something
// waits for stays.
// LAUNCH-LABEL: func.func @launches
// LAUNCH: linalg.exp
// LAUNCH: linalg.exp
// LAUNCH: call @launches.equal(%arg0, %arg1)
// LAUNCH-NEXT: call @launches.equal(%arg1, %arg0)
// LAUNCH: gpu.launch async
// LAUNCH: gpu.launch async
// LAUNCH: func.func private @launches.equal(%[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// LAUNCH: %[[FOUR:.*]] = arith.constant 4
// LAUNCH: gpu.launch
// LAUNCH-SAME: threads(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[FOUR]],
// LAUNCH-SAME: function(@launches_kernel)
// LAUNCH-NEXT: %[[V:.*]] = memref.load %[[A]]
// LAUNCH-NEXT: memref.store %[[V]], %[[B]]
func.func @launches(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  linalg.exp ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.exp ins(%b : memref<4xf32>) outs(%b : memref<4xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%tx] : memref<4xf32>
    memref.store %v, %b[%tx] : memref<4xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %v = memref.load %b[%tx] : memref<4xf32>
    memref.store %v, %a[%tx] : memref<4xf32>
    gpu.terminator
  }
  %first = gpu.launch async blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  %second = gpu.launch async blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  gpu.wait [%first, %second]
  return
}

// -----

// What is computed for a kernel is folded into it where it is computed.
// LAUNCH-LABEL: func.func @sizes
// LAUNCH-COUNT-2: gpu.launch
// LAUNCH-NOT: call
// LAUNCH: return
func.func @sizes(%a: memref<4xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %i, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%tx] : memref<4xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %i, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}
