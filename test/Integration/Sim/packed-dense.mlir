// Loaded unstructured weights that are packed dense, as split floats, on the
// simulator, against float64: sums of few and of many rows of k, edges
// everywhere, and both layouts of A and C.

// RUN: nm-compile %s --target=sim:sm_90a --schedule=wgmma --with-reference -o %t.so

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %t.so --random --check --function=%{function}

// REDEFINE: %{function} = odd
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = m_major
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = m_major_c
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = long
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = layer
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = any_rows
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = blocks
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = narrow
// RUN: %{run} 2>&1 | FileCheck %s
// REDEFINE: %{function} = f16
// RUN: %{run} 2>&1 | FileCheck %s

// What the model chooses where nothing is asked for.
// RUN: nm-compile %s --target=sim:sm_90a --with-reference -o %t.chosen.so 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: k = 500, f32: strategy wgmma {{.*}}; dense weights are packed when they are loaded
// RUN: nm-run %t.chosen.so --random --check --function=chosen 2>&1 | FileCheck %s

// CHECK: check: result 0 of @{{.*}}: passed

func.func @odd(%a: tensor<130x100xf32>, %b: tensor<100x70xf32, #nm.encoding<unstructured, kept = 2100>>) -> tensor<130x70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<130x70xf32>) -> tensor<130x70xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<130x100xf32>, tensor<100x70xf32, #nm.encoding<unstructured, kept = 2100>>) outs(%f : tensor<130x70xf32>) -> tensor<130x70xf32>
  return %p : tensor<130x70xf32>
}

func.func @m_major(%a: tensor<300x67xf32>, %b: tensor<300x129xf32, #nm.encoding<unstructured, kept = 3870>>) -> tensor<67x129xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x129xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<67x129xf32>) -> tensor<67x129xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<300x67xf32>, tensor<300x129xf32, #nm.encoding<unstructured, kept = 3870>>) outs(%f : tensor<67x129xf32>) -> tensor<67x129xf32>
  return %p : tensor<67x129xf32>
}

func.func @m_major_c(%a: tensor<520x33xf32>, %b: tensor<520x200xf32, #nm.encoding<unstructured, kept = 41600>>) -> tensor<200x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x33xf32>) -> tensor<200x33xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>]
    ins(%a, %b : tensor<520x33xf32>, tensor<520x200xf32, #nm.encoding<unstructured, kept = 41600>>) outs(%f : tensor<200x33xf32>) -> tensor<200x33xf32>
  return %p : tensor<200x33xf32>
}

func.func @long(%a: tensor<20x2100xf32>, %b: tensor<2100x100xf32, #nm.encoding<unstructured, kept = 42000>>) -> tensor<20x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x100xf32>) -> tensor<20x100xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<20x2100xf32>, tensor<2100x100xf32, #nm.encoding<unstructured, kept = 42000>>) outs(%f : tensor<20x100xf32>) -> tensor<20x100xf32>
  return %p : tensor<20x100xf32>
}

func.func @layer(%a: tensor<57x130xf32>, %w: tensor<96x130xf32, #nm.encoding<unstructured, kept = 4000, dim = 1>>, %bias: tensor<96xf32>) -> tensor<57x96xf32> {
  %e = tensor.empty() : tensor<57x96xf32>
  %f = linalg.broadcast ins(%bias : tensor<96xf32>) outs(%e : tensor<57x96xf32>) dimensions = [0]
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %w : tensor<57x130xf32>, tensor<96x130xf32, #nm.encoding<unstructured, kept = 4000, dim = 1>>) outs(%f : tensor<57x96xf32>) -> tensor<57x96xf32>
  return %p : tensor<57x96xf32>
}

func.func @any_rows(%a: tensor<?x130xf32>, %w: tensor<130x70xf32, #nm.encoding<unstructured, kept = 4000>>, %c: tensor<?x70xf32>) -> tensor<?x70xf32> {
  %p = linalg.matmul 
    ins(%a, %w : tensor<?x130xf32>, tensor<130x70xf32, #nm.encoding<unstructured, kept = 4000>>) outs(%c : tensor<?x70xf32>) -> tensor<?x70xf32>
  return %p : tensor<?x70xf32>
}

func.func @blocks(%a: tensor<7x100xf32>, %b: tensor<100x84xf32, #nm.encoding<unstructured, kept = 960, block = 8x8>>, %c: tensor<7x84xf32>) -> tensor<7x84xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<7x100xf32>, tensor<100x84xf32, #nm.encoding<unstructured, kept = 960, block = 8x8>>) outs(%c : tensor<7x84xf32>) -> tensor<7x84xf32>
  return %p : tensor<7x84xf32>
}

func.func @f16(%a: tensor<40x100xf16>, %b: tensor<100x84xf16, #nm.encoding<unstructured, kept = 960>>, %c: tensor<40x84xf16>) -> tensor<40x84xf16> {
  %p = linalg.matmul ins(%a, %b : tensor<40x100xf16>, tensor<100x84xf16, #nm.encoding<unstructured, kept = 960>>) outs(%c : tensor<40x84xf16>) -> tensor<40x84xf16>
  return %p : tensor<40x84xf16>
}

func.func @chosen(%a: tensor<640x500xf32>, %b: tensor<500x1000xf32, #nm.encoding<unstructured, kept = 250000>>) -> tensor<640x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<640x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<640x1000xf32>) -> tensor<640x1000xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<640x500xf32>, tensor<500x1000xf32, #nm.encoding<unstructured, kept = 250000>>) outs(%f : tensor<640x1000xf32>) -> tensor<640x1000xf32>
  return %p : tensor<640x1000xf32>
}

func.func @narrow(%a: tensor<67x45xf32>, %b: tensor<45x33xf32, #nm.encoding<unstructured, kept = 500>>) -> tensor<67x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<67x33xf32>) -> tensor<67x33xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<67x45xf32>, tensor<45x33xf32, #nm.encoding<unstructured, kept = 500>>) outs(%f : tensor<67x33xf32>) -> tensor<67x33xf32>
  return %p : tensor<67x33xf32>
}
