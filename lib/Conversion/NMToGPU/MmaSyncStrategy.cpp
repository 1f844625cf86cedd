//===- MmaSyncStrategy.cpp - Products by mma.sync -------------------------===//
//
// A warp makes a tile of C by mma.sync m16n8k16. Both operands come from shared
// memory by ldmatrix, transposed, as both lie there with the columns of one k
// side by side: the weights' kept rows as they are, and of A's tile, for each
// unit of weights, the rows that its indices name. Each lane names one row, so
// that the gather costs no more than a dense operand.
//
// The 16 rows of a product are columns of the weights where C is transposed,
// and rows of A where it is not, so that a lane's sums are neighbours in C. Of
// units of 8 columns they are always rows of A.
//
//===----------------------------------------------------------------------===//

#include "MmaSyncExpansion.h"

#include "nm/Dialect/NM/GPUTransforms/MmaSyncOperands.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Of weights that are staged; none where lanes load them to registers.
static std::vector<::nm::BitXor> getSwizzleOfValues(SpMMOp op) {
  if (readsWeightsInPlace(op.getPanelPacking()))
    return {};
  return *mlir::nm::getMatrixSwizzle(
      cast<MemRefType>(op.getValues().getType()));
}

MmaSyncExpansion::MmaSyncExpansion(SpMMOp op, const GpuTile &tile)
    : WarpExpansion(tile, {tile.warpM, tile.warpN}),
      pattern(op.getPattern().getPattern()),
      type(cast<MemRefType>(op.getA().getType()).getElementType()),
      swizzleOfA(
          *mlir::nm::getMatrixSwizzle(cast<MemRefType>(op.getA().getType()))),
      packing(op.getPanelPacking().getPacking()), panel(packing.panel),
      order(pattern, cast<MemRefType>(op.getA().getType()).getDimSize(0) /
                         pattern.windowRows()),
      isInPlace(readsWeightsInPlace(op.getPanelPacking())),
      swizzleOfValues(getSwizzleOfValues(op)),
      unitColumns(std::min(panel, tile.warpN)),
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

SmallVector<SquareWords>
MmaSyncExpansion::loadActivations(ThreadEmitter &emitter, Value elements,
                                  const MmaStep &step) {
  MatrixRows rows(emitter, tile.m, swizzleOfA);
  MatrixAddress address = lane->addressFor(emitter, roleOfActivations());
  MatrixRows::RowPlace row = rows.placeRow(
      rowOfA(emitter, order.findRow(emitter, address.k, step.square), step));
  Value column = emitter.add(firstRow, emitter.mul(address.half, kMatrixSide));
  SmallVector<SquareWords> squares;
  for (int64_t m = 0; m < tile.warpM; m += kSquareSide)
    squares.push_back(loadMatrices(emitter, elements,
                                   rows.placeWord(row, column, m),
                                   /*transpose=*/true));
  return squares;
}

void MmaSyncExpansion::multiplyStep(ThreadEmitter &emitter, const MmaStep &step,
                                    const MmaStepOperands &operands,
                                    MutableArrayRef<Value> sums) {
  ArrayRef<SquareWords> rows = operands.activations, columns = operands.weights;
  if (areWeightsRows)
    std::swap(rows, columns);
  int64_t firstSquare =
      areWeightsRows ? step.unit * unitColumns / kSquareSide : 0;
  int64_t firstFragment =
      areWeightsRows ? 0 : step.unit * unitColumns / kMatrixSide;
  int64_t fragments =
      areWeightsRows ? columnFragments() : unitColumns / kMatrixSide;
  for (int64_t j = 0; j < fragments; ++j) {
    // The second of two units of 8 columns has the second half of the square.
    int64_t matrix = areWeightsRows ? j : firstFragment % 2 + j;
    ArrayRef<Value> column(columns[matrix / 2]);
    column = column.slice(matrix % 2 * 2, 2);
    for (int64_t i = 0; i < int64_t(rows.size()); ++i) {
      int64_t place = (firstSquare + i) * columnFragments() + firstFragment + j;
      multiply(emitter, type, rows[i], column,
               sums.slice(place * kMmaSums, kMmaSums));
    }
  }
}

