//===- DecomposeConvolutions.cpp - Convolutions to products of patches ----===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "ConvolutionFilter.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMDECOMPOSECONVOLUTIONS
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// {0, ..., a-1}, {a, ..., a+b-1}, ...: runs of dimensions, none of them empty.
static SmallVector<ReassociationIndices> groupRuns(ArrayRef<size_t> lengths) {
  SmallVector<ReassociationIndices> groups;
  int64_t dim = 0;
  for (size_t length : lengths) {
    if (length == 0)
      continue;
    groups.emplace_back();
    for (size_t i = 0; i < length; ++i)
      groups.back().push_back(dim++);
  }
  return groups;
}

static Value collapse(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<ReassociationIndices> groups) {
  if (llvm::all_of(groups, [](const ReassociationIndices &group) {
        return group.size() == 1;
      }))
    return value;
  return tensor::CollapseShapeOp::create(builder, loc, value, groups);
}

/// The collapsed `value`. A broadcast along whole groups is made collapsed, so
/// that a product still sees that it is one.
static Value collapseInit(OpBuilder &builder, Location loc, Value value,
                          ArrayRef<ReassociationIndices> groups) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast)
    return collapse(builder, loc, value, groups);
  SmallVector<int64_t> dimensions;
  for (auto [to, group] : llvm::enumerate(groups)) {
    auto isAdded = [&](int64_t dim) {
      return llvm::is_contained(broadcast.getDimensions(), dim);
    };
    if (llvm::all_of(group, isAdded))
      dimensions.push_back(int64_t(to));
    else if (group.size() != 1)
      return collapse(builder, loc, value, groups);
  }
  Value init = collapse(builder, loc, broadcast.getInit(), groups);
  return linalg::BroadcastOp::create(builder, loc, broadcast.getInput(), init,
                                     dimensions)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Zero points
//===----------------------------------------------------------------------===//

/// The zero points of a quantized convolution; none of others. An error if they
/// are no constants, or the filter's is not 0.
static ::nm::Result<int64_t> readImageZeroPoint(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() == 2)
    return int64_t(0);
  APInt image, filter;
  if (op.getNumDpsInputs() != 4 ||
      !matchPattern(op.getDpsInputOperand(2)->get(), m_ConstantInt(&image)) ||
      !matchPattern(op.getDpsInputOperand(3)->get(), m_ConstantInt(&filter)))
    return Error{"expected zero points that are constants"};
  if (!filter.isZero())
    return Error{"expected 0 as the filter's zero point, at which a pruned "
                 "weight is 0, but got " +
                 std::to_string(filter.getSExtValue())};
  return image.getSExtValue();
}

/// sum + lhs * rhs, in the type of the sum.
static void emitStep(OpBuilder &builder, Location loc, ValueRange elements) {
  Value lhs = elements[0], rhs = elements[1], sum = elements[2];
  lhs = arith::ExtSIOp::create(builder, loc, sum.getType(), lhs);
  rhs = arith::ExtSIOp::create(builder, loc, sum.getType(), rhs);
  Value product = arith::MulIOp::create(builder, loc, lhs, rhs);
  Value added = arith::AddIOp::create(builder, loc, sum, product);
  linalg::YieldOp::create(builder, loc, added);
}

/// A quantized convolution as if its zero points were 0; others as they are.
static linalg::LinalgOp createWithoutZeroPoints(OpBuilder &builder,
                                                linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 4)
    return op;
  OpOperand *image = op.getDpsInputOperand(0),
            *filter = op.getDpsInputOperand(1), *init = op.getDpsInitOperand(0);
  return linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange{init->get().getType()},
      ValueRange{image->get(), filter->get()}, ValueRange{init->get()},
      ArrayRef<AffineMap>{op.getMatchingIndexingMap(image),
                          op.getMatchingIndexingMap(filter),
                          op.getMatchingIndexingMap(init)},
      op.getIteratorTypesArray(), emitStep);
}

//===----------------------------------------------------------------------===//
// One convolution
//===----------------------------------------------------------------------===//

namespace {
/// Emits the product that a convolution, or one of its groups, is.
class ConvolutionEmitter {
public:
  ConvolutionEmitter(OpBuilder &builder, const Convolution &convolution,
                     int64_t zeroPoint, bool detects)
      : builder(builder), convolution(convolution),
        loc(convolution.op->getLoc()), zeroPoint(zeroPoint), detects(detects) {}

