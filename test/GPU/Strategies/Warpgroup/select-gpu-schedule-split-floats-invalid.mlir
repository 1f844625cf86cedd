// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<split_k = 2>'" --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='wgmma<split_k = 2>'"

func.func @parts_of_units(%a: tensor<128x1024xf32>, %v: tensor<512x128xf32>, %i: tensor<8x2xi8>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // expected-error @+1 {{strategy wgmma has no parts of k of f32 whose tiles are parts of units, as those of 2:4, block = 64x64 are}}
  %r = nm.spmm <2:4, block = 64x64>
    ins(%a, %v, %i : tensor<128x1024xf32>, tensor<512x128xf32>, tensor<8x2xi8>)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
