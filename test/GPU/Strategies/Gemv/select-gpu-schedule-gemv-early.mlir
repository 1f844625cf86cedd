// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=gemv --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-select-gpu-schedule=schedule=gemv --split-input-file | FileCheck %s --check-prefix=OLD --implicit-check-not=early_bytes
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], split_k = 1>'" --split-input-file | FileCheck %s --check-prefix=ROWS

// Kernels start early where their blocks find room beside those of the kernel
// before, which chips before sm_90 have no instructions for: warps then ask for
// 2 KiB of their weights.
// CHECK-LABEL: func.func @vector
// CHECK: schedule #nm.gemv<block = [1, {{.*}}early_bytes = 2048
// OLD-LABEL: func.func @vector
// OLD: schedule #nm.gemv<block = [1,
// ROWS-LABEL: func.func @vector
// ROWS: schedule #nm.gemv<{{.*}}early_bytes = 2048
func.func @vector(%x: tensor<1x4096xf16>, %v: tensor<1024x512xf16>, %i: tensor<1024x512xi8>, %y: tensor<1x512xf16>) -> tensor<1x512xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<1x4096xf16>, tensor<1024x512xf16>, tensor<1024x512xi8>)
    outs(%y : tensor<1x512xf16>) -> tensor<1x512xf16>
  return %r : tensor<1x512xf16>
}

// -----

// 1 KiB of 8-bit weights that share no indices, and 2 of those that do.
// CHECK-LABEL: func.func @bytes
// CHECK: schedule #nm.gemv<{{.*}}early_bytes = 1024
func.func @bytes(%x: tensor<1x4096xi8>, %v: tensor<1024x512xi8>, %i: tensor<1024x512xi8>, %y: tensor<1x512xi32>) -> tensor<1x512xi32> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<1x4096xi8>, tensor<1024x512xi8>, tensor<1024x512xi8>)
    outs(%y : tensor<1x512xi32>) -> tensor<1x512xi32>
  return %r : tensor<1x512xi32>
}

// -----

// CHECK-LABEL: func.func @shared_indices
// CHECK: schedule #nm.gemv<{{.*}}early_bytes = 2048
func.func @shared_indices(%x: tensor<1x4096xi8>, %v: tensor<1024x512xi8>, %i: tensor<1024x16xi8>, %y: tensor<1x512xi32>) -> tensor<1x512xi32> {
  %r = nm.spmm <8:32, block = 1x32> ins(%x, %v, %i : tensor<1x4096xi8>, tensor<1024x512xi8>, tensor<1024x16xi8>)
    outs(%y : tensor<1x512xi32>) -> tensor<1x512xi32>
  return %r : tensor<1x512xi32>
}

// -----

// Some blocks for each multiprocessor start early behind the one block of a norm.
// CHECK-LABEL: func.func @behind_norm
// CHECK: schedule #nm.gemv<{{.*}}early_bytes = 2048
func.func @behind_norm(%x: tensor<1x1024xf16>, %v: tensor<256x65536xf16>, %i: tensor<256x65536xi8>, %y: tensor<1x65536xf16>) -> tensor<1x65536xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<1x1024xf16>, tensor<256x65536xf16>, tensor<256x65536xi8>)
    outs(%y : tensor<1x65536xf16>) -> tensor<1x65536xf16>
  return %r : tensor<1x65536xf16>
}

// -----

// Far more blocks than multiprocessors, and more rows than one, wait.
// CHECK-LABEL: func.func @many_blocks
// CHECK-NOT: early_bytes
// CHECK: return
func.func @many_blocks(%x: tensor<1x1024xf16>, %v: tensor<256x131072xf16>, %i: tensor<256x131072xi8>, %y: tensor<1x131072xf16>) -> tensor<1x131072xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<1x1024xf16>, tensor<256x131072xf16>, tensor<256x131072xi8>)
    outs(%y : tensor<1x131072xf16>) -> tensor<1x131072xf16>
  return %r : tensor<1x131072xf16>
}

// -----

// CHECK-LABEL: func.func @four_rows
// CHECK-NOT: early_bytes
// CHECK: return
func.func @four_rows(%x: tensor<4x4096xf16>, %v: tensor<1024x512xf16>, %i: tensor<1024x512xi8>, %y: tensor<4x512xf16>) -> tensor<4x512xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<4x4096xf16>, tensor<1024x512xf16>, tensor<1024x512xi8>)
    outs(%y : tensor<4x512xf16>) -> tensor<4x512xf16>
  return %r : tensor<4x512xf16>
}

// -----

// Each row has blocks of its own in a given schedule with blocks of one row:
// eight have too many, and an unknown number of rows may have.
// ROWS-LABEL: func.func @eight_rows
// ROWS-NOT: early_bytes
// ROWS: return
func.func @eight_rows(%x: tensor<8x4096xf16>, %v: tensor<1024x1024xf16>, %i: tensor<1024x1024xi8>, %y: tensor<8x1024xf16>) -> tensor<8x1024xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<8x4096xf16>, tensor<1024x1024xf16>, tensor<1024x1024xi8>)
    outs(%y : tensor<8x1024xf16>) -> tensor<8x1024xf16>
  return %r : tensor<8x1024xf16>
}

// -----

// ROWS-LABEL: func.func @unknown_rows
// ROWS-NOT: early_bytes
// ROWS: return
func.func @unknown_rows(%x: tensor<?x4096xf16>, %v: tensor<1024x1024xf16>, %i: tensor<1024x1024xi8>, %y: tensor<?x1024xf16>) -> tensor<?x1024xf16> {
  %r = nm.spmm <8:32> ins(%x, %v, %i : tensor<?x4096xf16>, tensor<1024x1024xf16>, tensor<1024x1024xi8>)
    outs(%y : tensor<?x1024xf16>) -> tensor<?x1024xf16>
  return %r : tensor<?x1024xf16>
}
