// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts=schedule=wgmma_sp | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts=schedule=wgmma | FileCheck %s

// What widens A transposes it on the way, so that nothing has to before; and a
// strategy that is given and has the product of 8 bits keeps it.
// CHECK-LABEL: func.func @small
// CHECK-NOT: linalg.transpose
func.func @small(%a: tensor<152x76xf8E4M3FN>, %v: tensor<6x116xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<6x29xi8> {nm.indices_of = 1 : i64}, %c: tensor<152x116xf32>) -> tensor<152x116xf32> {
  %r = nm.spmm <2:32, block = 1x4> ins(%a, %v, %i : tensor<152x76xf8E4M3FN>, tensor<6x116xf8E4M3FN>, tensor<6x29xi8>) outs(%c : tensor<152x116xf32>) -> tensor<152x116xf32>
  return %r : tensor<152x116xf32>
}

// CHECK-LABEL: func.func @large
// CHECK-NOT: linalg.transpose
func.func @large(%a: tensor<4096x4096xi8>, %v: tensor<512x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<512x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <4:32, block = 1x64> ins(%a, %v, %i : tensor<4096x4096xi8>, tensor<512x4096xi8>, tensor<512x64xi8>) outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
