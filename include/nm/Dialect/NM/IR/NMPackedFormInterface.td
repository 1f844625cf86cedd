//===- NMPackedFormInterface.td - What packed forms say ----*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_TD
#define NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_TD

include "mlir/IR/Interfaces.td"

def NM_PackedFormAttrInterface : AttrInterface<"PackedFormAttrInterface"> {
  let cppNamespace = "::mlir::nm";
  let description = [{
    How weights are re-laid for one schedule: `#nm.packing`, `#nm.sparse_operand`, `#nm.bitmap`,
    `#nm.columns`, `#nm.ell`. Values, indices
    and, where a form has them, lists of rows are arrays of three dimensions. A
    tile of B is a rectangle of each, where the form can be cut.
  }];
  let methods = [
    InterfaceMethod<"Checks that weights can have the form.",
      "::llvm::LogicalResult", "verifyWeights",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "const ::nm::Pattern &":$pattern, "::mlir::Type":$elementType)>,
    InterfaceMethod<"The element type of packed values of weights of `elementType`.",
      "::mlir::Type", "getPackedType", (ins "::mlir::Type":$elementType), "",
      "return elementType;">,
    InterfaceMethod<[{
        The bf16 splits whose sum a weight is stored as; 1 where it is itself.
      }], "int64_t", "countSplits", (ins), "", "return 1;">,
    InterfaceMethod<[{
        The shapes of weights whose condensed values are [rows × columns];
        kDynamic where those are.
      }], "::mlir::nm::StorageShape", "getStorageShape",
      (ins "const ::nm::Pattern &":$pattern, "int64_t":$rows,
           "int64_t":$columns)>,
    InterfaceMethod<"Columns of B that weights can be cut at.",
      "int64_t", "getColumnStep", (ins "const ::nm::Pattern &":$pattern)>,
    InterfaceMethod<"Rows of B that weights can be cut at.",
      "int64_t", "getRowStep", (ins "const ::nm::Pattern &":$pattern)>,
    InterfaceMethod<[{
        Where the rows `k` and columns `n` of B lie, which start where weights
        can be cut.
      }], "::mlir::nm::StorageRegion", "getStorageRegion",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "const ::nm::Pattern &":$pattern, "::mlir::nm::Range1D":$k,
           "::mlir::nm::Range1D":$n)>,
    InterfaceMethod<[{
        The pattern that products of packed weights have: that of the weights,
        or of a form that stores more than those keep.
      }], "::nm::Pattern", "getPackedPattern",
      (ins "const ::nm::Pattern &":$pattern), "", "return pattern;">,
    InterfaceMethod<[{
        Packs condensed weights on the host, to arrays of the form's shapes;
        `lists` is null where it has none. Loops that do the same are in
        convert-nm-to-loops.
      }], "void", "pack",
      (ins "const ::nm::CondensedView &":$weights, "void *":$values,
           "uint8_t *":$indices, "uint8_t *":$lists)>,
  ];
}

#endif // NM_DIALECT_NM_IR_NMPACKEDFORMINTERFACE_TD
