//===- NMDialect.td - The nm dialect -----------------------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMDIALECT_TD
#define NM_DIALECT_NM_IR_NMDIALECT_TD

include "mlir/IR/OpBase.td"

def NM_Dialect : Dialect {
  let name = "nm";
  let cppNamespace = "::mlir::nm";
  let summary = "Matrix products with N:M-sparse weights";
  let description = [{
    C[m×n] = A[m×k] · B[k×n], where A is dense, B keeps N of every M
    consecutive pruning units along k, and C is dense. A pruning unit is a
    block of bk×bn weights; M consecutive units along k are a window, and the
    pattern holds in every window of every block column.

    B is held in *condensed form*: values `[w×ñ]` with
    w = ⌈k/(M·bk)⌉·N·bk and ñ = ⌈n/bn⌉·bn, and indices `[w/bk × ñ/bn]` (i8,
    unsigned), each the position 0..M-1 of a kept unit in its window,
    ascending within the window. A window with fewer than N non-zero units is
    filled with zero values at its lowest free positions. A ragged k or n is
    padded inside the format: rows at or past k contribute nothing.

    An encoding, `#nm.encoding`, marks a tensor type as an N:M weight. It
    lives at the edge of a program only: `convert-linalg-to-nm` and
    `nm-materialize-storage` replace it by plain tensors and put the pattern
    on the op.

    Ops and arguments of functions may have these attributes, which are
    verified; others whose names start with `nm.` are refused.

    | on | attribute | what it says |
    | --- | --- | --- |
    | a module | `nm.chip` | an `#nm.chip`: the GPU that it is compiled for |
    | a module | `nm.schedule_tables`, `nm.device` | the files of measured schedules that selection looks in, and whose measurements; without the latter those of the devices that the chip's model is of |
    | a module | `nm.rates` | a dictionary of what was measured of the GPU, in place of what the chip's models know |
    | a module | `nm.batch_invariant` | a row's sums must not depend on how many rows there are |
    | a linalg op | `nm.arithmetic` | an `#nm.arithmetic`: what the product may be computed by |
    | a product | `nm.record` | an `#nm.record`: what its schedule was chosen by |
    | a product | `nm.kept` | how many of its weights, stored as 1:1, are not zero: what `nm-fit-windows` counted, until a schedule is chosen |
    | a product | `nm.ell_steps` | how many steps its weights take as `#nm.ell` with gaps of 2, 4 and 8 bits and with rows, for each of these of the longest slice and of all: what `nm-fit-windows` counted, until a schedule is chosen |
    | a function | `nm.host` | it packs weights, on the host, when they are loaded |
    | a function | `nm.temporary_bytes` | the bytes of the allocation that its temporaries share |
    | a function | `nm.steps` | what it does in which order, as `nm-mark-steps` describes it |
    | an op of a kernel | `nm.overlays_tiles` | its memory is that of tiles which are no longer needed |
    | a load of a kernel | `nm.early_load` | what it loads no kernel writes, so that the load may stand before the wait for the kernel before |
    | an op of a kernel | `nm.short_kernel` | the kernel takes little longer than a launch, so that an early start gains whatever the number of its blocks |
    | a view of shared memory | `nm.alignment` | the bytes that it starts at a multiple of, which its constant offset is |
    | a linalg op | `nm.windows` | it repeats rows of k, so that windows of as many are groups of four rows of which neighbours share two |
    | an argument | `nm.values_of`, `nm.indices_of` | the argument, as it was written, whose condensed part it is |
    | an argument | `nm.packed_values_of`, `nm.packed_indices_of`, `nm.packed_lists_of` | the same of packed parts |

    Bytecode has the dialect's version, and is read where that is no newer than
    the reader's.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"
  ];
  // Schedules of warpgroups have several mnemonics.
  let useDefaultAttributePrinterParser = 0;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

#endif // NM_DIALECT_NM_IR_NMDIALECT_TD
