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

namespace {
class GemvColumnsStrategy : public ModelledStrategy<GemvColumnsScheduleAttr> {
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
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
