//===- Alternatives.cpp - The ways to make a product ----------------------===//

#include "GPU/Select/Alternatives.h"

#include "GPU/Layouts/LayoutCosts.h"
#include "GPU/Select/MeasuredChoice.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/Patches.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::nm;
using Operands = Alternative::Operands;
using Weights = Alternative::Weights;

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

namespace {
/// Lists the ways to make one product.
class Enumeration {
public:
  explicit Enumeration(const AlternativesQuery &query)
      : query(query), op(query.op), options(query.options),
        product(getGpuProduct(op, query.form)),
        isLibraryDemanded(isLibraryCall(options.given)),
        mayKeepZeros(options.denseFallback && !options.given) {}

  AlternativeList run() &&;

private:
  /// The product with its weights as they are, which has no schedule yet.
  Alternative describe(Operands operands);
  ::nm::Result<ScheduleChoice> choose(const Alternative &own);
  ::nm::Result<ScheduleChoice> chooseForLayout(Alternative own);
  void addOfWeights(Alternative own);
  void addQuantized();
  /// Weights that are made dense, for cuBLAS.
  void addDense(Alternative own);
  /// A convolution of cuDNN.
  void addConvolution(const Alternative &own);
  void addWidened();
  std::string whyNotLibrary(double estimate);

  const AlternativesQuery &query;
  SparseProductOpInterface op;
  const SelectionOptions &options;
  /// `op` with the A that is asked about.
  const ::nm::GpuProduct product;
  const bool isLibraryDemanded;
  /// Whether zeros may be kept that are not asked for.
  const bool mayKeepZeros;
  AlternativeList list;
};
} // namespace

Alternative Enumeration::describe(Operands operands) {
  Alternative own;
  own.operands = operands;
  own.product = product;
  own.product.avoidsPrunedWeights = options.avoidsPrunedWeights(own.product);
  if (std::optional<Patches> patches = findPatches(op))
    own.product.patchMicroseconds = estimatePatches(
        *patches, query.form == ActivationForm::Transposed, query.chip);
  if (operands == Operands::Dequantized)
    own.product.weightBits = own.product.scaleGroup = 0;
  own.packs =
      operands == Operands::InRegisters || !isDenseOfEachCall(op) ||
      (options.given && options.given.getPackedForm(own.product.pattern));
  return own;
}

::nm::Result<ScheduleChoice> Enumeration::choose(const Alternative &own) {
  // A schedule that is given in part may have none with other operands.
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  return chooseGpuSchedule(
      {op, own.product, query.chip, options.given, own.packs});
}

/// A strategy whose model does not tell layouts of A apart well enough is taken
/// to be as fast with a transposed A as with the one that the op has.
::nm::Result<ScheduleChoice> Enumeration::chooseForLayout(Alternative own) {
  ::nm::Result<ScheduleChoice> then = choose(own);
  if (query.form != ActivationForm::Transposed || !then || !then->schedule ||
      own.operands == Operands::Widened)
    return then;
  ::nm::GpuProduct asIs = getGpuProduct(op);
  own.product.isMMajor = asIs.isMMajor;
  own.product.strideOfA = asIs.strideOfA;
  ::nm::Result<ScheduleChoice> now = choose(own);
  auto tellsApart = [](const ScheduleChoice &choice) {
    return findGpuStrategy(choice.schedule)->tellsLayoutsApart();
  };
  if (now && now->schedule && !tellsApart(*now) && !tellsApart(*then))
    then->microseconds = now->microseconds;
  return then;
}

void Enumeration::addOfWeights(Alternative own) {
  own.choice = chooseForLayout(own);
  list.push_back(own);
  // When a schedule is measured, it is compared with alternatives of other
  // weights.
  bool isMeasured = own.choice && !own.choice->measured.empty();
  if (own.operands == Operands::Dequantized || isMeasured)
    return;
  if (mayKeepZeros)
    if (std::optional<Alternative> wider = coarsenBlocks(query, own))
      list.push_back(*wider);
  // A strategy that is given has groups of the operands as they are.
  if (!options.given || own.operands == Operands::AsTheyAre)
    if (std::optional<Alternative> groups = overlapGroups(query, own)) {
      list.push_back(*groups);
      if (std::optional<Alternative> copied =
              repeatInCopies(query, own, *groups))
        list.push_back(*copied);
    }
}

