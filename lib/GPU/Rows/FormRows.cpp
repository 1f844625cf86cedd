//===- FormRows.cpp - Reductions of several dimensions as rows ------------===//
//
//   sum of 8 x 197 x 768 elements:      one row of 1210176
//   of 8 x 197 x 768 times 8 x 197:     8 rows of 197 of 768, then one of 1576
//   of 8388608:                         1024 rows of 8192, then one of 1024
//   of the columns of 65536 x 1024:     those of 64 x 1024 x 1024, then of 64
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/ReductionProducers.h"
#include "GPU/Rows/RowOp.h"
#include "GPU/Rows/RowShape.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/GPU/Rows/RowsToGPU.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMFORMROWS
#include "nm/GPU/Rows/RowsToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The multiprocessors of a chip: 0 where the module names no chip.
struct Multiprocessors {
  int64_t count = 0;
  bool hasClusters = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Several loops as one
//===----------------------------------------------------------------------===//

/// Elements of a window up to which convert-windows-to-gpu has its kernel,
/// where no op can be fused: 32 lanes of a warp have 32 elements each.
static constexpr int64_t kWindow = 1024;

/// Whether one loop may stand for those of `op` from `first` on: each operand
/// has all of them side by side, or none.
static bool canCollapse(linalg::GenericOp op, unsigned first) {
  unsigned loops = op.getNumLoops();
  if (first + 1 >= loops || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics())
    return false;
  auto collapsed =
      llvm::to_vector<2>(llvm::seq<int64_t>(int64_t(first), int64_t(loops)));
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return map.isProjectedPermutation() &&
           linalg::isDimSequencePreserved(map, collapsed);
  });
}

/// Whether `value` is contiguous in memory, as far as is known here.
static bool isContiguous(Value value) {
  return !value.getDefiningOp<tensor::ExtractSliceOp>();
}

/// The first of two or more last loops of `op` that all reduce, and that one
/// loop may stand for.
static std::optional<unsigned> findFirst(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto first = unsigned(types.size());
  while (first > 0 && linalg::isReductionIterator(types[first - 1]))
    --first;
  while (first + 1 < types.size() && !canCollapse(op, first))
    ++first;
  bool isOfRows =
      first + 1 < types.size() && llvm::all_of(op.getInputs(), isContiguous);
  return isOfRows ? std::optional(first) : std::nullopt;
}

/// Whether `value` is what `op` makes, or what ops on each of its elements make
/// of that.
static bool isMadeOf(Value value, linalg::GenericOp op) {
  llvm::SmallSetVector<Operation *, 8> makers;
  makers.insert(value.getDefiningOp());
  for (size_t i = 0; i < makers.size(); ++i) {
    Operation *maker = makers[i];
    if (maker == op)
      return true;
    auto elementwise = dyn_cast_or_null<linalg::GenericOp>(maker);
    bool isOfElements = elementwise && elementwise.getNumReductionLoops() == 0;
    if (!isOfElements &&
        !isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(maker))
      continue;
    if (maker->getBlock() == op->getBlock() && op->isBeforeInBlock(maker))
      for (Value operand : maker->getOperands())
        makers.insert(operand.getDefiningOp());
  }
  return false;
}

/// Whether `op`, without reductions, can have one loop from `first` on.
static bool canCollapseElements(linalg::GenericOp op, unsigned loops,
                                unsigned first) {
  return op && op.getNumReductionLoops() == 0 && op.getNumLoops() == loops &&
         canCollapse(op, first) && llvm::all_of(op.getInputs(), isContiguous);
}

/// The ops without reductions that read what `op` does, and for each row what
/// is made of its result, as a norm does: one kernel may have them all.
static SmallVector<linalg::GenericOp> listReaders(linalg::GenericOp op,
                                                  unsigned first) {
  llvm::SmallSetVector<linalg::GenericOp, 4> readers;
  auto isOfRow = [&](linalg::GenericOp reader, OpOperand *input) {
    return !reader.getMatchingIndexingMap(input).isFunctionOfDim(first) &&
           isMadeOf(input->get(), op);
  };
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.getMatchingIndexingMap(input).isIdentity())
      continue;
    for (OpOperand &use : input->get().getUses()) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (canCollapseElements(reader, op.getNumLoops(), first) &&
          reader.getMatchingIndexingMap(&use).isIdentity() &&
          llvm::any_of(reader.getDpsInputOperands(), [&](OpOperand *other) {
            return isOfRow(reader, other);
          }))
        readers.insert(reader);
    }
  }
  return readers.takeVector();
}

