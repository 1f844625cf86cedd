// RUN: nm-opt %s --nm-widen-sums -verify-diagnostics | FileCheck %s

#row = affine_map<(m, n, k) -> (m, k)>
#column = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @named(
// CHECK:         %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4x5x8xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%[[F]] : tensor<4x5x8xf32>)
// CHECK:         ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %[[S:.*]]: f32):
// CHECK-DAG:       %[[A:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-DAG:       %[[B:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK:           %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:      %[[T:.*]] = arith.addf %[[S]], %[[P]] : f32
// CHECK-NEXT:      linalg.yield %[[T]] : f32
// CHECK:         %[[N:.*]] = arith.truncf %[[R]] : tensor<4x5x8xf32> to tensor<4x5x8xf16>
// CHECK:         return %[[N]]
func.func @named(%a: tensor<4x5x64xf16>, %b: tensor<4x64x8xf16>) -> tensor<4x5x8xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<4x5x8xf16>
  %0 = linalg.fill ins(%zero : f16) outs(%empty : tensor<4x5x8xf16>) -> tensor<4x5x8xf16>
  // expected-remark @below {{linalg.batch_matmul sums products in 'f32', rounded once to 'f16'}}
  %1 = linalg.batch_matmul ins(%a, %b : tensor<4x5x64xf16>, tensor<4x64x8xf16>)
                           outs(%0 : tensor<4x5x8xf16>) -> tensor<4x5x8xf16>
  return %1 : tensor<4x5x8xf16>
}

// CHECK-LABEL: func.func @held_before(
// CHECK-SAME:    %[[C:[^:]*]]: tensor<bf16>)
// CHECK:         %[[W:.*]] = arith.extf %[[C]] : tensor<bf16> to tensor<f32>
// CHECK:         linalg.generic {{.*}} outs(%[[W]] : tensor<f32>)
func.func @held_before(%a: tensor<9xbf16>, %b: tensor<9xbf16>, %c: tensor<bf16>) -> tensor<bf16> {
  // expected-remark @below {{linalg.dot sums products in 'f32'}}
  %0 = linalg.dot ins(%a, %b : tensor<9xbf16>, tensor<9xbf16>) outs(%c : tensor<bf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// Rounded to f16 and subtracted in f32: the product stays as it is, the sum is
// not rounded at each turn.
// CHECK-LABEL: func.func @conversions(
// CHECK:         ^bb0(%{{.*}}: f16, %{{.*}}: f16, %[[S:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : f16
// CHECK-NEXT:      %[[W:.*]] = arith.extf %[[P]] : f16 to f32
// CHECK-NEXT:      %[[T:.*]] = arith.subf %[[S]], %[[W]] fastmath<contract> : f32
// CHECK-NEXT:      linalg.yield %[[T]] : f32
func.func @conversions(%a: tensor<3x9xf16>, %b: tensor<9x4xf16>, %c: tensor<3x4xf16>) -> tensor<3x4xf16> {
  // expected-remark @below {{linalg.generic sums products in 'f32'}}
  %0 = linalg.generic {indexing_maps = [#row, #column, #result],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x9xf16>, tensor<9x4xf16>) outs(%c : tensor<3x4xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %1 = arith.mulf %x, %y : f16
    %2 = arith.extf %1 : f16 to f32
    %3 = arith.extf %sum : f16 to f32
    %4 = arith.subf %3, %2 fastmath<contract> : f32
    %5 = arith.truncf %4 : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<3x4xf16>
  return %0 : tensor<3x4xf16>
}

// One sum is narrow, of two.
// CHECK-LABEL: func.func @two_sums(
// CHECK:         %[[R:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<3x4xf64>)
// CHECK:           math.fma %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK:         } -> (tensor<3x4xf32>, tensor<3x4xf64>)
// CHECK:         %[[N:.*]] = arith.truncf %[[R]]#0
// CHECK:         return %[[N]], %[[R]]#1
func.func @two_sums(%a: tensor<3x9xf16>, %b: tensor<9x4xf16>, %c: tensor<3x4xf16>, %d: tensor<3x4xf64>) -> (tensor<3x4xf16>, tensor<3x4xf64>) {
  // expected-remark @below {{linalg.generic sums products in 'f32'}}
  %0:2 = linalg.generic {indexing_maps = [#row, #column, #result, #result],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x9xf16>, tensor<9x4xf16>) outs(%c, %d : tensor<3x4xf16>, tensor<3x4xf64>) {
  ^bb0(%x: f16, %y: f16, %sum: f16, %other: f64):
    %1 = math.fma %x, %y, %sum : f16
    %2 = arith.extf %x : f16 to f64
    %3 = arith.mulf %2, %2 : f64
    %4 = arith.addf %3, %other : f64
    linalg.yield %1, %4 : f16, f64
  } -> (tensor<3x4xf16>, tensor<3x4xf64>)
  return %0#0, %0#1 : tensor<3x4xf16>, tensor<3x4xf64>
}

// What is no sum of products, or is summed in f32 or more, stays; so does a body
// that reads its sum.
// CHECK-LABEL: func.func @as_written(
// CHECK-NOT:     arith.extf %{{.*}} : tensor
// CHECK:         linalg.reduce { arith.addf }
// CHECK:         linalg.matmul
// CHECK:         outs(%{{.*}} : tensor<3x4xf16>)
// CHECK-NOT:     arith.truncf %{{.*}} : tensor
func.func @as_written(%a: tensor<3x9xf16>, %b: tensor<9x4xf16>, %v: tensor<3xf16>, %c: tensor<3x4xf16>,
                      %w: tensor<3x4xf32>) -> (tensor<3xf16>, tensor<3x4xf32>, tensor<3x4xf16>) {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<3x9xf16>) outs(%v : tensor<3xf16>) dimensions = [1]
  %1 = linalg.matmul ins(%a, %b : tensor<3x9xf16>, tensor<9x4xf16>) outs(%w : tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark @below {{linalg.generic sums products in 'f16', not in f32: the body does more with its sum than to add to it}}
  %2 = linalg.generic {indexing_maps = [#row, #column, #result],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x9xf16>, tensor<9x4xf16>) outs(%c : tensor<3x4xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %3 = arith.mulf %x, %y : f16
    %4 = arith.addf %sum, %3 : f16
    %5 = arith.maximumf %4, %x : f16
    linalg.yield %5 : f16
  } -> tensor<3x4xf16>
  return %0, %1, %2 : tensor<3xf16>, tensor<3x4xf32>, tensor<3x4xf16>
}

// So does one that rounds its sum in a way of its own.
// CHECK-LABEL: func.func @rounded_upwards(
// CHECK:         outs(%{{.*}} : tensor<3x4xf16>)
// CHECK:         arith.truncf %{{.*}} upward
func.func @rounded_upwards(%a: tensor<3x9xf16>, %b: tensor<9x4xf16>, %c: tensor<3x4xf16>) -> tensor<3x4xf16> {
  // expected-remark @below {{linalg.generic sums products in 'f16', not in f32: the body does more with its sum than to add to it}}
  %0 = linalg.generic {indexing_maps = [#row, #column, #result],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x9xf16>, tensor<9x4xf16>) outs(%c : tensor<3x4xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %1 = arith.mulf %x, %y : f16
    %2 = arith.extf %1 : f16 to f32
    %3 = arith.extf %sum : f16 to f32
    %4 = arith.addf %3, %2 : f32
    %5 = arith.truncf %4 upward : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<3x4xf16>
  return %0 : tensor<3x4xf16>
}
