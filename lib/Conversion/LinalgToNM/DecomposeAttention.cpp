//===- DecomposeAttention.cpp - nm.attention to products and sums ---------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "AttentionViews.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ContractionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMDECOMPOSEATTENTION
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

namespace {
/// A tensor and the loops that its dimensions run along.
struct LoopedTensor {
  Value value;
  SmallVector<unsigned> loops;
};

/// Emits the ops of one attention. Each runs along some of its loops.
class AttentionEmitter {
public:
  AttentionEmitter(OpBuilder &builder, AttentionOp op)
      : builder(builder), loc(op.getLoc()), op(op),
        loops(getAttentionLoops(op)), f32(builder.getF32Type()),
        element(getElementTypeOrSelf(op.getO().getType())) {}

  /// The attention, as products and sums.
  Value emit();

private:
  using Body = llvm::function_ref<Value(OpBuilder &, ValueRange)>;

  LoopedTensor operand(unsigned i) {
    return {op.getOperand(i), getLoopsOf(op.getMap(i))};
  }
  OpFoldResult sizeOf(unsigned loop);
  Value constant(OpBuilder &at, double value) {
    return arith::ConstantOp::create(at, loc, at.getF32FloatAttr(float(value)));
  }
  static constexpr double kLowest = -std::numeric_limits<double>::infinity();
  LoopedTensor empty(ArrayRef<unsigned> over, Type type);
  LoopedTensor filled(ArrayRef<unsigned> over, double value);
  LoopedTensor transposeKeys();
  LoopedTensor emitGeneric(ArrayRef<LoopedTensor> inputs, LoopedTensor output,
                           ArrayRef<unsigned> order, Body body);
  LoopedTensor emitProduct(LoopedTensor a, LoopedTensor b,
                           ArrayRef<unsigned> over, ArrayRef<unsigned> order);
  LoopedTensor emitScores();
  /// Where there are lengths.
  LoopedTensor lengths() {
    return {op.getLengths(), getLoopsOf(getLengthsMap(op))};
  }
  LoopedTensor emitValues();
  Value mask(OpBuilder &at, Value score, Value element);
  Value hideBehind(OpBuilder &at, Value value, Value length, unsigned keys,
                   double hidden);
  Value hideLaterKeys(OpBuilder &at, Value score);
  static Value convert(OpBuilder &at, Location loc, Value value, Type type);
  /// Batches, rows of queries, and `last`.
  SmallVector<unsigned> with(ArrayRef<unsigned> last) {
    SmallVector<unsigned> over(loops.batches);
    llvm::append_range(over, loops.rows);
    llvm::append_range(over, last);
    return over;
  }

  OpBuilder &builder;
  Location loc;
  AttentionOp op;
  AttentionLoops loops;
  Type f32, element;
};
} // namespace

Value AttentionEmitter::convert(OpBuilder &at, Location loc, Value value,
                                Type type) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  if (bits < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(at, loc, type, value);
  if (bits > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(at, loc, type, value);
  return value;
}

OpFoldResult AttentionEmitter::sizeOf(unsigned loop) {
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    SmallVector<unsigned> of = getLoopsOf(op.getMap(i));
    const auto *at = llvm::find(of, loop);
    if (at != of.end())
      return tensor::getMixedSize(builder, loc, op.getOperand(i),
                                  at - of.begin());
  }
  llvm_unreachable("each loop is an operand's");
}

LoopedTensor AttentionEmitter::empty(ArrayRef<unsigned> over, Type type) {
  SmallVector<OpFoldResult> sizes;
  for (unsigned loop : over)
    sizes.push_back(sizeOf(loop));
  return {tensor::EmptyOp::create(builder, loc, sizes, type),
          SmallVector<unsigned>(over)};
}

LoopedTensor AttentionEmitter::filled(ArrayRef<unsigned> over, double value) {
  LoopedTensor output = empty(over, f32);
  output.value = linalg::FillOp::create(builder, loc, constant(builder, value),
                                        output.value)
                     .getResult(0);
  return output;
}

