//===- ConvolutionFilter.cpp - A filter as a matrix -----------------------===//

#include "ConvolutionFilter.h"

#include "TransposeLoops.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Format/DetectPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

//===----------------------------------------------------------------------===//
// Encoded
//===----------------------------------------------------------------------===//

namespace {
/// A filter that is reshaped from a matrix.
struct ReshapedFilter {
  tensor::ExpandShapeOp expand;
  /// The dimension of the filter that each of the expanded ones becomes.
  SmallVector<int64_t> places;
};
} // namespace

static ReshapedFilter findReshape(Value filter) {
  ReshapedFilter found;
  int64_t rank = cast<RankedTensorType>(filter.getType()).getRank();
  found.places = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (auto transpose = filter.getDefiningOp<linalg::TransposeOp>()) {
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      found.places[from] = int64_t(to);
    filter = transpose.getInput();
  }
  found.expand = filter.getDefiningOp<tensor::ExpandShapeOp>();
  return found;
}

Value mlir::nm::findEncodedFilter(Value filter) {
  ReshapedFilter found = findReshape(filter);
  if (!found.expand || !getEncoding(found.expand.getSrcType()))
    return {};
  return found.expand.getSrc();
}

::nm::Result<FilterMatrix>
mlir::nm::readEncodedFilter(const Convolution &convolution) {
  if (convolution.group)
    return Error{"expected a convolution for each group, of the slices of its "
                 "operands, where filters carry an #nm.encoding"};
  ReshapedFilter found = findReshape(convolution.filter);
  EncodingAttr encoding = getEncoding(found.expand.getSrcType());
  SmallVector<ReassociationIndices> groups =
      found.expand.getReassociationIndices();
  SmallVector<unsigned> loops = convolution.filterLoops;
  FilterMatrix filter;
  filter.matrix = found.expand.getSrc();
  filter.kDim = encoding.getDim();
  for (int64_t dim : groups[filter.kDim])
    filter.reduced.push_back(loops[found.places[dim]]);
  const ReassociationIndices &ofN = groups[1 - filter.kDim];
  if (ofN.size() != 1 ||
      loops[found.places[ofN.front()]] != convolution.outputChannel)
    return Error{"expected dimension " + std::to_string(1 - filter.kDim) +
                 " of the weight, which its encoding says is n, to be the "
                 "filter's output channels"};
  return filter;
}

//===----------------------------------------------------------------------===//
// Constant
//===----------------------------------------------------------------------===//

namespace {
/// Where the elements of B[k x n] are in a constant filter.
class FilterElements {
public:
  FilterElements(const Convolution &convolution, const ConstantArray &array,
                 int64_t group)
      : convolution(convolution), array(array), group(group) {}

  /// The elements of B, whose rows run along `reduced`.
  std::vector<char> gather(ArrayRef<unsigned> reduced) const;
  int64_t size(unsigned loop) const { return convolution.filterSize(loop); }

private:
  int64_t stride(unsigned loop) const;

  const Convolution &convolution;
  const ConstantArray &array;
  int64_t group;
};
} // namespace

int64_t FilterElements::stride(unsigned loop) const {
  SmallVector<unsigned> loops = convolution.filterLoops;
  int64_t stride = 1;
  for (unsigned inner : llvm::reverse(loops)) {
    if (inner == loop)
      break;
    stride *= size(inner);
  }
  return stride;
}

std::vector<char> FilterElements::gather(ArrayRef<unsigned> reduced) const {
  // The offset of each row of B.
  std::vector<int64_t> rows = {
      convolution.group ? group * stride(*convolution.group) : 0};
  for (unsigned loop : reduced) {
    std::vector<int64_t> inner;
    for (int64_t row : rows)
      for (int64_t i = 0; i < size(loop); ++i)
        inner.push_back(row + i * stride(loop));
    rows = std::move(inner);
  }
  int64_t columns = size(convolution.outputChannel),
          step = stride(convolution.outputChannel);
  auto bytes = int64_t(::nm::elementSize(array.getElementType()));
  std::vector<char> elements(rows.size() * columns * bytes);
  char *to = elements.data();
  for (int64_t row : rows)
    for (int64_t column = 0; column < columns; ++column, to += bytes)
      std::memcpy(to, array.getBytes().data() + (row + column * step) * bytes,
                  bytes);
  return elements;
}

namespace {
/// A constant filter as B[k x n], in the order of k in which it is sparser.
struct ConstantFilter {
  SmallVector<unsigned> reduced;
  std::vector<char> elements;
  int64_t k = 1, n = 0;
  std::optional<::nm::Pattern> pattern;

  double sparsity() const { return pattern ? pattern->sparsity() : 0; }
};
} // namespace

