// RUN: nm-opt %s --convert-linalg-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

#each = affine_map<(i, j, k) -> (i, j, k)>

// What is made of positions alone: a thread for each row, one store of it, and
// one load of what its elements have in common.
// CHECK-LABEL: func @row
// CHECK-SAME: %[[X:.*]]: memref<6x64xf16>, %[[Y:.*]]: memref<6x8x8xf16>
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}}) threads({{.*}}) in ({{.*}} = %c256,
// CHECK: arith.cmpi ult, %{{.*}}, %c48
// CHECK-DAG: %[[J:.*]] = arith.remui %{{.*}}, %c8
// CHECK-DAG: %[[I:.*]] = arith.divui %{{.*}}, %c8
// CHECK: memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NOT: memref.load
// CHECK: %[[ROW:.*]] = vector.from_elements {{.*}} : vector<8xf16>
// CHECK: vector.store %[[ROW]], %[[Y]][%[[I]], %[[J]], %c0] {alignment = 16 : i64}
// CHECK-NOT: vector.store
func.func @row(%x: memref<6x64xf16>, %y: memref<6x8x8xf16>) {
  linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel", "parallel"]}
    outs(%y : memref<6x8x8xf16>) {
  ^bb0(%out: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %scale = memref.load %x[%i, %j] : memref<6x64xf16>
    %word = arith.index_cast %k : index to i16
    %exact = arith.sitofp %word : i16 to f16
    %r = arith.mulf %scale, %exact : f16
    linalg.yield %r : f16
  }
  return
}

// -----

#each = affine_map<(i, j) -> (i, j)>

// Rows of 12 bytes are stored by no single access.
// CHECK-LABEL: func @odd
// CHECK-NOT: vector.store
// CHECK: memref.store
func.func @odd(%y: memref<6x6xi16>) {
  linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]}
    outs(%y : memref<6x6xi16>) {
  ^bb0(%out: i16):
    %j = linalg.index 1 : index
    %r = arith.index_cast %j : index to i16
    linalg.yield %r : i16
  }
  return
}

// -----

#each = affine_map<(i, j) -> (i, j)>

// Nor are rows that begin anywhere.
// CHECK-LABEL: func @strided
// CHECK-NOT: vector.store
// CHECK: memref.store
func.func @strided(%y: memref<6x8xi16, strided<[9, 1]>>) {
  linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]}
    outs(%y : memref<6x8xi16, strided<[9, 1]>>) {
  ^bb0(%out: i16):
    %j = linalg.index 1 : index
    %r = arith.index_cast %j : index to i16
    linalg.yield %r : i16
  }
  return
}
