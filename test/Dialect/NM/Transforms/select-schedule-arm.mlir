// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+neon,+dotprod" --split-input-file 2>&1 | FileCheck %s --check-prefixes=BYTES,DOT
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+neon,+i8mm,+bf16" --split-input-file 2>&1 | FileCheck %s --check-prefixes=BYTES,HALVES
// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+neon" --split-input-file 2>&1 | FileCheck %s --check-prefix=NEON
// RUN: not nm-opt %s --nm-select-schedule="features=+neon schedule=amx" --split-input-file 2>&1 | FileCheck %s --check-prefix=FEATURES

// Products in the packed form of tiles by vectors of Arm, of the types that
// they multiply.

// FEATURES: error: 'nm.spmm' op expected a processor with avx512vnni and avx512bw, amx-int8, or dotprod or i8mm of Arm, for strategy amx; see the option features
// FEATURES: error: 'nm.spmm' op expected a processor with amx-tile, amx-bf16 and avx512bw, or bf16 of Arm, for strategy amx; see the option features

// NEON: strategy vector
// BYTES: i8: strategy amx, tiles of kept rows, copied side by side
func.func @bytes(%a: tensor<128x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xi32>) -> tensor<128x4096xi32> {
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<128x4096xi8>, tensor<1024x4096xi8>, tensor<1024x128xi8>) outs(%c : tensor<128x4096xi32>) -> tensor<128x4096xi32>
  return %r : tensor<128x4096xi32>
}

// -----

// NEON: strategy vector
// DOT: bf16: strategy vector
// HALVES: bf16: strategy amx, tiles of kept rows, copied side by side, in which subnormal numbers are zero
func.func @halves(%a: tensor<128x4096xbf16>, %v: tensor<1024x4096xbf16> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4096xf32>) -> tensor<128x4096xf32> {
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<128x4096xbf16>, tensor<1024x4096xbf16>, tensor<1024x128xi8>) outs(%c : tensor<128x4096xf32>) -> tensor<128x4096xf32>
  return %r : tensor<128x4096xf32>
}
