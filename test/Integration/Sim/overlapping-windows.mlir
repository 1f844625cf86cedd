// Windows as groups of four rows, of which neighbours share two: with fewer kept
// rows than groups have, a last window that is not whole, both layouts of A,
// split floats, batches and unknown rows.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --dynamic-size=75 --function=%{function} --compile-options="schedule=wgmma_sp"

// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = halves
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = m_major
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = splits
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = m_major_split_floats
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = fewer_kept
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = m_major_unknown
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = floats_of_bytes
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = batches
// RUN: %{run} | FileCheck %s

// 14 windows, the last one of 2 rows.
func.func @halves(%a: tensor<?x80xf16>, %b: tensor<80x72xf16, #nm.encoding<4:6>>, %c: tensor<?x72xf16>) -> tensor<?x72xf16> {
  %p = linalg.matmul ins(%a, %b : tensor<?x80xf16>, tensor<80x72xf16, #nm.encoding<4:6>>) outs(%c : tensor<?x72xf16>) -> tensor<?x72xf16>
  return %p : tensor<?x72xf16>
}

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @m_major(%a: tensor<83x72xbf16>, %b: tensor<83x96xbf16, #nm.encoding<14:16>>, %c: tensor<72x96xf32>) -> tensor<72x96xf32> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<83x72xbf16>, tensor<83x96xbf16, #nm.encoding<14:16>>) outs(%c : tensor<72x96xf32>) -> tensor<72x96xf32>
  return %p : tensor<72x96xf32>
}

// Rows of A start anywhere.
func.func @m_major_unknown(%a: tensor<83x?xf16>, %b: tensor<83x64xf16, #nm.encoding<4:6>>, %c: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<83x?xf16>, tensor<83x64xf16, #nm.encoding<4:6>>) outs(%c : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %p : tensor<?x64xf16>
}

// Eleven windows: a row ends in a part of a chunk.
func.func @floats_of_bytes(%a: tensor<70x85xf8E4M3FN>, %b: tensor<85x64xf8E4M3FN, #nm.encoding<6:8>>, %c: tensor<70x64xf32>) -> tensor<70x64xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<70x85xf8E4M3FN>, tensor<85x64xf8E4M3FN, #nm.encoding<6:8>>) outs(%c : tensor<70x64xf32>) -> tensor<70x64xf32>
  return %p : tensor<70x64xf32>
}

func.func @splits(%a: tensor<70x100xf32>, %b: tensor<100x96xf32, #nm.encoding<6:8, block = 1x8>>, %c: tensor<70x96xf32>) -> tensor<70x96xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<70x100xf32>, tensor<100x96xf32, #nm.encoding<6:8, block = 1x8>>) outs(%c : tensor<70x96xf32>) -> tensor<70x96xf32>
  return %p : tensor<70x96xf32>
}

func.func @m_major_split_floats(%a: tensor<88x77xf32>, %b: tensor<88x64xf32, #nm.encoding<3:6>>, %c: tensor<77x64xf32>) -> tensor<77x64xf32> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<88x77xf32>, tensor<88x64xf32, #nm.encoding<3:6>>) outs(%c : tensor<77x64xf32>) -> tensor<77x64xf32>
  return %p : tensor<77x64xf32>
}

// 4:10 is not what groups keep, which is 8:10.
func.func @fewer_kept(%a: tensor<66x96xf16>, %b: tensor<96x64xf16, #nm.encoding<4:10>>, %c: tensor<66x64xf32>) -> tensor<66x64xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<66x96xf16>, tensor<96x64xf16, #nm.encoding<4:10>>) outs(%c : tensor<66x64xf32>) -> tensor<66x64xf32>
  return %p : tensor<66x64xf32>
}

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @batches(%a: tensor<2x33x60xf16>, %b: tensor<60x64xf16, #nm.encoding<3:6>>, %c: tensor<2x33x64xf16>) -> tensor<2x33x64xf16> {
  %p = linalg.generic {indexing_maps = [#bmk, #bkn, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<2x33x60xf16>, tensor<60x64xf16, #nm.encoding<3:6>>) outs(%c : tensor<2x33x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %0 = arith.mulf %x, %y : f16
    %1 = arith.addf %z, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<2x33x64xf16>
  return %p : tensor<2x33x64xf16>
}
