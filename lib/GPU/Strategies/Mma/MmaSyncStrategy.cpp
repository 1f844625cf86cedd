//===- MmaSyncStrategy.cpp - Products by mma.sync -------------------------===//
//
// A warp makes a tile of C by mma.sync m16n8k16. Both operands come from shared
// memory by ldmatrix, transposed, as both lie there with the columns of one k
// side by side: the weights' kept rows as they are, and of A's tile, for each
// unit of weights, the rows that its indices name. Each lane names one row, so
// that the gather costs no more than a dense operand. Of a row-major A, which
// has few rows, lanes load single elements: see MmaSyncGather.cpp. Quantized
// weights lanes load as they are, and convert: see MmaSyncQuantized.cpp.
//
// The 16 rows of a product are columns of the weights where C is transposed,
// and rows of A where it is not, so that a lane's sums are neighbours in C. Of
// units of 8 columns they are always rows of A.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaSyncExpansion.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

/// The order of weights that are staged; none where lanes load them to
/// registers, or convert them.
static ::nm::TileLayout getOrderOfValues(SpMMOp op) {
  if (readsWeightsInPlace(op.getPanelPacking()) || op.getQuantizationAttr())
    return {};
  return *getMatrixOrder(cast<MemRefType>(op.getValues().getType()));
}

MmaSyncExpansion::MmaSyncExpansion(SpMMOp op, const GpuTile &tile)
    : WarpExpansion(tile, {tile.warpM, tile.warpN},
                    Float32Type::get(op.getContext())),
      pattern(cast<SparseProductOpInterface>(*op).getPatternInA()),
      type(cast<MemRefType>(op.getA().getType()).getElementType()),
      isMMajor(op.getTransposeA()),
      orderOfA(*getMatrixOrder(cast<MemRefType>(op.getA().getType()))),
      packing(op.getPanelPacking().getPacking()),
      quantization(op.getQuantizationAttr()), panel(packing.panel),
      order(pattern,
            cast<MemRefType>(op.getA().getType()).getDimSize(op.getKDimOfA()) /
                pattern.windowRows() / tile.sliceK),
      isInPlace(readsWeightsInPlace(op.getPanelPacking())),
      orderOfValues(getOrderOfValues(op)),
      unitColumns(std::min({panel, pattern.bn, tile.warpN})),
      areWeightsRows(op.getTransposeC() && unitColumns % kSquareSide == 0) {}

