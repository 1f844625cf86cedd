// RUN: nm-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(nm-check-sizes,canonicalize,cse))' | FileCheck %s

// The k of a weight is that of A, whose type says so behind the check.

// CHECK-LABEL: func @product(
// CHECK-SAME:    %[[A:.*]]: tensor<?x?xf32>, %[[W:.*]]: tensor<4096x8xf32,
// CHECK-DAG:     %[[K:.*]] = tensor.dim %[[A]], %c1 : tensor<?x?xf32>
// CHECK-DAG:     %[[AGREES:.*]] = arith.cmpi eq, %[[K]], %[[SIZE:c4096]] : index
// CHECK:         nm.check %[[AGREES]], "{{.*}}: linalg.matmul: expected dimension 1 of operand 0 (argument 0) to be {1}, as dimension 0 of operand 1 (argument 1) is, but got {0}"(%[[K]], %[[SIZE]])
// CHECK:         nm.check %{{.*}}, "{{.*}}: linalg.matmul: expected dimension 1 of operand 2 (argument 2) to be {1}, as dimension 1 of operand 1 (argument 1) is, but got {0}"
// CHECK:         %[[KNOWN:.*]] = tensor.cast %[[A]] : tensor<?x?xf32> to tensor<3x4096xf32>
// CHECK:         linalg.matmul ins(%[[KNOWN]], %[[W]]
func.func @product(%a: tensor<?x?xf32>, %w: tensor<4096x8xf32, #nm.encoding<2:4>>, %c: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %0 = linalg.matmul ins(%a, %w : tensor<?x?xf32>, tensor<4096x8xf32, #nm.encoding<2:4>>) outs(%c : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// -----

// A window ends inside of what it reads, unless there is none.

// CHECK-LABEL: func @window(
// CHECK-SAME:    %[[A:.*]]: tensor<?xf32>, %[[K:.*]]: tensor<3xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[IN:.*]] = tensor.dim %[[A]]
// CHECK-DAG:     %[[OUT:.*]] = tensor.dim %[[O]]
// CHECK:         %[[END:.*]] = arith.addi %[[OUT]], %c2
// CHECK-DAG:     %[[FITS:.*]] = arith.cmpi sge, %[[IN]], %[[END]] : index
// CHECK-DAG:     %[[EMPTY:.*]] = arith.cmpi eq, %[[OUT]], %c0 : index
// CHECK:         %[[HOLDS:.*]] = arith.ori %[[FITS]], %[[EMPTY]] : i1
// CHECK:         nm.check %[[HOLDS]], "{{.*}}: linalg.conv_1d: expected dimension 0 of operand 0 (argument 0) to be at least {1}, which the loops reach, but got {0}"(%[[IN]], %[[END]])
// CHECK-NOT:     nm.check
// CHECK:         linalg.conv_1d
func.func @window(%a: tensor<?xf32>, %k: tensor<3xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.conv_1d ins(%a, %k : tensor<?xf32>, tensor<3xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// All that depends on arguments' sizes is checked before anything runs; what is
// known, or was checked, is not.

// CHECK-LABEL: func @entry(
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK:         nm.check %{{.*}}, "{{.*}}: tensor.extract_slice: expected size 0 to be from 0 to {1}, which are there from its offset on, but got {0}"
// CHECK-NOT:     nm.check
// CHECK:         math.exp
// CHECK:         tensor.extract_slice
func.func @entry(%a: tensor<?x8xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %0 = math.exp %a : tensor<?x8xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %1 = tensor.extract_slice %0[0, 3] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?xf32>
  %2 = arith.addf %1, %b : tensor<?xf32>
  %3 = math.absf %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// A branch that is not taken demands nothing.

// CHECK-LABEL: func @branch(
// CHECK-NOT:     nm.check
// CHECK:         scf.if
// CHECK:           nm.check %{{.*}}, "{{.*}}: tensor.cast: expected dimension 0 of operand 0 (argument 0) to be {1}, but got {0}"
// CHECK:           math.exp
func.func @branch(%a: tensor<?xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %is4 = arith.cmpi eq, %n, %c4 : index
  %r = scf.if %is4 -> tensor<4xf32> {
    %0 = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
    %1 = math.exp %0 : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// An index that is data is checked for each element; the loop's own is not.

// CHECK-LABEL: func @gather(
// CHECK-SAME:    %[[T:.*]]: tensor<10x?xf32>
// CHECK:         nm.check %{{.*}}, "{{.*}}: linalg.generic: expected dimension 1 of the tensor that it reads to be at least {1}, which the loops reach, but got {0}"
// CHECK-NOT:     nm.check
// CHECK:         linalg.generic
// CHECK:           %[[J:.*]] = linalg.index 1 : index
// CHECK:           %[[P:.*]] = nm.check_index %{{.*}} in %c10, "{{.*}}: tensor.extract: expected an index from 0 to below {1} in dimension 0, but got {0}"
// CHECK:           tensor.extract %[[T]][%[[P]], %[[J]]]
func.func @gather(%t: tensor<10x?xf32>, %i: tensor<5xi64>, %o: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<5xi64>) outs(%o : tensor<5x8xf32>) {
  ^bb0(%x: i64, %y: f32):
    %p = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%p, %j] : tensor<10x?xf32>
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// -----

// CHECK-LABEL: func @assertion(
// CHECK-NOT:     cf.assert
// CHECK:         nm.check %{{.*}}, "{{.*}}: cf.assert: no (0}"
func.func @assertion(%a: tensor<f32>, %holds: i1) -> tensor<f32> {
  cf.assert %holds, "no {0}"
  return %a : tensor<f32>
}
