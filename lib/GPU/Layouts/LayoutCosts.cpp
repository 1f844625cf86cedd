//===- LayoutCosts.cpp - What layouts of activations cost -----------------===//

#include "GPU/Layouts/LayoutCosts.h"

#include "GPU/Layouts/TransposedAttention.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Format/SparseOperand.h"
#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Schedule/BinaryChoices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;
using ::nm::BinaryChoices;

static constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// The share of the memory's rate at which bytes are read along one dimension
/// and written along another.
static constexpr double kShareOfMemory = 0.75;
/// An elementwise op that reads along one dimension and writes along another
/// saves the launch, and most of the bytes, of a transposition of its own; so
/// does attention that stores its result transposed.
static constexpr double kFusedShare = 0.25;

static double countBytes(RankedTensorType type) {
  double bytes = double(std::max(type.getElementTypeBitWidth(), 8u)) / 8;
  for (int64_t size : type.getShape())
    bytes *= double(ShapedType::isDynamic(size) ? ::nm::GpuProduct::kTypicalRows
                                                : size);
  return bytes;
}

/// The microseconds of a kernel that reads and writes `bytes`. Of f16 on an
/// H200, 4096 x 4096 takes 18 to 21 us, 1024 x 4096 6.0 to 7.7, 256 x 4096 2.4
/// to 3.2 and 64 x 4096 2.2.
static double estimateTraffic(double bytes, const ::nm::GpuChip &chip) {
  return chip.rates.launch + bytes / (chip.memoryGBs * kShareOfMemory) / 1000;
}

double mlir::nm::estimateTransposition(RankedTensorType type,
                                       const ::nm::GpuChip &chip) {
  // Of fewer dimensions, whose tiles are fuller, where that is a choice.
  return 1e-3 * double(type.getRank()) +
         estimateTraffic(2 * countBytes(type), chip);
}

double mlir::nm::estimateCopy(RankedTensorType type,
                              const ::nm::GpuChip &chip) {
  return estimateTraffic(2 * countBytes(type), chip);
}

/// What a thread takes for a patch's element of its own, for the loops that its
/// number is split by, in instructions of a lane: on an H200 59.0 million
/// elements of a ResNet's first layer take 281 us, 57.8 million of 64 channels
/// 245, and 6.4 million of 256 with stride 2 33.9.
static constexpr int64_t kInstructionsOfElement = 150, kLanes = 128;

double mlir::nm::estimatePatches(const Patches &patches, bool transposes,
                                 const ::nm::GpuChip &chip) {
  auto type = cast<RankedTensorType>(patches.copy->getResult(0).getType());
  double traffic = estimateCopy(type, chip);
  if (patches.copiesVectors() && !transposes)
    return traffic;
  double elements = countBytes(type) * 8 / type.getElementTypeBitWidth(),
         perMicrosecond = double(chip.multiprocessors * kLanes) *
                          chip.clockGHz * 1000 / double(kInstructionsOfElement);
  return std::max(traffic, chip.rates.launch + elements / perMicrosecond);
}

double mlir::nm::estimateWidening(RankedTensorType type, bool isTransposed,
                                  const ::nm::GpuChip &chip) {
  // One byte is read of each element, and two are written.
  double straight = estimateTraffic(3 * countBytes(type), chip);
  return isTransposed
             ? straight + kFusedShare * estimateTransposition(type, chip)
             : straight;
}

double mlir::nm::estimateRepetition(double elements, double repeated,
                                    int64_t elementBytes,
                                    const ::nm::GpuChip &chip) {
  return estimateTraffic((elements + repeated) * double(elementBytes), chip);
}

/// An H200 dequantizes 22.5 million kept values, 11008x4096 and 4096x11008 in
/// 2:4, in 15.5 to 18.9 us of 4 bits and 17.6 to 21.0 of 8 (2026-11-23).
double mlir::nm::estimateDequantization(SparseProductOpInterface op,
                                        const ::nm::GpuChip &chip) {
  ::nm::Pattern pattern = op.getPattern();
  int64_t k = op.getStaticK();
  // A sparse operand has two values of four rows, whatever they keep.
  int64_t rows =
      ::nm::fitsSparseOperand(pattern) ? k / 2 : pattern.condensedRows(k);
  double bytes = double(op.getQuantizationAttr().getBits()) / 8 + 2;
  return estimateTraffic(bytes * double(rows) * double(op.getStaticN()), chip);
}