SmallVector<MmaStep> MmaSyncExpansion::getSteps() const {
  SmallVector<MmaStep> steps;
  for (int64_t square = 0; square < order.squares(); ++square)
    for (int64_t unit = 0; unit < units(); ++unit)
      steps.push_back({square, unit});
  return steps;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds the product of square `m` of a step's activations and of its weights.
void MmaSyncExpansion::multiplySquare(ThreadEmitter &emitter,
                                      const MmaStep &step, int64_t m,
                                      const MmaStepOperands &operands,
                                      MutableArrayRef<Value> sums) {
  int64_t firstFragment = step.unit * unitColumns / kMatrixSide;
  auto add = [&](int64_t row, const SquareWords &rows, int64_t column,
                 const SquareWords &columns) {
    ArrayRef<Value> words(columns);
    int64_t place = row * columnFragments() + column;
    multiply(emitter, type, rows, words.slice(column % 2 * 2, 2),
             sums.slice(place * kMmaSums, kMmaSums));
  };
  const SquareWords &activations = operands.activations[m];
  if (areWeightsRows) {
    for (int64_t half : {0, 1})
      for (auto [i, weights] : llvm::enumerate(operands.weights))
        add(firstFragment / 2 + int64_t(i), weights, 2 * m + half, activations);
    return;
  }
  // The second of two units of 8 columns has the second half of the square.
  for (int64_t j = 0; j < unitColumns / kMatrixSide; ++j)
    add(m, activations, firstFragment + j,
        operands.weights[(firstFragment % 2 + j) / 2]);
}

/// The operands of steps, in their order.
struct MmaSyncExpansion::Loader {
  MmaSyncExpansion &expansion;
  ThreadEmitter &emitter;
  SpMMOp op;
  Value activations, weights;
  /// The chunks of weights of the group of squares that is multiplied, and of
  /// the next group.
  SmallVector<Value> chunks, nextChunks;
  SmallVector<SquareWords> ofSquare;

  SmallVector<SquareWords> loadWeights(const MmaStep &step);
  /// Square `m` of the activations of a step.
  SquareWords loadActivations(const MmaStep &step, RowOfStep &row, int64_t m);

private:
  void turnChunks(const MmaStep &step);
  void placeLoadsAhead() {
    if (isa<scf::ForOp>(op->getParentOp()))
      expansion.placeLoadsAhead(emitter.builder);
  }
};

/// Loads the chunks after those that a square is the first to take.
void MmaSyncExpansion::Loader::turnChunks(const MmaStep &step) {
  int64_t squaresOfGroup = expansion.packing.chunkRows / 2;
  if (step.unit != 0 || step.square % squaresOfGroup != 0)
    return;
  int64_t group = step.square / squaresOfGroup;
  if (group > 0)
    chunks = nextChunks;
  if ((group + 1) * squaresOfGroup < expansion.order.squares())
    nextChunks = expansion.loadChunks(emitter, op.getValues(), group + 1);
  else
    placeLoadsAhead();
}

SmallVector<SquareWords>
MmaSyncExpansion::Loader::loadWeights(const MmaStep &step) {
  if (expansion.isInPlace)
    turnChunks(step);
  else if (step.unit == 0 && step.square == expansion.order.squares() / 2)
    placeLoadsAhead();
  bool sharesSquare = step.unit * expansion.unitColumns % kSquareSide != 0;
  if (sharesSquare)
    return ofSquare;
  ofSquare = expansion.isInPlace ? expansion.takeWeights(emitter, chunks, step)
             : expansion.quantization
                 ? expansion.loadQuantized(emitter, op, step)
                 : expansion.loadWeights(emitter, weights, step);
  for (SquareWords &words : ofSquare)
    clearRows(emitter, *expansion.lane, expansion.roleOfWeights(),
              expansion.order.rowsOfSquare(step.square), words);
  return ofSquare;
}

MmaSyncExpansion::RowOfStep MmaSyncExpansion::findRow(ThreadEmitter &emitter,
                                                      const MmaStep &step) {
  MatrixRows rows(emitter, isMMajor ? tile.m : tile.k, orderOfA.xors,
                  orderOfA.order.front());
  MatrixAddress address = lane->addressFor(emitter, roleOfActivations());
  KeptOrder::Row kept = order.findRow(emitter, address.k, step.square);
  Value window = emitter.mul(kept.window, pattern.windowRows());
  if (!isMMajor)
    return {std::move(rows),
            {},
            {},
            findKs(emitter, rowOfA(emitter, window, kept, step))};
  // A lane's windows are the same in each tile, so that what their place takes
  // is computed once.
  MatrixRows::RowOffset place =
      rows.areWindowsApart(pattern.windowRows())
          ? rows.placeRow(window, rowOfA(emitter, emitter.i32(0), kept, step))
          : rows.placeRow(rowOfA(emitter, window, kept, step));
  Value column = emitter.add(firstRow, emitter.mul(address.half, kMatrixSide));
  return {std::move(rows), place, column, {}};
}

SquareWords MmaSyncExpansion::Loader::loadActivations(const MmaStep &step,
                                                      RowOfStep &row,
                                                      int64_t m) {
  SquareWords words =
      expansion.isMMajor
          ? loadMatrices(
                emitter, activations,
                row.rows.placeWord(row.place, row.column, m * kSquareSide),
                /*transpose=*/true)
          : expansion.gatherSquare(emitter, activations, row, m);
  clearRows(emitter, *expansion.lane, expansion.roleOfActivations(),
            expansion.order.rowsOfSquare(step.square), words);
  return words;
}

//===----------------------------------------------------------------------===//
// The step that is in flight from one tile to the next
//===----------------------------------------------------------------------===//

/// The number of words that one step's operands take.
int64_t MmaSyncExpansion::countWords() const {
  int64_t squares =
      tile.warpM / kSquareSide + llvm::divideCeil(unitColumns, kSquareSide);
  return squares * int64_t(SquareWords().size());
}

SmallVector<Value> MmaSyncExpansion::begin(OpBuilder &builder, Location loc) {
  SmallVector<Value> carried = WarpExpansion::begin(builder, loc);
  ThreadEmitter emitter{builder, loc};
  if (tile.sliceK > 1)
    order.startAt(emitter.mul(slice, order.keptRows() / pattern.keptRows()));
  carried.append(countWords(), emitter.zero(builder.getI32Type()));
  return carried;
}

/// The operands behind the sums among what is carried from tile to tile.
MmaStepOperands MmaSyncExpansion::getOperands(ArrayRef<Value> carried) const {
  ArrayRef<Value> words = carried.drop_front(countSums());
  MmaStepOperands operands;
  while (!words.empty()) {
    bool isOfA =
        int64_t(operands.activations.size()) < tile.warpM / kSquareSide;
    SquareWords &square =
        (isOfA ? operands.activations : operands.weights).emplace_back();
    llvm::copy(words.take_front(square.size()), square.begin());
    words = words.drop_front(square.size());
  }
  return operands;
}

SmallVector<Value> MmaSyncExpansion::expand(OpBuilder &builder,
                                            SparseProductOpInterface product,
                                            ArrayRef<Value> carried) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  Loader loader{*this,
                emitter,
                op,
                flattenBuffer(emitter, op.getA()),
                isInPlace || quantization
                    ? Value()
                    : flattenBuffer(emitter, op.getValues()),
                SmallVector<Value>(
                    ArrayRef<Value>(prefetched).drop_front(countPositions())),
                {},
                {}};
  copyAddresses.clear();
  takenScales.clear();
  SmallVector<Value> sums(carried.take_front(countSums()));
  SmallVector<MmaStep> steps = getSteps();
  MmaStep step = steps.back();
  MmaStepOperands operands = getOperands(carried);
  // In front of the first tile there is none.
  bool isEmpty = llvm::all_of(carried.drop_front(countSums()), [](Value word) {
    return matchPattern(word, m_Zero());
  });
  for (const MmaStep &next : steps) {
    RowOfStep row = findRow(emitter, next);
    MmaStepOperands loaded;
    loaded.weights = loader.loadWeights(next);
    // What a step needs is loaded while the one before it is multiplied, to
    // the registers that this leaves.
    for (int64_t m = 0; m < tile.warpM / kSquareSide; ++m) {
      if (!isEmpty)
        multiplySquare(emitter, step, m, operands, sums);
      loaded.activations.push_back(loader.loadActivations(next, row, m));
    }
    // Among single loads of operands copies would be slower: ptxas puts three
    // instructions that do nothing before each that follows one.
    copyAddresses.push_back(&*std::prev(builder.getInsertionPoint()));
    step = next;
    operands = std::move(loaded);
    isEmpty = false;
  }
  SmallVector<Value> result = std::move(sums);
  for (ArrayRef<SquareWords> squares :
       {ArrayRef(operands.activations), ArrayRef(operands.weights)})
    for (const SquareWords &words : squares)
      llvm::append_range(result, words);
  return result;
}

