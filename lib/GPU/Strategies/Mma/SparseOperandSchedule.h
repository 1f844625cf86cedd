//===- SparseOperandSchedule.h - Schedules of mma_sp, wgmma_sp --*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSCHEDULE_H
#define NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSCHEDULE_H

#include "GPU/Strategies/Mma/SparseOperandStaging.h"
#include "GPU/Tile/TilingFields.h"

namespace mlir::nm {

/// A strategy with schedules `AttrTy`, of which `part` is the tile that some
/// warps of a block have.
template <typename AttrTy>
class SparseOperandStrategy : public GpuStrategy {
public:
  bool has(ScheduleAttrInterface schedule) const override {
    return isa<AttrTy>(schedule);
  }

  ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const override {
    ::nm::Result<::nm::GpuSchedule> chosen =
        select(request.product, request.chip);
    if (!chosen)
      return chosen.error();
    ScheduleChoice choice =
        makeChoice(toAttribute(request.op, *chosen), *chosen);
    if (auto given = cast_if_present<AttrTy>(request.given)) {
      ScheduleAttrInterface byModel = choice.schedule;
      takeGiven(given, *chosen);
      choice.schedule = toAttribute(request.op, *chosen);
      choice.isByModel = choice.schedule == byModel;
    }
    return choice;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return getStaging().stage(builder, op);
  }

protected:
  virtual ::nm::Result<::nm::GpuSchedule>
  select(const ::nm::GpuProduct &product, const ::nm::GpuChip &chip) const = 0;
  virtual ArrayRef<int64_t> getPart(AttrTy schedule) const = 0;
  virtual SparseOperandStaging getStaging() const = 0;

  virtual AttrTy toAttribute(Operation *op,
                             const ::nm::GpuSchedule &chosen) const = 0;
  /// Puts what is given in place of what was chosen.
  virtual void takeGiven(AttrTy given, ::nm::GpuSchedule &chosen) const {
    takeSizes(given.getBlock(),
              {&chosen.blockM, &chosen.blockN, &chosen.blockK});
    takeSizes(getPart(given), {&chosen.warpM, &chosen.warpN});
    chosen.stages = given.getStages().value_or(chosen.stages);
    chosen.splitK = given.getSplitK().value_or(chosen.splitK);
  }
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSEOPERANDSCHEDULE_H
