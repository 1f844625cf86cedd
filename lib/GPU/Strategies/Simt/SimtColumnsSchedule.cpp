//===- SimtColumnsSchedule.cpp - The schedules of strategy simt_columns ---===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Stage/StagedOperands.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class SimtColumnsStrategy : public ModelledStrategy<SimtColumnsScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }

  /// Operands stay where they are, but C has no tile's size that it has not.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    FailureOr<GpuTile> tile = GpuTile::get(op);
    if (failed(tile))
      return failure();
    builder.setInsertionPoint(op);
    op.getCMutable().set(castOutput(builder, op, *tile));
    return success();
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
    return ::nm::selectSimtColumnsSchedule(request.product, request.chip);
  }

  /// How many weights there are, and the one tile of their rows.
  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (given.kept)
      return;
    fields.kept = std::max<int64_t>(1, request.product.kept);
    fields.tileRows = request.product.k;
  }
};
} // namespace

const GpuStrategy &mlir::nm::getSimtColumnsStrategy() {
  static const SimtColumnsStrategy strategy;
  return strategy;
}