double mlir::nm::estimateDenseDequantization(SparseProductOpInterface op,
                                             const ::nm::GpuChip &chip) {
  // One byte is read of each weight, and two are written.
  return estimateTraffic(3 * double(op.getStaticK()) * double(op.getStaticN()),
                         chip);
}

bool mlir::nm::isMadeInAnyLayout(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op))
    return isMadeInAnyLayout(fill.output());
  SplatElementsAttr splat;
  return isa_and_present<tensor::EmptyOp>(op) ||
         matchPattern(value, m_Constant(&splat));
}

namespace {
class LayoutCosts {
public:
  LayoutCosts(const OtherLayouts &layouts, const ::nm::GpuChip &chip,
              ProductEstimate estimate)
      : layouts(layouts), chip(chip), estimate(estimate) {}

  void build(func::FuncOp function);
  std::optional<ChosenLayouts> minimize() const;

private:
  using Choice = BinaryChoices::Choice;
  struct ValueChoices {
    /// Whether the value is made in its other layout, and whether it is
    /// transposed, so that there are both.
    Choice isOther, isTransposed;
    /// Whether it is copied as it is made; only of some that products take.
    std::optional<Choice> isCopied;
  };

  ValueChoices &get(Value value);
  bool has(Value value) const { return !layouts.getOrder(value).empty(); }
  /// `value` is made as it is.
  void keep(Value value) {
    graph.addCost({get(value).isOther}, {0, kImpossible});
  }
  /// `operand` takes its value as it is.
  void takeAsIs(OpOperand &operand);
  /// The layout that `operand` takes its value in.
  Choice take(OpOperand &operand);
  /// Whether `operand`, with that choice, takes a copy of its value.
  Choice takeCopy(OpOperand &operand, Choice isOther);
  void tie(Choice a, Choice b) {
    graph.addCost({a, b}, {0, kImpossible, kImpossible, 0});
  }

  void addOp(Operation *op);
  void addProduct(SpMMOp op);
  void addLinalg(linalg::LinalgOp op);
  void addFixedOutput(linalg::LinalgOp op, const LoopOrders &loops,
                      Choice isOther);
  void addView(Operation *op);

  const OtherLayouts &layouts;
  const ::nm::GpuChip &chip;
  ProductEstimate estimate;
  BinaryChoices graph;
  DenseMap<Value, ValueChoices> values;
  DenseMap<OpOperand *, Choice> operands, copied;
  double before = 0;
};
} // namespace

LayoutCosts::ValueChoices &LayoutCosts::get(Value value) {
  auto [it, isNew] = values.try_emplace(value);
  if (isNew) {
    it->second = {graph.add(), graph.add(), std::nullopt};
    auto type = cast<RankedTensorType>(value.getType());
    double cost = isMadeInAnyLayout(value) || arePatches(value)
                      ? 0
                      : estimateTransposition(type, chip);
    if (isOwnAttention(value))
      cost *= kFusedShare;
    graph.addCost({it->second.isTransposed}, {0, cost});
  }
  return it->second;
}

void LayoutCosts::takeAsIs(OpOperand &operand) {
  if (!has(operand.get()))
    return;
  ValueChoices value = get(operand.get());
  graph.addCost({value.isOther, value.isTransposed}, {0, kImpossible, 0, 0});
}

LayoutCosts::Choice LayoutCosts::take(OpOperand &operand) {
  Choice choice = graph.add();
  operands[&operand] = choice;
  ValueChoices value = get(operand.get());
  // Another layout than it is made in is there only where it is transposed.
  graph.addCost({value.isOther, choice, value.isTransposed},
                {0, kImpossible, kImpossible, 0, 0, 0, 0, 0});
  return choice;
}

