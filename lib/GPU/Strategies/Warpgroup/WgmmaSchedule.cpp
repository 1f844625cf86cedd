//===- WgmmaSchedule.cpp - The schedules of strategy wgmma ----------------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Warpgroup/WgmmaStaging.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

namespace {
class WgmmaStrategy : public ModelledStrategy<WarpgroupScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }
  bool storesSplitsOfC() const override { return true; }

  /// A in panels is made for the schedule.
  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    ::nm::CopyKind copy = getFields(schedule).copyA;
    if (copy == ::nm::CopyKind::Bulk)
      return 1;
    return copy == ::nm::CopyKind::Tensor ? ::nm::kBulkRowBytes
                                          : ::nm::kAsyncRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageWgmmaOperands(builder, op);
  }

private:
  ::nm::Result<GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    if (!request.packs)
      return ::nm::Error{"strategy wgmma has no dense weights of each call"};
    std::optional<bool> panelsOfA;
    if (given.copyA)
      panelsOfA = given.copyA == ::nm::CopyKind::Bulk;
    ::nm::Result<GpuSchedule> chosen =
        ::nm::selectWgmmaSchedule(request.product, request.chip, panelsOfA);
    if (chosen && ::nm::isLongSumOfSplitFloats(request.product) &&
        chosen->splitK == 1 && !request.given)
      return ::nm::Error{"strategy wgmma has no parts of long sums of f32 "
                         "whose tiles are parts of units"};
    return chosen;
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    const ::nm::GpuProduct &product = request.product;
    ::nm::takeGiven(given, chosen);
    // Parts of k are faster without, but splits have no other copies.
    if (chosen.splitK > 1 && chosen.splits == 1 && !given.producers)
      chosen.producers = 0;
    if (!given.packing)
      chosen.packing = ::nm::packForWgmma(product, chosen);
    if (!given.compensated)
      chosen.compensated = ::nm::wantsCompensation(
          product, chosen.packing.splits, chosen.packing.tileRows);
    return verifyParts(product, chosen);
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    ::nm::setRoleRegisters(
        given, /*areCopiesBulk=*/fields.copyA != ::nm::CopyKind::Direct,
        ::nm::elementSize(request.product.type),
        /*haveTwoSums=*/fields.promote || fields.packing.splits > 1, fields);
  }

  static ::nm::Status verifyParts(const ::nm::GpuProduct &product,
                                  const GpuSchedule &chosen) {
    const ::nm::Pattern &pattern = product.pattern;
    if (chosen.splits > 1 && chosen.splitK > 1 &&
        ::nm::gathersWgmmaUnits(pattern, chosen.splits) &&
        chosen.blockK < pattern.windowRows())
      return ::nm::Error{"strategy wgmma has no parts of k of f32 whose tiles "
                         "are parts of units, as those of " +
                         pattern.str() + " are"};
    if (::nm::elementSize(product.type) == 1 && chosen.splitK > 1)
      return ::nm::Error{"strategy wgmma has no parts of k of operands of 8 "
                         "bits"};
    if (chosen.copyA == ::nm::CopyKind::Bulk &&
        !::nm::canHavePanels(product, chosen.blockK))
      return ::nm::Error{"strategy wgmma has panels of a row-major A of 8 bits "
                         "whose k is whole panels, and filled up to windows "
                         "whole tiles"};
    return ::nm::Status::success();
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaStrategy() {
  static const WgmmaStrategy strategy;
  return strategy;
}
