//===- PairProducts.cpp - Two products that one epilogue combines ---------===//

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/ProductPairs.h"
#include "GPU/Tile/PairedColumns.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Passes.h"
#include "nm/Support/EarlyStart.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPAIRPRODUCTS
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// The schedule
//===----------------------------------------------------------------------===//

/// Whether columns in turn are whole units of one weight, and n is whole turns.
static bool hasTurns(SparseProductOpInterface op,
                     ScheduleAttrInterface schedule) {
  int64_t columns = schedule.getTiling().blockN,
          inTurn = getColumnsInTurn(schedule);
  int64_t step =
      getColumnStep(op.getPattern(), schedule.getPackedForm(op.getPattern()));
  return inTurn != 0 && columns % (2 * ::nm::kAccessWords) == 0 &&
         columns % step == 0 && inTurn % op.getPattern().bn == 0 &&
         op.getStaticN() % inTurn == 0;
}

/// The schedule that `text` gives in part, of a product of twice the columns of
/// `op`; null where there is none.
static ScheduleAttrInterface complete(SparseProductOpInterface op,
                                      const ::nm::GpuChip &chip,
                                      const std::string &text) {
  // A schedule that is tried and does not fit reports no error.
  ScopedDiagnosticHandler keep(op->getContext(),
                               [](Diagnostic &) { return success(); });
  FailureOr<ScheduleAttrInterface> given =
      parseSchedule(text, op->getContext(), [&] { return op->emitError(); });
  if (failed(given))
    return {};
  ::nm::GpuProduct product = getGpuProduct(op);
  product.n *= 2;
  ::nm::Result<ScheduleChoice> chosen =
      findGpuStrategy(*given)->choose({op, product, chip, *given});
  return chosen ? chosen->schedule : ScheduleAttrInterface();
}

/// The schedule with blocks of other `columns`, and as many columns of a warp
/// where it has all of the block's; null where there is none, as of strategies
/// that have no tiles of warps.
static ScheduleAttrInterface withColumns(SparseProductOpInterface op,
                                         const ::nm::GpuChip &chip,
                                         ScheduleAttrInterface schedule,
                                         int64_t columns) {
  ::nm::ScheduleFields fields = getFields(schedule);
  int64_t warp = fields.warpN == fields.blockN ? columns : fields.warpN;
  if (warp == 0 || columns % warp != 0)
    return {};
  return complete(
      op, chip,
      llvm::formatv("{0}<block = [{1}, {2}, {3}], warp = [{4}, {5}], "
                    "slice_k = {6}>",
                    schedule.getStrategyName(), fields.blockM, columns,
                    fields.blockK, fields.warpM, warp, fields.sliceK));
}

/// The schedule that the strategy of `schedule`, for the columns of `product`,
/// has for twice as many: of warpgroups, which many rows have. That of few rows
/// stays, with whose blocks pairs were measured.
static ScheduleAttrInterface chooseForTwice(SparseProductOpInterface op,
                                            const ::nm::GpuChip &chip,
                                            ::nm::GpuProduct product,
                                            ScheduleAttrInterface schedule) {
  if (getFields(schedule).warpgroupM == 0)
    return schedule;
  product.n *= 2;
  ::nm::Result<ScheduleChoice> chosen =
      findGpuStrategy(schedule)->choose({op, product, chip, {}});
  if (!chosen)
    return schedule;
  // Where stages are given, there are no store buffers, which have columns of
  // one product.
  return complete(op, chip,
                  llvm::formatv("{0}<stages = {1}>", schedule.getStrategyName(),
                                chosen->schedule.getTiling().stages));
}

