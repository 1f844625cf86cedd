//===- MmaSpSchedule.cpp - The schedules of strategy mma_sp ---------------===//

#include "GPU/Strategies/Mma/SparseOperandSchedule.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class MmaSpStrategy : public SparseOperandStrategy<MmaSpScheduleAttr> {
  ::nm::Result<::nm::GpuSchedule>
  select(const ::nm::GpuProduct &product,
         const ::nm::GpuChip &chip) const override {
    return ::nm::selectMmaSpSchedule(product, chip);
  }
  ArrayRef<int64_t> getPart(MmaSpScheduleAttr schedule) const override {
    return schedule.getWarp();
  }
  MmaSpScheduleAttr
  toAttribute(Operation *op, const ::nm::GpuSchedule &chosen) const override {
    TileSizes tile(chosen);
    std::optional<int64_t> bits;
    auto product = cast<SparseProductOpInterface>(op);
    if (QuantizationAttr quantization = product.getQuantizationAttr())
      bits = quantization.getBits();
    return getCheckedAt<MmaSpScheduleAttr>(
        op, tile.block, tile.warp, chosen.stages, chosen.splitK,
        chosen.clusterK, chosen.sliceK, bits);
  }
  void takeGiven(MmaSpScheduleAttr given,
                 ::nm::GpuSchedule &chosen) const override {
    SparseOperandStrategy::takeGiven(given, chosen);
    takeSlices(given, chosen);
    takeCluster(given, chosen);
  }
  /// Lanes load their metadata to registers.
  SparseOperandStaging getStaging() const override { return {}; }
};
} // namespace

ScheduleAttrInterface mlir::nm::getEmptyMmaSpSchedule(MLIRContext *context) {
  return MmaSpScheduleAttr::get(context, /*block=*/{}, /*warp=*/{},
                                /*stages=*/{}, /*split_k=*/{}, /*cluster_k=*/{},
                                /*slice_k=*/{}, /*bits=*/{});
}

const GpuStrategy &mlir::nm::getMmaSpStrategy() {
  static const MmaSpStrategy strategy;
  return strategy;
}
