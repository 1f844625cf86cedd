// RUN: nm-opt %s --convert-linalg-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

#each = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#transposed = affine_map<(i, j) -> (j, i)>

// A thread for each element, the last dimension fastest; the odd ones of the
// last block have nothing to do.
// CHECK-LABEL: func @elementwise
// CHECK-SAME: %[[X:.*]]: memref<?x70xf32>, %[[B:.*]]: memref<70xf32>, %[[Y:.*]]: memref<?x70xf32>
// CHECK: %[[M:.*]] = memref.dim %[[X]]
// CHECK: %[[TOTAL:.*]] = arith.muli %[[M]], %c70
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[TOTAL]], %c256
// CHECK: gpu.launch blocks(%[[BLOCK:[^,]*]], {{.*}}) in ({{.*}} = %[[BLOCKS]], {{.*}} = %c1, {{.*}} = %c1) threads(%[[THREAD:[^,]*]], {{.*}}) in (%[[SIZE:.*]] = %c256,
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[SIZE]]
// CHECK: %[[ID:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ID]], %[[TOTAL]]
// CHECK: scf.if %[[EXISTS]]
// CHECK-DAG: %[[J:.*]] = arith.remui %[[ID]], %c70
// CHECK-DAG: %[[I:.*]] = arith.divui %[[ID]], %c70
// CHECK-DAG: memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-DAG: memref.load %[[B]][%[[J]]]
// CHECK: arith.addf
// CHECK: memref.store {{.*}}, %[[Y]][%[[I]], %[[J]]]
func.func @elementwise(%x: memref<?x70xf32>, %b: memref<70xf32>, %y: memref<?x70xf32>) {
  linalg.generic {indexing_maps = [#each, #row, #each], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : memref<?x70xf32>, memref<70xf32>) outs(%y : memref<?x70xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %r = arith.addf %in, %bias : f32
    linalg.yield %r : f32
  }
  return
}

// Loops are in the output's order, whatever the op's is.
// CHECK-LABEL: func @transposed
// CHECK-SAME: %[[X:.*]]: memref<30x50xf32>, %[[Y:.*]]: memref<50x30xf32>
// CHECK: gpu.launch
// CHECK: scf.if
// CHECK-DAG: %[[J:.*]] = arith.remui %{{.*}}, %c30
// CHECK-DAG: %[[I:.*]] = arith.divui %{{.*}}, %c30
// CHECK: memref.load %[[X]][%[[J]], %[[I]]]
// CHECK: memref.store {{.*}}, %[[Y]][%[[I]], %[[J]]]
func.func @transposed(%x: memref<30x50xf32>, %y: memref<50x30xf32>) {
  linalg.generic {indexing_maps = [#each, #transposed], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<30x50xf32>) outs(%y : memref<50x30xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// A thread walks the reduction.
// CHECK-LABEL: func @reduction
// CHECK: gpu.launch
// CHECK: scf.if
// CHECK: scf.for
// CHECK: arith.addf
func.func @reduction(%x: memref<300x500xf32>, %y: memref<500xf32>) {
  linalg.generic {indexing_maps = [#each, #row], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<300x500xf32>) outs(%y : memref<500xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK-LABEL: func @whole_reduction
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}}) threads({{.*}}) in ({{.*}} = %c1,
// CHECK: scf.for
// CHECK: memref.store
// CHECK: gpu.terminator
func.func @whole_reduction(%x: memref<300xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%x : memref<300xf32>) outs(%y : memref<f32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.addf %in, %out : f32
    linalg.yield %r : f32
  }
  return
}

// Named ops, copies and parallel loops; a scalar is passed.
// CHECK-LABEL: func @others
// CHECK-COUNT-4: gpu.launch
// CHECK-NOT: memref.copy
func.func @others(%x: memref<30x50xf32>, %y: memref<30x50xf32>, %s: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<30x50xf32>)
  linalg.fill ins(%zero : f32) outs(%s : memref<f32>)
  memref.copy %x, %y : memref<30x50xf32> to memref<30x50xf32>
  scf.forall (%i) in (30) {
    %v = memref.load %s[] : memref<f32>
    memref.store %v, %x[%i, %i] : memref<30x50xf32>
  }
  return
}

// What packs weights runs on the host.
// CHECK-LABEL: func @packing
// CHECK-NOT: gpu.launch
// CHECK: linalg.fill
func.func @packing(%y: memref<30xf32>) attributes {nm.host} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<30xf32>)
  return
}
