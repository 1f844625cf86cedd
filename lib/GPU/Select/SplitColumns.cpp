//===- SplitColumns.cpp - Products whose last blocks would run alone ------===//
//
//   512 x 28672 in tiles of 256 x 128, 132 at once:
//     one product     | 132 | 132 | 132 | 52              | 4 rounds
//     two products    | 132 | 132 | 132 | 104 of 128 x 128 | 3 and some half
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"
#include "GPU/Select/ProductPairs.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/GPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSPLITCOLUMNS
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Where to split
//===----------------------------------------------------------------------===//

/// Two products take at most this percentage of the time of one, by estimate,
/// or it stays one. The second also takes the time of a launch: all of its
/// blocks start when those of the first end. 512 x 9216 x 4096 in 8448 columns
/// and 768 took 44.8 us on an H200 where 37.3 were estimated without it,
/// and 43.7 whole (2026-12-01).
static constexpr int64_t kMostPercent = 93;

/// Rows and columns of tiles, whole rounds of which are tried beside those of
/// the product's own: the largest that warps of their own copy for, and half.
static constexpr std::pair<int64_t, int64_t> kTiles[] = {{256, 128},
                                                         {128, 128}};

/// The columns of a product of `rows` and `n` whose tiles are whole rounds of
/// `blocks`, as many as there are; 0 where there are none.
static int64_t countColumnsOfRounds(int64_t rows, int64_t n, int64_t blocks,
                                    std::pair<int64_t, int64_t> tile) {
  int64_t along = llvm::divideCeil(rows, tile.first),
          rounds = along * llvm::divideCeil(n, tile.second) / blocks,
          columns = rounds * blocks / along * tile.second;
  return columns < n ? columns : 0;
}

/// How many columns of `op` the first of two products gets, where both take
/// less time than one by estimate; 0 where one takes less. Where it is one of a
/// pair, a product has the columns of both, for which no table is asked.
static int64_t chooseColumns(SpMMOp op, bool isPair, const ::nm::GpuChip &chip,
                             const SelectionOptions &options) {
  AlternativesQuery query{op, chip, options};
  AlternativeList list = listAlternatives(query);
  const Alternative *best = findBest(list, options);
  if (!best || best->operands != Alternative::Operands::AsTheyAre ||
      best->weights != Alternative::Weights::AsTheyAre ||
      !best->choice->schedule || (!isPair && !best->choice->measured.empty()))
    return 0;
  // Both products would read the patches of an image, or have a kernel write
  // them.
  if (best->product.hasImage || best->product.hasPixels)
    return 0;
  int64_t count = isPair ? 2 : 1;
  ::nm::GpuProduct product = best->product;
  int64_t n = product.n;
  const GpuStrategy *strategy = findGpuStrategy(best->choice->schedule);
  auto choose = [&](int64_t columns) {
    product.n = count * columns;
    return strategy->choose({op, product, chip, {}});
  };
  ::nm::Result<ScheduleChoice> whole = choose(n);
  if (!whole || whole->schedule.getTiling().splitK != 1)
    return 0;
  BlockTiling own = whole->schedule.getTiling();
  SmallVector<std::pair<int64_t, int64_t>> tiles = {kTiles[0], kTiles[1]};
  tiles.emplace_back(own.blockM, own.blockN);
  double least = whole->microseconds * double(kMostPercent) / 100;
  int64_t chosen = 0;
  for (std::pair<int64_t, int64_t> tile : tiles) {
    int64_t columns = countColumnsOfRounds(product.allRows(), count * n,
                                           chip.multiprocessors, tile) /
                      count;
    if (columns == 0 || columns % product.pattern.bn != 0)
      continue;
    ::nm::Result<ScheduleChoice> first = choose(columns),
                                 rest = choose(n - columns);
    if (!first || !rest)
      continue;
    double both = first->microseconds + rest->microseconds + chip.rates.launch;
    if (both >= least)
      continue;
    least = both;
    chosen = columns;
  }
  return chosen;
}

//===----------------------------------------------------------------------===//
// Two products
//===----------------------------------------------------------------------===//

namespace {
/// Columns of products, from `first` on.
struct Columns {
  int64_t first, count;
};

class SplitProduct {
public:
  SplitProduct(RewriterBase &rewriter, SpMMOp op, SpMMOp other)
      : rewriter(rewriter), op(op), other(other) {}

  void split(int64_t columns);

private:
  Value sliceConstant(Value constant, SpMMOp of, const Columns &columns);
  Value createC(SpMMOp of, const Columns &columns);
  SpMMOp createPart(SpMMOp of, const Columns &columns);
  Value createPart(const Columns &columns);

  RewriterBase &rewriter;
  /// The product, and the one whose result its epilogue combines with its own;
  /// null where none is.
  SpMMOp op, other;
};
} // namespace

/// `columns` of a constant of `of`, in which several columns of weights may
/// share one of the constant. Null for null.
Value SplitProduct::sliceConstant(Value constant, SpMMOp of,
                                  const Columns &columns) {
  if (!constant)
    return {};
  ConstantArray array = *ConstantArray::get(constant);
  int64_t n = cast<SparseProductOpInterface>(*of).getStaticN(),
          width = array.getType().getShape().back();
  return arith::ConstantOp::create(rewriter, of.getLoc(),
                                   sliceColumns(array,
                                                columns.first * width / n,
                                                columns.count * width / n));
}

