//===- WindowOp.cpp - Reductions of windows -------------------------------===//

#include "GPU/Windows/WindowOp.h"

#include "GPU/Rows/RowOp.h"

#include "nm/Dialect/NM/IR/MemoryAccesses.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::nm;

bool WindowOperand::dependsOn(unsigned loop) const {
  return llvm::any_of(
      factors, [&](ArrayRef<int64_t> ofDim) { return ofDim[loop] != 0; });
}

int64_t WindowOp::countTaps() const {
  int64_t count = 1;
  for (unsigned loop : taps)
    count *= sizes[loop];
  return count;
}

/// Whether the body can be computed for several elements at once.
static bool hasMappableBody(linalg::LinalgOp op, bool mayReadIndices) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [&](Operation &inner) {
                        return isMappable(inner) ||
                               (mayReadIndices && isa<linalg::IndexOp>(inner));
                      });
}

/// The strides of `type`, if all are known and elements are whole bytes.
static std::optional<SmallVector<int64_t>> getStrides(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type.getElementType().isIntOrFloat() ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, type.getElementTypeBitWidth()) ||
      type.getMemorySpace() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  return strides;
}

/// What `operand` is, if its indices are such sums.
static std::optional<WindowOperand> getOperand(linalg::LinalgOp op,
                                               OpOperand &operand) {
  WindowOperand found;
  found.value = operand.get();
  found.isRead = op.payloadUsesValueFromOperand(&operand);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return operand.get().getType().isIntOrFloat() ? std::optional(found)
                                                  : std::nullopt;
  std::optional<SmallVector<int64_t>> strides = getStrides(type);
  if (!strides)
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned loops = map.getNumDims();
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    SmallVector<int64_t> flat;
    // An index that divides has variables of its own behind the loops'.
    if (failed(getFlattenedAffineExpr(expr, loops, /*numSymbols=*/0, &flat)) ||
        flat.size() != loops + 1 ||
        llvm::any_of(flat, [](int64_t factor) { return factor < 0; }))
      return std::nullopt;
    if (type.getDimSize(dim) == 1)
      continue;
    found.dims.push_back(dim);
    found.strides.push_back((*strides)[dim]);
    found.constants.push_back(flat.pop_back_val());
    found.factors.push_back(flat);
  }
  return found;
}

bool WindowOp::hasWindows() const {
  auto isOf = [&](ArrayRef<int64_t> factors, ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return factors[loop] != 0 && sizes[loop] != 1;
    });
  };
  return llvm::any_of(inputs, [&](const WindowOperand &input) {
    return input.isRead &&
           llvm::any_of(input.factors, [&](ArrayRef<int64_t> factors) {
             return isOf(factors, places) && isOf(factors, taps);
           });
  });
}

/// The fill of all of `memref` that nothing touches before `reader`.
static std::optional<MemoryFill> findFill(Value memref, Operation *reader) {
  Value root = findRoot(memref);
  for (Operation *op = reader->getPrevNode(); op; op = op->getPrevNode()) {
    if (std::optional<MemoryFill> fill = MemoryFill::get(op);
        fill && fill->memref == memref)
      return fill;
    std::optional<SmallVector<Access>> accesses = findAccesses(op);
    if (!accesses || llvm::any_of(*accesses, [&](const Access &access) {
          return mayAlias(access, {root, true, memref});
        }))
      return std::nullopt;
  }
  return std::nullopt;
}

/// Adds the loops: those over places are dimensions of the output.
static bool addLoops(WindowOp &window) {
  AffineMap map =
      window.op.getMatchingIndexingMap(window.op.getDpsInitOperand(0));
  for (AffineExpr expr : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || llvm::is_contained(window.places, loop.getPosition()))
      return false;
    window.places.push_back(loop.getPosition());
  }
  for (auto [loop, type] : llvm::enumerate(window.op.getIteratorTypesArray())) {
    bool isPlace = llvm::is_contained(window.places, loop);
    if (isPlace != linalg::isParallelIterator(type))
      return false;
    if (isPlace)
      continue;
    if (!linalg::isReductionIterator(type) ||
        ShapedType::isDynamic(window.sizes[loop]))
      return false;
    window.taps.push_back(loop);
  }
  llvm::erase_if(window.places,
                 [&](unsigned loop) { return window.sizes[loop] == 1; });
  return !window.places.empty();
}

std::optional<WindowOp> WindowOp::get(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.getNumParallelLoops() == 0 ||
      !hasMappableBody(op, /*mayReadIndices=*/true))
    return std::nullopt;
  WindowOp window;
  window.op = op;
  window.sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(window.sizes, 0) || !addLoops(window))
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<WindowOperand> found = getOperand(op, operand);
    if (!found)
      return std::nullopt;
    if (op.isDpsInit(&operand))
      window.output = *std::move(found);
    else
      window.inputs.push_back(*std::move(found));
  }
  window.combiner =
      findCombiner(*op.getBlock(), op.getRegionOutputArgs().front(),
                   op.getBlock()->getTerminator()->getOperand(0));
  window.fill = findFill(window.output.value, op);
  return window;
}

