// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule --split-input-file 2>&1 | FileCheck %s

// Weights that are loaded are packed by columns where few are kept, and m-major
// activations let them be.
// CHECK: strategy simt_columns on sm_90; {{.*}}; zeros are skipped, 5.0 % of the weights are kept
// CHECK-LABEL: func.func @loaded
// CHECK: nm.spmm <1:1> {{.*}}transpose_a transpose_c schedule #nm.simt_columns<block = [{{[0-9]+, [0-9]+}}, 512], {{.*}}kept = 52428, tile_rows = 512>
func.func @loaded(%a: tensor<512x256xf32>, %b: tensor<512x2048xf32, #nm.encoding<unstructured, kept = 52428>>, %c: tensor<2048x256xf32>) -> tensor<2048x256xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<512x2048xf32, #nm.encoding<unstructured, kept = 52428>>, tensor<512x256xf32>) outs(%c : tensor<2048x256xf32>) -> tensor<2048x256xf32>
  return %r : tensor<2048x256xf32>
}

// -----

// A pattern that is asked for stays one.
// CHECK-LABEL: func.func @pattern
// CHECK-NOT: simt_columns
func.func @pattern(%a: tensor<512x256xf32>, %v: tensor<32x2048xf32>, %i: tensor<32x2048xi8>, %c: tensor<2048x256xf32>) -> tensor<2048x256xf32> {
  %r = nm.spmm <2:32> transpose_a transpose_c ins(%a, %v, %i : tensor<512x256xf32>, tensor<32x2048xf32>, tensor<32x2048xi8>)
    outs(%c : tensor<2048x256xf32>) -> tensor<2048x256xf32>
  return %r : tensor<2048x256xf32>
}
