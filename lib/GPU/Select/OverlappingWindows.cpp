//===- OverlappingWindows.cpp - Windows as groups of four -----------------===//
//
// 4:6 is 2:4 of an A that has rows 2 and 3 of each window twice, and so is M -
// 2 of any even M; see OverlappingGroups. Fewer kept rows are taken to be that
// many, and two windows of an odd M to be one.
//
// That is 4/3 of the rows of k for M = 6, 3/2 for M = 8, and twice as many at
// most. On an H200 at 4096 cubed, 2:4 takes 0.67 of the time of the dense
// product in f16, 0.74 in f8 and 0.66 in split floats, and the kernel that
// repeats rows of f16 about 24 us (2026-11-28), so that 4:6 gains by it in f32,
// and in 16 bits where tensor copies repeat the rows of an m-major A: 162 us,
// and 183 dense (2026-11-30).
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/GpuModels.h"

#include "GPU/Layouts/LayoutCosts.h"
#include "nm/GPU/Stage/OperandDemands.h"
#include "nm/GPU/Stage/RowBytes.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/RepeatRows.h"
#include "nm/Format/WindowTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;
using NMPattern = ::nm::Pattern;
using Groups = ::nm::OverlappingGroups;

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// How many times as many weights are stored at most.
static constexpr int64_t kMostWeights = 2;

/// The pattern of M - 2 rows of an even M that has all that `pattern` may keep;
/// none if windows keep more, or far fewer.
static std::optional<NMPattern> findKeptPattern(const NMPattern &pattern) {
  int64_t windows = pattern.m % 2 == 0 ? 1 : 2;
  NMPattern kept{windows * pattern.m - Groups::kStep, windows * pattern.m,
                 /*bk=*/1, pattern.bn};
  int64_t least = windows * pattern.n;
  if (pattern.bk != 1 || least > kept.n || kept.n > kMostWeights * least ||
      !kept.verify())
    return std::nullopt;
  return kept;
}