LayoutCosts::Choice LayoutCosts::takeCopy(OpOperand &operand, Choice isOther) {
  Choice choice = graph.add();
  copied[&operand] = choice;
  ValueChoices &value = get(operand.get());
  if (!value.isCopied) {
    value.isCopied = graph.add();
    double cost =
        estimateCopy(cast<RankedTensorType>(operand.get().getType()), chip);
    graph.addCost({*value.isCopied}, {0, cost});
    // What is transposed has padded rows already.
    graph.addCost({*value.isCopied, value.isOther}, {0, 0, 0, kImpossible});
  }
  graph.addCost({choice, *value.isCopied}, {0, kImpossible, 0, 0});
  graph.addCost({choice, isOther}, {0, 0, 0, kImpossible});
  return choice;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LayoutCosts::addProduct(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(op.getOperation());
  Value result = op->getResult(0);
  OpOperand &a = op.getAMutable(), &c = *op.getDpsInitOperand(0);
  double asIs = estimate(op, ActivationForm::AsIs);
  before += asIs;
  if (has(op.getA())) {
    Choice isOther = take(a);
    double transposed = estimate(op, ActivationForm::Transposed);
    if (canBeCopied(product))
      graph.addCost({isOther, takeCopy(a, isOther)},
                    {asIs, transposed, estimate(op, ActivationForm::Copied),
                     kImpossible});
    else
      graph.addCost({isOther}, {asIs, transposed});
  }
  if (!has(result)) {
    takeAsIs(c);
    for (OpOperand &operand : product.getEpilogueOperandsMutable())
      takeAsIs(operand);
    return;
  }
  Choice isOther = get(result).isOther;
  tie(take(c), isOther);
  LoopOrders output = getOutputOrders(product);
  for (auto [operand, map] :
       llvm::zip(product.getEpilogueOperandsMutable(),
                 product.getEpilogueMaps().getAsValueRange<AffineMapAttr>())) {
    if (!has(operand.get()))
      continue;
    if (output.getOrder(getLoops(map)) == layouts.getOrder(operand.get()))
      tie(take(operand), isOther);
    else
      takeAsIs(operand);
  }
}

/// Whether `op` can read along one dimension and write along another, in the
/// tiles of convert-transpose-to-gpu.
static bool canTranspose(linalg::LinalgOp op) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         op->getNumResults() == 1 &&
         llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isEpilogueOp(&inner); });
}

/// A thread that reduces a row alone waits for each element, a quarter of a
/// copy's latency: 1576 rows of 1024 that lie side by side take 190 us on an
/// H200.
static double stepOfLone(const ::nm::GpuChip &chip) {
  return chip.rates.latency / 4 / chip.clockGHz / 1000;
}

/// So many places of an image at most are shared by so many threads, where
/// channels are last (convert-windows-to-gpu): means of 49 places of 32 x 512
/// channels take 1.2 us on an H200, where one thread each took 13. Sums of rows
/// have one loop, and are faster in the kernel of a norm.
static constexpr int64_t kLargestWindow = 256, kThreadsOfWindow = 16;

/// The microseconds of a reduction whose operand has loop `last` along its last
/// dimension. Threads of a row share a reduction along the last dimension
/// (convert-rows-to-gpu), which takes next to nothing.
static double estimateReduction(linalg::LinalgOp op, int64_t last,
                                const ::nm::GpuChip &chip) {
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  if (op.getNumReductionLoops() == 0 ||
      linalg::isReductionIterator(loops[last]))
    return 0;
  double steps = 1;
  for (auto [loop, size] : llvm::zip(loops, op.getStaticLoopRanges()))
    if (linalg::isReductionIterator(loop))
      steps *= double(
          ShapedType::isDynamic(size) ? ::nm::GpuProduct::kTypicalRows : size);
  if (op.getNumReductionLoops() > 1 && steps <= double(kLargestWindow))
    steps = std::ceil(steps / double(kThreadsOfWindow));
  return stepOfLone(chip) * steps;
}

