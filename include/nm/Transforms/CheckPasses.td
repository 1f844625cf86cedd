//===- CheckPasses.td - Checks that a program makes --------*- tablegen -*-===//

#ifndef NM_TRANSFORMS_CHECKPASSES_TD
#define NM_TRANSFORMS_CHECKPASSES_TD

include "mlir/Pass/PassBase.td"

def NMCheckOps : Pass<"nm-check-ops"> {
  let summary = "refuses ops and types that no target has";
  let description = [{
    Ops that no registered dialect has, and values of floats that no target
    computes with, as in `arith.extf %x : f8E4M3FNUZ to f32`: floats are f64, f32, f16, bf16, f8E4M3FN and f8E5M2. So are
    conversions and divisions of integers of more than 64 bits. All pipelines
    begin with it: later passes would name what they made of the op, or crash.
  }];
}

def NMCheckSizes : Pass<"nm-check-sizes", "::mlir::func::FuncOp"> {
  let summary = "sizes that must agree are checked when the program runs";
  let description = [{
    What an op on tensors demands of sizes, and the verifier cannot see where
    they are unknown, becomes an `nm.check`: that loops of a linalg op find all
    their operands of one size, that windows and slices are inside of what they
    read, that casts and reshapes are true, that new tensors have sizes that
    memory has room for. Checks are at the start of the function, ahead of all
    accesses, where they depend on its arguments' sizes alone, and else before
    the op. An index that is read from a tensor, in a loop over elements, goes
    through `nm.check_index`. `cf.assert` becomes `nm.check`, too, for it would
    end the process.

    A size that a check has made known then is in the type of a linalg op's
    operand. What is known to be false, of an op that is always run, is an
    error.

    Before:
    ```mlir
    func.func @f(%a: tensor<?x?xf32>, %w: tensor<4096x8xf32, #nm.encoding<2:4>>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %0 = linalg.matmul ins(%a, %w : tensor<?x?xf32>, tensor<4096x8xf32, #nm.encoding<2:4>>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
    ```
    After:
    ```mlir
      %k = tensor.dim %a, %c1 : tensor<?x?xf32>
      %agrees = arith.cmpi eq, %k, %c4096 : index
      nm.check %agrees, "f.mlir:2:8: linalg.matmul: expected dimension 1 of operand 0 (argument 0) to be {1}, as dimension 0 of operand 1 (argument 1) is, but got {0}" (%k, %c4096)
      %known = tensor.cast %a : tensor<?x?xf32> to tensor<?x4096xf32>
      %0 = linalg.matmul ins(%known, %w : ...
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMRecordChecks : Pass<"nm-record-checks", "::mlir::func::FuncOp"> {
  let summary = "checks in kernels to a record that the host reads";
  let description = [{
    A kernel cannot end a call. A check in a `gpu.launch` that fails counts in a
    record of the call's, and the first one leaves its number and its values
    there. The host looks at it when all is queued: it waits for the last kernel
    with a check alone.

    Before:
    ```mlir
    gpu.launch ... {
      %i = nm.check_index %p in %n, "expected an index below {1}, but got {0}"
    ```
    After:
    ```mlir
    %record = nm.open_checks : memref<6xi64>
    gpu.launch ... {
      %inside = arith.cmpi ult, %p, %n : index
      scf.if %outside {
        %count = memref.atomic_rmw addi %c1, %record[%c0] : (i64, memref<6xi64>) -> i64
        ...
      }
      %i = arith.select %inside, %p, %c0 : index
    }
    nm.mark_checks %record : memref<6xi64>
    ...
    nm.close_checks %record ["expected an index below {1}, but got {0}"] : memref<6xi64>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::scf::SCFDialect"];
}

def NMExpandChecks : Pass<"nm-expand-checks", "::mlir::ModuleOp"> {
  let summary = "nm.check and nm.check_index to branches";
  let description = [{
    Where a check fails, the function calls the runtime's `nmFailCheck`, which
    keeps the error for the caller, frees the temporaries that live there, and
    returns. An index that is out of range becomes 0. Records of checks in kernels
    are the runtime's, too. Works on control flow that
    is branches already, and on memrefs.

    Before:
    ```mlir
    nm.check %holds, "expected {1}, but got {0}" (%got, %size)
    ```
    After:
    ```mlir
      cf.cond_br %holds, ^rest, ^failed
    ^failed:
      llvm.call @nmFailCheck(%text, %length, %got, %size, %zero, %zero)
      memref.dealloc %temporary : memref<?xf32>
      return
    ^rest:
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::ub::UBDialect"];
}

#endif // NM_TRANSFORMS_CHECKPASSES_TD