  /// Emits the convolution's result. `encoded` is the matrix of its filter, if
  /// the filter has an encoding.
  Value emit(const FilterMatrix *encoded);

private:
  Value emitGroup(const FilterMatrix &filter, Value image, AffineMap imageMap,
                  Value init);
  Value emitPatches(const FilterMatrix &filter, Value image,
                    AffineMap imageMap);
  Value emitProduct(const FilterMatrix &filter, Value patches, Value init);
  Value subtractZeroPoint(const FilterMatrix &filter, Value sums);
  OpFoldResult sizeOf(unsigned loop);
  /// Loops of the patches, or of the output, from the outermost on, and how
  /// many of them become one dimension each.
  SmallVector<unsigned> order(ArrayRef<unsigned> channels) const;
  SmallVector<ReassociationIndices> runs(size_t channels) const;

  OpBuilder &builder;
  const Convolution &convolution;
  Location loc;
  int64_t zeroPoint;
  bool detects;
};
} // namespace

OpFoldResult ConvolutionEmitter::sizeOf(unsigned loop) {
  SmallVector<unsigned> output = convolution.outputLoops;
  const auto *at = llvm::find(output, loop);
  if (at != output.end())
    return tensor::getMixedSize(builder, loc, convolution.init,
                                at - output.begin());
  return builder.getIndexAttr(convolution.filterSize(loop));
}

SmallVector<unsigned>
ConvolutionEmitter::order(ArrayRef<unsigned> channels) const {
  SmallVector<unsigned> loops(convolution.batches);
  if (convolution.channelsFirst)
    llvm::append_range(loops, channels);
  llvm::append_range(loops, convolution.places);
  if (!convolution.channelsFirst)
    llvm::append_range(loops, channels);
  return loops;
}

SmallVector<ReassociationIndices>
ConvolutionEmitter::runs(size_t channels) const {
  size_t batches = convolution.batches.size(),
         places = convolution.places.size();
  if (!convolution.channelsFirst)
    return groupRuns({batches + places, channels});
  // Also of one image: what follows names channels alone.
  return groupRuns({batches, channels, places});
}

Value ConvolutionEmitter::emit(const FilterMatrix *encoded) {
  Value image = convolution.image, init = convolution.init;
  AffineMap map = convolution.imageMap;
  if (!convolution.group)
    return emitGroup(encoded ? *encoded
                             : createFilterMatrix(builder, convolution,
                                                  /*group=*/0, detects),
                     image, map, init);
  unsigned loop = *convolution.group;
  SmallVector<unsigned> output = convolution.outputLoops;
  int64_t imageDim = llvm::find(map.getResults(),
                                getAffineDimExpr(loop, builder.getContext())) -
                     map.getResults().begin();
  int64_t outputDim = llvm::find(output, loop) - output.begin();
  AffineMap dropped = map.dropResult(imageDim);
  for (int64_t group = 0; group < convolution.filterSize(loop); ++group) {
    auto before = takeEntry(builder, loc, init, outputDim, group);
    Value after = emitGroup(
        createFilterMatrix(builder, convolution, group, detects),
        takeEntry(builder, loc, image, imageDim, group), dropped, before);
    init = tensor::InsertSliceOp::create(
        builder, loc, after, init, before.getMixedOffsets(),
        before.getMixedSizes(), before.getMixedStrides());
  }
  return init;
}

Value ConvolutionEmitter::emitGroup(const FilterMatrix &filter, Value image,
                                    AffineMap imageMap, Value init) {
  Value patches = emitPatches(filter, image, imageMap);
  SmallVector<ReassociationIndices> groups = runs(1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, init);
  Value sums =
      emitProduct(filter, patches, collapseInit(builder, loc, init, groups));
  sums = subtractZeroPoint(filter, sums);
  if (sums.getType() == init.getType())
    return sums;
  return tensor::ExpandShapeOp::create(builder, loc, init.getType(), sums,
                                       groups, sizes);
}

