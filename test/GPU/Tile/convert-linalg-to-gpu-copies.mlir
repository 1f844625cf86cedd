// RUN: nm-opt %s --convert-linalg-to-gpu --canonicalize --cse | FileCheck %s

// Rows of 100 and 128 elements are aligned by 8 bytes: a block copies 32 rows of
// 128 columns, a thread four elements in each of four rows.
// CHECK-LABEL: func @by_words
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in ({{.*}} = %c2, {{.*}}) threads(%[[THREAD:[^,]*]], {{.*}} = %c256
// CHECK: %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c32
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[WARP]]
// CHECK: %[[COLUMN:.*]] = arith.muli %[[LANE]], %c4
// CHECK: arith.cmpi ult, %[[COLUMN]], %c100
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %c31
// CHECK: arith.cmpi ult, %[[LAST]], %c33
// CHECK: scf.if
// CHECK-COUNT-4: vector.load {{.*}} {alignment = 8 : i64} : memref<33x100xf16>, vector<4xf16>
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 8 : i64} : memref<33x100xf16, strided<[128, 1]>>, vector<4xf16>
// CHECK: } else {
// CHECK: scf.if
// CHECK-NEXT: vector.load
// CHECK-NEXT: vector.store
func.func @by_words(%a: memref<33x100xf16>, %b: memref<33x100xf16, strided<[128, 1]>>) {
  memref.copy %a, %b : memref<33x100xf16> to memref<33x100xf16, strided<[128, 1]>>
  return
}

// What converts elements is done to as many as 16 bytes have of the wider ones.
// CHECK-LABEL: func @conversion
// CHECK-SAME: %[[A:.*]]: memref<64x512xf8E5M2>, %[[B:.*]]: memref<64x512xf16>
// CHECK: gpu.launch {{.*}} threads(%{{.*}}) in ({{.*}} = %c256
// CHECK-COUNT-4: vector.load %[[A]][{{.*}}] {alignment = 8 : i64} : memref<64x512xf8E5M2>, vector<8xf8E5M2>
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : vector<8xf8E5M2> to vector<8xf16>
// CHECK: vector.store %[[WIDE]], %[[B]][{{.*}}] {alignment = 16 : i64} : memref<64x512xf16>, vector<8xf16>
// CHECK-COUNT-3: vector.store
// CHECK-NOT: linalg.generic
func.func @conversion(%a: memref<64x512xf8E5M2>, %b: memref<64x512xf16>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x512xf8E5M2>) outs(%b : memref<64x512xf16>) {
  ^bb0(%x: f8E5M2, %o: f16):
    %y = arith.extf %x : f8E5M2 to f16
    linalg.yield %y : f16
  }
  return
}

// Rows of 77 elements start anywhere; eight elements of a thread are in flight.
// CHECK-LABEL: func @by_elements
// CHECK-COUNT-8: memref.load {{.*}} : memref<64x77xf16>
// CHECK-COUNT-8: memref.store {{.*}} : memref<64x77xf16, strided<[128, 1]>>
// CHECK-NOT: memref.load
// CHECK: return
func.func @by_elements(%a: memref<64x77xf16>, %b: memref<64x77xf16, strided<[128, 1]>>) {
  memref.copy %a, %b : memref<64x77xf16> to memref<64x77xf16, strided<[128, 1]>>
  return
}

// What is not known is asked for; strides of the target are multiples of 64.
// CHECK-LABEL: func @unknown
// CHECK-SAME: %[[A:.*]]: memref<2x40x?xf16>, %[[CHUNKS:.*]]: memref<2x40x?x64xf16>, %[[M:.*]]: index
// CHECK: %{{.*}}, %{{.*}}, %[[SIZES:.*]]:3, %[[STRIDES:.*]]:3 = memref.extract_strided_metadata %[[A]]
// CHECK: %[[ROW:.*]] = arith.remui %[[STRIDES]]#1, %c8
// CHECK: arith.remui %[[SIZES]]#2, %c8
// CHECK: %[[WIDE:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[WIDE]] {
// CHECK: gpu.launch
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<2x40x?xf16>, vector<8xf16>
// CHECK: } else {
// CHECK: gpu.launch
// CHECK: memref.load
func.func @unknown(%a: memref<2x40x?xf16>, %chunks: memref<2x40x?x64xf16>, %m: index) {
  %rows = memref.collapse_shape %chunks [[0], [1], [2, 3]] : memref<2x40x?x64xf16> into memref<2x40x?xf16>
  %b = memref.subview %rows[0, 0, 0] [2, 40, %m] [1, 1, 1] : memref<2x40x?xf16> to memref<2x40x?xf16, strided<[?, ?, 1]>>
  memref.copy %a, %b : memref<2x40x?xf16> to memref<2x40x?xf16, strided<[?, ?, 1]>>
  return
}

// Columns, few of them, vectors and other elements are copied by a thread each.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: gpu.launch
// CHECK-NOT: vector.load
// CHECK: return
func.func @others(%a: memref<64x96xf16, strided<[1, 64]>>, %b: memref<64x96xf16>, %c: memref<64x8xf16>, %d: memref<64x8xf16>,
                  %e: memref<64xf16>, %f: memref<64xf16>, %g: memref<64x96xf64>, %h: memref<64x96xf64>) {
  memref.copy %a, %b : memref<64x96xf16, strided<[1, 64]>> to memref<64x96xf16>
  memref.copy %c, %d : memref<64x8xf16> to memref<64x8xf16>
  memref.copy %e, %f : memref<64xf16> to memref<64xf16>
  memref.copy %g, %h : memref<64x96xf64> to memref<64x96xf64>
  return
}
