//===- WindowSums.cpp - Windows that slide along rows, by vectors ---------===//
//
// Of the loops of a window op, one runs along rows of its result: vectors of
// neighbours there are combined. Another one, over rows, takes some of them at
// a time, whose windows overlap: what two of them read is loaded once. What
// depends on neither, as a filter's taps, is loaded before both.
//
//===----------------------------------------------------------------------===//

#include "WindowSums.h"
#include "VectorEmitter.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <map>

using namespace mlir;
using namespace mlir::nm;

/// The most taps of a window, which are all in one body, and the rows whose
/// windows are combined together.
static constexpr int64_t kMostTaps = 64, kRows = 4;

namespace {
/// A subscript: the sum of each loop times its factor, and of the constant.
struct Subscript {
  SmallVector<int64_t> factors;
  int64_t constant = 0;
};

/// What a window op's maps say.
struct WindowOp {
  linalg::GenericOp op;
  SmallVector<int64_t> ranges;
  /// Subscripts of each operand.
  SmallVector<SmallVector<Subscript>> subscripts;
  /// Loops around: over the result's elements but for rows and along rows.
  SmallVector<unsigned> outer;
  std::optional<unsigned> rows;
  unsigned along = 0;
  SmallVector<unsigned> taps;

  /// Where the result is filled with one value before.
  linalg::FillOp fill;

  /// Whether the op is one that is taken.
  LogicalResult describe(const VectorTarget &target);

private:
  LogicalResult readSubscripts();
  LogicalResult readLoops();
  LogicalResult checkOperands(const VectorTarget &target);
  LogicalResult checkBody();
  void findFill();
};

class WindowSums {
public:
  WindowSums(VectorEmitter &emitter, const WindowOp &window)
      : e(emitter), window(window), loops(window.ranges.size()) {}
  void expand() {
    linalg::FillOp fill = window.fill;
    if (fill)
      start = e.broadcast(fill.getInputs()[0]);
    expandOuter(window.outer);
  }

private:
  using Loaded = std::map<std::vector<int64_t>, Value>;
  /// Neighbours in rows of the result: so many rows and lanes.
  struct Block {
    int64_t rows;
    Value width;
    bool isWhole;
  };

  void expandOuter(ArrayRef<unsigned> outer);
  void expandRows(int64_t rows, const Loaded &filter);
  void expandBlock(const Block &block, Loaded loaded);
  bool dependsOn(unsigned operand, unsigned loop) const {
    return llvm::any_of(window.subscripts[operand], [&](const Subscript &each) {
      return each.factors[loop] != 0;
    });
  }
  Value sizeOf(unsigned loop);
  SmallVector<Value> place(unsigned operand, int64_t row,
                           ArrayRef<int64_t> taps);
  Value load(unsigned operand, int64_t row, ArrayRef<int64_t> taps,
             const Block &block, Loaded &loaded);
  Value loadStrided(Value memref, SmallVector<Value> indices, Value width);
  Value combine(ArrayRef<Value> operands);
  void forEachTap(llvm::function_ref<void(ArrayRef<int64_t>)> body);

  VectorEmitter &e;
  const WindowOp &window;
  /// The values of loops that are open.
  SmallVector<Value> loops;
  /// What sums begin with, where they are not read.
  Value start;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is taken
//===----------------------------------------------------------------------===//

LogicalResult WindowOp::readSubscripts() {
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<Subscript> &all = subscripts.emplace_back();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
      // Quotients and remainders would be factors behind those of loops.
      SmallVector<int64_t> factors = getFactors(map, dim);
      if (factors.size() != ranges.size() + 1)
        return failure();
      int64_t constant = factors.pop_back_val();
      all.push_back({factors, constant});
    }
  }
  return success();
}

