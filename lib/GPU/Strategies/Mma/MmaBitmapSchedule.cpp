//===- MmaBitmapSchedule.cpp - The schedules of strategy mma_bitmap -------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/MmaFields.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "nm/Format/Bitmap.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows of A that the strategy was measured with.
static constexpr int64_t kFewestRows = 2, kMostRows = 16;

namespace {
class MmaBitmapStrategy : public ModelledStrategy<MmaScheduleAttr> {
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

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    using ::nm::BitmapForm;
    const ::nm::Pattern &pattern = request.product.pattern;
    int64_t k = request.product.k;
    int64_t rows = BitmapForm::steps(pattern, k) * BitmapForm::kRuns *
                   BitmapForm::of(pattern).slots;
    completeMmaFields(request, given, rows,
                      countTileRows(fields, k, BitmapForm::kStepRows),
                      /*isTransposed=*/false, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaBitmapStrategy() {
  static const MmaBitmapStrategy strategy;
  return strategy;
}
