//===- PropagateLayouts.cpp - Layouts of activations between products -----===//

#include "nm/GPU/Phases.h"

#include "GPU/Layouts/LayoutRewrite.h"
#include "GPU/Layouts/TransposedAttention.h"
#include "GPU/Select/Alternatives.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/Patches.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPROPAGATELAYOUTS
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;

namespace {
/// The layouts of the activations of a module.
class LayoutPropagation {
public:
  LayoutPropagation(ModuleOp module, const NMPropagateLayoutsOptions &options)
      : module(module), options(options) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  double estimate(SpMMOp op, const GpuChip &chip, ActivationForm form);
  void propagate(func::FuncOp function, const GpuChip &chip);
  void report(func::FuncOp function, const ChosenLayouts &chosen,
              const LayoutOps &made, const GpuChip &chip);

  ModuleOp module;
  const NMPropagateLayoutsOptions &options;
  SelectionOptions selection;
};
} // namespace

LogicalResult LayoutPropagation::readOptions() {
  selection.denseFallback = options.denseFallback;
  selection.exactPattern = options.exactPattern;
  size_t costs = options.productCosts.size();
  if (costs != 0 && costs != 2 && costs != 3)
    return module.emitError()
           << "expected product-costs to be two, of a row-major A and of an "
              "m-major one, or three, the third of a copied A, but got "
           << costs;
  if (options.schedule.empty())
    return success();
  FailureOr<ScheduleAttrInterface> given =
      parseSchedule(options.schedule, module.getContext(),
                    [&] { return module.emitError(); });
  if (failed(given))
    return failure();
  // What it says wrong, selection reports.
  if ((*given).isForGPU())
    selection.given = *given;
  return success();
}

double LayoutPropagation::estimate(SpMMOp op, const GpuChip &chip,
                                   ActivationForm form) {
  if (options.productCosts.empty())
    return estimateProduct({cast<SparseProductOpInterface>(op.getOperation()),
                            chip, selection, form});
  if (form == ActivationForm::Copied && options.productCosts.size() == 3)
    return options.productCosts[2];
  bool isTransposed = form == ActivationForm::Transposed;
  return options.productCosts[op.getTransposeA() != isTransposed ? 1 : 0];
}

void LayoutPropagation::report(func::FuncOp function,
                               const ChosenLayouts &chosen,
                               const LayoutOps &made, const GpuChip &chip) {
  for (linalg::TransposeOp op : made.transpositions) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    emitRemark(op.getLoc()) << "transposes " << type << ", in about "
                            << describeTime(estimateTransposition(type, chip))
                            << ", for products that gain more by it";
  }
  for (bufferization::AllocTensorOp op : made.copies)
    emitRemark(op.getLoc()) << "copies " << op.getType()
                            << " to rows that start with lines, in about "
                            << describeTime(estimateCopy(op.getType(), chip))
                            << ", for products that gain more by it";
  emitRemark(function.getLoc())
      << "activations have the layouts that cost least: estimated "
      << describeTime(chosen.cost) << " of products, transpositions and copies";
}

void LayoutPropagation::propagate(func::FuncOp function, const GpuChip &chip) {
  OtherLayouts layouts(function);
  if (layouts.getOrders().empty())
    return;
  std::optional<ChosenLayouts> chosen = chooseLayouts(
      function, layouts, chip,
      [&](SpMMOp op, ActivationForm form) { return estimate(op, chip, form); });
  if (!chosen) {
    emitRemark(function.getLoc())
        << "layouts of activations stay as they are: too many depend on each "
           "other to find those that cost least";
    return;
  }
  bool hasOtherValues = llvm::any_of(chosen->values, [](auto entry) {
    return entry.second && !isMadeInAnyLayout(entry.first);
  });
  auto isChosen = [](auto entry) { return entry.second; };
  if (!hasOtherValues && llvm::none_of(chosen->operands, isChosen) &&
      llvm::none_of(chosen->copied, isChosen))
    return;
  IRRewriter rewriter(module.getContext());
  LayoutOps made = rewriteLayouts(rewriter, function, layouts, *chosen);
  llvm::erase_if(made.transpositions, [&](linalg::TransposeOp op) {
    return transposePatches(rewriter, op) || transposeAttention(rewriter, op);
  });
  report(function, *chosen, made, chip);
}

LogicalResult LayoutPropagation::run() {
  FailureOr<GpuChip> chip = getChip(module);
  if (failed(chip) || failed(readOptions()))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      propagate(function, *chip);
  return success();
}

LogicalResult
mlir::nm::propagateLayouts(ModuleOp module,
                           const NMPropagateLayoutsOptions &options) {
  return LayoutPropagation(module, options).run();
}

namespace {
struct NMPropagateLayouts
    : mlir::nm::impl::NMPropagateLayoutsBase<NMPropagateLayouts> {
  using NMPropagateLayoutsBase::NMPropagateLayoutsBase;

  void runOnOperation() override {
    NMPropagateLayoutsOptions options;
    options.schedule = schedule;
    options.denseFallback = denseFallback;
    options.exactPattern = exactPattern;
    options.productCosts = SmallVector<double>(*productCosts);
    if (failed(propagateLayouts(getOperation(), options)))
      signalPassFailure();
  }
};
} // namespace