/// The filter with k in the order of `reduced`, and with `detects` the sparsest
/// pattern that holds.
static ConstantFilter readInOrder(const FilterElements &filter,
                                  const Convolution &convolution,
                                  ::nm::ElementType type,
                                  SmallVector<unsigned> reduced, bool detects) {
  ConstantFilter read;
  read.elements = filter.gather(reduced);
  read.n = filter.size(convolution.outputChannel);
  for (unsigned loop : reduced)
    read.k *= filter.size(loop);
  read.reduced = std::move(reduced);
  if (detects)
    read.pattern =
        ::nm::detectPattern(::nm::DenseView::rowMajor(read.elements.data(),
                                                      type, read.k, read.n))
            .pattern;
  return read;
}

static ConstantFilter readConstant(const Convolution &convolution,
                                   const ConstantArray &array, int64_t group,
                                   bool detects) {
  FilterElements filter(convolution, array, group);
  ::nm::ElementType type = array.getElementType();
  ConstantFilter read =
      readInOrder(filter, convolution, type,
                  convolution.reducedLoops(/*channelsLast=*/true), detects);
  bool isPoint = llvm::all_of(
      convolution.taps, [&](unsigned loop) { return filter.size(loop) == 1; });
  if (!detects || isPoint)
    return read;
  ConstantFilter other =
      readInOrder(filter, convolution, type,
                  convolution.reducedLoops(/*channelsLast=*/false), detects);
  return other.sparsity() > read.sparsity() ? other : read;
}

static FilterMatrix createConstantMatrix(OpBuilder &builder,
                                         const Convolution &convolution,
                                         arith::ConstantOp constant,
                                         const ConstantArray &array,
                                         int64_t group, bool detects) {
  ConstantFilter read = readConstant(convolution, array, group, detects);
  FilterMatrix matrix;
  matrix.reduced = std::move(read.reduced);
  ArrayRef<char> elements = read.elements;
  auto type =
      RankedTensorType::get({read.k, read.n}, array.getType().getElementType());
  // A filter whose order does not change keeps its resource.
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  TypedAttr value = resource && array.getBytes() == elements
                        ? TypedAttr(DenseResourceElementsAttr::get(
                              type, resource.getRawHandle()))
                        : getConstant(type, elements);
  matrix.matrix = arith::ConstantOp::create(builder, constant.getLoc(), value);
  return matrix;
}

std::optional<FilterPattern>
mlir::nm::findPattern(const Convolution &convolution, bool detects) {
  if (findEncodedFilter(convolution.filter)) {
    ::nm::Result<FilterMatrix> filter = readEncodedFilter(convolution);
    if (!filter)
      return std::nullopt;
    return FilterPattern{
        getEncoding(filter->matrix.getType()).getPattern().getPattern(),
        filter->reduced};
  }
  std::optional<ConstantArray> array = ConstantArray::get(convolution.filter);
  if (!detects || !array || convolution.group)
    return std::nullopt;
  ConstantFilter read =
      readConstant(convolution, *array, /*group=*/0, /*detects=*/true);
  if (!read.pattern)
    return std::nullopt;
  return FilterPattern{*read.pattern, read.reduced};
}

//===----------------------------------------------------------------------===//
// Computed
//===----------------------------------------------------------------------===//

tensor::ExtractSliceOp mlir::nm::takeEntry(OpBuilder &builder, Location loc,
                                           Value value, int64_t dim,
                                           int64_t entry) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  offsets[dim] = builder.getIndexAttr(entry);
  sizes[dim] = builder.getIndexAttr(1);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), value,
      offsets, sizes, strides);
}

/// The part of the filter that is one group's; its loops are left in `loops`.
static Value sliceGroup(OpBuilder &builder, const Convolution &convolution,
                        int64_t group, SmallVectorImpl<unsigned> &loops) {
  if (!convolution.group)
    return convolution.filter;
  auto dim = llvm::find(loops, *convolution.group) - loops.begin();
  loops.erase(loops.begin() + dim);
  return takeEntry(builder, convolution.op->getLoc(), convolution.filter, dim,
                   group);
}

FilterMatrix mlir::nm::createFilterMatrix(OpBuilder &builder,
                                          const Convolution &convolution,
                                          int64_t group, bool detects) {
  if (auto constant = convolution.filter.getDefiningOp<arith::ConstantOp>())
    if (std::optional<ConstantArray> array =
            ConstantArray::get(constant.getValue()))
      return createConstantMatrix(builder, convolution, constant, *array, group,
                                  detects);
  FilterMatrix matrix;
  matrix.reduced = convolution.reducedLoops(/*channelsLast=*/true);
  SmallVector<unsigned> loops = convolution.filterLoops;
  Value filter = sliceGroup(builder, convolution, group, loops);
  SmallVector<unsigned> wanted(matrix.reduced);
  wanted.push_back(convolution.outputChannel);
  Location loc = convolution.op->getLoc();
  filter = transposeLoops(builder, loc, filter, loops, wanted);
  SmallVector<ReassociationIndices> groups(2);
  for (size_t dim = 0; dim < wanted.size(); ++dim)
    groups[dim + 1 == wanted.size()].push_back(int64_t(dim));
  matrix.matrix = tensor::CollapseShapeOp::create(builder, loc, filter, groups);
  return matrix;
}
