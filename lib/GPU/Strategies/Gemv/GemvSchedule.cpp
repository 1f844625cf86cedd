//===- GemvSchedule.cpp - The schedules of strategy gemv ------------------===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Select/SplitK.h"

#include "nm/Support/EarlyStart.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// The pattern of the weights in panels: a panel that is narrower than a unit
/// has units of its own width.
static ::nm::Pattern getPatternOfPanels(SparseProductOpInterface op,
                                        const ::nm::ScheduleFields &fields) {
  ::nm::Pattern pattern = op.getPattern();
  pattern.bn = std::min(pattern.bn, fields.packing.panel);
  return pattern;
}

/// The number of blocks, of one row each, of the kernel, if the number of rows
/// in all batches is known.
static std::optional<int64_t> countBlocks(SparseProductOpInterface op,
                                          const ::nm::ScheduleFields &fields) {
  ::nm::Pattern pattern = getPatternOfPanels(op, fields);
  int64_t rows = fields.packing.windowStep(pattern) * pattern.windowRows(),
          k = std::min(llvm::alignTo(fields.blockK, rows),
                       llvm::alignTo(op.getStaticK(), rows)),
          n = llvm::alignTo(fields.blockN, fields.packing.columnStep(pattern));
  int64_t blocks =
      KParts(op.getStaticK(), k, fields.splitK, /*clusterK=*/1).count *
      llvm::divideCeil(op.getStaticN(), n);
  SmallVector<int64_t> sizes(
      op.getCType().getShape().take_front(op.getNumBatchDims()));
  // Each row of A has blocks of its own.
  sizes.push_back(op.getStaticM());
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    blocks *= size;
  }
  return blocks;
}

/// Bytes that a warp asks for ahead, of values and of indices. On an H200 2 KiB
/// take up to a fifth off products of 1 to 20 MB of weights; with 8 KiB large
/// ones lose a tenth. Of weights in 8 bits with indices of their own 1 KiB take
/// 4 to 12 % less than 2 (i8 and e4m3 at 2:4, one row, n = 4096, k = 4096 to
/// 14336, 2026-11-23). Those that share indices among 64 columns take up to 4 %
/// more, and wider ones within 1 % as long.
static int64_t chooseEarlyBytes(const ScheduleRequest &request,
                                const ::nm::ScheduleFields &fields) {
  constexpr int64_t kUsual = 2048, kOfBytes = 1024, kSharing = 8;
  SparseProductOpInterface op = request.op;
  // Products of more rows wait for those, and ptxas spills registers around the
  // requests.
  if (fields.blockM != 1 || fields.packing.panel == 0)
    return 0;
  std::optional<int64_t> blocks = countBlocks(op, fields);
  // Several rows would ask for the same weights.
  if (!blocks || !::nm::gainsBehindUnknown(*blocks, op.getStaticM() == 1,
                                           request.chip.earlyBlocks()))
    return 0;
  ::nm::Pattern pattern = getPatternOfPanels(op, fields);
  auto packing = PackingAttr::get(op->getContext(), fields.packing);
  StorageShape shape =
      StorageShape::condensed(pattern, op.getStaticK(), op.getStaticN());
  shape = packing.getStorageShape(pattern, shape.values[0], shape.values[1]);
  bool areShared = shape.values.back() > kSharing * shape.indices.back();
  return request.product.bitsOfWeight() <= 8 && !areShared ? kOfBytes : kUsual;
}

namespace {
/// The strategy reads packed weights alone, so that a dense matrix that comes
/// with each call is packed then.
class GemvStrategy : public ModelledStrategy<GemvScheduleAttr> {
public:
  int64_t
  countColumnsInTurn(const ::nm::ScheduleFields &fields) const override {
    return fields.blockN / 2;
  }

  /// A block has the few rows of A whose sums fit in a thread's registers.
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    return product.rows() > ::nm::kMaxGemvRows;
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
    return ::nm::selectOnce<::nm::selectGemvSchedule>(request.product,
                                                      request.chip);
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (!given.earlyBytes)
      fields.earlyBytes = chooseEarlyBytes(request, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getGemvStrategy() {
  static const GemvStrategy strategy;
  return strategy;
}
