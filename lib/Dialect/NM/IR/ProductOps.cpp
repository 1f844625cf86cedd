//===- ProductOps.cpp - nm.spmm and nm.spmv -------------------------------===//

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "Quantization.h"
#include "VerifyStorage.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/LeastSplit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// SparseProductOpInterface
//===----------------------------------------------------------------------===//

Type mlir::nm::detail::getProductAccumulatorType(Type elementType) {
  if (elementType.isInteger())
    return IntegerType::get(elementType.getContext(), 32);
  return Float32Type::get(elementType.getContext());
}

int64_t SpMMOp::getNumBatchDims() { return getAType().getRank() - 2; }

/// Whether k is the dimension of A before m.
static bool isKFirst(SpMMOp op) {
  return op.getTransposeA() || op.getPanelsA();
}

int64_t SpMMOp::getKDimOfA() {
  return getAType().getRank() - (isKFirst(*this) ? 2 : 1);
}

std::optional<int64_t> SpMMOp::getMDimOfA() {
  return getAType().getRank() - (isKFirst(*this) ? 1 : 2);
}

std::optional<int64_t> SpMMOp::getMDimOfC() {
  return getCType().getRank() - (getTransposeC() ? 1 : 2);
}

int64_t SpMMOp::getNDimOfC() {
  return getCType().getRank() - (getTransposeC() ? 2 : 1);
}

int64_t SpMVOp::getNumBatchDims() { return 0; }
int64_t SpMVOp::getKDimOfA() { return 0; }
std::optional<int64_t> SpMVOp::getMDimOfA() { return std::nullopt; }
std::optional<int64_t> SpMVOp::getMDimOfC() { return std::nullopt; }
int64_t SpMVOp::getNDimOfC() { return 0; }

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (C2): element types of activations, weights and output.
static LogicalResult verifyElementTypes(SparseProductOpInterface op) {
  Type element = op.getAType().getElementType();
  // What quantized ones have, (Q1) says.
  if (!op.getQuantizationAttr() &&
      op.getValuesType().getElementType() != element)
    return op->emitOpError()
           << "expected values of A's element type " << element << ", but got "
           << op.getValuesType().getElementType();
  Type output = op.getCType().getElementType();
  Type accumulator = op.getAccumulatorType();
  // An epilogue makes whatever C has, which ODS has checked.
  if (op.hasEpilogue() || output == accumulator ||
      (output == element && isa<FloatType>(element)))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "expected C to have element type " << accumulator;
  if (isa<FloatType>(element) && element != accumulator)
    diagnostic << " or " << element;
  return diagnostic << ", but got " << output;
}

/// (C6): the rows that a gathered A has.
static LogicalResult verifyGathered(SparseProductOpInterface op) {
  std::optional<ArrayRef<int64_t>> gathered = op.getGathered();
  if (!gathered)
    return success();
  ::nm::Pattern pattern = op.getPattern();
  if (gathered->size() != 2 || gathered->front() < 1 ||
      gathered->front() > ::nm::kMaxSize / pattern.windowRows() ||
      gathered->back() < pattern.n || gathered->back() > pattern.m)
    return op->emitOpError()
           << "expected gathered = [windows, units] with " << pattern.n
           << " to " << pattern.m << " units, but got [" << *gathered << "]";
  if (!op.hasPureBufferSemantics() || !op.getScheduleAttr() ||
      op.getScheduleAttr().isReference())
    return op->emitOpError() << "expected memrefs and a schedule for a GPU "
                                "with gathered, but got "
                             << op.getAType();
  int64_t rows = gathered->front() * gathered->back() * pattern.bk;
  int64_t ofA = op.countRowsOfA();
  if (ofA == rows || (op.isExact() && ofA > rows))
    return success();
  return op->emitOpError() << "expected " << rows
                           << " rows in a gathered A, but got "
                           << op.getAType();
}

/// The values of an exact tile have rows for those that fill A up.
static void addFilledRows(SparseProductOpInterface op, StorageShape &shape) {
  std::optional<ArrayRef<int64_t>> gathered = op.getGathered();
  if (!gathered || !op.isExact())
    return;
  int64_t &rows = shape.values[op.getPackingAttr() ? 1 : 0];
  rows = std::max(rows, op.countRowsOfA());
}

/// (C3) of unstructured weights, which have no packed form of their own.
static LogicalResult verifyUnstructured(SparseProductOpInterface op) {
  if (!op.getPattern().isUnstructured())
    return success();
  if (op.getPackingAttr())
    return op->emitOpError() << "expected unstructured weights without "
                                "packing, but got "
                             << op.getPackingAttr();
  int64_t k = op.getStaticK(), n = op.getStaticN();
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(n))
    return op->emitOpError() << "expected k and n of unstructured weights to "
                                "be static, but got A of "
                             << op.getAType() << " and C of " << op.getCType();
  if (::nm::Status status = op.getPattern().verifySize(k, n); !status)
    return op->emitOpError() << status.error().message;
  return success();
}