/// An op whose loops are in `order`; those that the output lacks are reduced.
LoopedTensor AttentionEmitter::emitGeneric(ArrayRef<LoopedTensor> inputs,
                                           LoopedTensor output,
                                           ArrayRef<unsigned> order,
                                           Body body) {
  auto mapOf = [&](const LoopedTensor &operand) {
    SmallVector<AffineExpr> results;
    for (unsigned loop : operand.loops)
      results.push_back(
          builder.getAffineDimExpr(llvm::find(order, loop) - order.begin()));
    return AffineMap::get(order.size(), 0, results, builder.getContext());
  };
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (const LoopedTensor &input : inputs) {
    maps.push_back(mapOf(input));
    values.push_back(input.value);
  }
  maps.push_back(mapOf(output));
  SmallVector<utils::IteratorType> kinds;
  for (unsigned loop : order)
    kinds.push_back(llvm::is_contained(output.loops, loop)
                        ? utils::IteratorType::parallel
                        : utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      builder, loc, output.value.getType(), values, output.value, maps, kinds,
      [&](OpBuilder &at, Location loc, ValueRange elements) {
        linalg::YieldOp::create(at, loc, body(at, elements));
      });
  output.value = generic.getResult(0);
  return output;
}

LoopedTensor AttentionEmitter::emitProduct(LoopedTensor a, LoopedTensor b,
                                           ArrayRef<unsigned> over,
                                           ArrayRef<unsigned> order) {
  return emitGeneric(
      {a, b}, filled(over, 0), order,
      [&](OpBuilder &at, ValueRange elements) -> Value {
        Value product =
            arith::MulFOp::create(at, loc, convert(at, loc, elements[0], f32),
                                  convert(at, loc, elements[1], f32));
        return arith::AddFOp::create(at, loc, elements[2], product);
      });
}

/// K with its keys side by side, which the loops of a CPU run along.
LoopedTensor AttentionEmitter::transposeKeys() {
  LoopedTensor keys = operand(1);
  if (keys.loops.back() == loops.keys)
    return keys;
  SmallVector<unsigned> order(keys.loops);
  llvm::erase(order, loops.keys);
  order.push_back(loops.keys);
  SmallVector<int64_t> permutation;
  for (unsigned loop : order)
    permutation.push_back(llvm::find(keys.loops, loop) - keys.loops.begin());
  Value output = empty(order, element).value;
  Value transposed =
      linalg::TransposeOp::create(builder, loc, keys.value, output, permutation)
          ->getResult(0);
  return {transposed, order};
}

/// `score` as the mask's element has it.
Value AttentionEmitter::mask(OpBuilder &at, Value score, Value element) {
  if (isa<FloatType>(element.getType()))
    return arith::AddFOp::create(at, loc, score,
                                 convert(at, loc, element, f32));
  return arith::SelectOp::create(at, loc, element, score,
                                 constant(at, kLowest));
}

Value AttentionEmitter::hideLaterKeys(OpBuilder &at, Value score) {
  SmallVector<unsigned> over = with({loops.keys});
  Value row = linalg::IndexOp::create(at, loc, over.size() - 2),
        key = linalg::IndexOp::create(at, loc, over.size() - 1);
  Value isSeen =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::uge, row, key);
  return arith::SelectOp::create(at, loc, isSeen, score, constant(at, kLowest));
}

/// `value`, and `hidden` for a key behind `length`. Loop `keys` of the op is
/// that of keys.
Value AttentionEmitter::hideBehind(OpBuilder &at, Value value, Value length,
                                   unsigned keys, double hidden) {
  Value key = linalg::IndexOp::create(at, loc, keys);
  Value end = arith::IndexCastOp::create(at, loc, at.getIndexType(), length);
  Value isSeen =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, key, end);
  Value other = arith::ConstantOp::create(
      at, loc, at.getFloatAttr(value.getType(), hidden));
  return arith::SelectOp::create(at, loc, isSeen, value, other);
}

/// V, with zeros behind the lengths, whatever is there.
LoopedTensor AttentionEmitter::emitValues() {
  LoopedTensor values = operand(2);
  if (!op.getLengths())
    return values;
  unsigned keys = llvm::find(values.loops, loops.keys) - values.loops.begin();
  return emitGeneric({values, lengths()}, empty(values.loops, element),
                     values.loops, [&](OpBuilder &at, ValueRange elements) {
                       return hideBehind(at, elements[0], elements[1], keys, 0);
                     });
}