std::string Enumeration::whyNotLibrary(double estimate) {
  if (std::optional<std::string> reason =
          whyNotCublas(op, product, estimate, isLibraryDemanded))
    return *reason;
  if (ScheduleAttrInterface own = options.getOwnOfLibrary();
      own && needsColumns(op))
    return "beside cuBLAS expected own = #nm.loops, but got strategy " +
           own.getStrategyName().str();
  if (!isDense(op))
    if (std::optional<StringRef> reason = whyNotDense(op))
      return "cuBLAS would take " + describeTime(estimate) + ", but " +
             reason->str();
  return "";
}

void Enumeration::addDense(Alternative dense) {
  if (!mayKeepZeros && !isLibraryDemanded)
    return;
  dense.weights = Weights::Dense;
  double estimate = estimateLibrary(op, product, query.chip, query.form);
  if (dense.operands == Operands::Widened) {
    estimate = ::nm::estimateCublas(dense.product, query.chip);
    if (dense.obstacle.empty() && isBatchInvariant(op))
      dense.obstacle = kSumsDependOnRows.str();
  } else {
    dense.obstacle = whyNotLibrary(estimate);
  }
  if (dense.operands == Operands::Dequantized) {
    dense.extraCost = estimateDenseDequantization(op, query.chip);
    dense.steps = "; weights are made dense when they are loaded, a byte "
                  "each, and dequantized in estimated " +
                  describeTime(dense.extraCost) + " before";
  } else if (dense.operands == Operands::AsTheyAre && isOfBytes(op)) {
    std::optional<StringRef> rowMajor = whyRowMajor(op, product, options);
    dense.inColumns = !rowMajor;
    if (rowMajor)
      dense.steps = "; slow, for the columns of its weights are not "
                    "contiguous: " +
                    rowMajor->str();
  }
  dense.pattern = dense.product.pattern = getDensePattern(kDenseColumns);
  if (estimate >= 0) {
    dense.choice = ScheduleChoice();
    dense.choice->microseconds = estimate + dense.product.patchMicroseconds;
  }
  // Those that are for images have the kernel behind it in theirs.
  if (dense.product.patchMicroseconds > 0)
    dense.extraCost += estimateEpilogueKernel(query);
  list.push_back(dense);
}

/// The library that is demanded is cuDNN where it has the product, unless
/// something is given that only a product of cuBLAS has.
void Enumeration::addConvolution(const Alternative &own) {
  bool isDemanded = isLibraryDemanded && !options.given.getOwn() &&
                    !options.given.getPackedForm(op.getPattern());
  if (!mayKeepZeros && !isDemanded)
    return;
  if (std::optional<Alternative> convolution = convolveByLibrary(query, own))
    list.push_back(*convolution);
}

void Enumeration::addWidened() {
  // No layout is a reason to widen what the strategy that is given has with A
  // as it is.
  if (options.given) {
    Alternative asIs = describe(Operands::AsTheyAre);
    asIs.product = getGpuProduct(op);
    ::nm::Result<ScheduleChoice> choice = choose(asIs);
    if (choice && choice->schedule)
      return;
  }
  // Dense products of 8 bits are faster, where there are any.
  bool hasDense = llvm::any_of(list, [](const Alternative &other) {
    return other.isDense() && other.isPossible();
  });
  for (bool isMMajor : {true, false}) {
    std::optional<Alternative> wide = widenProduct(query, product, isMMajor);
    if (!wide)
      return;
    addOfWeights(*wide);
    if (!hasDense && op.getNumBatchDims() <= 1)
      addDense(*wide);
  }
}

