// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=simt" --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=simt" --split-input-file
// RUN: not nm-opt %S/select-gpu-schedule.mlir --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<stages = -3>'" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: expected stages in 1..65536, but got -3

func.func @dynamic(%x: tensor<?xf32>, %v: tensor<?x8xf32>, %i: tensor<?x8xi8>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected a constant k and n on a GPU}}
  %r = nm.spmv <2:4> ins(%x, %v, %i : tensor<?xf32>, tensor<?x8xf32>, tensor<?x8xi8>)
    outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @strategy(%a: tensor<8x4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected a schedule of a GPU strategy, but got vector}}
  %r = nm.spmm <2:4> schedule #nm.vector<block = [8, 8, 4]>
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @window(%a: tensor<64x131040xf32>, %v: tensor<65520x64xf32>, %i: tensor<16x1xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{expected a window to fit in 232448 bytes of shared memory, but one of 16:32, block = 4095x64 spans 131040 rows}}
  %r = nm.spmm <16:32, block = 4095x64>
    ins(%a, %v, %i : tensor<64x131040xf32>, tensor<65520x64xf32>, tensor<16x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