LogicalResult WindowOp::readLoops() {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (result.getNumResults() == 0 || !result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return failure();
  along = result.getDimPosition(result.getNumResults() - 1);
  int64_t count = 1;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction) {
      if (ShapedType::isDynamic(ranges[loop]) || ranges[loop] > kMostTaps)
        return failure();
      count *= ranges[loop];
      taps.push_back(loop);
    }
  if (count > kMostTaps)
    return failure();
  // A window is where a subscript has a loop over results and one over taps.
  bool isWindow = false;
  for (ArrayRef<Subscript> all : subscripts)
    for (const Subscript &each : all) {
      if (llvm::none_of(taps, [&](unsigned tap) { return each.factors[tap]; }))
        continue;
      for (AffineExpr expr : result.getResults()) {
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (each.factors[loop] == 0)
          continue;
        isWindow = true;
        if (loop != along)
          rows = loop;
      }
    }
  for (AffineExpr expr : result.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    if (loop != along && loop != rows)
      outer.push_back(loop);
  }
  return success(isWindow);
}

LogicalResult WindowOp::checkOperands(const VectorTarget &target) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      return failure();
    if (op.isDpsInput(&operand) &&
        op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    // Masked loads of 16 bits are taken apart where there is no AVX-512.
    Type element = type.getElementType();
    bool isTaken = element.isF32() || (target.bits == 512 &&
                                       (element.isF16() || element.isBF16()));
    if (!isTaken || (op.isDpsInit(&operand) && !element.isF32()))
      return failure();
    // Neighbours, or every other element.
    ArrayRef<Subscript> all = subscripts[operand.getOperandNumber()];
    for (auto [dim, each] : llvm::enumerate(all)) {
      int64_t stride = each.factors[along];
      bool isLast = dim + 1 == all.size();
      if (stride != 0 &&
          (!isLast || stride < 0 || stride > 2 || !type.isLastDimUnitStride()))
        return failure();
    }
  }
  return success();
}

LogicalResult WindowOp::checkBody() {
  mlir::Block *body = op.getBody();
  for (BlockArgument argument : body->getArguments())
    if (!argument.getType().isF32())
      for (Operation *user : argument.getUsers())
        if (!isa<arith::ExtFOp>(user) || !user->getResult(0).getType().isF32())
          return failure();
  for (Operation &each : body->without_terminator())
    if (!isa<arith::ConstantOp>(each) &&
        (!OpTrait::hasElementwiseMappableTraits(&each) ||
         each.getNumRegions() != 0))
      return failure();
  return success();
}

/// The op before that fills the result, which is memory of its own that no one
/// else uses up to here.
void WindowOp::findFill() {
  Value result = op.getDpsInitOperand(0)->get();
  if (!result.getDefiningOp<memref::AllocOp>())
    return;
  for (Operation *user : result.getUsers()) {
    Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor && (ancestor == op || op->isBeforeInBlock(ancestor)))
      continue;
    auto each = dyn_cast<linalg::FillOp>(user);
    if (!each || fill || each->getBlock() != op->getBlock()) {
      fill = nullptr;
      return;
    }
    fill = each;
  }
}

LogicalResult WindowOp::describe(const VectorTarget &target) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      (target.bits != 512 && !(target.bits == 256 && target.x86Permutes)))
    return failure();
  ranges = op.getStaticLoopRanges();
  if (failed(readSubscripts()) || failed(readLoops()) ||
      failed(checkOperands(target)) || failed(checkBody()))
    return failure();
  findFill();
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value WindowSums::sizeOf(unsigned loop) {
  linalg::GenericOp op = window.op;
  OpOperand *result = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(result);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (cast<AffineDimExpr>(expr).getPosition() == loop)
      return e.dim(result->get(), static_cast<int64_t>(dim));
  llvm_unreachable("a loop over results is in the result's map");
}

void WindowSums::forEachTap(llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> taps(window.taps.size());
  while (true) {
    body(taps);
    size_t dim = taps.size();
    while (dim > 0 && ++taps[dim - 1] == window.ranges[window.taps[dim - 1]])
      taps[--dim] = 0;
    if (dim == 0)
      return;
  }
}

