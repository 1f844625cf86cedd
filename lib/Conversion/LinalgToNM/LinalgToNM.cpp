//===- LinalgToNM.cpp - Contractions to nm ops ----------------------------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "TransposeLoops.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Dialect/NM/Transforms/WeightContraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTLINALGTONM
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Dimension order
//===----------------------------------------------------------------------===//

/// {0, ..., rank-2}, {rank-1}: all dimensions but the last become one.
static SmallVector<ReassociationIndices> collapseLeading(int64_t rank) {
  SmallVector<ReassociationIndices> groups(2);
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    groups[0].push_back(dim);
  groups[1].push_back(rank - 1);
  return groups;
}

namespace {
/// The operands of an nm.spmm, and how their last two dimensions are ordered.
struct ProductLayout {
  SmallVector<unsigned> a, c;
  bool transposeA, transposeC;
};
} // namespace

/// Loops `order` with `k` or `n` put last, or before the last if `transposed`.
static SmallVector<unsigned> withInnerLoop(ArrayRef<unsigned> order,
                                           unsigned inner, bool transposed) {
  SmallVector<unsigned> loops(order);
  loops.insert(transposed ? loops.end() - 1 : loops.end(), inner);
  return loops;
}

/// The layout nearest to what the contraction has: A and C keep the output's
/// order of batch and m, and are transposed only where nm.spmm cannot take
/// them as they are.
static ProductLayout chooseLayout(const WeightContraction &contraction) {
  SmallVector<unsigned> order(contraction.outputLoops);
  llvm::erase(order, contraction.nLoop);
  ProductLayout layout;
  layout.transposeA =
      withInnerLoop(order, contraction.kLoop, /*transposed=*/true) ==
      contraction.activationLoops;
  layout.transposeC =
      withInnerLoop(order, contraction.nLoop, /*transposed=*/true) ==
      contraction.outputLoops;
  layout.a = withInnerLoop(order, contraction.kLoop, layout.transposeA);
  layout.c = withInnerLoop(order, contraction.nLoop, layout.transposeC);
  return layout;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// A weight in condensed form; with scales where it is quantized.
struct CondensedWeight {
  PatternAttr pattern;
  Value values, indices;
  QuantizationAttr quantization;
  Value scales;
};
} // namespace

static Value createSpMV(OpBuilder &builder, Location loc,
                        const WeightContraction &contraction,
                        const CondensedWeight &weight, Arithmetic arithmetic) {
  return SpMVOp::create(builder, loc, contraction.output.getType(),
                        weight.pattern, contraction.activations, weight.values,
                        weight.indices, /*lists=*/Value(), weight.scales,
                        /*epilogueOperands=*/ValueRange(), contraction.output,
                        PackingAttr(), ScheduleAttrInterface(), arithmetic,
                        /*epilogue_maps=*/builder.getArrayAttr({}),
                        weight.quantization, /*epiloguesCount=*/0)
      ->getResult(0);
}

/// nm.spmm of the matrices `a` and `c`, which are laid out as `transposeA` and
/// `transposeC` say.
static Value createSpMMOf(OpBuilder &builder, Location loc, Value a, Value c,
                          bool transposeA, bool transposeC,
                          const CondensedWeight &weight,
                          Arithmetic arithmetic) {
  return SpMMOp::create(builder, loc, c.getType(), weight.pattern, a,
                        weight.values, weight.indices, /*lists=*/Value(),
                        weight.scales, /*epilogueOperands=*/ValueRange(), c,
                        transposeA, transposeC, /*panels_a=*/IntegerAttr(),
                        PackingAttr(), ScheduleAttrInterface(), arithmetic,
                        /*epilogue_maps=*/builder.getArrayAttr({}),
                        weight.quantization,
                        /*gathered=*/DenseI64ArrayAttr(), /*epiloguesCount=*/0)
      ->getResult(0);
}