LoopedTensor AttentionEmitter::emitScores() {
  SmallVector<unsigned> over = with({loops.keys});
  LoopedTensor products = emitProduct(operand(0), transposeKeys(), over,
                                      with({loops.depth, loops.keys}));
  SmallVector<LoopedTensor> inputs = {products};
  if (op.getMask())
    inputs.push_back(operand(3));
  if (op.getLengths())
    inputs.push_back(lengths());
  return emitGeneric(inputs, empty(over, f32), over,
                     [&](OpBuilder &at, ValueRange elements) -> Value {
                       Value score = arith::MulFOp::create(
                           at, loc, elements[0],
                           constant(at, op.getScale().convertToDouble()));
                       if (op.getMask())
                         score = mask(at, score, elements[1]);
                       if (op.getLengths())
                         score =
                             hideBehind(at, score, elements[inputs.size() - 1],
                                        over.size() - 1, kLowest);
                       return op.getCausal() ? hideLaterKeys(at, score) : score;
                     });
}

Value AttentionEmitter::emit() {
  SmallVector<unsigned> over = with({loops.keys}), rows = with({});
  LoopedTensor scores = emitScores();
  LoopedTensor most = emitGeneric(
      {scores}, filled(rows, kLowest), over,
      [&](OpBuilder &at, ValueRange elements) -> Value {
        return arith::MaximumFOp::create(at, loc, elements[0], elements[1]);
      });
  // Of a row that sees nothing, all are exp(-inf).
  LoopedTensor powers = emitGeneric(
      {scores, most}, empty(over, element), over,
      [&](OpBuilder &at, ValueRange elements) -> Value {
        Value isNone =
            arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ,
                                  elements[1], constant(at, kLowest));
        Value base = arith::SelectOp::create(at, loc, isNone, constant(at, 0),
                                             elements[1]);
        Value less = arith::SubFOp::create(at, loc, elements[0], base);
        return convert(at, loc, math::ExpOp::create(at, loc, less), element);
      });
  LoopedTensor total = emitGeneric(
      {powers}, filled(rows, 0), over,
      [&](OpBuilder &at, ValueRange elements) -> Value {
        return arith::AddFOp::create(at, loc, elements[1],
                                     convert(at, loc, elements[0], f32),
                                     arith::FastMathFlags::reassoc);
      });
  SmallVector<unsigned> results = with({loops.width});
  LoopedTensor mixed = emitProduct(powers, emitValues(), results,
                                   with({loops.keys, loops.width}));
  unsigned last = op->getNumOperands() - 1;
  return emitGeneric(
             {mixed, total}, operand(last), results,
             [&](OpBuilder &at, ValueRange elements) -> Value {
               Value zero = constant(at, 0);
               Value isNone = arith::CmpFOp::create(
                   at, loc, arith::CmpFPredicate::OEQ, elements[1], zero);
               Value mean =
                   arith::DivFOp::create(at, loc, elements[0], elements[1]);
               Value result =
                   arith::SelectOp::create(at, loc, isNone, zero, mean);
               return convert(at, loc, result, element);
             })
      .value;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

/// Whether cuDNN may have the attention, as far as is known: in 16 bits,
/// without a mask and lengths, of rows of whole 16 bytes.
static bool mayBeCall(AttentionOp op) {
  constexpr int64_t kElements = 8, kMostWidth = 256;
  Type type = getElementTypeOrSelf(op.getQ().getType());
  if (op.getMask() || op.getLengths() || (!type.isF16() && !type.isBF16()))
    return false;
  AttentionLoops loops = getAttentionLoops(op);
  if (loops.rows.size() > 2 || loops.batches.size() > 2)
    return false;
  for (unsigned i : {0u, 2u}) {
    SmallVector<unsigned> of = getLoopsOf(op.getMap(i));
    unsigned last = i == 0 ? loops.depth : loops.width;
    int64_t size =
        op.getOperandType(i).getDimSize(llvm::find(of, last) - of.begin());
    if (ShapedType::isDynamic(size) || size % kElements != 0 ||
        size > kMostWidth)
      return false;
  }
  return true;
}

namespace {
/// The libraries and kernels that may compute an attention.
struct Makers {
  bool tiles, cudnn, kernel;