/// The C of a part of `of`: filled with zeros where C of `of` is, and without
/// contents where an epilogue writes all of it.
Value SplitProduct::createC(SpMMOp of, const Columns &columns) {
  Location loc = of.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, of.getC());
  sizes.back() = rewriter.getIndexAttr(columns.count);
  Value c = tensor::EmptyOp::create(rewriter, loc, sizes,
                                    getElementTypeOrSelf(of.getC().getType()));
  auto fill = of.getC().getDefiningOp<linalg::FillOp>();
  return fill ? linalg::FillOp::create(rewriter, loc, fill.value(), c)
                    .getResult(0)
              : c;
}

/// The product of some columns of `of`.
SpMMOp SplitProduct::createPart(SpMMOp of, const Columns &columns) {
  auto tiling = cast<TilingInterface>(*of);
  SmallVector<OpFoldResult> offsets, sizes;
  for (const Range &range : tiling.getIterationDomain(rewriter)) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  constexpr size_t kColumnLoop = 1;
  offsets[kColumnLoop] = rewriter.getIndexAttr(columns.first);
  sizes[kColumnLoop] = rewriter.getIndexAttr(columns.count);
  FailureOr<TilingResult> tiled =
      tiling.getTiledImplementation(rewriter, offsets, sizes);
  auto part = cast<SpMMOp>(tiled->tiledOps.front());
  rewriter.setInsertionPoint(part);
  part.getAMutable().set(of.getA());
  part.getValuesMutable().set(sliceConstant(of.getValues(), of, columns));
  part.getIndicesMutable().set(sliceConstant(of.getIndices(), of, columns));
  if (Value scales = sliceConstant(of.getScales(), of, columns))
    part.getScalesMutable().assign(scales);
  part.getCMutable().set(createC(of, columns));
  rewriter.setInsertionPointAfter(part);
  for (Operation *slice : tiled->generatedSlices)
    if (slice->use_empty())
      rewriter.eraseOp(slice);
  return part;
}

/// The result of the product of some columns, and of the other product.
Value SplitProduct::createPart(const Columns &columns) {
  SpMMOp ofOther = other ? createPart(other, columns) : SpMMOp();
  SpMMOp part = createPart(op, columns);
  if (ofOther)
    for (OpOperand &operand : part->getOpOperands())
      if (auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
          slice && slice.getSource() == other->getResult(0)) {
        operand.set(ofOther->getResult(0));
        if (slice->use_empty())
          rewriter.eraseOp(slice);
      }
  return part->getResult(0);
}

void SplitProduct::split(int64_t columns) {
  rewriter.setInsertionPoint(op);
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  Value whole = fill ? fill.output() : op.getC();
  int64_t n = cast<SparseProductOpInterface>(*op).getStaticN();
  for (const Columns &part :
       {Columns{0, columns}, Columns{columns, n - columns}}) {
    Value made = createPart(part);
    SmallVector<OpFoldResult> offsets(2, rewriter.getIndexAttr(0)),
        sizes = tensor::getMixedSizes(rewriter, op.getLoc(), made),
        strides(2, rewriter.getIndexAttr(1));
    offsets.back() = rewriter.getIndexAttr(part.first);
    whole = tensor::InsertSliceOp::create(rewriter, op.getLoc(), made, whole,
                                          offsets, sizes, strides);
  }
  rewriter.replaceOp(op, whole);
  if (other)
    rewriter.eraseOp(other);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct NMSplitColumns : mlir::nm::impl::NMSplitColumnsBase<NMSplitColumns> {
  using NMSplitColumnsBase::NMSplitColumnsBase;

  void runOnOperation() override {
    FailureOr<::nm::GpuChip> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    SelectionOptions options{{}, denseFallback, exactPattern};
    llvm::DenseMap<Operation *, SpMMOp> pairs;
    llvm::SmallPtrSet<Operation *, 8> others;
    SmallVector<SpMMOp> products = collectOps<SpMMOp>(getOperation());
    for (SpMMOp op : products)
      if (SpMMOp other = findOtherOfPair(op)) {
        pairs[op] = other;
        others.insert(other);
      }
    IRRewriter rewriter(&getContext());
    for (SpMMOp op : products) {
      bool hasRows = !ShapedType::isDynamic(
          cast<SparseProductOpInterface>(*op).getStaticM());
      if (others.contains(op) || !hasRows || !canChangeColumns(op))
        continue;
      SpMMOp other = pairs.lookup(op);
      int64_t columns =
          chooseColumns(other ? other : op, bool(other), *chip, options);
      if (columns == 0)
        continue;
      emitRemark(op.getLoc())
          << "a product's first " << columns << " columns and the other "
          << cast<SparseProductOpInterface>(*op).getStaticN() - columns
          << " are two products, so that the last blocks have smaller tiles";
      SplitProduct(rewriter, op, other).split(columns);
    }
  }
};
} // namespace