/// A vector times quantized weights as a matrix of one row times these:
/// strategies that convert weights in registers multiply matrices alone.
static Value createRowSpMM(OpBuilder &builder, Location loc,
                           const WeightContraction &contraction,
                           const CondensedWeight &weight,
                           Arithmetic arithmetic) {
  const ReassociationIndices both = {0, 1};
  auto asRow = [&](Value vector) -> Value {
    auto type = cast<RankedTensorType>(vector.getType());
    OpFoldResult size = tensor::getMixedSize(builder, loc, vector, 0);
    auto rowType =
        RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType());
    return tensor::ExpandShapeOp::create(builder, loc, rowType, vector,
                                         ArrayRef<ReassociationIndices>(both),
                                         {builder.getIndexAttr(1), size});
  };
  Value a = asRow(contraction.activations), c = asRow(contraction.output);
  Value row = createSpMMOf(builder, loc, a, c, /*transposeA=*/false,
                           /*transposeC=*/false, weight, arithmetic);
  return tensor::CollapseShapeOp::create(builder, loc,
                                         contraction.output.getType(), row,
                                         ArrayRef<ReassociationIndices>(both));
}

static Value createSpMM(OpBuilder &builder, Location loc,
                        const WeightContraction &contraction,
                        const CondensedWeight &weight, Arithmetic arithmetic) {
  ProductLayout layout = chooseLayout(contraction);
  Value a = transposeLoops(builder, loc, contraction.activations,
                           contraction.activationLoops, layout.a);
  Value c = transposeLoops(builder, loc, contraction.output,
                           contraction.outputLoops, layout.c);
  auto fullType = cast<RankedTensorType>(c.getType());
  int64_t rank = fullType.getRank();
  // Row-major leading dimensions are one long m, which tiles better.
  bool collapse = rank > 2 && !layout.transposeA && !layout.transposeC;
  SmallVector<OpFoldResult> fullSizes;
  if (collapse) {
    fullSizes = tensor::getMixedSizes(builder, loc, c);
    a = tensor::CollapseShapeOp::create(builder, loc, a, collapseLeading(rank));
    c = tensor::CollapseShapeOp::create(builder, loc, c, collapseLeading(rank));
  }
  Value result = createSpMMOf(builder, loc, a, c, layout.transposeA,
                              layout.transposeC, weight, arithmetic);
  if (collapse)
    result = tensor::ExpandShapeOp::create(builder, loc, fullType, result,
                                           collapseLeading(rank), fullSizes);
  return transposeLoops(builder, loc, result, layout.c,
                        contraction.outputLoops);
}

/// What `op` says of its arithmetic, or else `byDefault`, which is of products
/// of f32 only, or of 8-bit floats.
static Arithmetic getArithmetic(linalg::LinalgOp op, Arithmetic byDefault) {
  if (auto given = op->getAttrOfType<ArithmeticAttr>(kArithmeticAttr))
    return given.getValue();
  Type element =
      getElementTypeOrSelf(op.getDpsInputOperand(0)->get().getType());
  bool isOfType =
      byDefault == Arithmetic::FastAccum ? isFloat8(element) : element.isF32();
  return isOfType ? byDefault : Arithmetic::F32;
}

static Value createProduct(OpBuilder &builder, Location loc,
                           const WeightContraction &contraction,
                           const CondensedWeight &weight,
                           Arithmetic arithmetic) {
  bool isVector = contraction.activationLoops.size() == 1;
  if (isVector && weight.quantization)
    return createRowSpMM(builder, loc, contraction, weight, arithmetic);
  return (isVector ? createSpMV : createSpMM)(builder, loc, contraction, weight,
                                              arithmetic);
}

/// How many columns of a dense matrix share an index. n has to be a multiple,
/// for nothing is padded here; tiles of the product end between blocks, so a
/// block as wide as n keeps it whole, and on one thread.
static int64_t getDenseBlockColumns(int64_t n) {
  constexpr int64_t most = 64, least = 8;
  for (int64_t columns = most; columns >= least; --columns)
    if (n % columns == 0)
      return columns;
  return n;
}