void Enumeration::addQuantized() {
  std::string bits = std::to_string(op.getQuantizationAttr().getBits());
  Alternative inRegisters = describe(Operands::InRegisters);
  inRegisters.steps =
      "; weights stay in " + bits + " bits, which registers convert";
  const GpuStrategy *strategy =
      options.given ? findGpuStrategy(options.given) : nullptr;
  if (!options.given || (strategy && strategy->convertsWeights()))
    inRegisters.choice = chooseForLayout(inRegisters);
  else
    inRegisters.choice = ::nm::Error{"the schedule option asks for strategy " +
                                     options.given.getStrategyName().str()};
  list.push_back(inRegisters);
  if (options.given && inRegisters.choice)
    return;
  Alternative dequantized = describe(Operands::Dequantized);
  dequantized.extraCost = estimateDequantization(op, query.chip);
  dequantized.steps =
      "; weights of " + bits +
      " bits are dequantized before the product, at each call: " +
      (inRegisters.choice ? "estimated " + describeTime(dequantized.extraCost)
                          : inRegisters.choice.error().message);
  if (!isLibraryDemanded)
    addOfWeights(dequantized);
  addDense(dequantized);
}

AlternativeList Enumeration::run() && {
  if (op.getScales()) {
    addQuantized();
    return list;
  }
  Alternative own = describe(Operands::AsTheyAre);
  std::optional<Alternative> packed = packDense(query, own);
  // A schedule that is given is that of the first alternative.
  if (!isLibraryDemanded)
    addOfWeights(packed && options.given ? *packed : own);
  if (packed && !options.given) {
    choosePackedDense(query, list.front(), *packed);
    list.push_back(*packed);
  }
  addConvolution(own);
  addDense(own);
  if (!isLibraryDemanded)
    addWidened();
  return list;
}