/// Makes the loops of `op` from `first` on one; the new op.
static linalg::GenericOp collapse(IRRewriter &rewriter, linalg::GenericOp op,
                                  unsigned first) {
  SmallVector<ReassociationIndices> loops;
  for (int64_t loop : llvm::seq<int64_t>(first))
    loops.push_back({loop});
  loops.push_back(llvm::to_vector<2>(
      llvm::seq<int64_t>(int64_t(first), int64_t(op.getNumLoops()))));
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(
      cast<linalg::LinalgOp>(op.getOperation()), loops, rewriter);
  if (failed(collapsed))
    return op;
  rewriter.replaceOp(op, collapsed->results);
  return cast<linalg::GenericOp>(collapsed->collapsedOp.getOperation());
}

/// How many elements the loops of `op` from `first` on have; kDynamic if that
/// is not known.
static int64_t countElements(linalg::GenericOp op, unsigned first) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t count = 1;
  for (int64_t size : ArrayRef(sizes).drop_front(first)) {
    if (ShapedType::isDynamic(size))
      return size;
    count *= size;
  }
  return count;
}

/// The op without reductions that makes what `op` reads, if only `op`, other
/// reductions of such rows and `readers` read that; null if there is none.
static linalg::GenericOp findProducer(linalg::GenericOp op,
                                      ArrayRef<linalg::GenericOp> readers,
                                      unsigned first) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto producer = input->get().getDefiningOp<linalg::GenericOp>();
    if (!canCollapseElements(producer, op.getNumLoops(), first) ||
        producer.getNumDpsInits() != 1 ||
        !op.getMatchingIndexingMap(input).isIdentity() ||
        !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
             .isIdentity())
      continue;
    if (llvm::all_of(producer->getUsers(), [&](Operation *user) {
          auto other = dyn_cast<linalg::GenericOp>(user);
          return other && (llvm::is_contained(readers, other) ||
                           findFirst(other) == first);
        }))
      return producer;
  }
  return {};
}

/// Makes the loops of `op` from `first` on one, and those of its readers and of
/// their common producer, so that one kernel can have all of these ops. Returns
/// the new op, or `op`.
static linalg::GenericOp
collapseWithOthers(IRRewriter &rewriter, linalg::GenericOp op, unsigned first) {
  SmallVector<linalg::GenericOp> readers = listReaders(op, first);
  int64_t count = countElements(op, first);
  bool isWindow = !ShapedType::isDynamic(count) && count <= kWindow;
  if (first != 0 && readers.empty() && isWindow)
    return op;
  if (linalg::GenericOp producer = findProducer(op, readers, first))
    collapse(rewriter, producer, first);
  for (linalg::GenericOp reader : readers)
    collapse(rewriter, reader, first);
  return collapse(rewriter, op, first);
}

//===----------------------------------------------------------------------===//
// One reduction as two
//===----------------------------------------------------------------------===//

/// The op in the body of `op` that combines the running result with the next
/// element; null if `op` has several results, or a body without such an op.
static Operation *findOnlyCombiner(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return nullptr;
  return findCombiner(*op.getBlock(), op.getRegionOutputArgs().front(),
                      op.getBlock()->getTerminator()->getOperand(0));
}

/// A tensor of `sizes` filled with what `combiner` changes nothing by.
static Value createNeutral(IRRewriter &rewriter, Location loc,
                           ArrayRef<OpFoldResult> sizes, Operation *combiner) {
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  Value value = arith::ConstantOp::create(rewriter, loc, neutral);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, neutral.getType());
  return linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
}

/// The least size of a last loop that is reduced alone, by a warp.
static constexpr int64_t kLeastRow = 32;
/// The most windows for each multiprocessor whose elements rows share: a window
/// has a warp, and 64 warps are on a multiprocessor.
static constexpr int64_t kWindowsOfMultiprocessor = 32;

