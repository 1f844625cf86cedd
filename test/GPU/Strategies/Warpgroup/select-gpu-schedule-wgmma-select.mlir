// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a '--nm-select-gpu-schedule=schedule="wgmma_select<stages = 3>"' --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GIVEN

// All of a block's columns are packed together; a selector is four indices.
// REMARK: nm.spmm <2:8, block = 1x64> {{.*}}, i8: strategy wgmma_select on sm_90; estimated
// CHECK-LABEL: func.func @integers
// CHECK: schedule #nm.wgmma_select<block = [128, 256, 256], warpgroup = [64, 256], stages = 4, producers = 4, blocks = 132, group_m = 4, {{.*}}packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 64>>
// GIVEN-LABEL: func.func @integers
// GIVEN: schedule #nm.wgmma_select<block = [128, 256, 256], warpgroup = [64, 256], stages = 3,
func.func @integers(%a: tensor<4096x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <2:8, block = 1x64> ins(%a, %v, %i : tensor<4096x4096xi8>, tensor<1024x4096xi8>, tensor<1024x64xi8>) outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

// -----

// Promoted sums leave registers for half the columns.
// REMARK: nm.spmm <4:8, block = 1x64> {{.*}}, f8E4M3FN: strategy wgmma_select on sm_90; estimated
// CHECK-LABEL: func.func @floats
// CHECK: schedule #nm.wgmma_select<block = [128, 128, 256], warpgroup = [64, 128], stages = 4, {{.*}}, promote = true, {{.*}}packing = <panel = 128, index_bits = 4, index_rows = 4, tile_rows = 128>>
// GIVEN-LABEL: func.func @floats
// GIVEN: stages = 3, {{.*}}, promote = true
func.func @floats(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <4:8, block = 1x64> ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x64xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Of 3:8 a thread makes three words of four windows, which are packed in the
// order of threads.
// REMARK: nm.spmm <3:8, block = 1x64> {{.*}}, i8: strategy wgmma_select on sm_90; estimated
// CHECK-LABEL: func.func @three_of_eight
// CHECK: schedule #nm.wgmma_select<block = [128, 256, 256], {{.*}}, packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>>
// GIVEN-LABEL: func.func @three_of_eight
// GIVEN: stages = 3, {{.*}}lane_words = 3
func.func @three_of_eight(%a: tensor<4096x4096xi8>, %v: tensor<1536x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1536x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = nm.spmm <3:8, block = 1x64> ins(%a, %v, %i : tensor<4096x4096xi8>, tensor<1536x4096xi8>, tensor<1536x64xi8>) outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
