// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s --check-prefix=RECORD
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<block = [32, 64, 64], warp = [32, 32], thread = [8, 4], stages = 4, split_k = 4, cluster_k = 2, prefetch = false>'" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=OPTIONS

// A schedule whose tiles are whole windows and panels.
// CHECK-LABEL: func.func @select
// CHECK: nm.spmm <4:32, block = 1x64> schedule #nm.simt<block = [{{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}], warp = [{{[0-9]+}}, {{[0-9]+}}], thread = [{{[0-9]+}}, {{[0-9]+}}]{{.*}}, packing = <panel = 64, index_bits = 8>>
// RECORD: nm.record = #nm.record<source = model, pattern = <4:32, block = 1x64>, chip = "sm_90", estimate_us = {{[0-9.e+]+}}, dense_us = {{[0-9.e+]+}}, multiply_floor_us = {{[0-9.e+]+}}, memory_floor_us = {{[0-9.e+]+}}, shared_bytes = {{[0-9]+}}, reason = "{{[^"]+}}", alternatives = [#nm.alternative<name = "own", strategy = "simt", estimate_us = {{[0-9.e+]+}}, chosen = true>
// OPTIONS-LABEL: func.func @select
// OPTIONS: schedule #nm.simt<block = [32, 64, 64], warp = [32, 32], thread = [8, 4], stages = 4, split_k = 4, cluster_k = 2, slice_k = 1, {{.*}}copy_a = squares, layout_a = interleaved, prefetch = false, defer = true, pack = false, packing = <panel = 64, index_bits = 8>>
// OPTIONS-LABEL: func.func @given
// OPTIONS: schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 4>
func.func @select(%a: tensor<4096x4096xf32>, %v: tensor<512x4096xf32>, %i: tensor<512x64xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark @+1 {{nm.spmm <4:32, block = 1x64> (87.5 % sparse), m = 4096, n = 4096, k = 4096, f32: strategy simt on sm_90; estimated}}
  %r = nm.spmm <4:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<512x4096xf32>, tensor<512x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// A schedule that a user wrote stays.
// CHECK-LABEL: func.func @given
// CHECK: nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 4>
// CHECK-SAME: nm.record = #nm.record<source = op, pattern = <2:4>, chip = "sm_90", dense_us = {{[0-9.e+]+}}, reason = "as the schedule it came with says">
func.func @given(%a: tensor<8x4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @+1 {{f32: strategy simt on sm_90; as the schedule it came with says; schedule #nm.simt<block = [64, 64, 32]}}
  %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 4>
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// What no strategy takes is right, and slow.
// CHECK-LABEL: func.func @no_strategy
// CHECK: schedule #nm.loops
func.func @no_strategy(%a: tensor<64x131040xf32>, %v: tensor<65520x64xf32>, %i: tensor<16x1xi8>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-warning @+1 {{strategy loops on sm_90, a thread for each element of C, which is slow; expected a window to fit}}
  %r = nm.spmm <16:32, block = 4095x64>
    ins(%a, %v, %i : tensor<64x131040xf32>, tensor<65520x64xf32>, tensor<16x1xi8>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
