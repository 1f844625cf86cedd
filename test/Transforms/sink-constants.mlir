// RUN: nm-opt %s --nm-sink-constants | FileCheck %s

// CHECK-LABEL: @launches
// CHECK: arith.constant 1 : index
// CHECK: gpu.launch
// CHECK-NEXT: %[[C:.*]] = arith.constant 4 : index
// CHECK-NEXT: memref.load %{{.*}}[%[[C]]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.store %{{.*}}[%[[C]]]
// CHECK: gpu.launch
// CHECK-NEXT: %[[D:.*]] = arith.constant 4 : index
// CHECK-NEXT: memref.load %{{.*}}[%[[D]]]
func.func @launches(%a: memref<8xf32>, %b: i1) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%lx = %c1, %ly = %c1, %lz = %c1) {
    %x = memref.load %a[%c4] : memref<8xf32>
    scf.if %b {
      memref.store %x, %a[%c4] : memref<8xf32>
    }
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%lx = %c1, %ly = %c1, %lz = %c1) {
    %x = memref.load %a[%c4] : memref<8xf32>
    memref.store %x, %a[%tx] : memref<8xf32>
    gpu.terminator
  }
  return
}
