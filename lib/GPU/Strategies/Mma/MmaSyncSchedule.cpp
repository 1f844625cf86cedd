//===- MmaSyncSchedule.cpp - The schedules of strategy mma_sync -----------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/MmaFields.h"
#include "GPU/Strategies/Mma/MmaSyncStaging.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

namespace {
class MmaSyncStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  bool combinesColumns() const override { return true; }

  bool tellsLayoutsApart() const override { return true; }
  bool readsImages() const override { return true; }
  bool readsChannelsLast() const override { return true; }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageMmaSyncOperands(builder, op);
  }

private:
  ::nm::Result<GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    if (!request.packs)
      return ::nm::Error{"strategy mma_sync expected weights that are packed "
                         "before, but got dense ones that come with each call"};
    ::nm::GpuProduct product = request.product;
    product.rowPacking = getRowPacking(request.op, given);
    return ::nm::selectMmaSyncSchedule(product, request.chip);
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    ::nm::takeGiven(given, chosen);
    if (given.packing)
      return ::nm::Status::success();
    // Panels are cut to the block, and chunks to the rows that it keeps.
    SparseProductOpInterface op = request.op;
    ::nm::Pattern pattern = op.getPattern();
    GpuSchedule tile = chosen;
    tile.blockK = std::min<int64_t>(
        tile.blockK, llvm::alignTo(op.getStaticK(), pattern.windowRows()));
    chosen.packing = ::nm::chooseMmaSyncPacking(pattern, tile);
    return ::nm::Status::success();
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    const ::nm::GpuProduct &product = request.product;
    const ::nm::Pattern &pattern = product.pattern;
    int64_t step = fields.packing.windowStep(pattern) * pattern.windowRows();
    int64_t tileRows = countTileRows(fields, product.k, step);
    bool isTransposed = !product.isMMajor &&
                        !staysRowMajor(product.isMMajor, fields.pack, tileRows);
    completeMmaFields(request, given, pattern.condensedRows(product.k),
                      tileRows, isTransposed, fields);
  }

  LogicalResult verifyGiven(const ScheduleRequest &request,
                            MmaScheduleAttr schedule,
                            const GpuSchedule &) const override {
    return checkLists(request.op, schedule);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaSyncStrategy() {
  static const MmaSyncStrategy strategy;
  return strategy;
}
