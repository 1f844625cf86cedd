//===- WarpgroupSchedule.cpp - The schedules of products by wgmma ---------===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"
#include "GPU/Strategies/Warpgroup/OverlapTiles.h"
#include "GPU/Strategies/Warpgroup/WgmmaSelectStaging.h"
#include "GPU/Strategies/Warpgroup/WgmmaStaging.h"

#include "nm/Format/MmaFragments.h"
#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"
#include "nm/Schedule/TensorBoxes.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

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
        ::nm::selectOnce<::nm::selectWgmmaSchedule>(request.product,
                                                    request.chip, panelsOfA);
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

//===----------------------------------------------------------------------===//
// wgmma_sp
//===----------------------------------------------------------------------===//

namespace {
class WgmmaSpStrategy : public ModelledStrategy<WarpgroupScheduleAttr> {
public:
  /// A thread has sums of neighbours, which are one of each product's, or finds
  /// sums in shared memory where no warps of their own copy. Slots of store
  /// buffers have 64 columns of C each, and split floats stores of their own.
  int64_t
  countColumnsInTurn(const ::nm::ScheduleFields &fields) const override {
    if (fields.splits > 1)
      return 0;
    if (fields.producers == 0)
      return fields.blockN / 2;
    return BlockTiling(fields).storesFromRegisters() ? 1 : 0;
  }

  bool tellsLayoutsApart() const override { return true; }
  bool storesSplitsOfC() const override { return true; }
  bool hasPixelCopies() const override { return true; }

  /// Producers do.
  bool copiesPixels(ScheduleAttrInterface schedule) const override {
    const ::nm::ScheduleFields fields = getFields(schedule);
    return fields.producers != 0 && fields.splits <= 1;
  }

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
        ::nm::selectOnce<::nm::selectWgmmaSpSchedule>(request.product,
                                                      request.chip);
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
        !hasTilesToOverlap(request.op, request.product.isMMajor, chosen.splits))
      return ::nm::Error{"strategy wgmma_sp expected " + kTilesToOverlap.str() +
                         " for overlap = true"};
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

  bool statesPromotion() const override { return true; }

  /// The tensor cores cut sums of 8-bit floats and of splits off.
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
      fields.overlap = hasTilesToOverlap(request.op, request.product.isMMajor,
                                         fields.splits);
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

//===----------------------------------------------------------------------===//
// wgmma_select
//===----------------------------------------------------------------------===//

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
    return ::nm::selectOnce<::nm::selectWgmmaSelectSchedule>(request.product,
                                                             request.chip);
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
