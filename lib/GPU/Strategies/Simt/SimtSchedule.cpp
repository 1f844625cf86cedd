//===- SimtSchedule.cpp - The schedules of strategy simt ------------------===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Simt/SimtStaging.h"
#include "nm/GPU/Stage/RowBytes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

/// The product as the strategy takes it.
static ::nm::GpuProduct getProduct(const ScheduleRequest &request,
                                   const ::nm::GivenFields &given) {
  ::nm::GpuProduct product = request.product;
  product.rowPacking = getRowPacking(request.op, given);
  product.isPacked = request.packs;
  if (request.given)
    product.promote = given.promote;
  return product;
}

namespace {
class SimtStrategy : public ModelledStrategy<SimtScheduleAttr> {
public:
  bool multipliesInF32() const override { return true; }
  bool readsImages() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    auto simt = cast<SimtScheduleAttr>(schedule);
    if (isMMajor)
      return 1;
    if (simt.getOrderOfA() == TileOrder::RowMajor)
      return ::nm::kLineRowBytes;
    return simt.getCopyA().value_or(CopyKind::Elements) == CopyKind::Elements
               ? 1
               : ::nm::kBulkRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageSimtOperands(builder, op);
  }

private:
  ::nm::Result<GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    return ::nm::selectOnce<::nm::selectSimtSchedule>(
        getProduct(request, given), request.chip);
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    ::nm::takeGiven(given, chosen);
    // Panels are cut to the block.
    SparseProductOpInterface op = request.op;
    if (given.blockM && !given.packing)
      chosen.packing.panel =
          ::nm::choosePanel(op.getPattern(), chosen.blockN, chosen.warpN);
    completeSimtTile(getProduct(request, given), request.chip, given, chosen);
    return ::nm::Status::success();
  }

  LogicalResult verifyGiven(const ScheduleRequest &request,
                            SimtScheduleAttr schedule,
                            const GpuSchedule &fields) const override {
    auto given = cast<SimtScheduleAttr>(request.given);
    if (failed(checkLists(request.op, schedule)))
      return failure();
    ::nm::GpuProduct product = getProduct(request, getGivenFields(given));
    if (::nm::Status status = verifySimtCopies(product, fields); !status) {
      SparseProductOpInterface op = request.op;
      return op->emitOpError() << status.error().message;
    }
    return success();
  }

  /// Dense weights that come with each call have no panels.
  void complete(const ScheduleRequest &request, const ::nm::GivenFields &,
                ::nm::ScheduleFields &fields) const override {
    if (!request.packs)
      fields.packing.panel = 0;
  }
};
} // namespace

const GpuStrategy &mlir::nm::getSimtStrategy() {
  static const SimtStrategy strategy;
  return strategy;
}
