//===- WidenOperands.cpp - Operands of 8 bits as f16 ----------------------===//
//
// Tensor cores transpose operands of 16 bits as they read them, and none of 8
// bits: of vector-wise weights, whose gathered rows of A are m-major, there is
// no product of 8 bits that is faster than the dense one. f16 has all values of
// i8, f8E4M3FN and f8E5M2, so that a product of f16 is the same but for how its
// sums are rounded. On an H200 8:32 in vectors of 128 takes 77 us at 4096 cubed
// so, the kernel that widens A included, where the dense product of f8E4M3FN
// takes 102 (2026-11-23).
//
//===----------------------------------------------------------------------===//

#include "GPU/Select/Alternatives.h"

#include "GPU/Layouts/LayoutCosts.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/EpilogueBuilder.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// The kept rows of k up to which sums of products of i8 are integers that f32
/// has, in whatever order they are made: each product is at most 2^14, and f32
/// has all integers up to 2^24.
static constexpr int64_t kMostExactRows = 1024;
/// The sum of the absolute values of a column of weights, where they are known,
/// up to which sums of products are integers that f32 has.
static constexpr int64_t kMostExactColumn = kMostExactRows * 128;

/// The largest sum of absolute values that a column of constant weights of i8
/// has; none of others.
static std::optional<int64_t> findLargestColumn(SparseProductOpInterface op) {
  std::optional<ConstantArray> values = ConstantArray::get(op.getValues());
  if (!values)
    return std::nullopt;
  auto columns = size_t(values->getType().getDimSize(1));
  std::vector<int64_t> sums(columns);
  for (ArrayRef<char> rows = values->getBytes(); !rows.empty();
       rows = rows.drop_front(columns))
    for (auto [sum, byte] : llvm::zip(sums, rows))
      sum += std::abs(int64_t(int8_t(byte)));
  return sums.empty() ? 0 : *llvm::max_element(sums);
}

/// Whether sums of `op`'s widened operands are what they are of its own.
static bool isWidenedExact(SparseProductOpInterface op) {
  if (!op.getAType().getElementType().isInteger(8) ||
      op.getPattern().condensedRows(op.getStaticK()) <= kMostExactRows)
    return true;
  std::optional<int64_t> largest = findLargestColumn(op);
  return largest && *largest <= kMostExactColumn;
}

std::optional<Alternative>
mlir::nm::widenProduct(const AlternativesQuery &query,
                       const ::nm::GpuProduct &product, bool isMMajor) {
  SparseProductOpInterface op = query.op;
  if (!isa<SpMMOp>(op) || !isOfBytes(op) || op.getScales() || whyNotDense(op))
    return std::nullopt;
  Alternative wide;
  wide.operands = Alternative::Operands::Widened;
  wide.product = getGpuProduct(op);
  wide.product.type = ::nm::ElementType::F16;
  wide.product.hasFastAccum = false;
  wide.product.isMMajor = isMMajor;
  wide.product.strideOfA = getPaddedStride(
      isMMajor ? op.getStaticM() : op.getStaticK(), isMMajor, /*bits=*/16);
  wide.product.isMadeElementwise = true;
  // Its epilogue takes sums of f32, of which it makes what C has.
  bool roundsToF16 = op.hasEpilogue() &&
                     getFirstRounding(op) == Float16Type::get(op.getContext());
  wide.product.outputType =
      roundsToF16 ? ::nm::ElementType::F16 : ::nm::ElementType::F32;
  wide.product.avoidsPrunedWeights =
      query.options.avoidsPrunedWeights(wide.product);
  wide.extraCost = estimateWidening(cast<RankedTensorType>(op.getA().getType()),
                                    isMMajor != product.isMMajor, query.chip);
  std::string type = debugString(op.getAType().getElementType());
  wide.steps =
      "; operands of " + type +
      " are widened to f16, which has all of their values: estimated " +
      describeTime(wide.extraCost) + " before the product";
  if (!isWidenedExact(op))
    wide.obstacle =
        "sums of " + type + " would not be exact: it has " +
        std::to_string(op.getPattern().condensedRows(op.getStaticK())) +
        " kept rows of k, and may have " + std::to_string(kMostExactRows) +
        ", or constant weights that add up to at most " +
        std::to_string(kMostExactColumn) + " in each column";
  return wide;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// `value`, an element of 8 bits, as f16.
static Value emitWidened(OpBuilder &builder, Location loc, Value value) {
  Type f16 = builder.getF16Type();
  if (isa<FloatType>(value.getType()))
    return arith::ExtFOp::create(builder, loc, f16, value);
  return arith::SIToFPOp::create(builder, loc, f16, value);
}

/// `value` as f16; with its last two dimensions the other way round, where
/// `isTransposed`.
static Value createWidened(OpBuilder &builder, Location loc, Value value,
                           bool isTransposed) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  size_t rank = sizes.size();
  AffineMap to = builder.getMultiDimIdentityMap(unsigned(rank)), from = to;
  if (isTransposed) {
    std::swap(sizes[rank - 2], sizes[rank - 1]);
    SmallVector<AffineExpr> dims(to.getResults());
    std::swap(dims[rank - 2], dims[rank - 1]);
    from = AffineMap::get(unsigned(rank), 0, dims, builder.getContext());
  }
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getF16Type());
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), value, empty,
             ArrayRef<AffineMap>{from, to},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [](OpBuilder &body, Location loc, ValueRange elements) {
               linalg::YieldOp::create(
                   body, loc, emitWidened(body, loc, elements.front()));
             })
      .getResult(0);
}

