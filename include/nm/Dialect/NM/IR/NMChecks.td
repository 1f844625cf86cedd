//===- NMChecks.td - Checks that a program makes of itself -*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMCHECKS_TD
#define NM_DIALECT_NM_IR_NMCHECKS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "nm/Dialect/NM/IR/NMDialect.td"

def NM_CheckOp : Op<NM_Dialect, "check", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails the call unless a condition holds";
  let description = [{
    Where the condition does not hold, the call of the module's function ends
    with an error whose text is `text`, with the values in place of `{0}` to
    `{3}`, and nothing behind the check runs. In a kernel, what is behind it
    runs, and the call ends with the error after the launch.

    `nm-check-sizes` makes it where sizes are known when the program runs alone,
    and `nm-expand-checks` makes branches of it.

    ```mlir
    nm.check %holds, "f.mlir:4:8: linalg.matmul: expected dimension 1 of operand 0 to be {1}, but got {0}" (%got, %size)
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$text, Variadic<Index>:$values);
  let assemblyFormat = "$condition `,` $text (`(` $values^ `)`)? attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def NM_CheckIndexOp : Op<NM_Dialect, "check_index", [MemoryEffects<[MemWrite]>]> {
  let summary = "an index that is below a size, or the call fails";
  let description = [{
    The result is `index` where that is at least 0 and below `size`. Elsewhere it
    is 0, and the call of the module's function ends with an error whose text is
    `text`, with the index in place of `{0}` and the size in place of `{1}`: what
    is behind the check runs, in a kernel as on the host.

    ```mlir
    %i = nm.check_index %place in %size, "f.mlir:4:8: tensor.extract: expected an index below {1} in dimension 0, but got {0}"
    ```
  }];
  let arguments = (ins Index:$index, Index:$size, StrAttr:$text);
  let results = (outs Index:$result);
  let assemblyFormat = "$index `in` $size `,` $text attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Checks in kernels
//===----------------------------------------------------------------------===//

def NM_CheckRecord : MemRefRankOf<[I64], [1]>;

def NM_OpenChecksOp : Op<NM_Dialect, "open_checks", [MemoryEffects<[MemWrite]>]> {
  let summary = "memory in which kernels say which check has failed";
  let description = [{
    The number of checks that have failed, which is 0 at first, the number of the
    first one, and its values. With `device` it is memory that a GPU and the host
    share, or null while the stream captures a graph: a check that fails when
    that is launched writes to address 0, which the driver reports.

    ```mlir
    %record = nm.open_checks : memref<6xi64>
    ```
  }];
  let arguments = (ins UnitAttr:$device);
  let results = (outs NM_CheckRecord:$record);
  let assemblyFormat = "(`device` $device^)? attr-dict `:` type($record)";
}

def NM_MarkChecksOp : Op<NM_Dialect, "mark_checks", [MemoryEffects<[MemWrite]>]> {
  let summary = "the last kernel that checks is queued";
  let description = [{
    `nm.close_checks` waits for what is queued before it, not for what follows.

    ```mlir
    nm.mark_checks %record : memref<6xi64>
    ```
  }];
  let arguments = (ins NM_CheckRecord:$record, UnitAttr:$device);
  let assemblyFormat = "$record (`device` $device^)? attr-dict `:` type($record)";
}

def NM_CloseChecksOp : Op<NM_Dialect, "close_checks", [MemoryEffects<[MemWrite]>]> {
  let summary = "fails the call if a check in a kernel has failed";
  let description = [{
    `texts` are those of the checks, in the order of their numbers.

    ```mlir
    nm.close_checks %record ["expected an index below {1}, but got {0}"] : memref<6xi64>
    ```
  }];
  let arguments = (ins NM_CheckRecord:$record, StrArrayAttr:$texts,
                       UnitAttr:$device);
  let assemblyFormat = "$record $texts (`device` $device^)? attr-dict `:` type($record)";
}

#endif // NM_DIALECT_NM_IR_NMCHECKS_TD
