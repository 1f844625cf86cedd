// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_select --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma_select --split-input-file 2>/dev/null

func.func @windows(%a: tensor<64x4096xi8>, %v: tensor<1024x128xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xi32>) -> tensor<64x128xi32> {
  // expected-error @+1 {{strategy wgmma_select selects from windows of 2, 4 or 8 rows, in units of one row, but got 8:32, block = 1x64}}
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<64x4096xi8>, tensor<1024x128xi8>, tensor<1024x2xi8>) outs(%c : tensor<64x128xi32>) -> tensor<64x128xi32>
  return %r : tensor<64x128xi32>
}

// -----

func.func @columns(%a: tensor<64x4096xi8>, %v: tensor<1024x128xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xi32>) -> tensor<64x128xi32> {
  // expected-error @+1 {{strategy wgmma_select needs a multiple of 16 columns that keep the same rows, but blocks have 8}}
  %r = nm.spmm <2:8, block = 1x8> ins(%a, %v, %i : tensor<64x4096xi8>, tensor<1024x128xi8>, tensor<1024x16xi8>) outs(%c : tensor<64x128xi32>) -> tensor<64x128xi32>
  return %r : tensor<64x128xi32>
}

// -----

func.func @rows_of_c(%a: tensor<64x4096xi8>, %v: tensor<1024x128xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x64xi32>) -> tensor<128x64xi32> {
  // expected-error @+1 {{strategy wgmma_select makes a row-major C}}
  %r = nm.spmm <2:8, block = 1x64> transpose_c ins(%a, %v, %i : tensor<64x4096xi8>, tensor<1024x128xi8>, tensor<1024x2xi8>) outs(%c : tensor<128x64xi32>) -> tensor<128x64xi32>
  return %r : tensor<128x64xi32>
}

// -----

func.func @rows_of_a(%a: tensor<64x4100xi8>, %v: tensor<1026x128xi8> {nm.values_of = 1 : i64}, %i: tensor<1026x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xi32>) -> tensor<64x128xi32> {
  // expected-error @+1 {{strategy wgmma_select copies rows of A at multiples of 16 bytes, but got rows that are 4100 apart}}
  %r = nm.spmm <2:8, block = 1x64> ins(%a, %v, %i : tensor<64x4100xi8>, tensor<1026x128xi8>, tensor<1026x2xi8>) outs(%c : tensor<64x128xi32>) -> tensor<64x128xi32>
  return %r : tensor<64x128xi32>
}

// -----

func.func @halves(%a: tensor<64x4096xf16>, %v: tensor<1024x128xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  // expected-error @+1 {{strategy wgmma_select multiplies i8, f8E4M3FN and f8E5M2, but got f16}}
  %r = nm.spmm <2:8, block = 1x64> ins(%a, %v, %i : tensor<64x4096xf16>, tensor<1024x128xf16>, tensor<1024x2xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

func.func @units_of_two_rows(%a: tensor<64x4096xi8>, %v: tensor<1024x128xi8> {nm.values_of = 1 : i64}, %i: tensor<512x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xi32>) -> tensor<64x128xi32> {
  // expected-error @+1 {{strategy wgmma_select selects from windows of 2, 4 or 8 rows, in units of one row, but got 1:4, block = 2x64}}
  %r = nm.spmm <1:4, block = 2x64> ins(%a, %v, %i : tensor<64x4096xi8>, tensor<1024x128xi8>, tensor<512x2xi8>) outs(%c : tensor<64x128xi32>) -> tensor<64x128xi32>
  return %r : tensor<64x128xi32>
}

// -----

func.func @windows_of_seven(%a: tensor<64x4480xi8>, %v: tensor<1280x128xi8> {nm.values_of = 1 : i64}, %i: tensor<1280x2xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x128xi32>) -> tensor<64x128xi32> {
  // expected-error @+1 {{strategy wgmma_select selects from windows of 2, 4 or 8 rows, in units of one row, but got 2:7, block = 1x64}}
  %r = nm.spmm <2:7, block = 1x64> ins(%a, %v, %i : tensor<64x4480xi8>, tensor<1280x128xi8>, tensor<1280x2xi8>) outs(%c : tensor<64x128xi32>) -> tensor<64x128xi32>
  return %r : tensor<64x128xi32>
}