void WindowOp::readImages() {
  for (WindowOperand &input : inputs) {
    if (!input.isMemref() || !input.isRead)
      continue;
    std::optional<PaddedImage> padded = findPaddedImage(input.value, op);
    if (!padded)
      continue;
    auto type = cast<MemRefType>(padded->image.getType());
    std::optional<SmallVector<int64_t>> ofImage = getStrides(type);
    if (!ofImage || llvm::is_contained(type.getShape(), 0))
      continue;
    for (auto [at, dim] : llvm::enumerate(input.dims)) {
      input.constants[at] -= padded->first[dim];
      input.strides[at] = (*ofImage)[dim];
    }
    input.value = padded->image;
    input.padded = std::move(padded);
  }
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The elementwise op that alone reads what `window` makes in memory that it
/// fills before; null for none.
static linalg::LinalgOp findReader(const WindowOp &window) {
  Value root = findRoot(window.output.value);
  if (!window.fill || !root || !root.getDefiningOp<memref::AllocOp>())
    return {};
  SmallVector<Operation *> users;
  collectUsers(root, users);
  linalg::LinalgOp reader, reducer = window.op;
  for (Operation *user : users) {
    if (user == reducer || user == window.fill->op)
      continue;
    auto op = dyn_cast<linalg::LinalgOp>(user);
    if (!op || reader || op->getBlock() != window.fill->op->getBlock() ||
        !window.fill->op->isBeforeInBlock(op))
      return {};
    reader = op;
  }
  return reader;
}

/// Whether `reader` makes each element of its output of elements before it.
static bool isEpilogue(linalg::LinalgOp reader) {
  if (!reader || !reader.hasPureBufferSemantics() ||
      reader.getNumDpsInits() != 1 ||
      reader.getNumParallelLoops() != reader.getNumLoops() ||
      !hasMappableBody(reader, /*mayReadIndices=*/false))
    return false;
  OpOperand *init = reader.getDpsInitOperand(0);
  return !reader.payloadUsesValueFromOperand(init) &&
         reader.getMatchingIndexingMap(init).isPermutation();
}

/// `operand` of an op whose loops are those of places in another order: what
/// one op makes and the other reads has them as `ofWindow` and `ofReader` say.
static WindowOperand withLoops(WindowOperand operand, const WindowOp &window,
                               AffineMap ofWindow, AffineMap ofReader) {
  for (SmallVector<int64_t> &factors : operand.factors) {
    SmallVector<int64_t> moved(window.sizes.size(), 0);
    for (auto [to, from] :
         llvm::zip_equal(ofWindow.getResults(), ofReader.getResults()))
      moved[cast<AffineDimExpr>(to).getPosition()] =
          factors[cast<AffineDimExpr>(from).getPosition()];
    factors = moved;
  }
  return operand;
}

/// Whether `op` may run where `epilogue` does, which it is in front of.
static bool mayWait(linalg::LinalgOp op, ArrayRef<WindowOperand> inputs,
                    WindowEpilogue &epilogue) {
  if (!op->isBeforeInBlock(epilogue.op))
    return false;
  llvm::SmallSetVector<Value, 4> roots;
  for (const WindowOperand &input : inputs)
    if (input.isMemref() && input.isRead)
      roots.insert(findRoot(input.value));
  for (Value root : roots)
    if (mayWrite(epilogue.op, root) ||
        !isKept(root, op, epilogue.op, epilogue.deallocs))
      return false;
  Access written{findRoot(epilogue.output.value), true, epilogue.output.value};
  return llvm::none_of(epilogue.inputs, [&](const WindowOperand &input) {
    return input.isMemref() && input.isRead &&
           mayAlias({findRoot(input.value), false, input.value}, written);
  });
}

void WindowOp::takeEpilogue() {
  WindowEpilogue found;
  found.op = findReader(*this);
  if (!isEpilogue(found.op))
    return;
  AffineMap ofWindow = op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
            ofReader;
  for (OpOperand *operand : found.op.getDpsInputOperands())
    if (operand->get() == output.value) {
      ofReader = found.op.getMatchingIndexingMap(operand);
      found.result = operand->getOperandNumber();
    }
  if (!ofReader || !ofReader.isPermutation())
    return;
  for (OpOperand &operand : found.op->getOpOperands()) {
    bool isResult = operand.getOperandNumber() == found.result;
    std::optional<WindowOperand> each = getOperand(found.op, operand);
    if (!each || (!isResult && operand.get() == output.value))
      return;
    *each = withLoops(*std::move(each), *this, ofWindow, ofReader);
    if (found.op.isDpsInit(&operand))
      found.output = *std::move(each);
    else
      found.inputs.push_back(*std::move(each));
  }
  if (mayWait(op, inputs, found))
    epilogue = std::move(found);
}
