//===- SparseOperandForm.cpp - #nm.sparse_operand -------------------------===//

#include "Quantization.h"
#include "StorageTiling.h"
#include "VerifyStorage.h"

#include "nm/Format/SplitFloats.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

/// Its shapes are those of all element types.
static SparseOperand getOperand(SparseOperandAttr form) {
  SparseOperand operand;
  operand.order = form.getOrder();
  operand.storedBits = form.getBits();
  operand.splits = form.getSplits();
  return operand;
}

SparseOperand SparseOperandAttr::getOperand(Type element) const {
  SparseOperand operand = ::getOperand(*this);
  if (!operand.isQuantized() && operand.splits == 1)
    operand.bits = element.getIntOrFloatBitWidth();
  return operand;
}

LogicalResult
SparseOperandAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          SparseOperand::Order order, int64_t bits,
                          int64_t splits) {
  // (C4).
  if (splits < 1 || splits > ::nm::kMaxSplits)
    return emitError() << "expected splits in 1.." << ::nm::kMaxSplits
                       << ", but got " << splits;
  if (splits > 1 && order == SparseOperand::Order::Mma)
    return emitError() << "expected no splits of order mma, but got " << splits;
  // (C3).
  return bits == 0 ? success() : verifyQuantizedBits(emitError, bits);
}

LogicalResult
SparseOperandAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                                 const ::nm::Pattern &pattern,
                                 Type elementType) const {
  return verifyWeightType(emitError, elementType, [&](::nm::ElementType type) {
    return ::getOperand(*this).verify(pattern, type);
  });
}

Type SparseOperandAttr::getPackedType(Type elementType) const {
  return getSplits() > 1 ? BFloat16Type::get(getContext()) : elementType;
}

int64_t SparseOperandAttr::countSplits() const { return getSplits(); }

StorageShape SparseOperandAttr::getStorageShape(const ::nm::Pattern &pattern,
                                                int64_t rows,
                                                int64_t columns) const {
  SparseOperand operand = ::getOperand(*this);
  int64_t blocks = mapSize(columns, [&](int64_t columns) {
    return llvm::divideCeil(columns, operand.columns());
  });
  int64_t steps = mapSize(rows, [&](int64_t rows) {
    int64_t k = rows / pattern.keptRows() * pattern.windowRows();
    return llvm::divideCeil(k, SparseOperand::kStepRows);
  });
  return {{blocks, steps, operand.elementsOfStep()},
          {blocks, steps, operand.bytesOfStep()}};
}

int64_t SparseOperandAttr::getColumnStep(const ::nm::Pattern &) const {
  return ::getOperand(*this).columns();
}

int64_t SparseOperandAttr::getRowStep(const ::nm::Pattern &) const {
  return SparseOperand::kStepRows;
}

StorageRegion SparseOperandAttr::getStorageRegion(OpBuilder &builder,
                                                  Location loc,
                                                  const ::nm::Pattern &,
                                                  Range1D k, Range1D n) const {
  SparseOperand operand = ::getOperand(*this);
  Range1D blocks = scaleRange(builder, loc, n, operand.columns(), 1);
  Range1D steps = scaleRange(builder, loc, k, SparseOperand::kStepRows, 1);
  StorageRegion region;
  for (auto [part, size] :
       {std::pair(&region.values, operand.elementsOfStep()),
        std::pair(&region.indices, operand.bytesOfStep())}) {
    part->append(blocks);
    part->append(steps);
    part->append({builder.getIndexAttr(0), builder.getIndexAttr(size)});
  }
  return region;
}

::nm::Pattern SparseOperandAttr::getPackedPattern(const ::nm::Pattern &) const {
  return {/*n=*/2, /*m=*/SparseOperand::kGroupRows, /*bk=*/1, /*bn=*/1};
}

void SparseOperandAttr::pack(const ::nm::CondensedView &weights, void *values,
                             uint8_t *indices, uint8_t *) const {
  SparseOperand operand = ::getOperand(*this);
  if (!operand.isQuantized() && operand.splits == 1)
    operand.bits = 8 * elementSize(weights.type);
  ::nm::packSparseOperand(weights, operand, values, indices);
}