void WindowSums::expandOuter(ArrayRef<unsigned> outer) {
  if (!outer.empty())
    return e.loop(e.index(0), sizeOf(outer.front()), 1, [&](Value value) {
      loops[outer.front()] = value;
      expandOuter(outer.drop_front());
    });
  // What no row changes.
  Loaded filter;
  linalg::GenericOp op = window.op;
  auto inputs = static_cast<unsigned>(op.getNumDpsInputs());
  for (unsigned input = 0; input < inputs; ++input)
    if (!dependsOn(input, window.along) &&
        !(window.rows && dependsOn(input, *window.rows)))
      forEachTap([&](ArrayRef<int64_t> taps) {
        load(input, 0, taps, {1, Value(), false}, filter);
      });
  if (!window.rows)
    return expandRows(1, filter);
  Value rows = sizeOf(*window.rows), whole = e.roundDown(rows, kRows);
  e.loop(e.index(0), whole, kRows, [&](Value row) {
    loops[*window.rows] = row;
    expandRows(kRows, filter);
  });
  e.loop(whole, rows, 1, [&](Value row) {
    loops[*window.rows] = row;
    expandRows(1, filter);
  });
}

void WindowSums::expandRows(int64_t rows, const Loaded &filter) {
  Value size = sizeOf(window.along), whole = e.roundDown(size, e.lanes);
  e.loop(e.index(0), whole, e.lanes, [&](Value first) {
    loops[window.along] = first;
    expandBlock({rows, e.index(e.lanes), true}, filter);
  });
  Value rest = e.sub(size, whole);
  if (getConstantIntValue(rest) == 0)
    return;
  loops[window.along] = whole;
  expandBlock({rows, rest, false}, filter);
}

