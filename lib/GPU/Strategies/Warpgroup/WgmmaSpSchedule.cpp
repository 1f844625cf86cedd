//===- WgmmaSpSchedule.cpp - The schedules of strategy wgmma_sp -----------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"
#include "GPU/Strategies/Warpgroup/OverlapTiles.h"

#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"
#include "nm/Schedule/TensorBoxes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

namespace {
class WgmmaSpStrategy : public ModelledStrategy<WarpgroupScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }
  bool storesSplitsOfC() const override { return true; }

  int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                           bool isMMajor) const override {
    return getFields(schedule).producers != 0 ? ::nm::kBulkRowBytes
                                              : ::nm::kAsyncRowBytes;
  }

  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return SparseOperandStaging{/*hasMetadata=*/true, /*isAsyncProxy=*/true}
        .stage(builder, op);
  }

private:
  ::nm::Result<GpuSchedule> select(const ScheduleRequest &request,
                                   const ::nm::GivenFields &) const override {
    ::nm::Result<GpuSchedule> chosen =
        ::nm::selectWgmmaSpSchedule(request.product, request.chip);
    if (chosen && !request.given &&
        ::nm::isLongSumOfSplitFloats(request.product) && chosen->splitK == 1)
      return ::nm::Error{"strategy wgmma_sp has no parts of this long sum of "
                         "f32 that are whole tiles"};
    return chosen;
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    ::nm::takeGiven(given, chosen);
    bool isPromoted = promotes(request, chosen);
    if (given.promote.value_or(isPromoted) != isPromoted)
      return ::nm::Error{std::string("strategy wgmma_sp expected promote = ") +
                         (isPromoted ? "true" : "false") +
                         ", by the product's type and arithmetic"};
    if (given.overlap.value_or(false) &&
        !wantsOverlap(request.op, request.product.isMMajor, chosen.splits))
      return ::nm::Error{"strategy wgmma_sp expected a row-major A, without "
                         "splits, and a C that is stored by 16 bytes, for "
                         "overlap = true"};
    if (!given.compensated)
      chosen.compensated &= chosen.splits == ::nm::kMaxSplits;
    // Producers copy whole tiles, at which parts of k need not end. Splits have
    // no other copies.
    bool isChosen = (!given.blockM && chosen.splitK == 1) || chosen.splits > 1;
    if (!given.producers && !isChosen)
      chosen.producers = 0;
    if (chosen.producers != 0 && !given.clusterK) {
      chosen.clusterK = 1;
      // The parts that are chosen for splits are whole tiles.
      if (!given.splitK && chosen.splits == 1)
        chosen.splitK = 1;
    }
    return ::nm::Status::success();
  }

  static bool promotes(const ScheduleRequest &request,
                       const ::nm::ScheduleFields &fields) {
    return fields.splits > 1 || request.product.promotesFloat8();
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    fields.promote = promotes(request, fields);
    if (!given.ordered)
      fields.ordered = fields.producers != 0 &&
                       ::nm::wantsOrder(fields.promote, fields.splits,
                                        ::nm::countConsumers(fields));
    if (!given.overlap)
      fields.overlap =
          wantsOverlap(request.op, request.product.isMMajor, fields.splits);
    if (!given.boxRows && fields.producers != 0 && fields.splits == 1 &&
        !request.product.isMMajor)
      fields.boxRows = ::nm::chooseBoxRows(request.product.m, fields.blockM);
    ::nm::setRoleRegisters(given, /*areCopiesBulk=*/true,
                           ::nm::elementSize(request.product.type),
                           /*haveTwoSums=*/fields.promote, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getWgmmaSpStrategy() {
  static const WgmmaSpStrategy strategy;
  return strategy;
}
