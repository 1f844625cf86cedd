//===- NMDialect.cpp - The nm dialect -------------------------------------===//

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::nm;

#include "nm/Dialect/NM/IR/NMDialect.cpp.inc"
#include "nm/Dialect/NM/IR/NMEnums.cpp.inc"
#include "nm/Dialect/NM/IR/NMInterfaces.cpp.inc"
#include "nm/Dialect/NM/IR/NMPackedFormInterface.cpp.inc"
#include "nm/Dialect/NM/IR/NMScheduleInterface.cpp.inc"

namespace {
/// A call of a function with nm ops may be replaced by the function's body: no
/// op of the dialect depends on the function that it is in. Nothing is inlined
/// into a region of theirs: an epilogue has arithmetic alone, and the region of
/// `nm.warps` one block without a terminator.
struct NMInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void NMDialect::initialize() {
  addInterfaces<NMInliner>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "nm/Dialect/NM/IR/NMOps.cpp.inc"
      >();
}

Operation *NMDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

/// The attribute `name`, which passes and users set, is an `AttrTy`.
template <typename AttrTy>
static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute,
                                     StringRef name, StringRef expected) {
  if (attribute.getName() != name || isa<AttrTy>(attribute.getValue()))
    return success();
  return op->emitOpError() << "expected " << name << " to be an " << expected
                           << ", but got " << attribute.getValue();
}

/// A record is a product's (C5).
static LogicalResult verifyRecord(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != kRecordAttr || isa<SparseProductOpInterface>(op))
    return success();
  return op->emitOpError() << "expected " << kRecordAttr
                           << " on nm.spmm or nm.spmv alone";
}

LogicalResult NMDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return failure(
      failed(verifyAttribute<ChipAttr>(op, attribute, kChipAttr, "#nm.chip")) ||
      failed(verifyAttribute<ArithmeticAttr>(op, attribute, kArithmeticAttr,
                                             "#nm.arithmetic")) ||
      failed(verifyAttribute<RecordAttr>(op, attribute, kRecordAttr,
                                         "#nm.record")) ||
      failed(verifyRecord(op, attribute)));
}