/// (C3): the weights are in condensed form, or in the packed form named.
static LogicalResult verifyStorage(SparseProductOpInterface op) {
  ::nm::Pattern pattern = op.getPattern();
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(verifyMatrixSize(emitError, op.getStaticK(), op.getStaticN())) ||
      failed(verifySizeLimits(op, "A", op.getAType())))
    return failure();
  if (failed(verifyUnstructured(op)))
    return failure();
  StorageShape shape =
      StorageShape::condensed(pattern, op.getStaticK(), op.getStaticN());
  if (PackedFormAttrInterface form = op.getPackingAttr()) {
    if (failed(form.verifyWeights(emitError, pattern,
                                  op.getValuesType().getElementType())))
      return failure();
    shape = form.getStorageShape(pattern, shape.values[0], shape.values[1]);
  }
  addFilledRows(op, shape);
  if (failed(verifyShape(op, "values", op.getValuesType(), shape.values)))
    return failure();
  if (failed(verifyLists(op, op.getPackingAttr(), op.getLists(), shape.lists)))
    return failure();
  return verifyShape(op, "indices", op.getIndicesType(), shape.indices);
}

/// Checks that the weights can have the form that the schedule wants.
static LogicalResult verifySchedule(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!schedule)
    return success();
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(schedule.verifyPattern(emitError, op.getPattern())))
    return failure();
  PackedFormAttrInterface form = schedule.getPackedForm(op.getPattern());
  return form ? form.verifyWeights(emitError, op.getPattern(),
                                   op.getValuesType().getElementType())
              : success();
}

std::optional<int64_t> mlir::nm::getLeastSplits(Arithmetic arithmetic) {
  switch (arithmetic) {
  case Arithmetic::IEEE:
  case Arithmetic::FastAccum:
    return std::nullopt;
  case Arithmetic::F32:
    return 3;
  case Arithmetic::BF16x3:
  case Arithmetic::TF32:
    return 2;
  }
  return std::nullopt;
}

/// (C5): only operands of f32, and of 8-bit floats, leave a choice.
static LogicalResult verifyArithmetic(SparseProductOpInterface op) {
  Type element = op.getAType().getElementType();
  auto verifySplits = [&](PackedFormAttrInterface form) -> LogicalResult {
    int64_t splits = form ? form.countSplits() : 1;
    std::optional<int64_t> least = getLeastSplits(op.getArithmetic());
    if (splits == 1 || (least && splits >= *least))
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError() << "expected ";
    if (least)
      diagnostic << *least;
    else
      diagnostic << "no";
    return diagnostic << " splits for arithmetic "
                      << stringifyArithmetic(op.getArithmetic()) << ", but got "
                      << splits;
  };
  if (op.countSplits() > 1)
    return verifySplits(op.getPackingAttr());
  if (op.getScheduleAttr() &&
      failed(verifySplits(op.getScheduleAttr().getPackedForm(op.getPattern()))))
    return failure();
  bool isFast = op.getArithmetic() == Arithmetic::FastAccum;
  if (op.getArithmetic() == Arithmetic::F32 ||
      (isFast ? mlir::nm::isFloat8(element) : element.isF32()))
    return success();
  return op->emitOpError() << "expected "
                           << (isFast ? "f8E4M3FN or f8E5M2" : "f32")
                           << " operands for arithmetic "
                           << stringifyArithmetic(op.getArithmetic())
                           << ", but got " << element;
}

/// What nm.spmm and nm.spmv have in common, after (C1).
static LogicalResult verifyProduct(SparseProductOpInterface op) {
  if (failed(verifyElementTypes(op)) || failed(verifyGathered(op)) ||
      failed(verifyStorage(op)) || failed(verifyQuantization(op)) ||
      failed(verifyArithmetic(op)) || failed(verifyEpilogue(op)))
    return failure();
  if (failed(verifySchedule(op)))
    return failure();
  // (C4).
  return verifyTensorsOrMemRefs(op);
}

/// (C1) where A is of splits; `shapeOfC` is C's but for its batch dimensions,
/// which are A's.
static LogicalResult verifySplitsOfA(SpMMOp op, int64_t splits,
                                     ArrayRef<int64_t> shapeOfC) {
  if (!op.getTransposeA())
    return op.emitOpError() << "expected an m-major A of splits, with "
                               "transpose_a, as nm.split_floats makes it";
  if (failed(verifyShape(op, "C", op.getCType(), shapeOfC)))
    return failure();
  ShapedType a = op.getAType();
  SmallVector<int64_t> expected(a.getShape());
  expected[*op.getMDimOfA()] = countSplitColumns(op.getStaticM(), splits);
  return verifyShape(op, "A", a, expected);
}

