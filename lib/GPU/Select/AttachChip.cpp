//===- AttachChip.cpp - Names the chip that a module is compiled for ------===//

#include "nm/GPU/Passes.h"

#include "nm/Dialect/NM/IR/Chip.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMATTACHCHIP
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
struct NMAttachChip : mlir::nm::impl::NMAttachChipBase<NMAttachChip> {
  using NMAttachChipBase::NMAttachChipBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (chip.empty()) {
      module->removeAttr(kChipAttr);
      return;
    }
    auto emitError = [&] { return module.emitError(); };
    if (failed(ChipAttr::verify(emitError, chip)))
      return signalPassFailure();
    module->setAttr(kChipAttr, ChipAttr::get(&getContext(), chip));
  }
};
} // namespace
