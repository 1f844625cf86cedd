// RUN: nm-opt %s --nm-launch-on-stream --verify-diagnostics
// RUN: not nm-opt %s --nm-launch-on-stream

module attributes {gpu.container_module} {
  memref.global "private" constant @w : memref<4xf32, "elsewhere"> = dense<1.0>
  func.func @f() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{expected a constant without a memory space, but got 'memref<4xf32, "elsewhere">'}}
    %w = memref.get_global @w : memref<4xf32, "elsewhere">
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%w : memref<4xf32, "elsewhere">)
    return
  }
  gpu.module @kernels {
    gpu.func @f(%w: memref<4xf32, "elsewhere">) kernel {
      gpu.return
    }
  }
}