/// Whether `schedule` has products of an A in panels.
static bool takesPanels(ScheduleAttrInterface schedule) {
  return schedule.isReference() ||
         schedule.getTiling().copyA == ::nm::CopyKind::Bulk;
}

/// (C1) where A is in panels; `shapeOfC` as above.
static LogicalResult verifyPanelsOfA(SpMMOp op, ArrayRef<int64_t> shapeOfC) {
  int64_t rows = op.getRowsOfPanels();
  if (rows < 1 || rows > ::nm::kMaxSize)
    return op.emitOpError() << "expected panels_a of 1 to " << ::nm::kMaxSize
                            << " rows, but got " << rows;
  ShapedType a = op.getAType();
  if (op.getTransposeA() || a.getElementTypeBitWidth() != 8)
    return op.emitOpError() << "expected panels_a of an A of 8-bit elements, "
                               "without transpose_a, but got "
                            << a;
  if (op.getScheduleAttr() && !takesPanels(op.getScheduleAttr()))
    return op.emitOpError() << "expected no schedule, #nm.loops, or #nm.wgmma "
                               "with copy_a = bulk, for panels_a, but got "
                            << op.getScheduleAttr();
  if (failed(verifyShape(op, "C", op.getCType(), shapeOfC)))
    return failure();
  SmallVector<int64_t> expected(a.getShape());
  int64_t m = op.getStaticM();
  expected[*op.getMDimOfA()] =
      ShapedType::isDynamic(m) ? m : llvm::alignTo(m, rows) * kPanelColumnsOfA;
  return verifyShape(op, "A", a, expected);
}

LogicalResult SpMMOp::verify() {
  // (C1).
  ShapedType aType = getAType(), cType = getCType();
  if (aType.getRank() < 2)
    return emitOpError() << "expected A to have rank at least 2, but got "
                         << aType;
  if (cType.getRank() != aType.getRank())
    return emitOpError() << "expected C to have A's rank " << aType.getRank()
                         << ", but got " << cType;
  SmallVector<int64_t> expected(cType.getShape());
  for (int64_t dim = 0; dim < getNumBatchDims(); ++dim)
    expected[dim] = aType.getDimSize(dim);
  if (int64_t splits = countSplits(); splits > 1)
    return failure(failed(verifySplitsOfA(*this, splits, expected)) ||
                   failed(verifyProduct(*this)));
  if (getPanelsA())
    return failure(failed(verifyPanelsOfA(*this, expected)) ||
                   failed(verifyProduct(*this)));
  expected[*getMDimOfC()] = aType.getDimSize(*getMDimOfA());
  if (failed(verifyShape(*this, "C", cType, expected)))
    return failure();
  return verifyProduct(*this);
}

LogicalResult SpMVOp::verify() {
  // (C1).
  if (getAType().getRank() != 1 || getCType().getRank() != 1)
    return emitOpError() << "expected x and y to have rank 1, but got "
                         << getAType() << " and " << getCType();
  return verifyProduct(*this);
}

LogicalResult SpMMOp::verifyRegions() { return verifyEpilogueRegion(*this); }
LogicalResult SpMVOp::verifyRegions() { return verifyEpilogueRegion(*this); }

//===----------------------------------------------------------------------===//
// Effects and shapes
//===----------------------------------------------------------------------===//

void SpMMOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/!hasEpilogue(), effects);
}

void SpMVOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/!hasEpilogue(), effects);
}

LogicalResult SpMMOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}

LogicalResult SpMVOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

namespace {
/// An input that was cast to a less static type is taken as it was.
template <typename OpTy>
struct FoldInputCast : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    // A tile of A that is staged is whole. What weights that are not staged
    // have of it, dynamic sizes say.
    auto a = dyn_cast<MemRefType>(op.getA().getType());
    if (a && a.getMemorySpace())
      return rewriter.notifyMatchFailure(op, "A is a staged tile");
    bool changed = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value source = sourceOfCast(input->get());
      if (!source)
        continue;
      rewriter.modifyOpInPlace(op, [&] { input->set(source); });
      changed = true;
    }
    return success(changed);
  }

private:
  static Value sourceOfCast(Value value) {
    if (auto cast = value.getDefiningOp<tensor::CastOp>())
      return tensor::canFoldIntoConsumerOp(cast) ? cast.getSource() : Value();
    if (auto cast = value.getDefiningOp<memref::CastOp>())
      return memref::CastOp::canFoldIntoConsumerOp(cast) ? cast.getSource()
                                                         : Value();
    return {};
  }
};

