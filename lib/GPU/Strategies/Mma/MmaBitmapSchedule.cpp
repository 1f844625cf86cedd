//===- MmaBitmapSchedule.cpp - The schedules of strategy mma_bitmap -------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/MmaFields.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "nm/Format/Bitmap.h"

using namespace mlir;
using namespace mlir::nm;

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
    const ::nm::GpuProduct &product = request.product;
    auto form =
        BitmapForm::of(product.pattern, ::nm::elementSize(product.type));
    int64_t rows = BitmapForm::steps(product.pattern, product.k) *
                   BitmapForm::kRuns * form.slots;
    completeMmaFields(request, given, rows,
                      countTileRows(fields, product.k, form.stepRows()),
                      /*isTransposed=*/false, fields);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getMmaBitmapStrategy() {
  static const MmaBitmapStrategy strategy;
  return strategy;
}
