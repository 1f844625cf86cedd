// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// Each thread adds up four elements of a row, in the order of the parts, and
// then what C had.
// CHECK-LABEL: func.func @to_c
// CHECK-SAME: %[[P:.*]]: memref<3x4x256xf32>, %[[C:.*]]: memref<4x256xf32>
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c4, {{.*}}) threads({{.*}}) in (%{{.*}} = %c64,
// CHECK: %[[PT:.*]] = memref.subview %[[P]][0, %{{.*}}, 0] [3, 1, 256]
// CHECK-DAG: %[[P0:.*]] = memref.subview %[[PT]][0, 0, 0] [1, 1, 256]
// CHECK-DAG: %[[P1:.*]] = memref.subview %[[PT]][1, 0, 0] [1, 1, 256]
// CHECK-DAG: %[[P2:.*]] = memref.subview %[[PT]][2, 0, 0] [1, 1, 256]
// CHECK-DAG: %[[X0:.*]] = vector.load %[[P0]]
// CHECK-DAG: %[[X1:.*]] = vector.load %[[P1]]
// CHECK-DAG: %[[X2:.*]] = vector.load %[[P2]]
// CHECK-DAG: %[[BEFORE:.*]] = vector.load %[[CT:.*]][%c0{{.*}}, %{{.*}}] {{.*}} vector<4xf32>
// CHECK: %[[S1:.*]] = arith.addf %[[X0]], %[[X1]]
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[X2]]
// CHECK: %[[ALL:.*]] = arith.addf %{{.*}}, %[[S2]]
// CHECK: vector.store %[[ALL]]
func.func @to_c(%p: memref<3x4x256xf32>, %c: memref<4x256xf32>) {
  scf.forall (%m, %n) = (0, 0) to (4, 256) step (1, 256) {
    %pt = memref.subview %p[0, %m, %n] [3, 1, 256] [1, 1, 1] : memref<3x4x256xf32> to memref<3x1x256xf32, strided<[1024, 256, 1], offset: ?>>
    %ct = memref.subview %c[%m, %n] [1, 256] [1, 1] : memref<4x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>>
    nm.combine ins(%pt : memref<3x1x256xf32, strided<[1024, 256, 1], offset: ?>>) outs(%ct : memref<1x256xf32, strided<[256, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// From zeros, to an epilogue: the sums are in registers, and neither they nor
// the zeros are stored.
// CHECK-LABEL: func.func @to_epilogue
// CHECK-SAME: %[[P:.*]]: memref<2x4x256xf32>, %[[BIAS:[^:]*]]: memref<256xf32>, %[[C:.*]]: memref<4x256xf16>
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.fill
// CHECK: gpu.launch
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[S]], %{{.*}} : vector<4xf32>
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[Y]] : vector<4xf32> to vector<4xf16>
// CHECK-NEXT: vector.store %[[H]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: nm.combine
func.func @to_epilogue(%p: memref<2x4x256xf32>, %bias: memref<256xf32>, %c: memref<4x256xf16>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) = (0, 0) to (4, 256) step (1, 256) {
    %pt = memref.subview %p[0, %m, 0] [2, 1, 256] [1, 1, 1] : memref<2x4x256xf32> to memref<2x1x256xf32, strided<[1024, 256, 1], offset: ?>>
    %ct = memref.subview %c[%m, 0] [1, 256] [1, 1] : memref<4x256xf16> to memref<1x256xf16, strided<[256, 1], offset: ?>>
    %sums = memref.alloc() : memref<1x256xf32>
    linalg.fill ins(%zero : f32) outs(%sums : memref<1x256xf32>)
    nm.combine ins(%pt : memref<2x1x256xf32, strided<[1024, 256, 1], offset: ?>>) outs(%sums : memref<1x256xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%bias, %sums : memref<256xf32>, memref<1x256xf32>) outs(%ct : memref<1x256xf16, strided<[256, 1], offset: ?>>) {
    ^bb0(%b: f32, %s: f32, %o: f16):
      %x = arith.addf %s, %b : f32
      %y = arith.truncf %x : f32 to f16
      linalg.yield %y : f16
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
