// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma --split-input-file --verify-diagnostics -o /dev/null
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=wgmma --split-input-file -o /dev/null 2>/dev/null

// A strategy that is asked for, and has no product of 8 bits, has one of f16,
// however small.
func.func @given(%a: tensor<64x128xf8E4M3FN>, %v: tensor<32x64xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<32x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{operands of f8E4M3FN are widened to f16, which has all of their values: estimated 2.5 us before the product; schedule #nm.wgmma}}
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<64x128xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<32x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// One that has it, keeps it.
func.func @bytes(%a: tensor<64x128xf8E4M3FN>, %v: tensor<64x64xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{f8E4M3FN: strategy wgmma}}
  %r = nm.spmm <1:2, block = 32x64> ins(%a, %v, %i : tensor<64x128xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<2x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Not where sums of i8 would be rounded, nor where weights come with each call.
func.func @long_sums(%a: tensor<64x8224xi8>, %v: tensor<1028x64xi8> {nm.values_of = 1 : i64}, %i: tensor<1028x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  // expected-error @+1 {{strategy wgmma copies units of a multiple of 16 rows of i8, but blocks have 1}}
  %r = nm.spmm <4:32, block = 1x64> ins(%a, %v, %i : tensor<64x8224xi8>, tensor<1028x64xi8>, tensor<1028x1xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// -----

func.func @computed(%a: tensor<64x128xf8E5M2>, %v: tensor<32x64xf8E5M2>, %i: tensor<32x1xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{strategy wgmma copies units of a multiple of 16 rows of f8E5M2, but blocks have 1}}
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<64x128xf8E5M2>, tensor<32x64xf8E5M2>, tensor<32x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
