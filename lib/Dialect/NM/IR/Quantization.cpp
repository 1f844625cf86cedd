//===- Quantization.cpp - Products of weights of few bits -----------------===//

#include "Quantization.h"

#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/Dequantize.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult
mlir::nm::verifyQuantizedBits(function_ref<InFlightDiagnostic()> emitError,
                              int64_t bits) {
  if (bits == 4 || bits == 8)
    return success();
  return emitError() << "expected quantized values of 4 or 8 bits, but got "
                     << bits;
}

LogicalResult
QuantizationAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t bits, int64_t group) {
  // (C1).
  if (failed(verifyQuantizedBits(emitError, bits)))
    return failure();
  // (C2).
  if (group >= 1 && group <= ::nm::kMaxSize)
    return success();
  return emitError() << "expected a group of 1 to " << ::nm::kMaxSize
                     << " rows of k for each scale, but got " << group;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The bits of quantized weights that registers convert, of a packed form; 0
/// for others.
static int64_t getStoredBits(PackedFormAttrInterface form) {
  if (auto panels = dyn_cast<PackingAttr>(form))
    return panels.getBits();
  auto operand = dyn_cast<SparseOperandAttr>(form);
  bool isOfMma =
      operand && operand.getOrder() == ::nm::SparseOperand::Order::Mma;
  return isOfMma ? operand.getBits() : 0;
}

/// (Q1): the types of A and the values, and their packed form.
static LogicalResult verifyValues(SparseProductOpInterface op, int64_t bits) {
  Type a = op.getAType().getElementType(),
       values = op.getValuesType().getElementType();
  if (!a.isF16() && !a.isBF16())
    return op->emitOpError()
           << "expected A to be f16 or bf16 for quantized weights, but got "
           << a;
  if (!values.isSignlessInteger(8))
    return op->emitOpError()
           << "expected quantized values of i8, but got " << values;
  if (!op.getPackingAttr() || getStoredBits(op.getPackingAttr()) == bits)
    return success();
  return op->emitOpError()
         << "expected values of " << bits
         << " bits to be condensed, or packed as #nm.sparse_operand<mma> or "
            "#nm.packing of so many bits, but got "
         << op.getPackingAttr();
}

/// (Q4): the schedule converts the values, and can tell which scales they have,
/// or wants them dequantized when they are packed.
static LogicalResult verifySchedule(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (!schedule || schedule.isReference() || getQuantizedForm(op))
    return success();
  BlockTiling tiling = schedule.getTiling();
  if (tiling.bits != quantization.getBits())
    return op->emitOpError()
           << "expected a schedule of strategy loops, or of mma_sp or mma_sync "
              "with bits = "
           << quantization.getBits() << ", for quantized weights, but got "
           << schedule;
  PackedFormAttrInterface form = schedule.getPackedForm(op.getPattern());
  if (!tiling.hasBlock() || !form || ShapedType::isDynamic(op.getStaticK()))
    return success();
  int64_t group = quantization.getGroup(), k = op.getStaticK(),
          slices = tiling.sliceK,
          rows = llvm::alignTo(tiling.blockK,
                               slices * form.getRowStep(op.getPattern())),
          inSlice = rows / slices;
  // One mma.sp has rows of one group.
  constexpr int64_t kInstruction = 32;
  int64_t least = isa<SparseOperandAttr>(form) ? kInstruction : 1;
  if (group >= k ||
      (group % least == 0 && tiling.blockK % group == 0 && rows % group == 0 &&
       (inSlice % group == 0 || group % inSlice == 0)))
    return success();
  return op->emitOpError()
         << "expected a block's k to be a multiple of the group of " << group
         << " rows that share a scale, a multiple of " << least
         << ", and that of a slice a multiple or a divisor of it, but got "
         << tiling.blockK << " rows in " << slices << " slices";
}

LogicalResult mlir::nm::verifyQuantization(SparseProductOpInterface op) {
  QuantizationAttr quantization = op.getQuantizationAttr();
  if (!quantization) {
    if (op.getScales())
      return op->emitOpError() << "expected no scales of weights without a "
                                  "quantization, but got "
                               << op.getScales().getType();
    PackedFormAttrInterface form = op.getPackingAttr();
    auto operand = dyn_cast_if_present<SparseOperandAttr>(form);
    auto panels = dyn_cast_if_present<PackingAttr>(form);
    if ((!operand || operand.getBits() == 0) &&
        (!panels || panels.getBits() == 0))
      return success();
    return op->emitOpError()
           << "expected a quantization for weights packed as " << form;
  }
  // (Q1).
  if (failed(verifyValues(op, quantization.getBits())))
    return failure();
  // (Q2).
  if (!op.getScales())
    return op->emitOpError() << "expected the scales of quantized weights";
  auto scales = cast<ShapedType>(op.getScales().getType());
  if (scales.getElementType() != op.getAType().getElementType())
    return op->emitOpError()
           << "expected scales of A's element type "
           << op.getAType().getElementType() << ", but got " << scales;
  int64_t k = op.getStaticK(), group = quantization.getGroup();
  int64_t groups =
      ShapedType::isDynamic(k) ? k : int64_t(llvm::divideCeil(k, group));
  if (failed(verifyShape(op, "scales", scales, {groups, op.getStaticN()})))
    return failure();
  // (Q3).
  int64_t window = op.getPattern().windowRows();
  if (group % window == 0)
    return verifySchedule(op);
  return op->emitOpError() << "expected groups of a multiple of the window's "
                           << window << " rows of k, but got " << group;
}
