//===- KernelsToSim.td - Kernels to simulated host code ----*- tablegen -*-===//

#ifndef NM_CONVERSION_KERNELSTOSIM_TD
#define NM_CONVERSION_KERNELSTOSIM_TD

include "mlir/Pass/PassBase.td"

def ConvertKernelsToSim : Pass<"convert-kernels-to-sim", "::mlir::ModuleOp"> {
  let summary = "kernels at the NVVM level to host code on libnm_sim";
  let description = [{
    Each `gpu.module` of `llvm` and `nvvm` ops, as `convert-gpu-to-nvvm` leaves
    it, becomes functions for the host, and each launch a call of
    `nmSimLaunch`, which runs them for all threads of all blocks. Arithmetic
    stays as it is. Each access of memory asks `nmSimAccess` where to go, which
    checks and counts it; every `nvvm` op becomes the call that the table in
    `Instructions.cpp` has for it. One that it does not have is an error.
    Pointers to shared memory become plain ones into the block's.

    Instructions are numbered; a table gives for each its name, its location,
    and what it accesses. A launch also passes where each memref argument begins
    and how many bytes it has.

    Before:
    ```mlir
    gpu.module @kernels {
      llvm.mlir.global internal @buffer() {addr_space = 3 : i32} : !llvm.array<128 x f32>
      llvm.func @reverse(%x: !llvm.ptr, ...) attributes {gpu.kernel, nvvm.kernel} {
        ...
        llvm.store %value, %slot : f32, !llvm.ptr<3>
        nvvm.barrier0
        ...
      }
    }
    func.func @main(%x: memref<128xf32>) {
      gpu.launch_func @kernels::@reverse blocks in (%c1, %c1, %c1)
          threads in (%c128, %c1, %c1) args(%x : memref<128xf32>)
      return
    }
    ```
    After:
    ```mlir
    llvm.func internal @kernels.reverse(%thread: !llvm.ptr, %x: !llvm.ptr, ...) {
      ...
      %where = llvm.call @nmSimAccess(%thread, %site, %slot) : (!llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
      llvm.store %value, %where {alignment = 1 : i64} : f32, !llvm.ptr
      llvm.call @nmSimBarrier(%thread, %site_0, %id, %all) : (!llvm.ptr, i32, i32, i32) -> ()
      ...
    }
    func.func @main(%x: memref<128xf32>) {
      ...
      llvm.call @nmSimLaunch(%kernel, %launch) : (!llvm.ptr, !llvm.ptr) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NM_CONVERSION_KERNELSTOSIM_TD
