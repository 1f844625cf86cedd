//===- ProfilePasses.td - Passes that time a call by step --*- tablegen -*-===//
//
// A part of Passes.td, which generates them. No module has them unless it is
// compiled to be profiled.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TRANSFORMS_PROFILEPASSES
#define NM_TRANSFORMS_PROFILEPASSES

include "mlir/Pass/PassBase.td"

def NMNameSteps : Pass<"nm-name-steps", "::mlir::func::FuncOp"> {
  let summary = "locations say what ops compute";
  let description = [{
    The location of every structured op on memrefs gets the op's name, with the
    strategy of a product and the arithmetic of a `linalg.generic`. Loops, kernels
    and calls that the op becomes keep its location, and `nm-mark-steps` reads
    from there what they do.

    Before:
    ```mlir
    linalg.generic ... { %s = arith.divf %a, %b ... } loc("x.mlir":3:8)
    nm.spmm <2:4> schedule #nm.simt<...> ... loc("x.mlir":2:8)
    ```
    After:
    ```mlir
    linalg.generic ... { ... } loc("linalg.generic(divf)"("x.mlir":3:8))
    nm.spmm <2:4> schedule #nm.simt<...> ... loc("nm.spmm <2:4> simt"("x.mlir":2:8))
    ```
  }];
}

def NMMarkSteps : Pass<"nm-mark-steps", "::mlir::ModuleOp"> {
  let summary = "calls say when each step of a function is over";
  let description = [{
    A step of a public function is a launch, a loop, a copy or a call that stands
    in the function's body. Behind each step the function calls the runtime's
    `nmMarkStep` with the step's number, which takes the time on the thread that
    profiles (nm/Runtime/Profile.h) and does nothing on others. The attribute
    `nm.steps` describes the steps: the ops that a step computes, as
    `nm-name-steps` has named them, the kernel that is launched, the place in the
    source, and the bytes of the memrefs that the step is given, each counted
    once; -1 where a size is dynamic.

    Before:
    ```mlir
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      gpu.launch_func @kernels::@f_kernel ... args(%x : memref<8xf32>, %y : memref<8xf32>)
    ```
    After:
    ```mlir
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {nm.steps = [{
        bytes = 64 : i64, kernel = "f_kernel", name = "linalg.generic(exp)",
        place = "x.mlir:3:8" } ] } {
      gpu.launch_func @kernels::@f_kernel ... args(%x : memref<8xf32>, %y : memref<8xf32>)
      %step = llvm.mlir.constant(0 : i64) : i64
      llvm.call @nmMarkStep(%step) : (i64) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NM_TRANSFORMS_PROFILEPASSES
