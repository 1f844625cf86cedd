// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<pack = true, block = [64, 16, 32], warp = [64, 16], thread = [8, 4]>'" 2>/dev/null | FileCheck %s
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<pack = true>'" 2>&1 | FileCheck %s --check-prefix=MODEL

// A block that is given may leave rows out where none of the cost model's does.
// CHECK-LABEL: func.func @narrow
// CHECK: schedule #nm.simt<block = [64, 16, 32], {{.*}}pack = true, packing = <panel = 16, index_bits = 8>>
// MODEL: error: {{.*}}expected a tile whose columns keep fewer than all units
func.func @narrow(%a: tensor<1024x1024xf32>, %v: tensor<512x1024xf32>, %i: tensor<512x64xi8>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = nm.spmm <16:32, block = 1x16>
    ins(%a, %v, %i : tensor<1024x1024xf32>, tensor<512x1024xf32>, tensor<512x64xi8>)
    outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
