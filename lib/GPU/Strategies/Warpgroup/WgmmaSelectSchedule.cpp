//===- WgmmaSelectSchedule.cpp - The schedules of wgmma_select ------------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Warpgroup/WgmmaSelectStaging.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"
#include "nm/Schedule/TensorBoxes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

namespace {
class WgmmaSelectStrategy : public ModelledStrategy<WarpgroupScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    return ::nm::kBulkRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageWgmmaSelectOperands(builder, op);
  }

private:
  ::nm::Result<GpuSchedule> select(const ScheduleRequest &request,
                                   const ::nm::GivenFields &) const override {
    if (!request.packs)
      return ::nm::Error{
          "strategy wgmma_select has no dense weights of each call"};
    if (auto matrix = dyn_cast<SpMMOp>(*request.op);
        !matrix || matrix.getTransposeC())
      return ::nm::Error{"strategy wgmma_select makes a row-major C"};
    return ::nm::selectWgmmaSelectSchedule(request.product, request.chip);
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    ::nm::takeGiven(given, chosen);
    if (!given.packing)
      chosen.packing = ::nm::packForSelection(request.product.pattern,
                                              chosen.blockN, chosen.blockK);
    return ::nm::Status::success();
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (!given.boxRows)
      fields.boxRows = ::nm::chooseBoxRows(request.product.m, fields.blockM);
    ::nm::setRoleRegisters(given, /*areCopiesBulk=*/true, /*elementBytes=*/1,
                           /*haveTwoSums=*/fields.promote, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaSelectStrategy() {
  static const WgmmaSelectStrategy strategy;
  return strategy;
}