/// A schedule of mma_sp for products of one row: each multiprocessor has one
/// block, with all of k of the block's columns and a ring of tiles in shared
/// memory; null where columns do not come out so. The first tiles are on their
/// way before the kernel before ends, and no block waits for another's memory.
/// Gate and up of Llama-3-8B, 28672 columns of 2:4 with k = 4096, take 1.7 us
/// less than by gemv, which alone takes 34.4: two blocks of the model 139.0 us
/// in place of 142.4 (one H200, 2026-11-29, measure_exported.py). Fewer columns
/// a block were not measured.
static ScheduleAttrInterface chooseLoneBlocks(SparseProductOpInterface op,
                                              const ::nm::GpuChip &chip) {
  constexpr int64_t kWarpColumns = 32, kLeastColumns = 192, kMostColumns = 256,
                    kTileRows = 256, kLeastTiles = 8;
  int64_t n = 2 * op.getStaticN(), blocks = chip.multiprocessors,
          columns = llvm::alignTo(llvm::divideCeil(n, blocks), kWarpColumns);
  bool fits = chip.startsEarly() && op.getStaticM() == 1 &&
              getGpuProduct(op).bitsOfWeight() == 16 &&
              columns >= kLeastColumns && columns <= kMostColumns &&
              n % columns == 0 &&
              ::nm::gainsFromEarlyStart(n / columns, blocks) &&
              op.getStaticK() >= kLeastTiles * kTileRows;
  if (!fits)
    return {};
  ScheduleAttrInterface schedule =
      complete(op, chip,
               llvm::formatv("mma_sp<block = [8, {0}, {1}], warp = [8, {2}], "
                             "stages = 3, slice_k = 1>",
                             columns, kTileRows, kWarpColumns));
  return schedule && hasTurns(op, schedule) ? schedule
                                            : ScheduleAttrInterface();
}

/// The schedule of the product of twice the columns of `op`; null where that is
/// to stay as it is.
static ScheduleAttrInterface chooseSchedule(SparseProductOpInterface op,
                                            const ::nm::GpuChip &chip,
                                            const SelectionOptions &options) {
  AlternativesQuery query{op, chip, options};
  AlternativeList list = listAlternatives(query);
  const Alternative *best = findBest(list, options);
  if (!best || best->weights != Alternative::Weights::AsTheyAre ||
      best->operands == Alternative::Operands::Widened ||
      best->operands == Alternative::Operands::Dequantized ||
      !best->choice->schedule)
    return {};
  ScheduleAttrInterface schedule = best->choice->schedule;
  if (!options.given) {
    // Where blocks have the one row alone, as those of gemv.
    if (schedule.getTiling().blockM == 1)
      if (ScheduleAttrInterface lone = chooseLoneBlocks(op, chip))
        return lone;
    schedule = chooseForTwice(op, chip, best->product, schedule);
  }
  if (!schedule || getColumnsInTurn(schedule) == 0)
    return {};
  if (hasTurns(op, schedule))
    return schedule;
  if (options.given)
    return {};
  // The nearest width first.
  int64_t own = schedule.getTiling().blockN;
  SmallVector<int64_t> widths = {32, 64, 96, 128};
  llvm::sort(widths, [&](int64_t a, int64_t b) {
    return std::pair(std::abs(a - own), a) < std::pair(std::abs(b - own), b);
  });
  for (int64_t columns : widths)
    if (ScheduleAttrInterface other = withColumns(op, chip, schedule, columns);
        other && hasTurns(op, other))
      return other;
  return {};
}

//===----------------------------------------------------------------------===//
// The product of two
//===----------------------------------------------------------------------===//

namespace {
/// Builds the product that makes the sums of two, and what combines them.
class PairedProduct {
public:
  /// The epilogue of `second` takes the result of `first`.
  PairedProduct(RewriterBase &rewriter, SpMMOp first, SpMMOp second,
                ScheduleAttrInterface schedule)
      : rewriter(rewriter), first(first), second(second), schedule(schedule),
        inTurn(getColumnsInTurn(schedule)), n(this->second.getStaticN()),
        sumType(getSumType(this->second)),
        loc(FusedLoc::get(rewriter.getContext(),
                          {first.getLoc(), second.getLoc()})) {}

  void create();

private:
  Value join(Value ofFirst, Value ofSecond);
  SmallVector<OpFoldResult> getSizes(ArrayRef<int64_t> ofColumns);
  Value createProduct();
  Value takeHalf(Value halves, int64_t number);
  void addOperands(SparseProductOpInterface op);
  Value emitResult(OpBuilder &builder, SparseProductOpInterface op, Value sum,
                   Value other, ValueRange elements);

