// Constant weights as code, unstructured and of an N:M pattern, on the simulator, against float64:
// with columns and rows that end in a warp, parts of k, and rows of m that no
// access loads at once.

// DEFINE: %{schedule} =
// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %t.mlir --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=%{schedule}"

// RUN: %python %S/Inputs/draw_constants.py < %s > %t.mlir

// REDEFINE: %{schedule} = simt_columns<block=[64,16,1],warp=[32,8],thread=[1,8],slice_k=2>
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = row_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f16
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows_row_major_c
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = simt_columns<block=[128,16,1],warp=[128,16],thread=[4,16],slice_k=1>
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = simt_columns
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows_row_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = pattern
// RUN: %{run} 2>&1 | FileCheck %s

// CHECK: check: result 0 of @{{.*}}: passed

func.func @m_major(%a: tensor<100x68xf32>, %c: tensor<37x68xf32>) -> tensor<37x68xf32> {
  %b = arith.constant dense<"DRAW 100x37xf32"> : tensor<100x37xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<100x37xf32>, tensor<100x68xf32>) outs(%c : tensor<37x68xf32>) -> tensor<37x68xf32>
  return %p : tensor<37x68xf32>
}

func.func @row_major_c(%a: tensor<60x49xf32>) -> tensor<49x24xf32> {
  %b = arith.constant dense<"DRAW 60x24xf32"> : tensor<60x24xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<49x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<49x24xf32>) -> tensor<49x24xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<60x49xf32>, tensor<60x24xf32>) outs(%f : tensor<49x24xf32>) -> tensor<49x24xf32>
  return %p : tensor<49x24xf32>
}

func.func @any_rows(%a: tensor<40x?xf32>, %c: tensor<32x?xf32>) -> tensor<32x?xf32> {
  %b = arith.constant dense<"DRAW 40x32xf32"> : tensor<40x32xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<40x32xf32>, tensor<40x?xf32>) outs(%c : tensor<32x?xf32>) -> tensor<32x?xf32>
  return %p : tensor<32x?xf32>
}

func.func @f16(%a: tensor<64x96xf16>, %bias: tensor<20xf16>) -> tensor<20x96xf16> {
  %b = arith.constant dense<"DRAW 64x20xf16"> : tensor<64x20xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<20x96xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<20x96xf16>) -> tensor<20x96xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<64x20xf16>, tensor<64x96xf16>) outs(%f : tensor<20x96xf16>) -> tensor<20x96xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<20x96xf16>, tensor<20xf16>) outs(%e : tensor<20x96xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<20x96xf16>
  return %r : tensor<20x96xf16>
}

// Rows that are not known, of a row-major C with a bias.
func.func @any_rows_row_major_c(%a: tensor<90x?xf16>, %bias: tensor<24xf16>, %c: tensor<?x24xf16>) -> tensor<?x24xf16> {
  %b = arith.constant dense<"DRAW 90x24xf16"> : tensor<90x24xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<?x24xf16>) -> tensor<?x24xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<90x?xf16>, tensor<90x24xf16>) outs(%f : tensor<?x24xf16>) -> tensor<?x24xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<?x24xf16>, tensor<24xf16>) outs(%c : tensor<?x24xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<?x24xf16>
  return %r : tensor<?x24xf16>
}

// Weights of an N:M pattern, of which the last window is a part, with a k that
// has no parts.
func.func @pattern(%a: tensor<7x68xf32>, %c: tensor<37x68xf32>) -> tensor<37x68xf32> {
  %b = arith.constant dense<"DRAW 7x37xf32 1:4"> : tensor<7x37xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<7x37xf32>, tensor<7x68xf32>) outs(%c : tensor<37x68xf32>) -> tensor<37x68xf32>
  return %p : tensor<37x68xf32>
}
