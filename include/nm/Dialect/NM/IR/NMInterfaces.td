//===- NMInterfaces.td - Interfaces of nm ops --------------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMINTERFACES_TD
#define NM_DIALECT_NM_IR_NMINTERFACES_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"

def NM_SparseProductOpInterface
    : OpInterface<"SparseProductOpInterface", [DestinationStyleOpInterface]> {
  let cppNamespace = "::mlir::nm";
  let description = [{
    A product of dense activations and N:M-sparse weights: `nm.spmm` and
    `nm.spmv`. Passes that treat both alike go through this interface.
  }];
  let methods = [
    InterfaceMethod<"The N:M pattern of the weights.",
                    "::mlir::nm::PatternAttr", "getPatternAttr">,
    InterfaceMethod<"The activations.", "::mlir::Value", "getA">,
    InterfaceMethod<"The kept weights, condensed or packed.",
                    "::mlir::Value", "getValues">,
    InterfaceMethod<"The indices of the kept units, condensed or packed.",
                    "::mlir::Value", "getIndices">,
    InterfaceMethod<"The values, to be changed.", "::mlir::OpOperand &",
                    "getValuesMutable">,
    InterfaceMethod<"The indices, to be changed.", "::mlir::OpOperand &",
                    "getIndicesMutable">,
    InterfaceMethod<"The lists of rows beside packed indices; null for none.",
                    "::mlir::Value", "getLists">,
    InterfaceMethod<"The same, to be changed.",
                    "::mlir::MutableOperandRange", "getListsMutable">,
    InterfaceMethod<"The scales of quantized weights; null where they are not.",
                    "::mlir::Value", "getScales">,
    InterfaceMethod<"The same, to be changed.",
                    "::mlir::MutableOperandRange", "getScalesMutable">,
    InterfaceMethod<"The output, which is accumulated into.",
                    "::mlir::Value", "getC">,
    InterfaceMethod<"The packed form the weights are in; null if condensed.",
                    "::mlir::nm::PackedFormAttrInterface", "getPackingAttr">,
    InterfaceMethod<"The schedule; null before one is selected.",
                    "::mlir::nm::ScheduleAttrInterface", "getScheduleAttr">,
    InterfaceMethod<"Sets the pattern.", "void", "setPatternAttr",
                    (ins "::mlir::nm::PatternAttr":$pattern)>,
    InterfaceMethod<"Sets the packed form.", "void", "setPackingAttr",
                    (ins "::mlir::nm::PackedFormAttrInterface":$packing)>,
    InterfaceMethod<"Sets the schedule.", "void", "setScheduleAttr",
                    (ins "::mlir::nm::ScheduleAttrInterface":$schedule)>,
    InterfaceMethod<"What the sums may be computed by.",
                    "::mlir::nm::Arithmetic", "getArithmetic">,
    InterfaceMethod<"Sets that.", "void", "setArithmetic",
                    (ins "::mlir::nm::Arithmetic":$arithmetic)>,
    InterfaceMethod<"How the weights are quantized; null where they are not.",
                    "::mlir::nm::QuantizationAttr", "getQuantizationAttr">,
    InterfaceMethod<"Sets how they are quantized.", "void",
                    "setQuantizationAttr",
                    (ins "::mlir::nm::QuantizationAttr":$quantization)>,
    InterfaceMethod<"What the epilogue takes beside the sums.",
                    "::mlir::OperandRange", "getEpilogueOperands">,
    InterfaceMethod<"The same, to be changed.",
                    "::mlir::MutableOperandRange",
                    "getEpilogueOperandsMutable">,
    InterfaceMethod<[{
        Affine maps from (batch..., m, n) to the epilogue operands' dimensions.
      }], "::mlir::ArrayAttr", "getEpilogueMaps">,
    InterfaceMethod<"Sets these maps.", "void", "setEpilogueMapsAttr",
                    (ins "::mlir::ArrayAttr":$maps)>,
    InterfaceMethod<[{
        The dimension of A that is k.
      }], "int64_t", "getKDimOfA">,
    InterfaceMethod<[{
        The dimension of A and of C that is m; none for a matrix-vector
        product.
      }], "std::optional<int64_t>", "getMDimOfA">,
    InterfaceMethod<"The dimension of C that is m, if any.",
                    "std::optional<int64_t>", "getMDimOfC">,
    InterfaceMethod<"The dimension of C that is n.",
                    "int64_t", "getNDimOfC">,
    InterfaceMethod<"Leading batch dimensions of A and C.",
                    "int64_t", "getNumBatchDims">,
    InterfaceMethod<[{
        The m to whose multiple the panels of A are filled up; 0 where A is not
        in panels.
      }], "int64_t", "getRowsOfPanels", (ins), "", "return 0;">,
    InterfaceMethod<[{
        The windows that a gathered A has rows of, and the units that it has of
        each; none where A has all of its rows.
      }], "std::optional<::llvm::ArrayRef<int64_t>>", "getGathered", (ins), "",
      "return std::nullopt;">,
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::ShapedType getAType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getA().getType());
    }
    ::mlir::ShapedType getValuesType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getValues().getType());
    }
    ::mlir::ShapedType getIndicesType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getIndices().getType());
    }
    ::mlir::ShapedType getCType() {
      return ::llvm::cast<::mlir::ShapedType>($_op.getC().getType());
    }
    /// The pattern as lib/Format takes it.
    ::nm::Pattern getPattern() { return $_op.getPatternAttr().getPattern(); }
    /// Whether row r of A is what kept row r of the weights is multiplied with.
    bool isExact() {
      std::optional<::llvm::ArrayRef<int64_t>> gathered = $_op.getGathered();
      ::nm::Pattern pattern = getPattern();
      return pattern.n == (gathered ? gathered->back() : pattern.m);
    }
    /// The pattern of the weights among the rows that A has.
    ::nm::Pattern getPatternInA() {
      ::nm::Pattern pattern = getPattern();
      if (std::optional<::llvm::ArrayRef<int64_t>> gathered =
              $_op.getGathered())
        pattern.m = gathered->back();
      if ($_op.getGathered() && pattern.n == pattern.m)
        pattern.n = pattern.m = 1;
      return pattern;
    }
    /// The packed form where it is one of panels, else null.
    ::mlir::nm::PackingAttr getPanelPacking() {
      return ::llvm::dyn_cast_if_present<::mlir::nm::PackingAttr>(
          $_op.getPackingAttr());
    }
    /// The rows of k that A has: those of a gathered A, else all.
    int64_t countRowsOfA() {
      int64_t size = getAType().getDimSize($_op.getKDimOfA());
      return ::mlir::ShapedType::isDynamic(size) ? size
                                                 : size * getColumnsOfPanels();
    }
    /// Sizes; kDynamic where unknown. m of a matrix-vector product is 1.
    int64_t getStaticK() {
      std::optional<::llvm::ArrayRef<int64_t>> gathered = $_op.getGathered();
      return gathered ? gathered->front() * getPattern().windowRows()
                      : countRowsOfA();
    }
    int64_t getStaticN() { return getCType().getDimSize($_op.getNDimOfC()); }
    int64_t getStaticM() {
      std::optional<int64_t> dim = $_op.getMDimOfC();
      return dim ? getCType().getDimSize(*dim) : 1;
    }
    /// The bf16 splits whose sum is an element of A, and a weight; 1 where they
    /// are themselves.
    int64_t countSplits() {
      ::mlir::nm::PackedFormAttrInterface form = $_op.getPackingAttr();
      return form ? form.countSplits() : 1;
    }
    /// The columns of A that are side by side in a panel; 1 where A is not in
    /// panels.
    int64_t getColumnsOfPanels() {
      return $_op.getRowsOfPanels() != 0 ? ::mlir::nm::kPanelColumnsOfA : 1;
    }
    /// Whether C is made by an epilogue, and not added to.
    bool hasEpilogue() { return $_op->getNumRegions() != 0; }
    /// What makes C of the sums.
    ::mlir::Block &getEpilogue() { return $_op->getRegion(0).front(); }
    /// The dimensions of C: batch..., m, if there is one, and n.
    int64_t getNumOutputLoops() {
      return $_op.getNumBatchDims() + ($_op.getMDimOfC() ? 2 : 1);
    }
    /// The type that products are summed in: i32 for integers, else f32.
    ::mlir::Type getAccumulatorType() {
      return ::mlir::nm::detail::getProductAccumulatorType(
          getAType().getElementType());
    }
  }];
}

#endif // NM_DIALECT_NM_IR_NMINTERFACES_TD
