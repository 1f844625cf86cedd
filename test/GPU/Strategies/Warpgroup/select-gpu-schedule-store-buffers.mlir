// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file | FileCheck %s

// Of many tiles along n groups are numbered together, and C leaves through
// slots.
// CHECK-LABEL: func.func @long_rows
// CHECK: schedule #nm.wgmma_sp<{{.*}}, producers = 4, blocks = {{[0-9]+}}, group_m = 1, group_n = 22, store_buffers = 2, {{.*}}>
func.func @long_rows(%a: tensor<4096x4096xf16>, %v: tensor<2048x11008xf16>, %i: tensor<2048x11008xi8>, %c: tensor<4096x11008xf16>) -> tensor<4096x11008xf16> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x11008xf16>, tensor<2048x11008xi8>)
    outs(%c : tensor<4096x11008xf16>) -> tensor<4096x11008xf16>
  return %r : tensor<4096x11008xf16>
}

// -----

// The same where blocks of strategy wgmma take several turns, of a C that has
// 16-bit elements.
// CHECK-LABEL: func.func @turns
// CHECK: schedule #nm.wgmma<{{.*}}, producers = 4, blocks = {{[0-9]+}}, group_m = 4, store_buffers = 2, {{.*}}packing
func.func @turns(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// CHECK-LABEL: func.func @one_turn
// CHECK: schedule #nm.wgmma<
// CHECK-NOT: store_buffers
// CHECK: return
func.func @one_turn(%a: tensor<4096x1024xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x1024xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// -----

// CHECK-LABEL: func.func @wide_sums
// CHECK: schedule #nm.wgmma<
// CHECK-NOT: store_buffers
// CHECK: return
func.func @wide_sums(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// A C that is a slice has the rows of what it is a slice of.
// CHECK-LABEL: func.func @slice
// CHECK: schedule #nm.wgmma<
// CHECK-NOT: store_buffers
// CHECK: return
func.func @slice(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>, %i: tensor<1024x32xi8>, %all: tensor<4096x5001xf16>) -> tensor<4096x5001xf16> {
  %c = tensor.extract_slice %all[0, 3] [4096, 4096] [1, 1] : tensor<4096x5001xf16> to tensor<4096x4096xf16>
  %r = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %s = tensor.insert_slice %r into %all[0, 3] [4096, 4096] [1, 1] : tensor<4096x4096xf16> into tensor<4096x5001xf16>
  return %s : tensor<4096x5001xf16>
}