/// The rows or columns of A: what each place of the output takes of the image.
Value ConvolutionEmitter::emitPatches(const FilterMatrix &filter, Value image,
                                      AffineMap imageMap) {
  if (!convolution.group && convolution.takesImageWhole())
    return collapse(builder, loc, image,
                    runs(convolution.inputChannels.size()));
  SmallVector<unsigned> loops = order(filter.reduced);
  SmallVector<AffineExpr> dims(convolution.imageMap.getNumDims(),
                               builder.getAffineConstantExpr(0));
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, loop] : llvm::enumerate(loops)) {
    dims[loop] = builder.getAffineDimExpr(unsigned(dim));
    sizes.push_back(sizeOf(loop));
  }
  auto rank = unsigned(loops.size());
  AffineMap read = imageMap.replaceDimsAndSymbols(dims, {}, rank,
                                                  /*numResultSyms=*/0);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes,
                                        getElementTypeOrSelf(image.getType()));
  Value patches =
      linalg::GenericOp::create(
          builder, loc, empty.getType(), image, empty,
          ArrayRef<AffineMap>{read, builder.getMultiDimIdentityMap(rank)},
          SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
          [](OpBuilder &body, Location loc, ValueRange elements) {
            linalg::YieldOp::create(body, loc, elements.front());
          })
          .getResult(0);
  return collapse(builder, loc, patches, runs(filter.reduced.size()));
}

Value ConvolutionEmitter::emitProduct(const FilterMatrix &filter, Value patches,
                                      Value init) {
  // (batch), m, n, k.
  int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
  bool batches = rank == 3;
  auto dim = [&](int64_t i) { return builder.getAffineDimExpr(unsigned(i)); };
  AffineExpr m = dim(batches), n = dim(1 + batches), k = dim(2 + batches);
  auto map = [&](AffineExpr outer, AffineExpr inner, bool isBatched) {
    SmallVector<AffineExpr> exprs = {outer, inner};
    if (isBatched)
      exprs.insert(exprs.begin(), dim(0));
    return AffineMap::get(unsigned(rank + 1), 0, exprs, builder.getContext());
  };
  bool first = convolution.channelsFirst;
  SmallVector<AffineMap> maps = {
      first ? map(k, m, batches) : map(m, k, batches),
      filter.kDim == 0 ? map(k, n, false) : map(n, k, false),
      first ? map(n, m, batches) : map(m, n, batches)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.push_back(utils::IteratorType::reduction);
  auto product = linalg::GenericOp::create(
      builder, loc, TypeRange{init.getType()},
      ValueRange{patches, filter.matrix}, ValueRange{init}, maps, iterators);
  IRMapping mapping;
  convolution.op->getRegion(0).cloneInto(&product.getRegion(), mapping);
  if (Attribute arithmetic = convolution.op->getAttr(kArithmeticAttr))
    product->setAttr(kArithmeticAttr, arithmetic);
  return product.getResult(0);
}

/// Sums of products with the image as it is, less those with its zero point.
Value ConvolutionEmitter::subtractZeroPoint(const FilterMatrix &filter,
                                            Value sums) {
  if (zeroPoint == 0)
    return sums;
  auto type = cast<RankedTensorType>(sums.getType());
  int64_t n = cast<RankedTensorType>(filter.matrix.getType())
                  .getDimSize(1 - filter.kDim);
  Type element = type.getElementType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  Value empty =
      tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{n}, element);
  Value start = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  // Each weight of a channel, times the zero point.
  AffineExpr channel = builder.getAffineDimExpr(0),
             row = builder.getAffineDimExpr(1);
  Value weights =
      linalg::GenericOp::create(
          builder, loc, TypeRange{start.getType()}, ValueRange{filter.matrix},
          ValueRange{start},
          ArrayRef<AffineMap>{
              filter.kDim == 0
                  ? AffineMap::get(2, 0, {row, channel}, builder.getContext())
                  : builder.getMultiDimIdentityMap(2),
              AffineMap::get(2, 0, channel)},
          ArrayRef<utils::IteratorType>{utils::IteratorType::parallel,
                                        utils::IteratorType::reduction},
          [&](OpBuilder &body, Location loc, ValueRange elements) {
            Value wide =
                arith::ExtSIOp::create(body, loc, element, elements[0]);
            Value sum = arith::AddIOp::create(body, loc, elements[1], wide);
            linalg::YieldOp::create(body, loc, sum);
          })
          .getResult(0);
  auto rank = unsigned(type.getRank());
  unsigned ofChannel = convolution.channelsFirst ? rank - 2 : rank - 1;
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  Value out = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, sums), element);
  return linalg::GenericOp::create(
             builder, loc, TypeRange{type}, ValueRange{sums, weights},
             ValueRange{out},
             ArrayRef<AffineMap>{
                 identity,
                 AffineMap::get(rank, 0, builder.getAffineDimExpr(ofChannel)),
                 identity},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [&](OpBuilder &body, Location loc, ValueRange elements) {
               Value point = arith::ConstantOp::create(
                   body, loc, body.getIntegerAttr(element, zeroPoint));
               Value shift =
                   arith::MulIOp::create(body, loc, elements[1], point);
               Value result =
                   arith::SubIOp::create(body, loc, elements[0], shift);
               linalg::YieldOp::create(body, loc, result);
             })
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Why products are not of these operands, if so.
static std::optional<Error> checkOperands(linalg::LinalgOp op) {
  Type image = getElementTypeOrSelf(op.getDpsInputOperand(0)->get().getType());
  Type filter = getElementTypeOrSelf(op.getDpsInputOperand(1)->get().getType());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (image != filter)
    stream << "expected an image of the filter's element type " << filter
           << ", but got " << image;
  else if (!isWeightElementType(filter))
    stream << "expected element type " << kWeightElementTypes.str()
           << ", but got " << filter;
  else
    return std::nullopt;
  return Error{text};
}

