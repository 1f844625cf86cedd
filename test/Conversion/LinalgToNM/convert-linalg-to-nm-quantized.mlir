// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @four_bits
// CHECK-SAME: %[[V:[^:]*]]: tensor<32x48xi8> {nm.values_of = 1 : i64}, %[[I:[^:]*]]: tensor<32x48xi8> {nm.indices_of = 1 : i64}, %[[S:[^:]*]]: tensor<2x48xf16>
// CHECK-NOT: linalg.generic
// CHECK: nm.spmm <2:4> quantization <bits = 4, group = 32> ins(%{{.*}}, %[[V]], %[[I]] : {{.*}} scales(%[[S]] : tensor<2x48xf16>)
func.func @four_bits(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// One scale for a column is one group: of as many rows as whole windows have.
// CHECK-LABEL: func.func @columns
// CHECK: %[[S:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [1, 48]
// CHECK: nm.spmm <2:4> quantization <bits = 8, group = 64> {{.*}} scales(%[[S]] : tensor<1x48xf16>)
func.func @columns(%a: tensor<4x62xf16>, %q: tensor<62x48xi8, #nm.encoding<2:4>>, %s: tensor<48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<62x48xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<62x48xi8, #nm.encoding<2:4>>, tensor<48xf16>) outs(%e : tensor<62x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<62x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x62xf16>, tensor<62x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// Scales that stand side by side along k are transposed.
// CHECK-LABEL: func.func @rows_of_scales
// CHECK: %[[S:.*]] = linalg.transpose ins(%{{.*}} : tensor<48x2xf16>)
// CHECK: nm.spmm <2:4> quantization <bits = 8, group = 32> {{.*}} scales(%[[S]] : tensor<2x48xf16>)
func.func @rows_of_scales(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<48x2xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n, k floordiv 32)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<48x2xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// A vector is a matrix of one row: what converts weights in registers multiplies matrices.
// CHECK-LABEL: func.func @row
// CHECK-SAME: (%[[A:.*]]: tensor<?xf16>
// CHECK-SAME: %[[C:[^:]*]]: tensor<48xf32>
// CHECK-DAG: %[[ROW:.*]] = tensor.expand_shape %[[A]] {{\[\[}}0, 1]] output_shape [1, %{{.*}}] : tensor<?xf16> into tensor<1x?xf16>
// CHECK-DAG: %[[SUMS:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0, 1]] output_shape [1, 48] : tensor<48xf32> into tensor<1x48xf32>
// CHECK: %[[R:.*]] = nm.spmm <2:4> quantization <bits = 8, group = 32> ins(%[[ROW]], {{.*}} outs(%[[SUMS]] : tensor<1x48xf32>)
// CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0, 1]] : tensor<1x48xf32> into tensor<48xf32>
func.func @row(%a: tensor<?xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf16>, %c: tensor<48xf32>) -> tensor<48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.vecmat ins(%a, %w : tensor<?xf16>, tensor<64x48xf16>) outs(%c : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}
