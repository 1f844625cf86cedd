//===- SimtColumnsSchedule.cpp - The schedules of strategy simt_columns ---===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Stage/StagedOperands.h"
#include "GPU/Strategies/Simt/SimtColumnsModel.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class SimtColumnsStrategy : public ModelledStrategy<SimtColumnsScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }
  bool readsImages() const override { return true; }

  /// Operands stay where they are; the type of C does not claim the whole tile
  /// where C may end in it.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    FailureOr<GpuTile> tile = GpuTile::get(op);
    if (failed(tile))
      return failure();
    builder.setInsertionPoint(op);
    op.getCMutable().set(castOutput(builder, op, *tile));
    return success();
  }

private:
  /// Weights as data; constant ones as code where several columns of a thread
  /// ask for that, or where few weights are estimated to be faster so.
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    SparseProductOpInterface op = request.op;
    ::nm::Result<::nm::GpuSchedule> data =
        ::nm::selectOnce<::nm::selectSimtColumnsSchedule>(request.product,
                                                          request.chip);
    bool mayBeCode = given.threadN
                         ? *given.threadN > 1
                         : request.product.kept <= ::nm::kMostChosenConstants;
    if (!data || !mayBeCode || given.kept || !areWeightsConstant(op))
      return data;
    ::nm::Result<::nm::GpuSchedule> code =
        ::nm::selectOnce<::nm::selectConstantColumns>(request.product,
                                                      request.chip);
    bool isCode =
        given.threadN || (code && code->microseconds < data->microseconds);
    return isCode ? code : data;
  }

  /// Sets how many weights are packed, and that their rows are one tile; code
  /// has neither.
  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (given.kept || fields.threadN > 1)
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
