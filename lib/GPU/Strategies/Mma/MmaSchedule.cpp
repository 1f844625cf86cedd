//===- MmaSchedule.cpp - The schedules of products by mma -----------------===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Stage/StagedOperands.h"
#include "GPU/Strategies/Mma/BitmapStringsModel.h"
#include "GPU/Strategies/Mma/MmaImageModel.h"
#include "GPU/Strategies/Mma/MmaSyncStaging.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "nm/Format/BitmapStrings.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/LateLoads.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Schedule/WarpsByFours.h"
#include "nm/Support/Warp.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuSchedule;

//===----------------------------------------------------------------------===//
// Fields that the schedules of mma_sync, mma_sp and mma_bitmap share
//===----------------------------------------------------------------------===//

/// The rows of k of a tile of `fields`, whose slices have multiples of `step`
/// rows each, of a product of `k` rows.
static int64_t countTileRows(const ::nm::ScheduleFields &fields, int64_t k,
                             int64_t step) {
  step *= fields.sliceK;
  return std::min(llvm::alignTo(fields.blockK, step), llvm::alignTo(k, step));
}

/// Elements that rows of A start at multiples of, in the layout that the
/// product has it in.
static int64_t getRowAlignmentOfA(const ScheduleRequest &request) {
  SparseProductOpInterface op = request.op;
  const ::nm::GpuProduct &product = request.product;
  auto matrix = dyn_cast<SpMMOp>(*op);
  bool isAsItIs = product.strideOfA == 0 && matrix &&
                  matrix.getTransposeA() == product.isMMajor;
  return isAsItIs ? getRowAlignment(op.getA()) : product.factorOfRows();
}

/// The bytes of a tile of A that each thread loads to registers; 0 where
/// asynchronous copies take it.
static int64_t countLoadedBytes(const ScheduleRequest &request,
                                int64_t tileRows, bool isTransposed,
                                int64_t threads,
                                const ::nm::ScheduleFields &fields) {
  constexpr int64_t kAccessBytes = 16;
  const ::nm::GpuProduct &product = request.product;
  int64_t bytes = ::nm::elementSize(product.type),
          contiguous = product.isMMajor ? fields.blockM : tileRows;
  // Blocks that copy an image are chosen such that threads hold what they load.
  if (product.hasImage)
    return 0;
  int64_t width = std::gcd(kAccessBytes / bytes,
                           std::gcd(getRowAlignmentOfA(request), contiguous));
  if (!isTransposed && width * bytes >= ::nm::kAsyncRowBytes)
    return 0;
  return ::nm::bytesOfLoads(fields.blockM * tileRows, width, bytes, threads);
}

/// Sets `promote` and `late_loads` of a schedule of warps, where they are not
/// given, for sums of `rows` rows of k, and tiles of k of `tileRows` rows. A
/// that `isTransposed` on its way goes through registers; else it does where
/// asynchronous copies take no elements of it.
static void completeFields(const ScheduleRequest &request,
                           const ::nm::GivenFields &given, int64_t rows,
                           int64_t tileRows, bool isTransposed,
                           ::nm::ScheduleFields &fields) {
  if (fields.warpM == 0 || fields.warpN == 0 || fields.blockK == 0)
    return;
  // Sums of integers are exact.
  if (!given.promote)
    fields.promote =
        ::nm::isFloat(request.product.type) && rows > ::nm::kLongSumRows &&
        ::nm::hasMmaPromotion(fields.warpM * fields.warpN / ::nm::kWarpSize);
  if (given.lateLoads)
    return;
  int64_t threads = fields.blockM / fields.warpM *
                    (fields.blockN / fields.warpN) * fields.sliceK *
                    ::nm::kWarpSize;
  int64_t bytes =
      countLoadedBytes(request, tileRows, isTransposed, threads, fields);
  fields.lateLoads = bytes != 0 && ::nm::wantsLateLoads(threads, bytes);
}

//===----------------------------------------------------------------------===//
// mma_sync
//===----------------------------------------------------------------------===//

namespace {
class MmaSyncStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  int64_t
  countColumnsInTurn(const ::nm::ScheduleFields &fields) const override {
    return fields.blockN / 2;
  }

  bool convertsWeights() const override { return true; }
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
    return ::nm::selectOnce<::nm::selectMmaSyncSchedule>(product, request.chip);
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
    tile.bits = request.product.weightBits;
    // Parts of a k that is shorter than a tile have tiles of that many rows.
    if (tile.splitK == 1)
      tile.blockK = std::min<int64_t>(
          tile.blockK, llvm::alignTo(op.getStaticK(), pattern.windowRows()));
    chosen.packing = ::nm::chooseMmaSyncPacking(pattern, tile);
    return ::nm::Status::success();
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    const ::nm::GpuProduct &product = request.product;
    const ::nm::Pattern &pattern = product.pattern;
    // The schedule has no bits where the op's weights are dequantized before.
    fields.bits = product.weightBits;
    ::nm::PanelPacking packing = fields.packing;
    packing.bits = fields.bits;
    int64_t step = packing.windowStep(pattern) * pattern.windowRows();
    int64_t tileRows = countTileRows(fields, product.k, step);
    bool isTransposed = !product.isMMajor &&
                        !staysRowMajor(product.isMMajor, fields.pack, tileRows);
    completeFields(request, given, pattern.condensedRows(product.k), tileRows,
                   isTransposed, fields);
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

//===----------------------------------------------------------------------===//
// mma_sp
//===----------------------------------------------------------------------===//

namespace {
class MmaSpStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  int64_t
  countColumnsInTurn(const ::nm::ScheduleFields &fields) const override {
    return fields.blockN / 2;
  }

