//===- WindowOp.cpp - Reductions of windows -------------------------------===//

#include "GPU/Windows/WindowOp.h"

#include "nm/Dialect/NM/IR/MemoryAccesses.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a window, all of which a thread's code names.
static constexpr int64_t kMaxTaps = 64;

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
static bool isMappable(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
           (op.hasTrait<OpTrait::ConstantLike>() ||
            OpTrait::hasElementwiseMappableTraits(&op));
  });
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
  int64_t offset;
  if (!type.getElementType().isIntOrFloat() ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, type.getElementTypeBitWidth()) ||
      type.getMemorySpace() ||
      failed(type.getStridesAndOffset(found.strides, offset)) ||
      llvm::is_contained(found.strides, ShapedType::kDynamic))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned loops = map.getNumDims();
  for (AffineExpr expr : map.getResults()) {
    SmallVector<int64_t> flat;
    // An index that divides has variables of its own behind the loops'.
    if (failed(getFlattenedAffineExpr(expr, loops, /*numSymbols=*/0, &flat)) ||
        flat.size() != loops + 1 ||
        llvm::any_of(flat, [](int64_t factor) { return factor < 0; }))
      return std::nullopt;
    found.constants.push_back(flat.pop_back_val());
    found.factors.push_back(flat);
  }
  return found;
}

/// Whether some index of `operand` is that of a place and that in a window.
static bool hasWindows(const WindowOp &window, const WindowOperand &operand) {
  auto isOf = [&](ArrayRef<int64_t> factors, ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return factors[loop] != 0 && window.sizes[loop] != 1;
    });
  };
  return operand.isMemref() && operand.isRead &&
         llvm::any_of(operand.factors, [&](ArrayRef<int64_t> factors) {
           return isOf(factors, window.places) && isOf(factors, window.taps);
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

/// Adds the loops over places, each of which one dimension of the output has.
static bool addPlaces(WindowOp &window) {
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
  return true;
}

std::optional<WindowOp> WindowOp::get(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.getNumParallelLoops() == 0 ||
      !isMappable(op))
    return std::nullopt;
  WindowOp window;
  window.op = op;
  window.sizes = op.getStaticLoopRanges();
  if (llvm::is_contained(window.sizes, 0) || !addPlaces(window) ||
      window.countTaps() > kMaxTaps)
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<WindowOperand> found = getOperand(op, operand);
    if (!found)
      return std::nullopt;
    if (op.isDpsInit(&operand))
      window.output = *found;
    else
      window.inputs.push_back(*found);
  }
  if (llvm::none_of(window.inputs, [&](const WindowOperand &input) {
        return hasWindows(window, input);
      }))
    return std::nullopt;
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
    int64_t offset;
    SmallVector<int64_t> strides;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        type.getMemorySpace() ||
        llvm::is_contained(strides, ShapedType::kDynamic) ||
        llvm::is_contained(type.getShape(), 0))
      continue;
    for (auto [constant, first] : llvm::zip(input.constants, padded->first))
      constant -= first;
    input.value = padded->image;
    input.strides = strides;
    input.padded = std::move(padded);
  }
}
