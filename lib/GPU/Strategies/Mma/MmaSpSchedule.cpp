//===- MmaSpSchedule.cpp - The schedules of strategy mma_sp ---------------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class MmaSpStrategy : public ModelledStrategy<MmaSpScheduleAttr> {
public:
  /// Lanes load their metadata to registers.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return SparseOperandStaging{}.stage(builder, op);
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    return ::nm::selectMmaSpSchedule(request.product, request.chip,
                                     given.pairs.value_or(false));
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &,
                ::nm::ScheduleFields &fields) const override {
    // The schedule has no bits where the op's weights are dequantized before.
    fields.bits = request.product.weightBits;
  }
};
} // namespace

ScheduleAttrInterface mlir::nm::getEmptyMmaSpSchedule(MLIRContext *context) {
  return MmaSpScheduleAttr::get(context, /*block=*/{}, /*warp=*/{},
                                /*stages=*/{}, /*split_k=*/{}, /*cluster_k=*/{},
                                /*slice_k=*/{}, /*bits=*/{}, /*pairs=*/{});
}

const GpuStrategy &mlir::nm::getMmaSpStrategy() {
  static const MmaSpStrategy strategy;
  return strategy;
}
