// RUN: nm-opt %s --nm-merge-launches --split-input-file --verify-diagnostics | FileCheck %s

// The blocks of three launches, of which none reads what another writes; the
// host's work between them stays.

// CHECK-LABEL: @side_by_side
// CHECK-SAME: %[[A:[^:]*]]: memref<512xf32>, %[[B:[^:]*]]: memref<512xf32>, %[[C:[^:]*]]: memref<512xf32>, %[[N:[^:]*]]: index
// CHECK-DAG: %[[ALL:.*]] = arith.addi %[[N]], %{{.*}} : index
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in (%[[GRID:.*]] = %{{.*}}, %{{.*}} = %c1, %{{.*}} = %c1) threads(%[[T:.*]], %{{.*}}, %{{.*}}) in (%[[SIZE:.*]] = %c256,
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %c2
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK: } else {
// CHECK: %[[REST:.*]] = arith.subi %[[BLOCK]], %c2
// CHECK: %[[SECOND:.*]] = arith.cmpi ult, %[[REST]], %[[N]]
// CHECK-NEXT: scf.if %[[SECOND]] {
// CHECK: arith.muli %[[REST]], %[[SIZE]]
// CHECK: arith.addi %{{.*}}, %[[N]]
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK: } else {
// CHECK: arith.subi %[[REST]], %[[N]]
// CHECK: memref.store %{{.*}}, %[[C]]
// CHECK-NOT: gpu.launch
func.func @side_by_side(%a: memref<512xf32>, %b: memref<512xf32>, %c: memref<512xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %first = arith.muli %x, %bx : index
    %i = arith.addi %first, %tx : index
    memref.store %one, %a[%i] : memref<512xf32>
    gpu.terminator
  }
  // expected-remark @below {{is one kernel with one before it, of other blocks}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %n, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %first = arith.muli %x, %bx : index
    %i = arith.addi %first, %gx : index
    memref.store %one, %b[%i] : memref<512xf32>
    gpu.terminator
  }
  %d = memref.alloc() : memref<4xf32>
  // expected-remark @below {{is one kernel with one before it, of other blocks}}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    memref.store %one, %c[%x] : memref<512xf32>
    gpu.terminator
  }
  memref.dealloc %d : memref<4xf32>
  return
}

// -----

// What reads another's result stays behind it, whatever shape the result has,
// and so does what writes what another reads, or frees it.

// CHECK-LABEL: @in_order
// CHECK-COUNT-4: gpu.launch
func.func @in_order(%a: memref<512xf32>, %b: memref<512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %t = memref.alloc() : memref<512xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<512xf32>
    memref.store %v, %t[%tx] : memref<512xf32>
    gpu.terminator
  }
  %s = memref.expand_shape %t [[0, 1]] output_shape [2, 256] : memref<512xf32> into memref<2x256xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %v = memref.load %s[%c1, %tx] : memref<2x256xf32>
    memref.store %v, %b[%tx] : memref<512xf32>
    gpu.terminator
  }
  memref.dealloc %t : memref<512xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %v = memref.load %b[%tx] : memref<512xf32>
    memref.store %v, %a[%tx] : memref<512xf32>
    gpu.terminator
  }
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%c0] : memref<512xf32>
    memref.store %v, %b[%tx] : memref<512xf32>
    gpu.terminator
  }
  return
}

// -----

// Blocks of other sizes, of shared memory, of clusters and with barriers are
// launched alone, and so is what a call, which may do anything, stands between.

// CHECK-LABEL: @alone
// CHECK-COUNT-6: gpu.launch
func.func private @anything()
func.func @alone(%a: memref<512xf32>, %b: memref<512xf32>, %c: memref<512xf32>, %d: memref<512xf32>, %e: memref<512xf32>, %f: memref<512xf32>) {
  %one = arith.constant 1.0 : f32
  %bytes = arith.constant 64 : i32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    memref.store %one, %a[%tx] : memref<512xf32>
    gpu.terminator
  }
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    memref.store %one, %b[%tx] : memref<512xf32>
    gpu.terminator
  }
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) dynamic_shared_memory_size %bytes {
    memref.store %one, %c[%tx] : memref<512xf32>
    gpu.terminator
  }
  gpu.launch clusters(%k, %l, %m) in (%kx = %c2, %ky = %c1, %kz = %c1) blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    memref.store %one, %d[%tx] : memref<512xf32>
    gpu.terminator
  }
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    gpu.barrier
    memref.store %one, %e[%tx] : memref<512xf32>
    gpu.terminator
  }
  func.call @anything() : () -> ()
  gpu.launch blocks(%x, %y, %z) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c256, %by = %c1, %bz = %c1) {
    memref.store %one, %f[%tx] : memref<512xf32>
    gpu.terminator
  }
  return
}