void WindowSums::expandBlock(const Block &block, Loaded loaded) {
  linalg::GenericOp op = window.op;
  auto inputs = static_cast<unsigned>(op.getNumDpsInputs());
  SmallVector<int64_t> none(window.taps.size());
  SmallVector<Value> sums;
  for (int64_t row = 0; row < block.rows; ++row)
    sums.push_back(start ? start : load(inputs, row, none, block, loaded));
  forEachTap([&](ArrayRef<int64_t> taps) {
    for (int64_t row = 0; row < block.rows; ++row) {
      SmallVector<Value> operands;
      for (unsigned input = 0; input < inputs; ++input)
        operands.push_back(load(input, row, taps, block, loaded));
      operands.push_back(sums[row]);
      sums[row] = combine(operands);
    }
  });
  Value result = op.getDpsInitOperand(0)->get();
  for (int64_t row = 0; row < block.rows; ++row) {
    SmallVector<Value> indices = place(inputs, row, none);
    if (block.isWhole)
      e.store(sums[row], result, indices);
    else
      e.maskedStore(sums[row], result, indices, block.width);
  }
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Subscripts of `operand` at tap `taps`, `row` rows behind the open loops.
SmallVector<Value> WindowSums::place(unsigned operand, int64_t row,
                                     ArrayRef<int64_t> taps) {
  SmallVector<Value> indices;
  for (const Subscript &each : window.subscripts[operand]) {
    Value index = e.index(0);
    for (auto [loop, factor] : llvm::enumerate(each.factors))
      if (factor != 0 && !llvm::is_contained(window.taps, loop))
        index = e.add(index, e.mul(loops[loop], factor));
    int64_t constant = each.constant;
    for (auto [tap, loop] : llvm::zip_equal(taps, window.taps))
      constant += tap * each.factors[loop];
    if (window.rows)
      constant += row * each.factors[*window.rows];
    indices.push_back(e.add(index, constant));
  }
  return indices;
}

/// The accumulators of `operand` at tap `taps`, which may be in `loaded`; null
/// where the body does not read it.
Value WindowSums::load(unsigned operand, int64_t row, ArrayRef<int64_t> taps,
                       const Block &block, Loaded &loaded) {
  linalg::GenericOp op = window.op;
  OpOperand &of = op->getOpOperand(operand);
  if (op.getMatchingBlockArgument(&of).use_empty() && op.isDpsInput(&of))
    return Value();
  // What differs between two loads of a block.
  std::vector<int64_t> key = {operand};
  for (const Subscript &each : window.subscripts[operand]) {
    int64_t offset = window.rows ? row * each.factors[*window.rows] : 0;
    for (auto [tap, loop] : llvm::zip_equal(taps, window.taps))
      offset += tap * each.factors[loop];
    key.push_back(offset);
  }
  Value &value = loaded[key];
  if (value)
    return value;
  SmallVector<Value> indices = place(operand, row, taps);
  int64_t stride =
      window.subscripts[operand].empty()
          ? 0
          : window.subscripts[operand].back().factors[window.along];
  if (stride == 0)
    value = e.broadcast(e.loadScalar(of.get(), indices));
  else if (stride == 1)
    value = e.maskedLoad(of.get(), indices, block.width);
  else
    value = loadStrided(of.get(), indices, block.width);
  return value;
}

/// Every other one of the elements from `indices` on, `width` of them. Nothing
/// behind the last one is read: the second vector begins where the first ends.
Value WindowSums::loadStrided(Value memref, SmallVector<Value> indices,
                              Value width) {
  Value elements = e.sub(e.mul(width, 2), e.index(1));
  Value first = e.maskedLoad(memref, indices, elements);
  indices.back() = e.add(indices.back(), e.lanes - 1);
  Value left = e.sub(elements, e.index(e.lanes - 1));
  std::optional<int64_t> constant = getConstantIntValue(left);
  Value second = constant && *constant <= 0
                     ? e.zeroVector()
                     : e.maskedLoad(memref, indices, left);
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < e.lanes; ++lane)
    mask.push_back(lane < e.lanes / 2 ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(e.b, first, second, mask);
}

/// The body of the op on vectors.
Value WindowSums::combine(ArrayRef<Value> operands) {
  linalg::GenericOp op = window.op;
  mlir::Block *body = op.getBody();
  IRMapping mapping;
  for (auto [argument, operand] :
       llvm::zip_equal(body->getArguments(), operands))
    if (operand)
      mapping.map(argument, operand);
  auto toVector = [&](Value value) -> Value {
    Value mapped = mapping.lookupOrDefault(value);
    if (isa<VectorType>(mapped.getType()))
      return mapped;
    auto type = VectorType::get({e.lanes}, mapped.getType());
    return vector::BroadcastOp::create(e.b, type, mapped);
  };
  for (Operation &each : body->without_terminator()) {
    if (isa<arith::ConstantOp>(each)) {
      e.b.clone(each, mapping);
      continue;
    }
    // Loads have extended it.
    if (isa<arith::ExtFOp>(each) && isa<BlockArgument>(each.getOperand(0))) {
      mapping.map(each.getResult(0), mapping.lookup(each.getOperand(0)));
      continue;
    }
    for (Value operand : each.getOperands())
      mapping.map(operand, toVector(operand));
    Operation *made = e.b.clone(each, mapping);
    for (Value result : made->getResults())
      result.setType(VectorType::get({e.lanes}, result.getType()));
  }
  return toVector(body->getTerminator()->getOperand(0));
}

void mlir::nm::expandWindows(Operation *root, const VectorTarget &target) {
  SmallVector<linalg::GenericOp> ops;
  root->walk([&](linalg::GenericOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (linalg::GenericOp op : ops) {
    WindowOp window;
    window.op = op;
    if (failed(window.describe(target)))
      continue;
    rewriter.setInsertionPoint(op);
    VectorEmitter emitter(rewriter, op.getLoc(), rewriter.getF32Type(), target);
    WindowSums(emitter, window).expand();
    rewriter.eraseOp(op);
    if (window.fill)
      rewriter.eraseOp(window.fill);
  }
}
