// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule=wgmma<block=[128,128,128],warpgroup=[128,64],stages=3,producers=4,c_slots=1>" 2>&1 | FileCheck %s

// A schedule's parameters keep the names of the version before, with a warning.

// CHECK: warning: 'c_slots' is now 'store_buffers'; the next version takes the new name alone
// CHECK-LABEL: func.func @former
// CHECK: nm.spmm {{.*}}store_buffers = 1
func.func @former(%a: tensor<4096x4096xf16>, %v: tensor<1024x4096xf16>,
                  %i: tensor<1024x32xi8>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %0 = nm.spmm <8:32, block = 1x128> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<1024x4096xf16>, tensor<1024x32xi8>)
    outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}