AlternativeList mlir::nm::listAlternatives(const AlternativesQuery &query) {
  return Enumeration(query).run();
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The fastest of `list` that `accepts`; null where there is none.
static const Alternative *
findFastest(ArrayRef<Alternative> list,
            function_ref<bool(const Alternative &)> accepts) {
  const Alternative *fastest = nullptr;
  for (const Alternative &other : list)
    if (accepts(other) &&
        (!fastest ||
         other.total() * other.handicap < fastest->total() * fastest->handicap))
      fastest = &other;
  return fastest;
}

static bool isPossible(const Alternative &other) { return other.isPossible(); }

AlternativeList mlir::nm::withoutConvolution(ArrayRef<Alternative> list) {
  AlternativeList others;
  for (const Alternative &other : list)
    if (!other.isConvolution())
      others.push_back(other);
  return others;
}

const Alternative *mlir::nm::findBest(ArrayRef<Alternative> list,
                                      const SelectionOptions &options) {
  if (options.given && !list.empty() && list.front().isPossible())
    return &list.front();
  return findFastest(list, isPossible);
}

double mlir::nm::estimateProduct(const AlternativesQuery &query) {
  if (isReference(query.options.given) || whyUnknown(query.op))
    return 0;
  // A schedule that was measured is for the A that the product has.
  if (query.form != ActivationForm::AsIs && !query.options.given &&
      isMeasured(query.op))
    return kRefusedMicroseconds;
  AlternativeList list = listAlternatives(query);
  const Alternative *best = findBest(list, query.options);
  return best ? best->total() : kRefusedMicroseconds;
}

SparseProductOpInterface
mlir::nm::applyAlternative(RewriterBase &rewriter, SparseProductOpInterface op,
                           const Alternative &alternative) {
  // The tiles that take cuBLAS' place are not chosen for units of any width.
  bool isOddLibraryCall = alternative.isDense() && isDense(op) &&
                          !op.getScales() &&
                          !llvm::isPowerOf2_64(uint64_t(op.getPattern().bn));
  bool isRemade = alternative.weights == Weights::Coarsened ||
                  alternative.weights == Weights::PackedDense;
  if ((narrowsDenseUnits(op) && !isRemade) || isOddLibraryCall)
    narrowDenseUnits(op, kDenseColumns);
  if (alternative.operands == Operands::Widened)
    op = widenOperands(rewriter, op, alternative.product.isMMajor);
  if (alternative.weights == Weights::Overlapping)
    overlapWindows(rewriter, op, alternative.pattern);
  if (alternative.weights == Weights::RepeatedByCopies)
    repeatByCopies(rewriter, op, alternative.pattern);
  if (isRemade || (alternative.isDense() && !isDense(op)))
    makeDense(op, alternative.pattern);
  // Of a column, what is not zero is kept, wherever that is.
  if (skipsZeros(alternative.choice->schedule, alternative.product) &&
      op.getPattern() != ::nm::Pattern())
    makeDense(op, ::nm::Pattern());
  if (alternative.isDense() && op.getScales())
    dequantizeWeights(rewriter, op, kWeightsAtOnce);
  return op;
}

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

std::string Alternative::getName() const {
  static constexpr StringRef ofOperands[] = {"", "widened", "in registers",
                                             "dequantized"};
  static constexpr StringRef ofWeights[] = {"own",
                                            "coarsened",
                                            "packed dense",
                                            "overlapping",
                                            "overlapping in copies",
                                            "dense",
                                            "convolution"};
  std::string name = ofOperands[int(operands)].str();
  if (operands == Operands::Widened)
    name += product.isMMajor ? " m-major" : " row-major";
  if (name.empty())
    return ofWeights[int(weights)].str();
  return weights == Weights::AsTheyAre
             ? name
             : name + ", " + ofWeights[int(weights)].str();
}

StringRef Alternative::getStrategyName() const {
  if (isConvolution())
    return "cudnn";
  return isDense() ? "cublas" : choice->schedule.getStrategyName();
}

std::string Alternative::describe(double extraCost) const {
  return describeTime(extraCost + choice->microseconds) + " by strategy " +
         getStrategyName().str();
}

/// The library's time, or why the library is not asked: with the operands of
/// `best`, or else with the operands that come first.
static std::string describeLibrary(ArrayRef<Alternative> list,
                                   const Alternative &best) {
  const auto *first = llvm::find_if(
      list, [](const Alternative &other) { return other.isDense(); });
  if (first == list.end())
    return "dense was not considered";
  const Alternative *alike = findFastest(list, [&](const Alternative &other) {
    return other.isDense() && other.isPossible() &&
           other.operands == best.operands;
  });
  const Alternative &dense = alike ? *alike : *first;
  return dense.isPossible()
             ? "cuBLAS is estimated to take " + describeTime(dense.total()) +
                   " with dense weights"
             : dense.obstacle;
}

/// Why our own strategies do not have the product.
static std::string whyNotOwn(ArrayRef<Alternative> list) {
  for (const Alternative &other : llvm::reverse(list))
    if ((other.weights == Weights::AsTheyAre ||
         other.weights == Weights::PackedDense) &&
        other.operands != Operands::Widened && !other.choice)
      return other.choice.error().message;
  return "";
}

std::string mlir::nm::explainRefusal(ArrayRef<Alternative> list) {
  std::string reason = whyNotOwn(list);
  for (const Alternative &other : list)
    if (other.isDense() ||
        (other.weights == Weights::PackedDense && !other.obstacle.empty()))
      reason += (reason.empty() ? "" : "; ") + other.obstacle;
  return reason;
}

std::string mlir::nm::explainChoice(const AlternativesQuery &query,
                                    ArrayRef<Alternative> list,
                                    const Alternative &best) {
  SparseProductOpInterface op = query.op;
  std::string reason = describeLibrary(list, best);
  if (best.isConvolution()) {
    AlternativeList others = withoutConvolution(list);
    const Alternative *other = findFastest(others, isPossible);
    reason = "calls cuDNN for a convolution with dense weights, ";
    reason +=
        other ? "which is faster: " + other->describe(other->extraCost)
              : "for no other strategy has this product: " + whyNotOwn(list);
  } else if (best.isDense()) {
    const Alternative *own = findFastest(list, [](const Alternative &other) {
      return other.isPossible() && !other.isDense() && !other.isConvolution();
    });
    reason = "calls cuBLAS with dense weights, ";
    if (query.options.given)
      reason += "as the schedule option says";
    else if (own)
      reason += "which is faster: " + own->describe(own->extraCost);
    else
      reason += "for no other strategy has this product: " + whyNotOwn(list);
  }
  reason += best.steps;
  bool addsZeros = best.weights != Weights::AsTheyAre && !isDense(op) &&
                   best.pattern != op.getPattern();
  if (addsZeros && isFloat(best.product.type))
    reason += "; " + kDenseMeetsNonFinite.str();
  if (best.operands == Operands::InRegisters)
    if (const Alternative *loaded =
            findFastest(list,
                        [](const Alternative &other) {
                          return other.operands == Operands::Dequantized &&
                                 other.isPossible() && !other.isDense();
                        });
        loaded && loaded->choice->microseconds < best.total())
      reason += "; weights that are " +
                debugString(op.getAType().getElementType()) +
                " when they are loaded are estimated to take " +
                loaded->describe(/*extraCost=*/0);
  auto isFaster = [&](const Alternative &other) {
    return other.isPossible() && other.total() < best.total();
  };
  if (const Alternative *near = findFastest(list, isFaster);
      near && !query.options.given)
    reason += "; " + near->getName() + " it is estimated to take " +
              describeTime(near->total()) + ", which is too little less";
  // A faster alternative that was refused for another reason than its time.
  const Alternative *refused = findFastest(list, [&](const Alternative &other) {
    return other.choice && !other.obstacle.empty() && !other.isDense() &&
           other.total() < best.total();
  });
  if (refused && !query.options.given)
    reason += "; " + refused->getName() + " it is estimated to take " +
              describeTime(refused->total()) + ", but " + refused->obstacle;
  return reason;
}

static AlternativeRecord recordOne(const Alternative &alternative,
                                   double changeOfA) {
  AlternativeRecord record;
  record.name = alternative.getName();
  record.whyNot = alternative.obstacle;
  if (!alternative.choice) {
    if (record.whyNot.empty())
      record.whyNot = alternative.choice.error().message;
    return record;
  }
  if (alternative.isGivenWrong())
    record.whyNot = "the schedule that is given cannot be";
  else
    record.strategy = alternative.getStrategyName();
  record.estimate = alternative.total() + changeOfA;
  if (double extra = alternative.extraCost + changeOfA; extra > 0)
    record.extra = extra;
  return record;
}

/// The best with another A, which a kernel makes before the product.
static void recordForm(AlternativesQuery query, ActivationForm form,
                       double changeOfA, StringRef name,
                       std::vector<AlternativeRecord> &records) {
  query.form = form;
  AlternativeList list = listAlternatives(query);
  const Alternative *best = findBest(list, query.options);
  if (!best)
    return;
  records.push_back(recordOne(*best, changeOfA));
  records.back().name = (name + records.back().name).str();
}

std::vector<AlternativeRecord>
mlir::nm::recordAlternatives(AlternativesQuery query,
                             ArrayRef<Alternative> list,
                             const Alternative *best) {
  std::vector<AlternativeRecord> records;
  for (const Alternative &alternative : list) {
    records.push_back(recordOne(alternative, 0));
    records.back().isChosen = &alternative == best;
  }
  auto type = dyn_cast<RankedTensorType>(query.op.getAType());
  if (!isa<SpMMOp>(*query.op) || !type)
    return records;
  recordForm(query, ActivationForm::Transposed,
             estimateTransposition(type, query.chip), "transposed: ", records);
  if (canBeCopied(query.op))
    recordForm(query, ActivationForm::Copied, estimateCopy(type, query.chip),
               "copied: ", records);
  return records;
}