  bool convertsWeights() const override { return true; }

  /// Lanes load metadata, and scales of quantized weights, to registers, or
  /// from where they are copied ahead.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return SparseOperandStaging{
        ::nm::copiesMetadata(getFields(op.getScheduleAttr())),
        /*isAsyncProxy=*/multipliesByWarpgroups(op)}
        .stage(builder, op);
  }

private:
  ::nm::Result<GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    return ::nm::selectOnce<::nm::selectMmaSpSchedule>(
        request.product, request.chip, given.pairs.value_or(false));
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    constexpr int64_t kStep = ::nm::SparseOperand::kStepRows;
    int64_t k = request.product.k;
    completeFields(request, given, llvm::alignTo(k, kStep) / 2,
                   countTileRows(fields, k, kStep), /*isTransposed=*/false,
                   fields);
    // The schedule has no bits where the op's weights are dequantized before.
    fields.bits = request.product.weightBits;
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaSpStrategy() {
  static const MmaSpStrategy strategy;
  return strategy;
}

//===----------------------------------------------------------------------===//
// mma_bitmap
//===----------------------------------------------------------------------===//

/// Rows of A that the strategy was measured with, of 16-bit weights. Of 8-bit
/// ones no rows were: one row takes what eight take, and 32 are what two
/// measured blocks would take that share their weights.
static constexpr int64_t kFewestRows = 2, kMostRows = 16, kMostByteRows = 32;

namespace {
class MmaBitmapStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    bool areBytes = ::nm::elementSize(product.type) == 1;
    return product.m < (areBytes ? 1 : kFewestRows) ||
           product.m > (areBytes ? kMostByteRows : kMostRows);
  }

  bool skipsZeros(ScheduleAttrInterface,
                  const ::nm::GpuProduct &product) const override {
    return ::nm::isOfStrings(product);
  }

  /// Lanes load the bits to registers. Of weights that are kept anywhere, warps
  /// copy values themselves.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    if (::nm::BitmapStrings::isOf(op.getPattern().getPattern()))
      return stageOutputAlone(builder, op);
    return SparseOperandStaging{}.stage(builder, op);
  }

private:
  ::nm::Result<GpuSchedule> select(const ScheduleRequest &request,
                                   const ::nm::GivenFields &) const override {
    return ::nm::selectOnce<::nm::selectMmaBitmapSchedule>(request.product,
                                                           request.chip);
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    using ::nm::BitmapForm;
    const ::nm::GpuProduct &product = request.product;
    if (::nm::isOfStrings(product))
      return;
    auto form =
        BitmapForm::of(product.pattern, ::nm::elementSize(product.type));
    int64_t rows = BitmapForm::steps(product.pattern, product.k) *
                   BitmapForm::kRuns * form.slots;
    completeFields(request, given, rows,
                   countTileRows(fields, product.k, form.stepRows()),
                   /*isTransposed=*/false, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaBitmapStrategy() {
  static const MmaBitmapStrategy strategy;
  return strategy;
}

//===----------------------------------------------------------------------===//
// mma_image
//===----------------------------------------------------------------------===//

/// Sums and kept rows below which `mma_sync` was faster, whose copies of an
/// image few blocks hide better: with one image and with 64 channels, of 32
/// images of ResNet-50's 3x3 layers (an H200, 2026-11-29).
static constexpr int64_t kFewestSums = 1 << 19, kFewestKept = 256;

namespace {
class MmaImageStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    return product.allRows() * product.n < kFewestSums ||
           product.pattern.condensedRows(product.k) < kFewestKept;
  }
  bool tellsLayoutsApart() const override { return true; }
  bool readsImages() const override { return true; }

  /// Blocks copy their part of the image themselves.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageOutputAlone(builder, op);
  }

private:
  ::nm::Result<GpuSchedule> select(const ScheduleRequest &request,
                                   const ::nm::GivenFields &) const override {
    if (!request.packs)
      return ::nm::Error{"strategy mma_image expected weights that are packed "
                         "before, but got dense ones that come with each call"};
    return ::nm::selectOnce<::nm::selectMmaImageSchedule>(request.product,
                                                          request.chip);
  }

  ::nm::Status take(const ScheduleRequest &request,
                    const ::nm::GivenFields &given,
                    GpuSchedule &chosen) const override {
    ::nm::takeGiven(given, chosen);
    if (!given.packing)
      chosen.packing = ::nm::chooseMmaImagePacking(
          SparseProductOpInterface(request.op).getPattern(), chosen);
    return ::nm::Status::success();
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaImageStrategy() {
  static const MmaImageStrategy strategy;
  return strategy;
}
