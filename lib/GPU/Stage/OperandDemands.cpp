//===- OperandDemands.cpp - What schedules demand of operands -------------===//

#include "nm/GPU/Stage/OperandDemands.h"

#include "GPU/Select/GpuStrategy.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/RowBytes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;

int64_t mlir::nm::getLeastRowBytesOfA(ScheduleAttrInterface schedule,
                                      bool isMMajor) {
  const GpuStrategy *strategy = schedule ? findGpuStrategy(schedule) : nullptr;
  return strategy ? strategy->getLeastRowBytes(schedule, isMMajor) : 1;
}

int64_t mlir::nm::getLeastRowBytesOfC(ScheduleAttrInterface schedule) {
  bool hasSlots =
      findGpuStrategy(schedule) && schedule.getTiling().storeBuffers;
  return hasSlots ? ::nm::kBulkRowBytes : 1;
}

/// Whether tensor copies can take rows of `patches` from an image with channels
/// last, whose rows start at multiples of `bytes`.
static bool hasPixelsAt(PatchesOp patches, int64_t bytes) {
  return findPixelBoxes(patches, /*channels=*/1).has_value() &&
         hasRowsAt(patches.getImage(), bytes);
}

bool mlir::nm::hasRowsAt(Value operand, int64_t bytes) {
  auto type = cast<ShapedType>(operand.getType());
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  if (bytes <= elementBytes)
    return true;
  if (PatchesOp patches = findViewedPatches(operand))
    return hasPixelsAt(patches, bytes);
  int64_t elements = bytes / elementBytes,
          access = std::min(elements, kMaxAccessBytes / elementBytes);
  if (getRowAlignment(operand) % access != 0)
    return false;
  SmallVector<int64_t> factors = getStrideFactors(operand);
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 && factors[dim] % elements != 0)
      return false;
  return true;
}

OpOperand *mlir::nm::findStoredTile(SpMMOp op) {
  auto blocks = op->getParentOfType<scf::ForallOp>();
  Value view = op.getC();
  while (
      isa_and_present<memref::CastOp, memref::SubViewOp>(view.getDefiningOp()))
    view = view.getDefiningOp()->getOperand(0);
  auto sums = view.getDefiningOp<memref::AllocOp>();
  if (!sums || !blocks->isProperAncestor(sums))
    return &op.getCMutable();
  for (auto epilogue : blocks.getOps<linalg::GenericOp>())
    return &epilogue.getDpsInitsMutable()[0];
  return &op.getCMutable();
}
