// Few rows of unstructured weights, by lanes that walk along columns, on the
// simulator, against float64: weights that are loaded, with gaps of 2, 4 and 8
// bits and with rows, sums by one warp and by several, and edges everywhere.

// DEFINE: %{schedule} =
// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=%{schedule}"

// REDEFINE: %{schedule} = gemv_columns
// REDEFINE: %{function} = one_row
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f32
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = bytes
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = vector
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = batch
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = long
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = gemv_columns<gap_bits=2,slice_k=1,stages=1>
// REDEFINE: %{function} = one_row
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = bytes
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = gemv_columns<gap_bits=4,slice_k=7,stages=4>
// REDEFINE: %{function} = one_row
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f32
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = long
// RUN: %{run} 2>&1 | FileCheck %s

// REDEFINE: %{schedule} = gemv_columns<gap_bits=8,slice_k=32,stages=3>
// REDEFINE: %{function} = vector
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f32
// RUN: %{run} 2>&1 | FileCheck %s

// Rows in place of gaps, with one, two and four words of A at once.
// REDEFINE: %{schedule} = gemv_columns<gap_bits=16,slice_k=5,stages=2>
// REDEFINE: %{function} = one_row
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f32
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = bytes
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = batch
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = long
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = of_few_rows_of_k
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s

// Two slices of a block, of which the last is behind n.
// REDEFINE: %{schedule} = gemv_columns<block=[2,64,1],warp=[2,32],thread=[2,1],slice_k=3>
// REDEFINE: %{function} = f32
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = bytes
// RUN: %{run} 2>&1 | FileCheck %s

// CHECK: check: result 0 of @{{.*}}: passed

func.func @one_row(%a: tensor<1x600xf16>, %b: tensor<600x75xf16, #nm.encoding<unstructured, kept = 21000>>, %bias: tensor<75xf16>) -> tensor<1x75xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x75xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x75xf16>) -> tensor<1x75xf16>
  %p = linalg.matmul ins(%a, %b : tensor<1x600xf16>, tensor<600x75xf16, #nm.encoding<unstructured, kept = 21000>>) outs(%f : tensor<1x75xf16>) -> tensor<1x75xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%p, %bias : tensor<1x75xf16>, tensor<75xf16>) outs(%e : tensor<1x75xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %0 = arith.addf %x, %y : f16
    %1 = arith.maximumf %0, %zero : f16
    linalg.yield %1 : f16
  } -> tensor<1x75xf16>
  return %r : tensor<1x75xf16>
}

func.func @f32(%a: tensor<5x301xf32>, %b: tensor<301x41xf32, #nm.encoding<unstructured, kept = 1200>>, %c: tensor<5x41xf32>) -> tensor<5x41xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<5x301xf32>, tensor<301x41xf32, #nm.encoding<unstructured, kept = 1200>>) outs(%c : tensor<5x41xf32>) -> tensor<5x41xf32>
  return %p : tensor<5x41xf32>
}

func.func @bytes(%a: tensor<3x530xi8>, %b: tensor<530x33xi8, #nm.encoding<unstructured, kept = 9000>>) -> tensor<3x33xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x33xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x33xi32>) -> tensor<3x33xi32>
  %p = linalg.matmul ins(%a, %b : tensor<3x530xi8>, tensor<530x33xi8, #nm.encoding<unstructured, kept = 9000>>) outs(%f : tensor<3x33xi32>) -> tensor<3x33xi32>
  return %p : tensor<3x33xi32>
}

// Ten rows are two blocks of rows, of which the second has two.
func.func @m_major(%a: tensor<200x10xbf16>, %b: tensor<200x31xbf16, #nm.encoding<unstructured, kept = 3000>>) -> tensor<31x10xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<31x10xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<31x10xbf16>) -> tensor<31x10xbf16>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<200x31xbf16, #nm.encoding<unstructured, kept = 3000>>, tensor<200x10xbf16>) outs(%f : tensor<31x10xbf16>) -> tensor<31x10xbf16>
  return %p : tensor<31x10xbf16>
}

func.func @vector(%w: tensor<130x700xf16, #nm.encoding<unstructured, kept = 900, dim = 1>>, %x: tensor<700xf16>) -> tensor<130xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<130xf32>) -> tensor<130xf32>
  %p = linalg.matvec ins(%w, %x : tensor<130x700xf16, #nm.encoding<unstructured, kept = 900, dim = 1>>, tensor<700xf16>) outs(%f : tensor<130xf32>) -> tensor<130xf32>
  return %p : tensor<130xf32>
}

func.func @batch(%a: tensor<3x4x64xbf16>, %b: tensor<64x40xbf16, #nm.encoding<unstructured, kept = 800>>, %c: tensor<3x4x40xf32>) -> tensor<3x4x40xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x4x64xbf16>, tensor<64x40xbf16, #nm.encoding<unstructured, kept = 800>>) outs(%c : tensor<3x4x40xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x4x40xf32>
  return %p : tensor<3x4x40xf32>
}

// Sums of several chains.
func.func @long(%a: tensor<2x5000xf32>, %b: tensor<5000x7xf32, #nm.encoding<unstructured, kept = 17000>>) -> tensor<2x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7xf32>) -> tensor<2x7xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2x5000xf32>, tensor<5000x7xf32, #nm.encoding<unstructured, kept = 17000>>) outs(%f : tensor<2x7xf32>) -> tensor<2x7xf32>
  return %p : tensor<2x7xf32>
}

// Rows of k that no weight has the remainder of.
func.func @of_few_rows_of_k(%a: tensor<6x5xf16>, %b: tensor<5x40xf16, #nm.encoding<unstructured, kept = 70>>, %c: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<6x5xf16>, tensor<5x40xf16, #nm.encoding<unstructured, kept = 70>>) outs(%c : tensor<6x40xf32>) -> tensor<6x40xf32>
  return %p : tensor<6x40xf32>
}

func.func @any_rows(%a: tensor<?x90xf16>, %b: tensor<90x24xf16, #nm.encoding<unstructured, kept = 333>>, %c: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<?x90xf16>, tensor<90x24xf16, #nm.encoding<unstructured, kept = 333>>) outs(%c : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %p : tensor<?x24xf32>
}