/// `element`, of 8 bits, as f16.
static APInt widenElement(uint8_t bits, Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  APFloat value(APFloat::IEEEhalf());
  if (!floatType) {
    value.convertFromAPInt(APInt(8, bits), /*IsSigned=*/true,
                           APFloat::rmNearestTiesToEven);
    return value.bitcastToAPInt();
  }
  value = APFloat(floatType.getFloatSemantics(), APInt(8, bits));
  bool losesInfo = false;
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitcastToAPInt();
}

/// `narrow`, elements of 8 bits, as f16.
static TypedAttr widenConstant(const ConstantArray &narrow) {
  Type element = narrow.getType().getElementType();
  SmallVector<uint16_t> all;
  for (unsigned bits = 0; bits < 256; ++bits)
    all.push_back(
        uint16_t(widenElement(uint8_t(bits), element).getZExtValue()));
  std::vector<uint16_t> wide;
  wide.reserve(narrow.getBytes().size());
  for (char byte : narrow.getBytes())
    wide.push_back(all[uint8_t(byte)]);
  auto type = RankedTensorType::get(narrow.getType().getShape(),
                                    Float16Type::get(element.getContext()));
  return getConstant(type, {reinterpret_cast<const char *>(wide.data()),
                            wide.size() * sizeof(uint16_t)});
}

static Value widenWeights(OpBuilder &builder, SparseProductOpInterface op) {
  if (std::optional<ConstantArray> constant =
          ConstantArray::get(op.getValues()))
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     widenConstant(*constant));
  return createWidened(builder, op.getLoc(), op.getValues(),
                       /*isTransposed=*/false);
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// Whether a product of f16 stores what `op` does without another epilogue:
/// sums of either are f32, and C may be, too.
static bool keepsEpilogue(SparseProductOpInterface op) {
  return op.getAccumulatorType().isF32() &&
         (op.hasEpilogue() || op.getCType().getElementType().isF32());
}

/// A product like `op` of sums of f32, whose epilogue makes what `op` stores.
static SparseProductOpInterface createOfFloats(RewriterBase &rewriter,
                                               SparseProductOpInterface op) {
  if (keepsEpilogue(op))
    return cast<SparseProductOpInterface>(rewriter.clone(*op));
  Location loc = op.getLoc();
  EpilogueBuilder builder(rewriter, op, loc, rewriter.getF32Type());
  Value sum = builder.getSum();
  // Sums of integers are exact.
  if (!op.getAccumulatorType().isF32())
    sum = arith::FPToSIOp::create(rewriter, loc, op.getAccumulatorType(), sum);
  Value stored = builder.emitOwn(sum);
  rewriter.setInsertionPoint(op);
  // An epilogue does not read what is written to. C is among its operands,
  // unless C is filled with a constant.
  Value c = op.getC();
  if (!op.hasEpilogue())
    c = builder.hasOperands()
            ? tensor::EmptyOp::create(rewriter, loc,
                                      tensor::getMixedSizes(rewriter, loc, c),
                                      op.getCType().getElementType())
                  .getResult()
            : c.getDefiningOp<linalg::FillOp>().getOutputs()[0];
  return builder.create(op, stored, c);
}

SparseProductOpInterface mlir::nm::widenOperands(RewriterBase &rewriter,
                                                 SparseProductOpInterface op,
                                                 bool isMMajor) {
  auto narrow = cast<SpMMOp>(*op);
  rewriter.setInsertionPoint(op);
  Value a = createWidened(rewriter, op.getLoc(), op.getA(),
                          narrow.getTransposeA() != isMMajor);
  Value values = widenWeights(rewriter, op);
  auto product = cast<SpMMOp>(*createOfFloats(rewriter, op));
  rewriter.modifyOpInPlace(product, [&] {
    product.getAMutable().assign(a);
    product.getValuesMutable().assign(values);
    product.setTransposeA(isMMajor);
    // What 8-bit floats may be summed by, f16 may not.
    product.setArithmetic(Arithmetic::F32);
  });
  rewriter.replaceOp(op, product->getResults());
  return cast<SparseProductOpInterface>(product.getOperation());
}
