// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<pack = true>'" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s --check-prefix=PLAIN
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<pack = true, block = [128, 128, 32]>'" --split-input-file 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='gemv<pack = true>'" --split-input-file 2>&1 | FileCheck %s --check-prefix=GEMV

// Only where it is asked for; a tile is chosen whose columns leave rows of A out:
// of 64, of 128 the units could keep all 32 of a window.
// CHECK-LABEL: func.func @select
// CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.simt<block = [{{[0-9]+}}, {{32|64}}, {{[0-9]+}}], {{.*}}pack = true, packing = <panel = 32, index_bits = 8>>
// PLAIN-LABEL: func.func @select
// PLAIN-NOT: pack = true
// BLOCK: error: 'nm.spmm' op expected the 128 columns of col_info to keep fewer than the 32 units of a window between them, but 4 units of columns that keep 8 each may keep 32: no rows of A would be left out
// GEMV: error: duplicate or unknown struct parameter name: pack
// GEMV: error: expected a schedule, such as 'simt' or 'simt<stages = 3>', but got 'gemv<pack = true>'
func.func @select(%a: tensor<1024x1024xf32>, %v: tensor<256x1024xf32>, %i: tensor<256x32xi8>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-remark @+1 {{nm.spmm <8:32, block = 1x32> (75.0 % sparse), m = 1024, n = 1024, k = 1024, f32: strategy simt on sm_90; estimated}}
  %r = nm.spmm <8:32, block = 1x32>
    ins(%a, %v, %i : tensor<1024x1024xf32>, tensor<256x1024xf32>, tensor<256x32xi8>)
    outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// -----

// Columns that are pruned one by one use all rows between them.
func.func @elements(%a: tensor<1024x1024xf32>, %v: tensor<256x1024xf32>, %i: tensor<256x1024xi8>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  // expected-error @+1 {{expected a tile whose columns keep fewer than all units of a window between them, to pack rows of A, but none is of 8:32}}
  %r = nm.spmm <8:32>
    ins(%a, %v, %i : tensor<1024x1024xf32>, tensor<256x1024xf32>, tensor<256x1024xi8>)
    outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