/// Whether `op` reduces its last loop and others, and better one after the
/// other: all loops are reduced, or few windows are.
static bool canSplitOuterLoops(linalg::GenericOp op,
                               const Multiprocessors &chip) {
  unsigned loops = op.getNumLoops(), reductions = op.getNumReductionLoops();
  if (reductions < 2 || !findOnlyCombiner(op) ||
      !linalg::isReductionIterator(op.getIteratorTypesArray().back()))
    return false;
  if (reductions == loops)
    return true;
  auto ofResult = dyn_cast<RankedTensorType>(op.getResultTypes().front());
  int64_t all = countElements(op, 0);
  return ofResult.hasStaticShape() && !ShapedType::isDynamic(all) &&
         op.getStaticLoopRanges().back() >= kLeastRow &&
         all > kWindow * ofResult.getNumElements() &&
         ofResult.getNumElements() < kWindowsOfMultiprocessor * chip.count;
}

/// Makes `op`, which reduces its last loop and others, one that reduces the
/// last loop, and another that reduces what the first makes.
static void splitOuterLoops(IRRewriter &rewriter, linalg::GenericOp op) {
  Operation *combiner = findOnlyCombiner(op);
  unsigned loops = op.getNumLoops();
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes;
  auto linalgOp = cast<linalg::LinalgOp>(op.getOperation());
  for (const Range &range : linalgOp.createLoopRanges(rewriter, loc))
    sizes.push_back(range.size);
  sizes.pop_back();
  Value parts = createNeutral(rewriter, loc, sizes, combiner);
  MLIRContext *context = rewriter.getContext();
  // The first op.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() =
      AffineMap::getMultiDimIdentityMap(loops, context).dropResult(loops - 1);
  SmallVector<utils::IteratorType> types(loops, utils::IteratorType::parallel);
  types.back() = utils::IteratorType::reduction;
  auto inner = linalg::GenericOp::create(rewriter, loc, parts.getType(),
                                         op.getInputs(), parts, maps, types);
  rewriter.cloneRegionBefore(op.getRegion(), inner.getRegion(),
                             inner.getRegion().begin());
  // The second op.
  types = op.getIteratorTypesArray();
  types.pop_back();
  AffineMap ofResult = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  maps = {AffineMap::getMultiDimIdentityMap(loops - 1, context),
          AffineMap::get(loops - 1, 0, ofResult.getResults(), context)};
  Value init = op.getOutputs().front();
  auto outer = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inner.getResult(0), init, maps, types,
      [&](OpBuilder &body, Location bodyLoc, ValueRange arguments) {
        IRMapping mapping;
        bool isFirst =
            combiner->getOperand(0) == op.getRegionOutputArgs().front();
        mapping.map(combiner->getOperand(isFirst ? 0 : 1), arguments[1]);
        mapping.map(combiner->getOperand(isFirst ? 1 : 0), arguments[0]);
        linalg::YieldOp::create(body, bodyLoc,
                                body.clone(*combiner, mapping)->getResult(0));
      });
  rewriter.replaceOp(op, outer.getResults());
  if (std::optional<unsigned> first = findFirst(outer))
    collapse(rewriter, outer, *first);
}

/// Bytes that a multiprocessor reads in a clock, 64 at most, and what the start
/// of another kernel takes, in clocks: some 3 us.
static constexpr int64_t kBytesPerClock = 64, kClocksOfLaunch = 5000;
/// The fewest elements of a part of a row: 256 threads have 32 elements each.
static constexpr int64_t kLeastPart = 8192;
/// Parts of rows are whole accesses of 16 bytes.
static constexpr int64_t kAccess = 16;

/// The number of parts that each row of `op` is cut into, 1 for a row that
/// stays whole. The loops of `op` from `first` on are the columns of a row.
/// Rows that few multiprocessors would read are cut, so that all
/// multiprocessors read.
static int64_t chooseParts(linalg::GenericOp op, unsigned first,
                           const Multiprocessors &chip) {
  int64_t columns = countElements(op, first), all = countElements(op, 0);
  if (chip.count == 0 || ShapedType::isDynamic(all) || all == 0)
    return 1;
  int64_t rows = all / columns, bytes = 0;
  for (Value input : op.getInputs())
    if (auto type = dyn_cast<RankedTensorType>(input.getType()))
      bytes += llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t blocks =
      std::min(rows * countRowBlocks(columns, chip.hasClusters), chip.count);
  int64_t clocks = all * bytes / kBytesPerClock;
  if (clocks / blocks - clocks / chip.count < kClocksOfLaunch)
    return 1;
  int64_t most = std::min<int64_t>(columns / kLeastPart,
                                   llvm::divideCeil(8 * chip.count, rows));
  for (int64_t parts = most; parts > 1; --parts)
    if (columns % (parts * kAccess) == 0)
      return parts;
  return 1;
}

