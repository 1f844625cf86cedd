// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-select-gpu-schedule --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_80 --nm-select-gpu-schedule

// A chip without thread block clusters cannot have them.
// CHECK: schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], split_k = 2, cluster_k = 2>
func.func @given(%a: tensor<8x64xf32>, %v: tensor<32x8xf32>, %i: tensor<32x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected a chip with thread block clusters, sm_90 or later, for cluster_k = 2, but got sm_80}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], split_k = 2, cluster_k = 2>
    ins(%a, %v, %i : tensor<8x64xf32>, tensor<32x8xf32>, tensor<32x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
