// RUN: nm-opt %s --nm-gather-kernels | FileCheck %s

// CHECK-LABEL: func @f
// CHECK: gpu.launch_func @kernels::@f_sm_80_kernel
// CHECK: gpu.launch_func @kernels::@f_sm_80_kernel_0
// The third does what the first does.
// CHECK: gpu.launch_func @kernels::@f_sm_80_kernel blocks
// CHECK: gpu.module @kernels
// CHECK: gpu.func @f_sm_80_kernel(
// CHECK: gpu.func @f_sm_80_kernel_0(
// CHECK-NOT: gpu.func
// CHECK-NOT: gpu.module

module attributes {gpu.container_module} {
  func.func @f(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @first::@f.sm_80_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @second::@f.sm_80_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @third::@f.sm_80_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.module @first {
    gpu.func @f.sm_80_kernel(%x: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = arith.constant 1.0 : f32
      memref.store %v, %x[%c0] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @f.sm_80_kernel(%x: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = arith.constant 2.0 : f32
      memref.store %v, %x[%c0] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @third {
    gpu.func @f.sm_80_kernel(%x: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = arith.constant 1.0 : f32
      memref.store %v, %x[%c0] : memref<4xf32>
      gpu.return
    }
  }
}