  Makers(AttentionOp op, bool library, bool tiles)
      : tiles(tiles), cudnn(library && mayBeCall(op)),
        kernel(library && !whyNoAttentionKernel(op)) {}

  /// Whether the op stays.
  bool isKept() const { return tiles || cudnn || kernel; }
};
} // namespace

/// Says what the attention became, and why it is no kernel.
static void emitRemark(AttentionOp op, bool library, const Makers &makers) {
  InFlightDiagnostic remark = mlir::emitRemark(op.getLoc()) << "attention is ";
  if (makers.tiles) {
    remark << "tiles of queries by tiles of keys";
    if (op.getLengths())
      remark << " up to their lengths";
    return;
  }
  if (makers.cudnn)
    remark << "a call of cuDNN where it can be loaded, and else ";
  if (makers.kernel)
    remark << "a kernel";
  else
    remark << "products, exponentials and sums";
  if (op.getLengths())
    remark << (makers.kernel ? " over keys up to their lengths"
                             : " over all keys");
  if (library && !makers.kernel)
    remark << ", because " << *whyNoAttentionKernel(op);
}

/// A mask of i1 as what is added to the scores: 0, or -inf for what is hidden.
static void addHidden(OpBuilder &builder, AttentionOp op) {
  auto type = op.getMask() ? dyn_cast<RankedTensorType>(op.getMask().getType())
                           : nullptr;
  if (!type || !type.getElementType().isInteger(1))
    return;
  Location loc = op.getLoc();
  Value output = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getMask()),
      builder.getF32Type());
  SmallVector<AffineMap> maps(
      2, builder.getMultiDimIdentityMap(unsigned(type.getRank())));
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  auto generic = linalg::GenericOp::create(
      builder, loc, output.getType(), op.getMask(), output, maps, kinds,
      [&](OpBuilder &at, Location loc, ValueRange elements) {
        auto constant = [&](float value) {
          return arith::ConstantOp::create(at, loc, at.getF32FloatAttr(value));
        };
        Value added = arith::SelectOp::create(at, loc, elements[0], constant(0),
                                              constant(kHidden));
        linalg::YieldOp::create(at, loc, added);
      });
  op.getMaskMutable().assign(generic.getResult(0));
}

/// The attention in two branches: for a library, and for a kernel or as
/// products and sums.
static Value emitBranches(OpBuilder &builder, AttentionOp op, bool hasKernel) {
  Location loc = op.getLoc();
  // Both branches write the same new tensor.
  Value output = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getO()),
      getElementTypeOrSelf(op.getO().getType()));
  op.getOMutable().assign(output);
  Value loaded = HasCudnnOp::create(builder, loc);
  auto branches =
      scf::IfOp::create(builder, loc, op->getResultTypes(), loaded,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branches.thenBlock());
  scf::YieldOp::create(builder, loc, builder.clone(*op)->getResults());
  builder.setInsertionPointToStart(branches.elseBlock());
  Value result = hasKernel ? builder.clone(*op)->getResult(0)
                           : AttentionEmitter(builder, op).emit();
  scf::YieldOp::create(builder, loc, result);
  return branches.getResult(0);
}

namespace {
struct NMDecomposeAttention
    : mlir::nm::impl::NMDecomposeAttentionBase<NMDecomposeAttention> {
  using NMDecomposeAttentionBase::NMDecomposeAttentionBase;

  void runOnOperation() override {
    for (auto op : collectOps<AttentionOp>(getOperation())) {
      if (!op.hasPureTensorSemantics()) {
        op.emitOpError("expected tensors to decompose");
        return signalPassFailure();
      }
      Makers makers(op, library, tiles);
      emitRemark(op, library, makers);
      IRRewriter rewriter(op);
      // The loops of what is not kept run along what is transposed once.
      if (makers.isKept())
        op = foldTranspositions(rewriter, op);
      OpBuilder builder(op);
      if (tiles)
        addHidden(builder, op);
      if (tiles || (makers.kernel && !makers.cudnn))
        continue;
      Value result = makers.cudnn ? emitBranches(builder, op, makers.kernel)
                                  : AttentionEmitter(builder, op).emit();
      op->getResult(0).replaceAllUsesWith(result);
      op.erase();
    }
  }
};
} // namespace
