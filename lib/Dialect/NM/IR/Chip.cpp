//===- Chip.cpp - The GPU that a module is compiled for -------------------===//

#include "nm/Dialect/NM/IR/Chip.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;

LogicalResult ChipAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               StringRef name) {
  // (C1).
  if (::nm::Result<GpuChip> chip = GpuChip::get(name.str()); !chip)
    return emitError() << chip.error().message;
  return success();
}

GpuChip ChipAttr::getChip() const { return *GpuChip::get(getName().str()); }

FailureOr<ChipAttr> mlir::nm::getChipAttr(Operation *op) {
  for (Operation *parent = op; parent; parent = parent->getParentOp())
    if (auto chip = parent->getAttrOfType<ChipAttr>(kChipAttr))
      return chip;
  return op->emitError() << "expected a module with a chip, as nm-attach-chip "
                            "sets it: "
                         << kChipAttr << " = #nm.chip<\"sm_90a\">";
}

FailureOr<GpuChip> mlir::nm::getChip(Operation *op) {
  FailureOr<ChipAttr> chip = getChipAttr(op);
  if (failed(chip))
    return failure();
  return chip->getChip();
}