void LayoutCosts::addLinalg(linalg::LinalgOp op) {
  OpOperand *leader = canChangeLayouts(op) ? findLeader(op, layouts) : nullptr;
  if (!leader) {
    for (OpOperand &operand : op->getOpOperands())
      takeAsIs(operand);
    for (Value result : op->getResults())
      if (has(result) && !isMadeInAnyLayout(result))
        keep(result);
    return;
  }
  LoopOrders loops = getLeaderOrders(op, *leader, layouts);
  Value leading = getValueOf(op, *leader);
  Choice isOther = op.isDpsInit(leader) ? get(leading).isOther : take(*leader);
  graph.addCost({isOther}, {estimateReduction(op, loops.own.back(), chip),
                            estimateReduction(op, loops.other.back(), chip)});
  if (!op.isDpsInit(leader) && canTranspose(op))
    addFixedOutput(op, loops, isOther);
  for (OpOperand &operand : op->getOpOperands()) {
    bool isInit = op.isDpsInit(&operand);
    auto dims = getLoops(op.getMatchingIndexingMap(&operand));
    Value value = getValueOf(op, operand);
    bool follows =
        has(value) && loops.getOrder(dims) == layouts.getOrder(value);
    if (isInit && has(value)) {
      // What it writes to is as what it writes.
      if (follows && &operand != leader)
        tie(get(value).isOther, isOther);
      else if (!follows)
        keep(value);
      if (has(operand.get()))
        tie(take(operand), get(value).isOther);
      continue;
    }
    if (isInit || !follows) {
      takeAsIs(operand);
      continue;
    }
    if (&operand == leader)
      continue;
    Choice choice = take(operand);
    if (!canTranspose(op)) {
      tie(choice, isOther);
      continue;
    }
    double cost =
        kFusedShare *
        estimateTransposition(cast<RankedTensorType>(value.getType()), chip);
    graph.addCost({choice, isOther}, {0, cost, cost, 0});
  }
}

/// The output of `op` has one layout; its inputs of `loops` are read along the
/// dimension that it is written along, or are not.
void LayoutCosts::addFixedOutput(linalg::LinalgOp op, const LoopOrders &loops,
                                 Choice isOther) {
  OpOperand *output = op.getDpsInitOperand(0);
  SmallVector<int64_t> written = getLoops(op.getMatchingIndexingMap(output));
  if (written.empty())
    return;
  double cost =
      kFusedShare * estimateTransposition(
                        cast<RankedTensorType>(output->get().getType()), chip);
  graph.addCost({isOther}, {loops.own.back() == written.back() ? 0 : cost,
                            loops.other.back() == written.back() ? 0 : cost});
}

void LayoutCosts::addView(Operation *op) {
  OpOperand &from = op->getOpOperand(0);
  Value to = op->getResult(0);
  for (OpOperand &size : op->getOpOperands().drop_front())
    takeAsIs(size);
  if (has(from.get()) && has(to) &&
      ArrayRef<int64_t>(getOrderBehind(op, layouts.getOrder(from.get()),
                                       /*isResult=*/true)) ==
          layouts.getOrder(to))
    return tie(take(from), get(to).isOther);
  takeAsIs(from);
  if (has(to))
    keep(to);
}

void LayoutCosts::addOp(Operation *op) {
  if (auto product = dyn_cast<SpMMOp>(op); product && !product.getPanelsA())
    if (product.hasPureTensorSemantics() && !product.getScheduleAttr())
      return addProduct(product);
  // Sizes of both layouts are the same ones.
  if (isa<tensor::DimOp>(op))
    return;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLinalg(linalgOp);
  if (isView(op))
    return addView(op);
  for (OpOperand &operand : op->getOpOperands())
    takeAsIs(operand);
  for (Value result : op->getResults())
    if (has(result) && !isMadeInAnyLayout(result))
      keep(result);
}

void LayoutCosts::build(func::FuncOp function) {
  for (const auto &entry : layouts.getOrders())
    if (isa<BlockArgument>(entry.first))
      keep(entry.first);
  function.walk([&](Operation *op) { addOp(op); });
}

std::optional<ChosenLayouts> LayoutCosts::minimize() const {
  std::optional<BinaryChoices::Best> best = graph.minimize();
  if (!best)
    return std::nullopt;
  ChosenLayouts chosen;
  for (auto [value, choices] : values)
    chosen.values[value] = best->choices[choices.isOther];
  for (auto [operand, choice] : operands)
    chosen.operands[operand] = best->choices[choice];
  for (auto [operand, choice] : copied)
    chosen.copied[operand] = best->choices[choice];
  chosen.cost = best->cost;
  chosen.before = before;
  return chosen;
}

std::optional<ChosenLayouts>
mlir::nm::chooseLayouts(func::FuncOp function, const OtherLayouts &layouts,
                        const ::nm::GpuChip &chip, ProductEstimate estimate) {
  LayoutCosts costs(layouts, chip, estimate);
  costs.build(function);
  return costs.minimize();
}