/// nm.spmm of a transposed A is nm.spmm with `transpose_a` flipped.
struct FoldTransposeOfA : OpRewritePattern<SpMMOp> {
  using OpRewritePattern<SpMMOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(SpMMOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getA().getDefiningOp<linalg::TransposeOp>();
    if (op.countSplits() > 1 || op.getPanelsA())
      return rewriter.notifyMatchFailure(op, "A has a form of its own");
    // nm-propagate-layouts may have put the transposition there: cuBLAS takes
    // 20 times as long for an m-major A of 300 columns.
    if (op.getScheduleAttr())
      return rewriter.notifyMatchFailure(op, "its schedule is for this layout");
    if (!transpose || !transpose.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "A is not a transposed tensor");
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    int64_t rank = permutation.size();
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t swapped = dim < rank - 2 ? dim : 2 * rank - 3 - dim;
      if (permutation[dim] != swapped)
        return rewriter.notifyMatchFailure(
            op, "transpose of A does not swap just m and k");
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getAMutable().assign(transpose.getInput());
      op.setTransposeA(!op.getTransposeA());
    });
    return success();
  }
};

/// A product over no rows of k, or of an empty output, adds nothing.
template <typename OpTy>
struct FoldEmptyProduct : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool isEmpty = llvm::is_contained(op.getCType().getShape(), 0);
    if (!isEmpty && op.getStaticK() != 0)
      return rewriter.notifyMatchFailure(op, "product is not empty");
    if (!isEmpty && op.hasEpilogue())
      return keepEpilogue(op, rewriter);
    if (op.hasPureTensorSemantics())
      rewriter.replaceOp(op, op.getC());
    else
      rewriter.eraseOp(op);
    return success();
  }

private:
  /// Sums over no rows are zeros, which the epilogue still takes.
  static LogicalResult keepEpilogue(OpTy op, PatternRewriter &rewriter) {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "an epilogue has to run");
    auto product = cast<SparseProductOpInterface>(*op);
    splitEpilogue(rewriter, product, product.getAccumulatorType());
    return success();
  }
};

/// An epilogue takes only what it uses.
template <typename OpTy>
struct DropUnusedEpilogueOperands : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasEpilogue())
      return rewriter.notifyMatchFailure(op, "no epilogue");
    SmallVector<Value> operands;
    SmallVector<Attribute> maps;
    llvm::BitVector unused(op.getEpilogueOperands().size() + 1);
    for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands())) {
      unused[i + 1] = op.getEpilogue().getArgument(i + 1).use_empty();
      if (unused[i + 1])
        continue;
      operands.push_back(operand);
      maps.push_back(op.getEpilogueMaps()[i]);
    }
    if (unused.none())
      return rewriter.notifyMatchFailure(op, "all operands are used");
    rewriter.modifyOpInPlace(op, [&] {
      op.getEpilogueOperandsMutable().assign(operands);
      op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
      op.getEpilogue().eraseArguments(unused);
    });
    return success();
  }
};

/// An epilogue that gives the sum is none: the sum is added to zeros. A CPU's
/// schedule has such an epilogue for sums that are stored.
template <typename OpTy>
struct DropIdentityEpilogue : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasEpilogue() || op.getEpilogue().getTerminator()->getOperand(0) !=
                                 op.getEpilogue().getArgument(0))
      return rewriter.notifyMatchFailure(op, "no epilogue that gives the sum");
    ScheduleAttrInterface schedule = op.getScheduleAttr();
    if (schedule && schedule.isForCPU() && !schedule.isReference())
      return rewriter.notifyMatchFailure(op, "sums are stored on purpose");
    Location loc = op.getLoc();
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(op.getCType().getElementType()));
    auto fill = linalg::FillOp::create(rewriter, loc, zero, op.getC());
    Value zeros =
        op.hasPureTensorSemantics() ? fill.getResult(0) : Value(op.getC());
    rewriter.replaceOp(op, cloneWithoutEpilogue(rewriter, op, zeros));
    return success();
  }
};
} // namespace

template <typename OpTy>
static void addProductPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldInputCast<OpTy>, FoldEmptyProduct<OpTy>,
               DropUnusedEpilogueOperands<OpTy>, DropIdentityEpilogue<OpTy>>(
      patterns.getContext());
}

void SpMMOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  addProductPatterns<SpMMOp>(patterns);
  patterns.add<FoldTransposeOfA>(context);
}

void SpMVOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *) {
  addProductPatterns<SpMVOp>(patterns);
}
