// Unstructured weights by their own columns, on the simulator, against float64:
// weights that are loaded, with sums by one warp and by several, lanes that have
// neighbouring rows and such that do not, and edges everywhere.

// DEFINE: %{schedule} =
// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=%{schedule}"

// REDEFINE: %{schedule} = simt_columns
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = row_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = row_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f16
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = batch
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows_row_major_c
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = simt_columns<block=[128,4,1],warp=[128,1],thread=[4,1],slice_k=1>
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f16
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = simt_columns<block=[64,3,1],warp=[32,1],thread=[1,1],slice_k=3>
// REDEFINE: %{function} = row_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f16
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows_row_major_c
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = simt_columns<block=[64,8,1],warp=[64,1],thread=[2,1],slice_k=2>
// REDEFINE: %{function} = row_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s

// CHECK: check: result 0 of @{{.*}}: passed

func.func @m_major(%a: tensor<200x68xf32>, %b: tensor<200x41xf32, #nm.encoding<unstructured, kept = 900>>) -> tensor<41x68xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<41x68xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<41x68xf32>) -> tensor<41x68xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<200x41xf32, #nm.encoding<unstructured, kept = 900>>, tensor<200x68xf32>) outs(%f : tensor<41x68xf32>) -> tensor<41x68xf32>
  return %p : tensor<41x68xf32>
}

func.func @row_major_c(%a: tensor<300x49xf32>, %b: tensor<300x13xf32, #nm.encoding<unstructured, kept = 3000>>) -> tensor<49x13xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<49x13xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<49x13xf32>) -> tensor<49x13xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<300x49xf32>, tensor<300x13xf32, #nm.encoding<unstructured, kept = 3000>>) outs(%f : tensor<49x13xf32>) -> tensor<49x13xf32>
  return %p : tensor<49x13xf32>
}

// A row-major A is transposed before.
func.func @row_major(%a: tensor<70x200xf32>, %b: tensor<200x40xf32, #nm.encoding<unstructured, kept = 500>>, %c: tensor<70x40xf32>) -> tensor<70x40xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<70x200xf32>, tensor<200x40xf32, #nm.encoding<unstructured, kept = 500>>) outs(%c : tensor<70x40xf32>) -> tensor<70x40xf32>
  return %p : tensor<70x40xf32>
}

func.func @any_rows(%a: tensor<90x?xf32>, %b: tensor<90x24xf32, #nm.encoding<unstructured, kept = 333>>, %c: tensor<24x?xf32>) -> tensor<24x?xf32> {
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<90x24xf32, #nm.encoding<unstructured, kept = 333>>, tensor<90x?xf32>) outs(%c : tensor<24x?xf32>) -> tensor<24x?xf32>
  return %p : tensor<24x?xf32>
}

func.func @f16(%a: tensor<520x96xf16>, %b: tensor<520x24xf16, #nm.encoding<unstructured, kept = 1333>>, %bias: tensor<24xf16>) -> tensor<24x96xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<24x96xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<24x96xf16>) -> tensor<24x96xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<520x24xf16, #nm.encoding<unstructured, kept = 1333>>, tensor<520x96xf16>) outs(%f : tensor<24x96xf16>) -> tensor<24x96xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n, m) -> (n, m)>, affine_map<(n, m) -> (n)>, affine_map<(n, m) -> (n, m)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<24x96xf16>, tensor<24xf16>) outs(%e : tensor<24x96xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<24x96xf16>
  return %r : tensor<24x96xf16>
}

func.func @batch(%a: tensor<3x64x40xbf16>, %b: tensor<64x20xbf16, #nm.encoding<unstructured, kept = 200>>, %c: tensor<3x20x40xf32>) -> tensor<3x20x40xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(b, n, m, k) -> (b, k, m)>, affine_map<(b, n, m, k) -> (k, n)>, affine_map<(b, n, m, k) -> (b, n, m)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x64x40xbf16>, tensor<64x20xbf16, #nm.encoding<unstructured, kept = 200>>) outs(%c : tensor<3x20x40xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x20x40xf32>
  return %p : tensor<3x20x40xf32>
}

// Rows that are not known, of a row-major C with a bias.
func.func @any_rows_row_major_c(%a: tensor<90x?xf16>, %b: tensor<90x13xf16, #nm.encoding<unstructured, kept = 222>>, %bias: tensor<13xf16>, %c: tensor<?x13xf16>) -> tensor<?x13xf16> {
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<?x13xf16>) -> tensor<?x13xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<90x?xf16>, tensor<90x13xf16, #nm.encoding<unstructured, kept = 222>>) outs(%f : tensor<?x13xf16>) -> tensor<?x13xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<?x13xf16>, tensor<13xf16>) outs(%c : tensor<?x13xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<?x13xf16>
  return %r : tensor<?x13xf16>
}