  RewriterBase &rewriter;
  SparseProductOpInterface first, second;
  ScheduleAttrInterface schedule;
  int64_t inTurn, n;
  Type sumType;
  Location loc;
  /// The operands of the linalg.generic that combines both sums, and their maps
  /// from (m, turn, column).
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
};
} // namespace

/// The columns of both constants in turns.
Value PairedProduct::join(Value ofFirst, Value ofSecond) {
  ConstantArray arrays[] = {*ConstantArray::get(ofFirst),
                            *ConstantArray::get(ofSecond)};
  int64_t columns = arrays[0].getType().getShape().back();
  return arith::ConstantOp::create(rewriter, loc,
                                   joinColumns(arrays, columns * inTurn / n));
}

/// m, and then `ofColumns`.
SmallVector<OpFoldResult> PairedProduct::getSizes(ArrayRef<int64_t> ofColumns) {
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(rewriter, loc, second.getC(), 0)};
  for (int64_t size : ofColumns)
    sizes.push_back(rewriter.getIndexAttr(size));
  return sizes;
}

/// The product of twice the columns, which rounds its sums.
Value PairedProduct::createProduct() {
  Value c = tensor::EmptyOp::create(rewriter, loc, getSizes(2 * n), sumType);
  OperationState state = createProductState(second, /*epilogueOperands=*/{}, c);
  state.location = loc;
  state.operands[1] = join(first.getValues(), second.getValues());
  state.operands[2] = join(first.getIndices(), second.getIndices());
  if (second.getScales())
    state.operands[3] = join(first.getScales(), second.getScales());
  Block &body = state.addRegion()->emplaceBlock();
  Value sum = body.addArgument(second.getAccumulatorType(), loc);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&body);
    if (sum.getType() != sumType)
      sum = arith::TruncFOp::create(rewriter, loc, sumType, sum);
    YieldOp::create(rewriter, loc, sum);
  }
  auto product = cast<SparseProductOpInterface>(rewriter.create(state));
  product.setEpilogueMapsAttr(rewriter.getAffineMapArrayAttr({}));
  product.setScheduleAttr(schedule);
  return product->getResult(0);
}

/// The columns of one of both, [m x turns x inTurn].
Value PairedProduct::takeHalf(Value halves, int64_t number) {
  SmallVector<OpFoldResult> offsets(4, rewriter.getIndexAttr(0)),
      sizes = getSizes({n / inTurn, 1, inTurn}),
      strides(4, rewriter.getIndexAttr(1));
  offsets[2] = rewriter.getIndexAttr(number);
  auto whole = cast<RankedTensorType>(halves.getType());
  auto type = RankedTensorType::get({whole.getDimSize(0), n / inTurn, inTurn},
                                    whole.getElementType());
  return tensor::ExtractSliceOp::create(rewriter, loc, type, halves, offsets,
                                        sizes, strides);
}

/// What the epilogue of `op` takes, but for the other product's result, with n
/// in turns.
void PairedProduct::addOperands(SparseProductOpInterface op) {
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands())) {
    if (operand == first->getResult(0))
      continue;
    SmallVector<AffineExpr> dims;
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    auto type = cast<RankedTensorType>(operand.getType());
    bool hasColumns = false;
    for (auto [dim, expr] :
         llvm::enumerate(getEpilogueMap(op, i).getResults())) {
      bool isColumn = cast<AffineDimExpr>(expr).getPosition() == 1;
      hasColumns |= isColumn;
      groups.emplace_back();
      auto addLoop = [&](unsigned loop, int64_t size) {
        groups.back().push_back(int64_t(dims.size()));
        dims.push_back(rewriter.getAffineDimExpr(loop));
        shape.push_back(size);
      };
      if (!isColumn) {
        addLoop(0, type.getDimSize(int64_t(dim)));
        continue;
      }
      addLoop(1, n / inTurn);
      addLoop(2, inTurn);
    }
    inputs.push_back(
        hasColumns ? tensor::ExpandShapeOp::create(
                         rewriter, loc, type.clone(shape), operand, groups)
                         .getResult()
                   : operand);
    maps.push_back(AffineMap::get(3, 0, dims, rewriter.getContext()));
  }
}

