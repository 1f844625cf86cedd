//===- MmaSpSchedule.cpp - The schedules of strategy mma_sp ---------------===//

#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Strategies/Mma/MmaFields.h"
#include "GPU/Strategies/Mma/SparseOperandModels.h"
#include "GPU/Strategies/Mma/SparseOperandStaging.h"

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class MmaSpStrategy : public ModelledStrategy<MmaScheduleAttr> {
public:
  bool combinesColumns() const override { return true; }

  bool convertsWeights() const override { return true; }

  /// Lanes load metadata, and scales of quantized weights, to registers, or
  /// from where they are copied ahead.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    bool areByFours = multipliesByWarpgroups(op);
    int64_t rows = getFields(op.getScheduleAttr()).blockM;
    return SparseOperandStaging{
        /*hasMetadata=*/areByFours ||
            (op.getQuantizationAttr() && ::nm::copiesMetadata(rows)),
        /*isAsyncProxy=*/areByFours}
        .stage(builder, op);
  }

private:
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    return ::nm::selectMmaSpSchedule(request.product, request.chip,
                                     given.pairs.value_or(false));
  }

  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    constexpr int64_t kStep = ::nm::SparseOperand::kStepRows;
    int64_t k = request.product.k;
    completeMmaFields(request, given, llvm::alignTo(k, kStep) / 2,
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
