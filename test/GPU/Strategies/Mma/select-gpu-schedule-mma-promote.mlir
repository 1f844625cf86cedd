// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_sp --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SP
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_bitmap --split-input-file 2>/dev/null | FileCheck %s --check-prefix=BITMAP
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule=schedule=mma_sync --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SYNC

// More than 24 576 kept rows have promoted sums, where a lane has registers for
// them, and fewer have none.
// SP-LABEL: func.func @long
// SP: schedule #nm.mma_sp<{{.*}}promote = true
// BITMAP-LABEL: func.func @long
// BITMAP: schedule #nm.mma_bitmap<{{.*}}promote = true
// SYNC-LABEL: func.func @long
// SYNC: schedule #nm.mma_sync<{{.*}}promote = true
func.func @long(%a: tensor<8x65536xf16>, %v: tensor<32768x256xf16>, %i: tensor<32768x8xi8>, %c: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %r = nm.spmm <2:4, block = 1x32> ins(%a, %v, %i : tensor<8x65536xf16>, tensor<32768x256xf16>, tensor<32768x8xi8>)
    outs(%c : tensor<8x256xf16>) -> tensor<8x256xf16>
  return %r : tensor<8x256xf16>
}

// -----

// SP-LABEL: func.func @short
// SP-NOT: promote
// SP: return
// BITMAP-LABEL: func.func @short
// BITMAP-NOT: promote
// BITMAP: return
// SYNC-LABEL: func.func @short
// SYNC-NOT: promote
// SYNC: return
func.func @short(%a: tensor<8x32768xf16>, %v: tensor<16384x256xf16>, %i: tensor<16384x8xi8>, %c: tensor<8x256xf16>) -> tensor<8x256xf16> {
  %r = nm.spmm <2:4, block = 1x32> ins(%a, %v, %i : tensor<8x32768xf16>, tensor<16384x256xf16>, tensor<16384x8xi8>)
    outs(%c : tensor<8x256xf16>) -> tensor<8x256xf16>
  return %r : tensor<8x256xf16>
}
