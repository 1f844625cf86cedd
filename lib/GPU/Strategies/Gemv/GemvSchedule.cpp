//===- GemvSchedule.cpp - The schedules of strategy gemv ------------------===//

#include "GPU/Select/ModelledStrategy.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The strategy reads packed weights alone, so that a dense matrix that comes
/// with each call is packed then.
class GemvStrategy : public ModelledStrategy<GemvScheduleAttr> {
public:
  /// A block has the few rows of A whose sums fit in a thread's registers.
  bool isLastResort(const ::nm::GpuProduct &product) const override {
    return product.rows() > ::nm::kMaxGemvRows;
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &) const override {
    return ::nm::selectGemvSchedule(request.product, request.chip);
  }
};
} // namespace

const GpuStrategy &mlir::nm::getGemvStrategy() {
  static const GemvStrategy strategy;
  return strategy;
}
