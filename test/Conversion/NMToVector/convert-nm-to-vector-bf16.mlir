// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=512 | FileCheck %s

// A single element of bf16 is no masked vector of 16 bits, of whose one lane
// LLVM's code generator for x86 makes a store of 32 bits.

// CHECK-LABEL: func.func @one(
// CHECK:         %[[VECTOR:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK:         %[[FIRST:.*]] = vector.extract %[[VECTOR]][0] : bf16
// CHECK-NEXT:    memref.store %[[FIRST]], %{{.*}} : memref<1xbf16>
// CHECK-NOT:     masked.store
// CHECK:         return
func.func @one(%a: memref<40xf32>, %v: memref<20x1xf32>, %i: memref<20x1xi8>, %c: memref<1xbf16>) {
  nm.spmv <2:4> ins(%a, %v, %i : memref<40xf32>, memref<20x1xf32>, memref<20x1xi8>) outs(%c : memref<1xbf16>)
    epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to bf16
    nm.yield %y : bf16
  }
  return
}

// How many columns are left may be known to LLVM alone.

// CHECK-LABEL: func.func @any(
// CHECK:         %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:    scf.if %[[ONE]] {
// CHECK:           memref.store %{{.*}} : memref<?xbf16>
// CHECK:         } else {
// CHECK:           llvm.intr.masked.store %{{.*}} : vector<16xi16>
func.func @any(%a: memref<40xf32>, %v: memref<20x?xf32>, %i: memref<20x?xi8>, %c: memref<?xbf16>) {
  nm.spmv <2:4> ins(%a, %v, %i : memref<40xf32>, memref<20x?xf32>, memref<20x?xi8>) outs(%c : memref<?xbf16>)
    epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to bf16
    nm.yield %y : bf16
  }
  return
}
