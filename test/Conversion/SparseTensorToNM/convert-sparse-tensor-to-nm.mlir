// RUN: nm-opt %s --convert-sparse-tensor-to-nm | FileCheck %s
// RUN: nm-opt %s --convert-sparse-tensor-to-nm --convert-linalg-to-nm --nm-materialize-storage \
// RUN:   | FileCheck %s --check-prefix=STORED
// There and back is the same.
// RUN: nm-opt %s --convert-sparse-tensor-to-nm --canonicalize --cse > %t.mlir
// RUN: nm-opt %t.mlir --convert-nm-to-sparse-tensor --convert-sparse-tensor-to-nm --canonicalize --cse | diff - %t.mlir
// What is compiled agrees with float64.
// RUN: nm-opt %s --convert-sparse-tensor-to-nm --symbol-privatize=exclude=product --symbol-dce > %t.run.mlir
// RUN: nm-run %t.run.mlir --function=product --random --check 2>&1 | FileCheck %s --check-prefix=VALUES

#first = #sparse_tensor.encoding<{map = (k, n) -> (n : dense, k floordiv 4 : dense, k mod 4 : structured[2, 4])}>
#second = #sparse_tensor.encoding<{map = (n, k) -> (n : dense, k floordiv 16 : dense, k mod 16 : structured[4, 16]), posWidth = 32, crdWidth = 8}>
#windows = #sparse_tensor.encoding<{map = (k, n) -> (k floordiv 8 : dense, n : dense, k mod 8 : structured[1, 8])}>
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The positions of k, and other sparse tensors as they are.
// CHECK-LABEL: func.func private @types
// CHECK-SAME: tensor<64x48xf32, #nm.encoding<2:4>>, tensor<48x64xf16, #nm.encoding<4:16, dim = 1>>
// CHECK-SAME: tensor<64x48xi8, #nm.encoding<1:8>>, tensor<8x8xf32, #{{.*}}>
func.func private @types(tensor<64x48xf32, #first>, tensor<48x64xf16, #second>,
                         tensor<64x48xi8, #windows>, tensor<8x8xf32, #csr>)

// CHECK-LABEL: func.func @product
// CHECK-SAME: tensor<64x48xf32, #nm.encoding<2:4>>
// CHECK: linalg.matmul ins({{.*}} : tensor<5x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
// STORED-LABEL: func.func @product
// STORED-SAME: tensor<32x48xf32> {nm.values_of = 1 : i64}
// STORED: nm.spmm <2:4>
// VALUES: 5x48 f32
func.func @product(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #first>,
                   %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf32, #first>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// A constant is checked and condensed when storage is materialized.
// CHECK-LABEL: func.func @constant
// CHECK: arith.constant dense<{{.*}}> : tensor<4x2xf32, #nm.encoding<2:4>>
// STORED-LABEL: func.func @constant
// STORED: arith.constant dense<{{\[}}[0.000000e+00, 2.000000e+00], [1.000000e+00, 3.000000e+00]]> : tensor<2x2xf32>
func.func @constant(%a: tensor<5x4xf32>, %c: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %dense = arith.constant dense<[[0.0, 2.0], [0.0, 0.0], [0.0, 3.0], [1.0, 0.0]]> : tensor<4x2xf32>
  %w = sparse_tensor.convert %dense : tensor<4x2xf32> to tensor<4x2xf32, #first>
  %r = linalg.matmul ins(%a, %w : tensor<5x4xf32>, tensor<4x2xf32, #first>)
    outs(%c : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %r : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @conversions
// CHECK: %[[parts:.*]]:2 = nm.compress <4:16> dim 1 ins(%{{.*}} : tensor<48x64xf16>)
// CHECK: %[[w:.*]] = nm.assemble %[[parts]]#0, %[[parts]]#1 : tensor<16x48xf16>, tensor<16x48xi8> -> tensor<48x64xf16, #nm.encoding<4:16, dim = 1>>
// CHECK: %[[values:.*]], %[[indices:.*]] = nm.disassemble %[[w]]
// CHECK: nm.decompress <4:16> dim 1 ins(%[[values]], %[[indices]]
func.func @conversions(%dense: tensor<48x64xf16>) -> tensor<48x64xf16> {
  %w = sparse_tensor.convert %dense : tensor<48x64xf16> to tensor<48x64xf16, #second>
  %r = sparse_tensor.convert %w : tensor<48x64xf16, #second> to tensor<48x64xf16>
  return %r : tensor<48x64xf16>
}
