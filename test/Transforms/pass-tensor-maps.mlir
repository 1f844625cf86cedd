// RUN: nm-opt %s --nm-pass-tensor-maps --split-input-file --verify-diagnostics | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @kernel
  // CHECK-SAME: (%[[X:.*]]: i64, %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant})
  // CHECK-NOT: nm.tensor_map_address
  // CHECK: llvm.call @use(%[[MAP]])
  // CHECK: llvm.call @use(%[[MAP]])
  llvm.func @use(!llvm.ptr)
  llvm.func @kernel(%x: i64, %map: vector<16xi64>) attributes {gpu.kernel, nvvm.kernel} {
    %p = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
    %q = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
    llvm.call @use(%p) : (!llvm.ptr) -> ()
    llvm.call @use(%q) : (!llvm.ptr) -> ()
    llvm.return
  }
}

// -----

func.func @on_the_host(%map: vector<16xi64>) -> !llvm.ptr {
  // expected-error @+1 {{expected a tensor map that is an argument of its kernel, at the NVVM level}}
  %p = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
  return %p : !llvm.ptr
}

// -----

gpu.module @kernels {
  llvm.func @kernel(%map: vector<16xi64>) -> vector<16xi64> attributes {gpu.kernel, nvvm.kernel} {
    %p = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
    // expected-error @+1 {{expected only the address of a tensor map to be taken}}
    llvm.return %map : vector<16xi64>
  }
}
