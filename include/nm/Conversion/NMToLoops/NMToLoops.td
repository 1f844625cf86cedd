//===- NMToLoops.td - nm ops to loops, the reference -------*- tablegen -*-===//

#ifndef NM_CONVERSION_NMTOLOOPS_TD
#define NM_CONVERSION_NMTOLOOPS_TD

include "mlir/Pass/PassBase.td"

def ConvertNMToLoops : Pass<"convert-nm-to-loops"> {
  let summary = "nm ops on memrefs to loops over scalars, the reference";
  let description = [{
    Expands `nm.spmm`, `nm.spmv`, `nm.combine`, `nm.compress`, `nm.decompress`,
    `nm.prune` and `nm.pack` on memrefs into `scf`, `arith` and `memref` ops. The loops say what
    the ops mean and are written to be read: fast code comes from
    `convert-nm-to-vector`. Products are summed in f32 (i32 for i8), the sum is
    added to C, and the result is rounded once. `nm.compress` checks every
    window with `cf.assert`.

    An nm op that is left, because it is on tensors or at the program edge, is
    an error.

    Before:
    ```mlir
    nm.spmm <2:4> ins(%a, %v, %i : memref<?x62xf16>, memref<32x48xf16>, memref<32x48xi8>)
                  outs(%c : memref<?x48xf16>)
    ```
    After:
    ```mlir
    scf.for %row = %c0 to %m step %c1 {
      scf.for %column = %c0 to %c48 step %c1 {
        %sum = scf.for %slot = %c0 to %c32 step %c1 iter_args(%partial = %zero) -> (f32) {
          %byte = memref.load %i[%slot, %column] : memref<32x48xi8>
          %position = arith.index_castui %byte : i8 to index
          %window = arith.divui %slot, %c2 : index
          %first = arith.muli %window, %c4 : index
          %k = arith.addi %first, %position : index
          %inside = arith.cmpi ult, %k, %c62 : index
          %next = scf.if %inside -> (f32) {
            %x16 = memref.load %a[%row, %k] : memref<?x62xf16>
            %x = arith.extf %x16 : f16 to f32
            %w16 = memref.load %v[%slot, %column] : memref<32x48xf16>
            %w = arith.extf %w16 : f16 to f32
            %product = arith.mulf %x, %w : f32
            %added = arith.addf %partial, %product : f32
            scf.yield %added : f32
          } else {
            scf.yield %partial : f32
          }
          scf.yield %next : f32
        }
        %before16 = memref.load %c[%row, %column] : memref<?x48xf16>
        %before = arith.extf %before16 : f16 to f32
        %after = arith.addf %before, %sum : f32
        %after16 = arith.truncf %after : f32 to f16
        memref.store %after16, %c[%row, %column] : memref<?x48xf16>
      }
    }
    ```
  }];
  let options = [
    Option<"parallel", "parallel", "bool", /*default=*/"false",
           "make the loops over elements of C and of packed weights "
           "scf.parallel">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // NM_CONVERSION_NMTOLOOPS_TD
