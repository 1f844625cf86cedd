// RUN: nm-opt %s --convert-nm-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=128 --split-input-file | FileCheck %s --check-prefix=OTHER

// Vectors of neighbours in a row stay in registers for all taps, four rows at a
// time; the 9 taps of a channel are loaded before. The last 14 are under a mask.
#image = affine_map<(n, c, y, t, u, x) -> (n, c, y + t, x + u)>
#filter = affine_map<(n, c, y, t, u, x) -> (c, t, u)>
#result = affine_map<(n, c, y, t, u, x) -> (n, c, y, x)>
// OTHER-LABEL: func.func @depthwise
// OTHER: linalg.generic
// CHECK-LABEL: func.func @depthwise(
// CHECK-SAME: %[[X:.*]]: memref<1x8x18x32xf32>, %[[F:.*]]: memref<8x3x3xf32>, %[[C:.*]]: memref<1x8x16x30xf32>)
func.func @depthwise(%x: memref<1x8x18x32xf32>, %f: memref<8x3x3xf32>, %c: memref<1x8x16x30xf32>) {
  // CHECK: scf.for %[[CHANNEL:.*]] = %c0
  // CHECK-COUNT-9: memref.load %[[F]][%[[CHANNEL]],
  // CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} step %c4
  // CHECK-COUNT-4: vector.load %[[C]]{{.*}}vector<16xf32>
  // 6 rows, 3 places each.
  // CHECK-COUNT-18: vector.load %[[X]]
  // CHECK-NOT: vector.load
  // CHECK: vector.store %{{.*}}, %[[C]]
  // CHECK: vector.maskedload %[[C]]
  // CHECK-COUNT-4: vector.maskedstore %[[C]]
  // CHECK-NOT: linalg.generic
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %f : memref<1x8x18x32xf32>, memref<8x3x3xf32>) outs(%c : memref<1x8x16x30xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// -----

// Every other pixel: two vectors, the second from where the first ends.
#image = affine_map<(c, t, x) -> (c, x * 2 + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
// CHECK-LABEL: func.func @strides(
func.func @strides(%x: memref<8x33xf16>, %f: memref<8x3xf16>, %c: memref<8x16xf32>) {
  // CHECK: %[[LOW:.*]] = vector.load %arg0[%[[C:.*]], %c0] {{.*}} vector<16xf16>
  // CHECK: %[[FIRST:.*]] = arith.extf %[[LOW]]
  // CHECK: %[[HIGH:.*]] = vector.load %arg0[%[[C]], %c15]
  // CHECK: %[[SECOND:.*]] = arith.extf %[[HIGH]]
  // CHECK: vector.shuffle %[[FIRST]], %[[SECOND]] [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<8x33xf16>, memref<8x3xf16>) outs(%c : memref<8x16xf32>) {
  ^bb0(%p: f16, %w: f16, %sum: f32):
    %a = arith.extf %p : f16 to f32
    %b = arith.extf %w : f16 to f32
    %product = arith.mulf %a, %b : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// -----

// Sums begin with what their memory is filled with, which is not read.
#image = affine_map<(c, t, x) -> (c, x + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
// CHECK-LABEL: func.func @filled(
func.func @filled(%x: memref<8x18xf32>, %f: memref<8x3xf32>) -> memref<8x16xf32> {
  // CHECK: %[[START:.*]] = arith.constant dense<1.000000e+00> : vector<16xf32>
  // CHECK: %[[C:.*]] = memref.alloc()
  // CHECK-NOT: linalg.fill
  // CHECK-NOT: vector.load %[[C]]
  // CHECK: arith.addf %{{.*}}, %[[START]]
  %one = arith.constant 1.0 : f32
  %c = memref.alloc() : memref<8x16xf32>
  linalg.fill ins(%one : f32) outs(%c : memref<8x16xf32>)
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<8x18xf32>, memref<8x3xf32>) outs(%c : memref<8x16xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return %c : memref<8x16xf32>
}

// -----

// Read where someone writes to that memory in between.
#image = affine_map<(c, t, x) -> (c, x + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
// CHECK-LABEL: func.func @written(
func.func @written(%x: memref<8x18xf32>, %f: memref<8x3xf32>) -> memref<8x16xf32> {
  // CHECK: %[[C:.*]] = memref.alloc()
  // CHECK: linalg.fill
  // CHECK: vector.load %[[C]]
  %one = arith.constant 1.0 : f32
  %i = arith.constant 0 : index
  %n = arith.constant 8 : index
  %c = memref.alloc() : memref<8x16xf32>
  linalg.fill ins(%one : f32) outs(%c : memref<8x16xf32>)
  scf.for %k = %i to %n step %n {
    memref.store %one, %c[%i, %i] : memref<8x16xf32>
  }
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<8x18xf32>, memref<8x3xf32>) outs(%c : memref<8x16xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return %c : memref<8x16xf32>
}

// -----

// Left: every third pixel.
#image = affine_map<(c, t, x) -> (c, x * 3 + t)>
#filter = affine_map<(c, t, x) -> (c, t)>
#result = affine_map<(c, t, x) -> (c, x)>
// CHECK-LABEL: func.func @third(
// CHECK: linalg.generic
func.func @third(%x: memref<8x48xf32>, %f: memref<8x3xf32>, %c: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<8x48xf32>, memref<8x3xf32>) outs(%c : memref<8x16xf32>) {
  ^bb0(%p: f32, %w: f32, %sum: f32):
    %product = arith.mulf %p, %w : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}
