//===- AttachChip.cpp - Names the chip that a module is compiled for ------===//

#include "nm/GPU/Passes.h"

#include "GPU/Select/MeasuredChoice.h"

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

  /// Reads the tables, so that each error is told once.
  LogicalResult attachTables(ModuleOp module) {
    if (scheduleTables.empty())
      return success();
    Builder builder(&getContext());
    SmallVector<std::string> files(scheduleTables.begin(),
                                   scheduleTables.end());
    SmallVector<StringRef> names(files.begin(), files.end());
    module->setAttr(kScheduleTablesAttr, builder.getStrArrayAttr(names));
    FailureOr<DeviceQuery> query = getDeviceQuery(module);
    if (failed(query) || failed(loadScheduleTables(module, files, *query)))
      return failure();
    if (std::optional<::nm::ScheduleTable> probed = findRates(files, *query))
      attachRates(module, *probed);
    return success();
  }

  /// Lets models go by what was measured of the device.
  void attachRates(ModuleOp module, const ::nm::ScheduleTable &probed) {
    FailureOr<::nm::GpuChip> chip = mlir::nm::getChip(module);
    if (failed(chip))
      return;
    chip->multiprocessors = probed.device.units;
    if (probed.device.clock > 0)
      chip->clockGHz = probed.device.clock;
    if (probed.device.bandwidth > 0)
      chip->memoryGBs = probed.device.bandwidth;
    chip->rates = *probed.rates;
    module->setAttr(kRatesAttr, makeRates(&getContext(), *chip));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (StringRef name :
         {kScheduleTablesAttr, kDeviceAttr, kBatchInvariantAttr, kRatesAttr})
      module->removeAttr(name);
    if (chip.empty()) {
      module->removeAttr(kChipAttr);
      return;
    }
    auto emitError = [&] { return module.emitError(); };
    if (failed(ChipAttr::verify(emitError, chip)))
      return signalPassFailure();
    module->setAttr(kChipAttr, ChipAttr::get(&getContext(), chip));
    Builder builder(&getContext());
    if (!device.empty())
      module->setAttr(kDeviceAttr, builder.getStringAttr(device));
    if (batchInvariant)
      module->setAttr(kBatchInvariantAttr, builder.getUnitAttr());
    if (failed(attachTables(module)))
      return signalPassFailure();
  }
};
} // namespace
