//===- ForallToThreads.td - scf.forall to runtime calls ----*- tablegen -*-===//

#ifndef NM_CONVERSION_FORALLTOTHREADS_TD
#define NM_CONVERSION_FORALLTOTHREADS_TD

include "mlir/Pass/PassBase.td"

def ConvertForallToThreads
    : Pass<"convert-forall-to-threads", "::mlir::ModuleOp"> {
  let summary = "scf.forall on memrefs to calls of the runtime's parallel loop";
  let description = [{
    The body of every outermost `scf.forall` becomes a function of a linear
    index and a pointer to what it captures, and the loop a call of
    `nmParallelFor`, which spreads the indices over the threads. Captured values
    are passed in a struct on the caller's stack; constants are copied into the
    body instead. The last dimension of the loop varies fastest. Mappings say
    nothing to this target and are dropped.

    Loops inside such a body become `scf.for`: its thread is the unit of
    parallelism. A loop of one iteration becomes its body.

    A loop with results is an error: bufferization comes first.

    Before:
    ```mlir
    func.func @scale(%x: memref<64x32xf32>, %s: f32) {
      scf.forall (%i, %j) = (0, 0) to (64, 32) step (16, 8) {
        ...
      }
      return
    }
    ```
    After:
    ```mlir
    func.func @scale(%x: memref<64x32xf32>, %s: f32) {
      %context = llvm.alloca %one x !llvm.struct<(struct<(ptr, ptr, i64, ...)>, f32)> : (i64) -> !llvm.ptr
      ...
      %task = func.constant @scale.forall : (i64, !llvm.ptr) -> ()
      %pointer = builtin.unrealized_conversion_cast %task : (i64, !llvm.ptr) -> () to !llvm.ptr
      call @nmParallelFor(%c16_i64, %pointer, %context) : (i64, !llvm.ptr, !llvm.ptr) -> ()
      return
    }
    func.func private @scale.forall(%index: i64, %context: !llvm.ptr) {
      ...
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // NM_CONVERSION_FORALLTOTHREADS_TD