/// Makes `op`, which reduces `loop` alone, one that reduces parts of it, and
/// another that reduces what the first makes. `name` is that of what is cut.
static void splitLoop(IRRewriter &rewriter, linalg::GenericOp op, unsigned loop,
                      int64_t parts, StringRef name) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  int64_t size = op.getStaticLoopRanges()[loop];
  bool isSplit = succeeded(linalg::splitReduction(
      rewriter, cast<linalg::LinalgOp>(op.getOperation()),
      [&](linalg::LinalgOp) {
        return linalg::SplitReductionOptions{parts, loop,
                                             /*innerParallel=*/false};
      }));
  if (isSplit)
    emitRemark(loc) << "linalg.generic reduces " << name << " of " << size
                    << " elements in parts of " << size / parts;
}

/// Whether `op` reduces `loop` alone, as parts of which it could.
static bool canSplit(linalg::GenericOp op, unsigned loop) {
  AffineMap ofResult =
      AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext())
          .dropResult(loop);
  return op.getNumReductionLoops() == 1 &&
         linalg::isReductionIterator(op.getIteratorTypesArray()[loop]) &&
         findOnlyCombiner(op) && !op.hasIndexSemantics() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)) == ofResult &&
         llvm::all_of(op.getInputs(), isContiguous);
}

/// Whether kernels of columns, or of rows of channels, may compute what
/// `producer` does, too.
static bool canJoinReduction(linalg::GenericOp producer) {
  return !producer.hasIndexSemantics() &&
         llvm::all_of(producer.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// Whether `op` reduces loops before and behind one that stays, as a mean of
/// each channel of several images does: no kernel of rows has what is made of
/// that.
static bool reducesChannels(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto outer = llvm::find_if(types, linalg::isReductionIterator);
  return linalg::isReductionIterator(types.back()) && findOnlyCombiner(op) &&
         std::any_of(outer, types.end(), linalg::isParallelIterator);
}

/// Drops the loops of `op` that have one iteration: the mean of 8 x 1 x 64 x 64
/// elements for one channel is that of all. Returns the new op, or `op`.
static linalg::GenericOp dropUnitLoops(IRRewriter &rewriter,
                                       linalg::GenericOp op) {
  if (!llvm::is_contained(op.getStaticLoopRanges(), 1))
    return op;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, op, linalg::ControlDropUnitDims());
  if (failed(dropped))
    return op;
  auto result = cast<linalg::GenericOp>(dropped->resultOp.getOperation());
  rewriter.replaceOp(op, dropped->replacements);
  return result;
}

/// Makes what `op` reduces rows, and of long ones parts.
static void formRows(IRRewriter &rewriter, linalg::GenericOp op,
                     const Multiprocessors &chip, Producers &producers) {
  if (reducesChannels(op))
    op = dropUnitLoops(
        rewriter, takeProducers(rewriter, op, producers, canJoinReduction));
  std::optional<unsigned> first = findFirst(op);
  bool endsRows =
      linalg::isReductionIterator(op.getIteratorTypesArray().back());
  int64_t parts = 1;
  if (endsRows && findOnlyCombiner(op))
    parts = chooseParts(op, first.value_or(op.getNumLoops() - 1), chip);
  if (parts == 1) {
    if (first)
      op = collapseWithOthers(rewriter, op, *first);
    if (canSplitOuterLoops(op, chip))
      splitOuterLoops(rewriter, op);
    return;
  }
  op = takeProducers(rewriter, op, producers,
                     [](linalg::GenericOp) { return true; });
  if ((first = findFirst(op)))
    op = collapse(rewriter, op, *first);
  unsigned last = op.getNumLoops() - 1;
  if (canSplit(op, last))
    splitLoop(rewriter, op, last, parts, "rows");
  else if (canSplitOuterLoops(op, chip))
    splitOuterLoops(rewriter, op);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Bytes that a block reads in a clock by convert-windows-to-gpu, whose 256
/// threads share columns by 16, and a multiprocessor at memory's rate: columns
/// of 65536 x 1024 elements of f16, by 8 blocks, took 719 us on an H200, and
/// those of 16 x 4096 x 1024, by 128, 53.
static constexpr int64_t kBytesOfBlock = 13, kBytesOfMemory = 20;
static constexpr int64_t kColumnsOfBlock = 256 / 16;
/// The fewest elements of a part of a column: sixteen threads have eight each.
static constexpr int64_t kLeastColumn = 128;
/// The fewest parts, for which convert-windows-to-gpu has its kernel.
static constexpr int64_t kLeastParts = 8;

/// The loop that `op` reduces, before others along which elements of an input
/// are contiguous.
static std::optional<unsigned> findColumns(linalg::GenericOp op) {
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto loop = unsigned(llvm::find_if(types, linalg::isReductionIterator) -
                       types.begin());
  bool areRead = llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).isIdentity();
  });
  return areRead && loop + 1 < types.size() && canSplit(op, loop)
             ? std::optional(loop)
             : std::nullopt;
}

