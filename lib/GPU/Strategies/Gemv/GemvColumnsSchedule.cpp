//===- GemvColumnsSchedule.cpp - The schedules of strategy gemv_columns ---===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"

#include "nm/Support/EarlyStart.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Bytes that a warp asks for ahead, as in strategy gemv, where blocks find
/// room beside the kernel before.
static int64_t chooseEarlyBytes(const ScheduleRequest &request,
                                const ::nm::ScheduleFields &fields) {
  constexpr int64_t kUsual = 2048, kOfBytes = 1024;
  const ::nm::GpuProduct &product = request.product;
  if (fields.blockM != 1 || fields.blockN == 0 || product.rows() != 1)
    return 0;
  int64_t blocks =
      product.batch * int64_t(llvm::divideCeil(product.n, fields.blockN));
  if (!::nm::gainsBehindUnknown(blocks, /*isOfOneRow=*/true,
                                request.chip.earlyBlocks()))
    return 0;
  return product.bitsOfWeight() <= 8 ? kOfBytes : kUsual;
}

/// 32 rows of f32, f16 and bf16 are 2.8, 1.3 and 1.4 times as fast as
/// cuBLASLt's dense weights, and 32 of i8 slower (4096 x 4096, 90 % zeros, an
/// H200, 2026-11-30).
static bool hasManyRows(const ::nm::GpuProduct &product) {
  constexpr int64_t kMostRows = 32, kMostRowsOfBytes = 16;
  bool isOfBytes = ::nm::elementSize(product.type) == 1;
  return product.rows() > (isOfBytes ? kMostRowsOfBytes : kMostRows);
}

namespace {
class GemvColumnsStrategy : public ModelledStrategy<GemvColumnsScheduleAttr> {
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
    if (!request.given && hasManyRows(request.product))
      return ::nm::Error{
          "gemv_columns: each eight rows would read all weights"};
    return ::nm::selectOnce<::nm::selectGemvColumnsSchedule>(request.product,
                                                             request.chip);
  }

  /// Gaps of other bits than the model chose take steps of their own.
  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (given.gapBits && !given.steps)
      fields.steps = ::nm::countEllRoom(request.product, *given.gapBits);
    if (!given.earlyBytes)
      fields.earlyBytes = chooseEarlyBytes(request, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getGemvColumnsStrategy() {
  static const GemvColumnsStrategy strategy;
  return strategy;
}