/// Erases what reshaped a matrix to `filter`, where nothing takes it any more.
static void eraseReshapes(Value filter) {
  while (Operation *op = filter.getDefiningOp()) {
    if (!op->use_empty() ||
        !isa<linalg::TransposeOp, tensor::ExpandShapeOp>(op))
      return;
    filter = op->getOperand(0);
    op->erase();
  }
}

namespace {
struct NMDecomposeConvolutions
    : mlir::nm::impl::NMDecomposeConvolutionsBase<NMDecomposeConvolutions> {
  using NMDecomposeConvolutionsBase::NMDecomposeConvolutionsBase;

  void runOnOperation() override {
    for (auto op :
         collectOps<linalg::LinalgOp>(getOperation(), [](linalg::LinalgOp op) {
           return op.hasPureTensorSemantics() && isConvolution(op);
         }))
      if (failed(decompose(op)))
        return signalPassFailure();
  }

private:
  LogicalResult decompose(linalg::LinalgOp op);
  ::nm::Result<Value> createProduct(OpBuilder &builder, linalg::LinalgOp op,
                                    int64_t zeroPoint, Value encoded);
  ::nm::Result<Value> createPlainProduct(OpBuilder &builder,
                                         linalg::LinalgOp op, Value encoded);
};
} // namespace

::nm::Result<Value> NMDecomposeConvolutions::createProduct(OpBuilder &builder,
                                                           linalg::LinalgOp op,
                                                           int64_t zeroPoint,
                                                           Value encoded) {
  ::nm::Result<Convolution> convolution = Convolution::match(op);
  if (!convolution)
    return convolution.error();
  if (std::optional<Error> error = checkOperands(op))
    return *error;
  std::optional<FilterMatrix> filter;
  if (encoded) {
    ::nm::Result<FilterMatrix> read = readEncodedFilter(*convolution);
    if (!read)
      return read.error();
    if (zeroPoint != 0)
      return Error{"expected 0 as the zero point of an image whose filter "
                   "carries an #nm.encoding, but got " +
                   std::to_string(zeroPoint)};
    filter = *read;
  }
  return ConvolutionEmitter(builder, *convolution, zeroPoint, detectWeights)
      .emit(filter ? &*filter : nullptr);
}

::nm::Result<Value> NMDecomposeConvolutions::createPlainProduct(
    OpBuilder &builder, linalg::LinalgOp op, Value encoded) {
  ::nm::Result<int64_t> zeroPoint = readImageZeroPoint(op);
  if (!zeroPoint)
    return zeroPoint.error();
  linalg::LinalgOp plain = createWithoutZeroPoints(builder, op);
  ::nm::Result<Value> product =
      createProduct(builder, plain, *zeroPoint, encoded);
  if (plain != op)
    plain->erase();
  return product;
}

LogicalResult NMDecomposeConvolutions::decompose(linalg::LinalgOp op) {
  Value encoded = findEncodedFilter(op.getDpsInputOperand(1)->get());
  OpBuilder builder(op);
  ::nm::Result<Value> product = createPlainProduct(builder, op, encoded);
  if (product) {
    Value filter = op.getDpsInputOperand(1)->get();
    op->replaceAllUsesWith(ValueRange{*product});
    op->erase();
    eraseReshapes(filter);
    return success();
  }
  if (encoded)
    return op->emitOpError()
           << "expected a convolution that is a product of patches with its "
              "filter, which carries "
           << getEncoding(encoded.getType()) << ": " << product.error().message;
  emitRemark(op.getLoc()) << "'" << op->getName()
                          << "' stays a convolution, of dense weights: "
                          << product.error().message;
  return success();
}
