//===- SimtColumnsSchedule.cpp - The schedules of strategy simt_columns ---===//

#include "GPU/Select/ModelAnswers.h"
#include "GPU/Select/ModelledStrategy.h"
#include "GPU/Stage/StagedOperands.h"
#include "GPU/Strategies/Simt/SimtColumnsModel.h"
#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"
#include "nm/Format/ElementType.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether the constant weights of the op are those of the product:
/// alternatives of other types or groups have other weights, which are made of
/// these later.
static bool mayBecomeCode(const ScheduleRequest &request) {
  SparseProductOpInterface op = request.op;
  return areWeightsConstant(op) && !op.getScales() &&
         request.product.k == op.getStaticK() &&
         request.product.type == getElementType(op.getAType().getElementType());
}

/// The number of constant weights of an N:M pattern that are not zero, where
/// they may become code; 0 for others.
static int64_t countFewConstants(const ScheduleRequest &request) {
  SparseProductOpInterface op = request.op;
  if (!mayBecomeCode(request) || isDense(op) || whyNotDense(op) ||
      op.getValuesType().getNumElements() > ::nm::kMostConstantWeights)
    return 0;
  std::optional<ConstantArray> values = ConstantArray::get(op.getValues());
  if (!values)
    return 0;
  int64_t kept = 0;
  for (int64_t i = 0; i < op.getValuesType().getNumElements(); ++i)
    kept += ::nm::loadAsDouble(values->getBytes().data(),
                               values->getElementType(), i) != 0;
  return kept;
}

/// Whether the model's estimate may choose code for `kept` constant weights. Of
/// an image it may not: a 3x3 layer of 64 channels, 56 x 56, at 95 % takes 9.7
/// us as code, which is estimated at 3.0, and 6.1 to 8.0 as data (an H200,
/// 2026-11-30).
static bool isChosenAsCode(const ::nm::GpuProduct &product, int64_t kept) {
  return kept <= ::nm::kMostChosenConstants && !product.hasImage;
}

namespace {
class SimtColumnsStrategy : public ModelledStrategy<SimtColumnsScheduleAttr> {
public:
  bool tellsLayoutsApart() const override { return true; }
  bool readsImages() const override { return true; }

  /// Threads load A and the weights from where they are.
  LogicalResult stage(OpBuilder &builder, SpMMOp op) const override {
    return stageOutputAlone(builder, op);
  }

private:
  /// Weights as data; constant ones as code where several columns of a thread
  /// ask for that, or where few weights are estimated to be faster so.
  ::nm::Result<::nm::GpuSchedule>
  select(const ScheduleRequest &request,
         const ::nm::GivenFields &given) const override {
    if (request.product.kept == 0)
      return selectOfPattern(request, given);
    ::nm::Result<::nm::GpuSchedule> data =
        ::nm::selectOnce<::nm::selectSimtColumnsSchedule>(request.product,
                                                          request.chip);
    bool mayBeCode =
        given.threadN ? *given.threadN > 1
                      : isChosenAsCode(request.product, request.product.kept);
    if (!data || !mayBeCode || given.kept || !mayBecomeCode(request))
      return data;
    ::nm::Result<::nm::GpuSchedule> code =
        ::nm::selectOnce<::nm::selectConstantColumns>(request.product,
                                                      request.chip);
    bool isCode =
        given.threadN || (code && code->microseconds < data->microseconds);
    return isCode ? code : data;
  }

  /// Weights of an N:M pattern: as code, where they are few and constant, and
  /// what is given asks for no lists of them.
  ::nm::Result<::nm::GpuSchedule>
  selectOfPattern(const ScheduleRequest &request,
                  const ::nm::GivenFields &given) const {
    ::nm::GpuProduct product = request.product;
    bool asksForData = given.kept || given.threadN == 1;
    int64_t kept = asksForData ? 0 : countFewConstants(request);
    if (request.given || isChosenAsCode(product, kept))
      product.kept = kept;
    return ::nm::selectConstantColumns(product, request.chip);
  }

  /// Sets how many weights are packed, and that their rows are one tile; code
  /// has neither.
  void complete(const ScheduleRequest &request, const ::nm::GivenFields &given,
                ::nm::ScheduleFields &fields) const override {
    if (given.kept || fields.threadN > 1)
      return;
    fields.kept = std::max<int64_t>(1, request.product.kept);
    fields.tileRows = request.product.k;
  }
};
} // namespace

const GpuStrategy &mlir::nm::getSimtColumnsStrategy() {
  static const SimtColumnsStrategy strategy;
  return strategy;
}
