// RUN: nm-opt %s --nm-separate-empties --split-input-file | FileCheck %s

// CHECK-LABEL: @each_writes_its_own
// CHECK: %[[ONE:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[ONE]] : tensor<4xf32>)
// CHECK-NEXT: %[[TWO:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[TWO]] : tensor<4xf32>)
func.func @each_writes_its_own(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

// What is read as well is filled once for the readers, and once for each op
// that writes to it.
// CHECK-LABEL: @fills
// CHECK-COUNT-3: linalg.fill
// CHECK-NOT: linalg.fill
// CHECK: return
func.func @fills(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %f : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%a, %f : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// -----

// The turns of a loop have one tensor, which is not the other op's.
// CHECK-LABEL: @in_a_loop
// CHECK: %[[ONE:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[ONE]] : tensor<4xf32>)
// CHECK-NEXT: %[[TWO:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: scf.for
// CHECK-NEXT: linalg.exp {{.*}} outs(%[[TWO]] : tensor<4xf32>)
func.func @in_a_loop(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = scf.for %i = %zero to %n step %one iter_args(%c = %x) -> (tensor<4xf32>) {
    %d = linalg.exp ins(%c : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %d : tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Both branches write to one tensor, which is then the result's memory.
// CHECK-LABEL: @branches
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NOT: tensor.empty
// CHECK: scf.if
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
// CHECK: else
// CHECK: linalg.log {{.*}} outs(%[[E]] :
func.func @branches(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = scf.if %b -> (tensor<4xf32>) {
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    %a = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// The iterations of a parallel loop have a tensor each, though CSE had made
// theirs that of an op before the loop; the loop's result is outside.
// CHECK-LABEL: @in_a_parallel_loop
// CHECK: linalg.exp
// CHECK: %[[R:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: scf.forall {{.*}} shared_outs(%{{.*}} = %[[R]])
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK-NEXT: linalg.log {{.*}} outs(%[[F]] :
func.func @in_a_parallel_loop(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = scf.forall (%i) in (2) shared_outs(%o = %e) -> (tensor<4xf32>) {
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %c = linalg.log ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    %s = tensor.extract_slice %c[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [2] [1] : tensor<2xf32> into tensor<4xf32>
    }
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// Reshapes of an empty tensor, and fills of these, as two norms have them: else
// the fill is copied for the second.
// CHECK-LABEL: @fills_of_reshapes
// CHECK: linalg.fill
// CHECK: linalg.reduce
// CHECK: tensor.empty
// CHECK-NEXT: tensor.expand_shape
// CHECK-NEXT: tensor.collapse_shape
// CHECK-NEXT: linalg.fill
// CHECK: linalg.reduce ins(%{{.*}} : tensor<4x1xf32>)
func.func @fills_of_reshapes(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %s = tensor.expand_shape %e [[0, 1, 2]] output_shape [2, 2, 1] : tensor<4xf32> into tensor<2x2x1xf32>
  %c = tensor.collapse_shape %s [[0, 1, 2]] : tensor<2x2x1xf32> into tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.reduce ins(%x : tensor<4x4xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
  %w = tensor.expand_shape %a [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %b = linalg.reduce ins(%w : tensor<4x1xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    }
  return %b : tensor<4xf32>
}
