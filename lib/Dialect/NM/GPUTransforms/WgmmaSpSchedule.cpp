//===- WgmmaSpSchedule.cpp - The schedules of strategy wgmma_sp -----------===//

#include "SparseOperandSchedule.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class WgmmaSpStrategy : public SparseOperandStrategy<WgmmaSpScheduleAttr> {
  ::nm::Result<::nm::GpuSchedule>
  select(const ::nm::GpuProduct &product,
         const ::nm::GpuChip &chip) const override {
    return ::nm::selectWgmmaSpSchedule(product, chip);
  }
  ArrayRef<int64_t> getPart(WgmmaSpScheduleAttr schedule) const override {
    return schedule.getWarpgroup();
  }
  SparseOperandStaging getStaging() const override {
    return {/*hasMetadata=*/true, /*isAsyncProxy=*/true};
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaSpStrategy() {
  static const WgmmaSpStrategy strategy;
  return strategy;
}
