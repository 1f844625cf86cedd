// RUN: nm-opt %s --allow-unregistered-dialect --nm-plan-memory | FileCheck %s
// RUN: nm-opt %s --allow-unregistered-dialect --nm-plan-memory=count=true | FileCheck %s --check-prefix=COUNT

// What lives at the same time has bytes of its own; what does not shares them.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: nm.temporary_bytes = 1280 : i64
// COUNT-LABEL: func.func @chain
// COUNT-SAME: nm.temporary_bytes = 1280 : i64
// COUNT: %[[A:.*]] = memref.alloc() : memref<64xf32>
// COUNT: memref.alloc() : memref<200xf32>
// COUNT: memref.dealloc %[[A]]
func.func @chain(%x: memref<64xf32>, %y: memref<64xf32>) {
  // CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 256 : i64} : memref<1280xi8>
  // CHECK: memref.extract_aligned_pointer_as_index %[[ALL]]
  // CHECK: arith.constant 1024 : index
  // CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<64xf32>
  %a = memref.alloc() : memref<64xf32>
  // CHECK: memref.copy %{{.*}}, %[[A]]
  memref.copy %x, %a : memref<64xf32> to memref<64xf32>
  // CHECK: arith.constant 0 : index
  // CHECK: %[[B:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<200xf32>
  %b = memref.alloc() : memref<200xf32>
  // CHECK-NEXT: "test.use"(%[[A]], %[[B]])
  "test.use"(%a, %b) : (memref<64xf32>, memref<200xf32>) -> ()
  memref.dealloc %a : memref<64xf32>
  // The place of %a, which is no more.
  // CHECK: arith.constant 1024 : index
  // CHECK: %[[C:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<8x8xf16, strided<[10, 1]>>
  %c = memref.alloc() : memref<8x8xf16, strided<[10, 1]>>
  // CHECK: "test.use"(%[[B]], %[[C]])
  "test.use"(%b, %c) : (memref<200xf32>, memref<8x8xf16, strided<[10, 1]>>) -> ()
  memref.dealloc %b : memref<200xf32>
  // CHECK-NEXT: "test.use"(%[[C]])
  "test.use"(%c) : (memref<8x8xf16, strided<[10, 1]>>) -> ()
  memref.dealloc %c : memref<8x8xf16, strided<[10, 1]>>
  // CHECK-NEXT: memref.dealloc %[[ALL]]
  // CHECK-NEXT: return
  return
}

// Dynamic sizes, other memory, and what a branch makes or releases stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nm.temporary_bytes
func.func @others(%n: index, %c: i1) {
  // CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  // CHECK: memref.alloc() : memref<4xf32, 3>
  %s = memref.alloc() : memref<4xf32, 3>
  memref.dealloc %s : memref<4xf32, 3>
  // CHECK: memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  scf.if %c {
    memref.dealloc %b : memref<4xf32>
  }
  return
}
