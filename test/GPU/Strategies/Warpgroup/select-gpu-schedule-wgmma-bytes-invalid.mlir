// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<split_k = 2>'" --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<split_k = 2>'" --split-input-file

func.func @parts_of_k(%a: tensor<64x4096xi8>, %v: tensor<1024x64xi8>, %i: tensor<16x1xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  // expected-error @+1 {{strategy wgmma has no parts of k of operands of 8 bits}}
  %r = nm.spmm <8:32, block = 64x64> ins(%a, %v, %i : tensor<64x4096xi8>, tensor<1024x64xi8>, tensor<16x1xi8>)
    outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
