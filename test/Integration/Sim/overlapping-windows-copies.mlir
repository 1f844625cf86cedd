// Windows as groups of four rows that overlap, which tensor copies of an m-major
// A repeat: of 16 windows at a time, and of what is behind the last 16 twice. All
// windows in tiles of 16, and none; units of several columns; fewer kept rows than
// groups have; windows of an odd number of rows; batches.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=wgmma_sp"

// RUN: nm-compile %s --target=sim:sm_90a --schedule=wgmma_sp -o %t.so 2>&1 | grep -c "which tensor copies repeat" | FileCheck %s --check-prefix=WAYS
// WAYS: {{^}}6{{$}}

// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = whole
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = ragged
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = units
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = fewer
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = odd_windows
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = batches
// RUN: %{run} | FileCheck %s

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @whole(%a: tensor<192x128xf16>, %b: tensor<192x64xf16, #nm.encoding<4:6>>, %c: tensor<128x64xf16>) -> tensor<128x64xf16> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<192x128xf16>, tensor<192x64xf16, #nm.encoding<4:6>>) outs(%c : tensor<128x64xf16>) -> tensor<128x64xf16>
  return %p : tensor<128x64xf16>
}

// The last window has one row, and rows of A are copied to padded rows.
func.func @ragged(%a: tensor<307x136xf16>, %b: tensor<307x192xf16, #nm.encoding<4:6>>, %c: tensor<136x192xf16>) -> tensor<136x192xf16> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<307x136xf16>, tensor<307x192xf16, #nm.encoding<4:6>>) outs(%c : tensor<136x192xf16>) -> tensor<136x192xf16>
  return %p : tensor<136x192xf16>
}

func.func @units(%a: tensor<253x64xbf16>, %b: tensor<253x80xbf16, #nm.encoding<6:8, block = 1x8>>, %c: tensor<64x80xbf16>) -> tensor<64x80xbf16> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<253x64xbf16>, tensor<253x80xbf16, #nm.encoding<6:8, block = 1x8>>) outs(%c : tensor<64x80xbf16>) -> tensor<64x80xbf16>
  return %p : tensor<64x80xbf16>
}

func.func @fewer(%a: tensor<333x200xbf16>, %b: tensor<333x136xbf16, #nm.encoding<7:10>>, %c: tensor<200x136xf32>) -> tensor<200x136xf32> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<333x200xbf16>, tensor<333x136xbf16, #nm.encoding<7:10>>) outs(%c : tensor<200x136xf32>) -> tensor<200x136xf32>
  return %p : tensor<200x136xf32>
}

func.func @odd_windows(%a: tensor<230x64xf16>, %b: tensor<230x128xf16, #nm.encoding<2:3>>, %c: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %p = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<230x64xf16>, tensor<230x128xf16, #nm.encoding<2:3>>) outs(%c : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %p : tensor<64x128xf16>
}

#bmk = affine_map<(b, m, n, k) -> (b, k, m)>
#bkn = affine_map<(b, m, n, k) -> (k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>
func.func @batches(%a: tensor<3x250x64xf16>, %b: tensor<250x64xf16, #nm.encoding<4:6>>, %c: tensor<3x64x64xf16>) -> tensor<3x64x64xf16> {
  %p = linalg.generic {indexing_maps = [#bmk, #bkn, #bmn], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<3x250x64xf16>, tensor<250x64xf16, #nm.encoding<4:6>>) outs(%c : tensor<3x64x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %0 = arith.mulf %x, %y : f16
    %1 = arith.addf %z, %0 : f16
    linalg.yield %1 : f16
  } -> tensor<3x64x64xf16>
  return %p : tensor<3x64x64xf16>
}
