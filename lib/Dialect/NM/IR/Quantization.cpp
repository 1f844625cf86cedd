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
  if (!op.getPackingAttr())
    return success();
  auto form = dyn_cast<SparseOperandAttr>(op.getPackingAttr());
  if (form && form.getOrder() == ::nm::SparseOperand::Order::Mma &&
      form.getBits() == bits)
    return success();
  return op->emitOpError()
         << "expected values of " << bits
         << " bits to be condensed, or packed as "
            "#nm.sparse_operand<mma> of so many bits, but got "
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
           << "expected a schedule of strategy loops, or of mma_sp with bits = "
           << quantization.getBits() << ", for quantized weights, but got "
           << schedule;
  if (!tiling.hasBlock() || ShapedType::isDynamic(op.getStaticK()))
    return success();
  int64_t group = quantization.getGroup(), k = op.getStaticK(),
          rows = tiling.blockK, slices = tiling.sliceK,
          inSlice = llvm::alignTo(rows, slices * 64) / slices;
  constexpr int64_t kInstruction = 32;
  if (group >= k || (group % kInstruction == 0 && rows % group == 0 &&
                     (inSlice % group == 0 || group % inSlice == 0)))
    return success();
  return op->emitOpError()
         << "expected a block's k to be a multiple of the group of " << group
         << " rows that share a scale, a multiple of " << kInstruction
         << ", and that of a slice a multiple or a divisor of it, but got "
         << rows << " rows in " << slices << " slices";
}

LogicalResult mlir::nm::verifyQuantization(SparseProductOpInterface op) {
  QuantizationAttr quantization = op.getQuantizationAttr();
  auto form = dyn_cast_if_present<SparseOperandAttr>(op.getPackingAttr());
  if (!quantization) {
    if (op.getScales())
      return op->emitOpError() << "expected no scales of weights without a "
                                  "quantization, but got "
                               << op.getScales().getType();
    if (!form || form.getBits() == 0)
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