/// A dense B[k×n] as it is: one unit a window, always kept. The one position
/// that a unit can have is 0.
static CondensedWeight condenseDense(OpBuilder &builder, Location loc,
                                     const WeightContraction &contraction) {
  SmallVector<unsigned> order = {contraction.kLoop, contraction.nLoop};
  SmallVector<unsigned> given(order);
  if (contraction.kDim == 1)
    std::swap(given[0], given[1]);
  Value values = transposeLoops(builder, loc, contraction.weight, given, order);
  auto type = cast<RankedTensorType>(values.getType());
  int64_t columns = getDenseBlockColumns(type.getDimSize(1));
  auto indicesType = RankedTensorType::get(
      {type.getDimSize(0), type.getDimSize(1) / columns}, builder.getI8Type());
  Value indices = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(indicesType, int8_t(0)));
  auto pattern = PatternAttr::get(builder.getContext(), /*n=*/1, /*m=*/1,
                                  /*bk=*/1, /*bn=*/columns);
  return {pattern, values, indices, QuantizationAttr(), Value()};
}

/// The parts of an encoded weight.
static CondensedWeight condense(OpBuilder &builder, Location loc,
                                const WeightContraction &contraction) {
  auto parts = DisassembleOp::create(builder, loc, contraction.weight);
  CondensedWeight weight;
  weight.pattern = getEncoding(contraction.weight.getType()).getPattern();
  weight.values = parts.getValues();
  weight.indices = parts.getIndices();
  if (const std::optional<QuantizedWeight> &quantized = contraction.quantized) {
    weight.quantization = QuantizationAttr::get(
        builder.getContext(), quantized->bits, quantized->group);
    weight.scales = quantized->createScales(builder, loc);
  }
  return weight;
}

namespace {
struct ContractionToNM : OpInterfaceRewritePattern<linalg::LinalgOp> {
  ContractionToNM(MLIRContext *context, Arithmetic arithmetic)
      : OpInterfaceRewritePattern(context), arithmetic(arithmetic) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    ::nm::Result<WeightContraction> contraction = WeightContraction::match(op);
    if (!contraction)
      return rewriter.notifyMatchFailure(op, contraction.error().message);
    CondensedWeight weight = condense(rewriter, op.getLoc(), *contraction);
    rewriter.replaceOp(op,
                       createProduct(rewriter, op.getLoc(), *contraction,
                                     weight, getArithmetic(op, arithmetic)));
    return success();
  }

private:
  Arithmetic arithmetic;
};

/// A dense product is a product with N = M.
struct DenseContractionToNM : OpInterfaceRewritePattern<linalg::LinalgOp> {
  DenseContractionToNM(MLIRContext *context, Arithmetic arithmetic)
      : OpInterfaceRewritePattern(context), arithmetic(arithmetic) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumDpsInputs() != 2 || hasEncodedOperand(op))
      return rewriter.notifyMatchFailure(op, "not two dense inputs");
    for (OpOperand *weight :
         {op.getDpsInputOperand(1), op.getDpsInputOperand(0)}) {
      auto type = dyn_cast<RankedTensorType>(weight->get().getType());
      if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
          !isWeightElementType(type.getElementType()))
        continue;
      ::nm::Result<WeightContraction> contraction =
          WeightContraction::matchWeight(op, *weight);
      if (!contraction ||
          type.getDimSize(1 - contraction->kDim) > ::nm::kMaxBlock)
        continue;
      CondensedWeight condensed =
          condenseDense(rewriter, op.getLoc(), *contraction);
      rewriter.replaceOp(op, createProduct(rewriter, op.getLoc(), *contraction,
                                           condensed,
                                           getArithmetic(op, arithmetic)));
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "neither input is a static matrix in a contraction that nm takes");
  }

private:
  static bool hasEncodedOperand(linalg::LinalgOp op) {
    return llvm::any_of(op->getOperands(), isEncodedMatrix);
  }

  Arithmetic arithmetic;
};

