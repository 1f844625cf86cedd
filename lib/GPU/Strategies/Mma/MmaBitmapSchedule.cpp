//===- MmaBitmapSchedule.cpp - The schedules of strategy mma_bitmap -------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows of A that the strategy was measured with.
static constexpr int64_t kFewestRows = 2, kMostRows = 16;

namespace {
class MmaBitmapStrategy : public ModelledStrategy<MmaBitmapScheduleAttr> {
public:
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    return product.m < kFewestRows || product.m > kMostRows;
  }

  /// Lanes load the bits to registers.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return SparseOperandStaging{}.stage(builder, op);
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
    return ::nm::selectMmaBitmapSchedule(request.product, request.chip);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaBitmapStrategy() {
  static const MmaBitmapStrategy strategy;
  return strategy;
}