static NMPattern getGroupPattern(const NMPattern &kept) {
  return {Groups::kKept, Groups::kRows, /*bk=*/1, kept.bn};
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// The best of the strategies that take sparse operands.
static ::nm::Result<ScheduleChoice> choose(const AlternativesQuery &query,
                                           const ::nm::GpuProduct &product) {
  ::nm::Result<ScheduleChoice> best = ::nm::Error{
      "no strategy has a product of overlapping groups of four rows"};
  for (const GpuStrategy *strategy :
       {&getWgmmaSpStrategy(), &getMmaSpStrategy()}) {
    ScheduleAttrInterface given = query.options.given;
    if (given && findGpuStrategy(given) != strategy)
      continue;
    ::nm::Result<ScheduleChoice> found =
        strategy->choose({query.op, product, query.chip, given});
    if (found && found->schedule &&
        (!best || found->microseconds < best->microseconds))
      best = found;
  }
  return best;
}

std::optional<Alternative>
mlir::nm::overlapGroups(const AlternativesQuery &query,
                        const Alternative &own) {
  SparseProductOpInterface op = query.op;
  const ::nm::GpuProduct &product = own.product;
  std::optional<NMPattern> kept = findKeptPattern(product.pattern);
  if (!kept || !isa<SpMMOp>(op) || op.getScales() ||
      ::nm::fitsSparseOperand(product.pattern) || whyNotDense(op))
    return std::nullopt;
  if (product.avoidsPrunedWeights && product.pattern != *kept)
    return std::nullopt;
  Alternative groups = own;
  groups.weights = Alternative::Weights::Overlapping;
  groups.packs = true;
  groups.pattern = *kept;
  // 256 rows of 4:6 in f32 take 81 us on an H200, which are estimated to take
  // 74, and 75 as a dense product of split floats, estimated 79.
  groups.handicap = 1 / ::nm::kWorthIt;
  groups.product.pattern = getGroupPattern(*kept);
  groups.product.k = Groups{kept->m}.rows(product.k);
  // A is made for it, in memory of its own.
  int64_t bits = ::nm::elementSize(product.type) * 8;
  groups.product.strideOfA =
      product.isMMajor
          ? getPaddedStride(op.getStaticM(), /*isMMajor=*/true, bits)
          : int64_t(llvm::alignTo(groups.product.k, getRepeatedChunk(bits)));
  groups.product.isMadeElementwise = true;
  groups.product.hasSplitsOfA = false;
  groups.choice = choose(query, groups.product);
  groups.steps += "; windows of " + kept->str() +
                  " along k = " + std::to_string(product.k) +
                  " are taken to be groups of four rows that overlap, which "
                  "have " +
                  std::to_string(groups.product.k) + " rows in all";
  // What splits A into splits repeats its rows.
  if (product.splits == 1) {
    double rows = double(product.rows()) * double(countBatches(op));
    double repetition = estimateRepetition(
        rows * double(product.k), rows * double(groups.product.k),
        ::nm::elementSize(product.type), query.chip);
    groups.extraCost += repetition;
    groups.steps +=
        ": estimated " + describeTime(repetition) + " for an A that has these";
  }
  return groups;
}

/// Whether tensor copies can repeat rows of the A that is asked about.
static bool canRepeatInCopies(AlternativesQuery query,
                              const ::nm::GpuProduct &product) {
  int64_t bytes = ::nm::elementSize(product.type);
  bool hasRows = product.isMMajor && product.m != ::nm::GpuProduct::kUnknown &&
                 product.m * bytes % ::nm::kBulkRowBytes == 0;
  if (!hasRows || product.splits != 1 || bytes != 2 ||
      product.patchMicroseconds > 0)
    return false;
  return query.form != ActivationForm::AsIs ||
         hasRowsAt(query.op.getA(), ::nm::kBulkRowBytes);
}

/// The schedule of `product`, whose k are repeated rows.
static ::nm::Result<ScheduleChoice>
chooseRepeating(const AlternativesQuery &query,
                const ::nm::GpuProduct &product) {
  const GpuStrategy &strategy = getWgmmaSpStrategy();
  ScheduleAttrInterface given = query.options.given;
  if (given && findGpuStrategy(given) != &strategy)
    return ::nm::Error{"tensor copies repeat rows for strategy wgmma_sp alone"};
  ::nm::Result<ScheduleChoice> found =
      strategy.choose({query.op, product, query.chip, given});
  if (!found || !found->schedule)
    return found;
  // A schedule that is given in part may have no tensor copies, or tiles of
  // several steps, which are whole.
  if (!strategy.copiesPixels(found->schedule) ||
      product.k % found->schedule.getTiling().blockK != 0)
    return ::nm::Error{"wgmma_sp: no tensor copies of whole tiles of A"};
  return found;
}

std::optional<Alternative>
mlir::nm::repeatInCopies(const AlternativesQuery &query, const Alternative &own,
                         const Alternative &groups) {
  const ::nm::GpuProduct &product = own.product;
  if (!canRepeatInCopies(query, product))
    return std::nullopt;
  ::nm::WindowTiles tiles{{groups.pattern.m}, product.k};
  // Rows that tiles have twice have zeros among their weights.
  bool addsZeros = tiles.rowsOfWindows() != product.k;
  if (product.avoidsPrunedWeights && addsZeros)
    return std::nullopt;
  Alternative copied = own;
  copied.weights = Alternative::Weights::RepeatedByCopies;
  copied.packs = true;
  copied.pattern = groups.pattern;
  copied.product.pattern = groups.product.pattern;
  copied.product.k = tiles.rows();
  copied.product.hasPixels = true;
  copied.product.imageElements = product.allRows() * product.k;
  copied.choice = chooseRepeating(query, copied.product);
  copied.steps += "; windows of " + copied.pattern.str() +
                  " along k = " + std::to_string(product.k) +
                  " are taken to be groups of four rows that overlap, which "
                  "tensor copies repeat: " +
                  std::to_string(copied.product.k) + " rows in all";
  if (addsZeros && copied.pattern == product.pattern)
    copied.steps += "; " + kDenseMeetsNonFinite.str();
  return copied;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Positions in windows as positions in groups.
static TypedAttr moveConstant(const Groups &groups,
                              const ConstantArray &indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  int64_t columns = type.getDimSize(1);
  std::vector<char> moved(indices.getBytes().begin(), indices.getBytes().end());
  for (int64_t i = 0; i < int64_t(moved.size()); ++i)
    moved[i] = char(uint8_t(moved[i]) - groups.firstRowOfKept(i / columns));
  return getConstant(type, moved);
}

static Value moveIndices(OpBuilder &builder, Location loc, const Groups &groups,
                         Value indices) {
  if (std::optional<ConstantArray> constant = ConstantArray::get(indices))
    return arith::ConstantOp::create(builder, loc,
                                     moveConstant(groups, *constant));
  auto type = cast<RankedTensorType>(indices.getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(2);
  auto emit = [&](OpBuilder &body, Location loc, ValueRange elements) {
    IndexEmitter emitter{body, loc};
    Value row = linalg::IndexOp::create(body, loc, 0);
    Value first = groups.firstRowOfKept(EmittedIndex{&emitter, row}).value;
    Value narrow =
        arith::IndexCastUIOp::create(body, loc, type.getElementType(), first);
    linalg::YieldOp::create(body, loc, emitter.sub(elements.front(), narrow));
  };
  return linalg::GenericOp::create(
             builder, loc, type, indices, empty, ArrayRef<AffineMap>{map, map},
             SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
             emit)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

void mlir::nm::overlapWindows(RewriterBase &rewriter,
                              SparseProductOpInterface op,
                              const ::nm::Pattern &kept) {
  if (op.getPattern() != kept)
    makeDense(op, kept);
  rewriter.setInsertionPoint(op);
  Groups groups{kept.m};
  Value a = createRepeatedRows(rewriter, op.getLoc(), op.getA(),
                               op.getKDimOfA(), groups);
  Value indices = moveIndices(rewriter, op.getLoc(), groups, op.getIndices());
  auto product = cast<SpMMOp>(*op);
  rewriter.modifyOpInPlace(product, [&] {
    product.getAMutable().assign(a);
    product.getIndicesMutable().assign(indices);
    op.setPatternAttr(
        PatternAttr::get(op->getContext(), getGroupPattern(kept)));
  });
}