struct ConvertLinalgToNM
    : mlir::nm::impl::ConvertLinalgToNMBase<ConvertLinalgToNM> {
  using ConvertLinalgToNMBase::ConvertLinalgToNMBase;

  void runOnOperation() override {
    std::optional<Arithmetic> allowed = symbolizeArithmetic(arithmetic);
    if (!allowed) {
      getOperation()->emitError() << "expected arithmetic f32, ieee, bf16x3, "
                                     "tf32 or fast_accum, but got '"
                                  << arithmetic << "'";
      return signalPassFailure();
    }
    // All pipelines begin here.
    if (failed(checkDivisors(getOperation())))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateLinalgToNMPatterns(patterns, *allowed);
    if (denseProducts)
      populateDenseLinalgToNMPatterns(patterns, *allowed);
    if (computedProducts)
      populateContractionToContractPatterns(patterns, *allowed);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    eraseTakenOps();
    if (getOperation()->walk(checkOperands).wasInterrupted())
      signalPassFailure();
  }

private:
  static WalkResult checkOperands(Operation *op);
  void eraseTakenOps();
};
} // namespace

/// Erases transpositions and dequantizations of weights, which products took in
/// their place.
void ConvertLinalgToNM::eraseTakenOps() {
  // From the last to the first: a transposition may use what was dequantized.
  SmallVector<linalg::LinalgOp> ops;
  getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || !op->use_empty())
      continue;
    if (getTransposedMatrix(op->getResult(0)) ||
        getDequantization(op->getResult(0)))
      op->erase();
  }
}

/// What to write instead of `op`, which takes an encoded weight.
static StringRef adviseInsteadOf(Operation *op) {
  if (isa<linalg::TransposeOp>(op))
    return "; leave the encoding off the output of a transposition, whose "
           "product then takes the weight as it is";
  if (isa<linalg::QuantizedMatmulOp, linalg::QuantizedBatchMatmulOp>(op))
    return "; multiply by linalg.matmul, and add what the zero points make of "
           "sums of rows and columns in an op of its own";
  if (isa<linalg::ConvolutionOpInterface>(op))
    return "; a filter is tensor.expand_shape of the matrix that carries it";
  return "";
}

/// An encoded tensor may only be passed on, or be the weight of a contraction.
WalkResult ConvertLinalgToNM::checkOperands(Operation *op) {
  if (isa<DisassembleOp>(op) || op->hasTrait<OpTrait::ReturnLike>() ||
      isa<CallOpInterface>(op))
    return WalkResult::advance();
  for (auto [position, type] : llvm::enumerate(op->getOperandTypes())) {
    EncodingAttr encoding = getEncoding(type);
    if (!encoding)
      continue;
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "expected operand " << position
                                    << ", which carries " << encoding
                                    << ", to be the weight of a contraction";
    if (isa<arith::SelectOp>(op)) {
      diagnostic << "; an scf.if or arith.select has to choose between the "
                    "results of two products, not between their weights";
      return WalkResult::interrupt();
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (generic && generic.getNumReductionLoops() == 0) {
      if (auto quantized = QuantizedWeight::match(generic); !quantized)
        diagnostic << ", or to be dequantized to one: "
                   << quantized.error().message;
      return WalkResult::interrupt();
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      if (auto contraction = WeightContraction::match(linalgOp); !contraction)
        diagnostic << ": " << contraction.error().message
                   << adviseInsteadOf(op);
    return WalkResult::interrupt();
  }
  return WalkResult::advance();
}

void mlir::nm::populateLinalgToNMPatterns(RewritePatternSet &patterns,
                                          Arithmetic arithmetic) {
  patterns.add<ContractionToNM>(patterns.getContext(), arithmetic);
}

void mlir::nm::populateDenseLinalgToNMPatterns(RewritePatternSet &patterns,
                                               Arithmetic arithmetic) {
  patterns.add<DenseContractionToNM>(patterns.getContext(), arithmetic);
}