void MmaSyncExpansion::end(OpBuilder &builder, SparseProductOpInterface product,
                           ArrayRef<Value> carried, Value initial) {
  ThreadEmitter emitter{builder, product.getLoc()};
  MmaStepOperands operands = getOperands(carried);
  SmallVector<Value> sums(carried.take_front(countSums()));
  for (int64_t m = 0; m < tile.warpM / kSquareSide; ++m)
    multiplySquare(emitter, getSteps().back(), m, operands, sums);
  WarpExpansion::end(builder, product, sums, initial);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

/// Whether the tiles have the order of words that ldmatrix reads without
/// conflicts, and quantized weights and their scales are row-major.
static LogicalResult verifyStaged(SpMMOp op, const GpuTile &tile) {
  auto isStaged = [&](Value operand, int64_t columns) {
    auto type = cast<MemRefType>(operand.getType());
    return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
           type.getShape().back() == columns && columns % kMatrixSide == 0 &&
           getMatrixOrder(type);
  };
  auto isPlain = [](Value operand, ArrayRef<int64_t> shape) {
    auto type = cast<MemRefType>(operand.getType());
    return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
           type.getShape() == shape &&
           type.getStridesAndOffset().first == computeStrides(shape);
  };
  PackingAttr packing = op.getPanelPacking();
  bool areWeights =
      op.getQuantizationAttr()
          ? isPlain(op.getValues(), getWeightShape(op, tile).values) &&
                isPlain(op.getScales(), getShapeOfScales(op, tile))
          : readsWeightsInPlace(packing) ||
                isStaged(op.getValues(), packing.getPanel());
  if (isStaged(op.getA(), op.getTransposeA() ? tile.m : tile.k) && areWeights)
    return success();
  return op.emitOpError() << "expected swizzled operands in workgroup memory, "
                             "as nm-stage-shared-memory makes them";
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaSyncExpansion(SparseProductOpInterface product,
                                 const GpuTile &tile) {
  FailureOr<SpMMOp> op = getMatrixProduct(product);
  if (failed(op) || failed(verifyMmaSyncTile(*op, tile)) ||
      failed(verifyStaged(*op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<MmaSyncExpansion>(*op, tile));
}