/// The number of parts that the columns of `op`, of `loop`, are cut into, 1 for
/// columns that stay whole.
static int64_t chooseColumnParts(linalg::GenericOp op, unsigned loop,
                                 const Multiprocessors &chip) {
  int64_t all = countElements(op, 0);
  if (chip.count == 0 || ShapedType::isDynamic(all) || all == 0)
    return 1;
  int64_t size = op.getStaticLoopRanges()[loop], bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Type element = getElementTypeOrSelf(input->get().getType());
    if (!element.isIntOrFloat())
      return 1;
    if (op.getMatchingIndexingMap(input).isIdentity())
      bytes += llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  }
  // Each thread has an access of 16 bytes of each element of its part.
  int64_t blocks = llvm::divideCeil(all / size * bytes, 16 * kColumnsOfBlock);
  int64_t clocks = all * bytes / (kBytesOfBlock * blocks);
  int64_t least = all * bytes / (kBytesOfMemory * chip.count);
  if (clocks - least < kClocksOfLaunch)
    return 1;
  int64_t wanted =
      std::max(kLeastParts, int64_t(llvm::divideCeil(4 * chip.count, blocks)));
  for (int64_t parts = std::min(size / kLeastColumn, wanted);
       parts >= kLeastParts; --parts)
    if (size % parts == 0)
      return parts;
  return 1;
}

/// Has `op` compute what its columns are of, which no kernel would store then,
/// and cuts columns that few blocks would read into parts.
static void formColumns(IRRewriter &rewriter, linalg::GenericOp op,
                        const Multiprocessors &chip, Producers &producers) {
  op = takeProducers(rewriter, op, producers, canJoinReduction);
  std::optional<unsigned> loop = findColumns(op);
  if (!loop)
    return;
  int64_t parts = chooseColumnParts(op, *loop, chip);
  if (parts > 1)
    splitLoop(rewriter, op, *loop, parts, "columns");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static SmallVector<linalg::GenericOp> collectReductions(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function->walk([&](linalg::GenericOp op) {
    if (op.getNumReductionLoops() != 0 && op.hasPureTensorSemantics())
      ops.push_back(op);
  });
  return ops;
}

namespace {
struct NMFormRows : mlir::nm::impl::NMFormRowsBase<NMFormRows> {
  void runOnOperation() override {
    if (getOperation()->hasAttr(mlir::nm::kHostFunction))
      return;
    Multiprocessors chip;
    if (ChipAttr attr = mlir::nm::findChipAttr(getOperation()))
      chip = {attr.getChip().multiprocessors, attr.getChip().hasClusters()};
    Producers producers;
    IRRewriter rewriter(&getContext(), &producers);
    for (linalg::GenericOp op : collectReductions(getOperation())) {
      if (findColumns(op))
        formColumns(rewriter, op, chip, producers);
      else
        formRows(rewriter, op, chip, producers);
    }
    fuseRest(rewriter, getOperation(), producers);
  }
};
} // namespace
