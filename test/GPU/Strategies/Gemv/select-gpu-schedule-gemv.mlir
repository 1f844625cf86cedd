// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='gemv<slice_k = 4, split_k = 2, early_bytes = 512>'" 2>/dev/null | FileCheck %s --check-prefix=OPTIONS

// Few rows, and types that simt does not have, take strategy gemv.
// CHECK-LABEL: func.func @few_rows
// CHECK: nm.spmv <8:32> schedule #nm.gemv<block = [1, 32, 4096], warp = [1, 32], thread = [1, 1]{{.*}}slice_k = {{[0-9]+}}, early_bytes = 2048, packing = <panel = 32, index_bits = 5, chunk_rows = 8, index_rows = {{[0-9]+}}>>
// OPTIONS-LABEL: func.func @few_rows
// OPTIONS: schedule #nm.gemv<block = [1, 32, 4096], {{.*}}split_k = 2, slice_k = 4, early_bytes = 512,
func.func @few_rows(%x: tensor<4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x4096xi8>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  // expected-remark @+1 {{strategy gemv on sm_90; estimated}}
  %r = nm.spmv <8:32> ins(%x, %v, %i : tensor<4096xf16>, tensor<1024x4096xf16>, tensor<1024x4096xi8>)
    outs(%y : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// A dense matrix that comes with each call is packed then: gemv, which alone
// has f16, reads no other form.
// CHECK-LABEL: func.func @dense
// CHECK: nm.spmv <1:1, block = 1x16> schedule #nm.gemv<{{.*}}packing = <panel = 32, {{.*}}>>
func.func @dense(%x: tensor<48xf16>, %v: tensor<48x48xf16>, %i: tensor<48x1xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-remark @+1 {{strategy gemv on sm_90; estimated}}
  %r = nm.spmv <1:1, block = 1x48> ins(%x, %v, %i : tensor<48xf16>, tensor<48x48xf16>, tensor<48x1xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}