/// The operands of steps, in their order.
struct MmaSyncExpansion::Loader {
  MmaSyncExpansion &expansion;
  ThreadEmitter &emitter;
  SpMMOp op;
  Value activations, weights;
  /// Of the group of squares that is multiplied, and of the next one.
  SmallVector<Value> chunks, nextChunks;
  SmallVector<SquareWords> ofSquare;

  MmaStepOperands load(const MmaStep &step);

private:
  void turnChunks(const MmaStep &step);
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
  else if (isa<scf::ForOp>(op->getParentOp()))
    expansion.placeChunkLoads(emitter.builder);
}

MmaStepOperands MmaSyncExpansion::Loader::load(const MmaStep &step) {
  MmaStepOperands operands;
  if (expansion.isInPlace)
    turnChunks(step);
  operands.activations = expansion.loadActivations(emitter, activations, step);
  bool sharesSquare = step.unit * expansion.unitColumns % kSquareSide != 0;
  if (!sharesSquare)
    ofSquare = expansion.isInPlace
                   ? expansion.takeWeights(emitter, chunks, step)
                   : expansion.loadWeights(emitter, weights, step);
  operands.weights = ofSquare;
  int64_t count = expansion.order.rowsOfSquare(step.square);
  for (SquareWords &words : operands.activations)
    clearRows(emitter, *expansion.lane, expansion.roleOfActivations(), count,
              words);
  for (SquareWords &words : operands.weights)
    clearRows(emitter, *expansion.lane, expansion.roleOfWeights(), count,
              words);
  return operands;
}

SmallVector<Value> MmaSyncExpansion::expand(OpBuilder &builder,
                                            SparseProductOpInterface product,
                                            ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  Loader loader{*this,
                emitter,
                op,
                flattenBuffer(emitter, op.getA()),
                isInPlace ? Value() : flattenBuffer(emitter, op.getValues()),
                SmallVector<Value>(
                    ArrayRef<Value>(prefetched).drop_front(countPositions())),
                {},
                {}};
  copyPlaces.clear();
  SmallVector<Value> result(sums);
  SmallVector<MmaStep> steps = getSteps();
  MmaStepOperands next = loader.load(steps.front());
  for (auto [number, step] : llvm::enumerate(steps)) {
    MmaStepOperands operands = std::move(next);
    // Copies come before the next step's loads, which ptxas otherwise would
    // not move behind them, among products.
    copyPlaces.push_back(&*std::prev(builder.getInsertionPoint()));
    // What a step needs is loaded while the one before it is multiplied.
    if (number + 1 < steps.size())
      next = loader.load(steps[number + 1]);
    multiplyStep(emitter, step, operands, result);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

/// Whether the tiles have the order of words that ldmatrix reads without
/// conflicts.
static LogicalResult verifyStaged(SpMMOp op, const GpuTile &tile) {
  auto isStaged = [&](Value operand, int64_t columns) {
    auto type = cast<MemRefType>(operand.getType());
    return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
           type.getShape().back() == columns &&
           mlir::nm::getMatrixSwizzle(type);
  };
  PackingAttr packing = op.getPanelPacking();
  if (op.getTransposeA() && isStaged(op.getA(), tile.m) &&
      (readsWeightsInPlace(packing) ||
       isStaged(op.getValues(), packing.getPanel())))
    return success();
  return op.emitOpError() << "expected swizzled operands in workgroup memory, "
                             "with A k-major, as nm-stage-shared-memory makes "
                             "them";
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaSyncExpansion(SparseProductOpInterface product,
                                 const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError() << "expected nm.spmm, the product that "
                                     "strategy mma_sync has";
  if (failed(verifyMmaSyncTile(op, tile)) || failed(verifyStaged(op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<MmaSyncExpansion>(op, tile));
}