/// What `op` makes of `sum` and of `other`, the other product's result, with
/// the next of `elements`, its operands'.
Value PairedProduct::emitResult(OpBuilder &builder, SparseProductOpInterface op,
                                Value sum, Value other, ValueRange elements) {
  if (!op.hasEpilogue())
    return sum;
  if (sum.getType() != op.getAccumulatorType())
    sum = arith::ExtFOp::create(builder, loc, op.getAccumulatorType(), sum);
  SmallVector<Value> arguments = {sum};
  for (Value operand : op.getEpilogueOperands()) {
    if (operand == first->getResult(0)) {
      arguments.push_back(other);
      continue;
    }
    arguments.push_back(elements.front());
    elements = elements.drop_front();
  }
  return inlineElementwise(builder, loc, op.getEpilogue(), arguments);
}

void PairedProduct::create() {
  rewriter.setInsertionPoint(second);
  int64_t turns = n / inTurn;
  Value sums = createProduct();
  auto type = cast<RankedTensorType>(sums.getType());
  int64_t m = type.getDimSize(0);
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2, 3}};
  Value halves = tensor::ExpandShapeOp::create(
      rewriter, loc, type.clone({m, turns, 2, inTurn}), sums, groups,
      getSizes({turns, 2, inTurn}));
  AffineMap identity = rewriter.getMultiDimIdentityMap(3);
  inputs = {takeHalf(halves, 0), takeHalf(halves, 1)};
  maps.assign(2, identity);
  addOperands(first);
  size_t ofFirst = inputs.size() - 2;
  addOperands(second);
  SmallVector<ReassociationIndices> columns = {{0}, {1, 2}};
  Value output = tensor::ExpandShapeOp::create(
      rewriter, loc, second.getCType().clone({m, turns, inTurn}), second.getC(),
      columns, getSizes({turns, inTurn}));
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(3, utils::IteratorType::parallel);
  auto emitBody = [&](OpBuilder &body, Location loc, ValueRange elements) {
    ValueRange operands = elements.drop_front(2);
    Value other =
        emitResult(body, first, elements[0], {}, operands.take_front(ofFirst));
    linalg::YieldOp::create(body, loc,
                            emitResult(body, second, elements[1], other,
                                       operands.drop_front(ofFirst)));
  };
  Value combined =
      linalg::GenericOp::create(rewriter, loc, output.getType(), inputs, output,
                                maps, iterators, emitBody)
          .getResult(0);
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
      second, second.getCType(), combined, columns);
  rewriter.eraseOp(first);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct NMPairProducts : mlir::nm::impl::NMPairProductsBase<NMPairProducts> {
  using NMPairProductsBase::NMPairProductsBase;

  void runOnOperation() override {
    FailureOr<::nm::GpuChip> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    SelectionOptions options{{}, denseFallback, exactPattern};
    // What is wrong with it, selection says.
    if (!schedule.empty()) {
      ScopedDiagnosticHandler keep(&getContext(),
                                   [](Diagnostic &) { return success(); });
      FailureOr<ScheduleAttrInterface> given = parseSchedule(
          schedule, &getContext(), [&] { return getOperation()->emitError(); });
      if (failed(given) || !findGpuStrategy(*given))
        return;
      options.given = *given;
    }
    IRRewriter rewriter(&getContext());
    llvm::SmallPtrSet<Operation *, 8> paired;
    for (auto op : collectOps<SpMMOp>(getOperation())) {
      if (paired.contains(op) || !canChangeColumns(op))
        continue;
      SpMMOp other = findOtherOfPair(op);
      if (!other)
        continue;
      // The other's epilogue reads nothing of the first one's.
      ScheduleAttrInterface chosen = chooseSchedule(other, *chip, options);
      if (!chosen)
        continue;
      emitRemark(op.getLoc())
          << "two products of one A that are combined are one, of n = 2 x "
          << cast<SparseProductOpInterface>(op.getOperation()).getStaticN()
          << ": blocks have " << chosen.getTiling().blockN / 2
          << " columns of each";
      paired.insert(other);
      PairedProduct(rewriter, other, op, chosen).create();
    }
  }
};
} // namespace
