//===- SizeBuilder.cpp - Sizes of tensors as IR ---------------------------===//

#include "SizeBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value SizeBuilder::getValue(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(builder, loc, value);
}

OpFoldResult SizeBuilder::castToIndex(Value value) {
  if (value.getType().isIndex())
    return getAsOpFoldResult(value);
  return getAsOpFoldResult(builder.createOrFold<arith::IndexCastOp>(
      loc, builder.getIndexType(), value));
}

template <typename Op>
OpFoldResult SizeBuilder::create(OpFoldResult lhs, OpFoldResult rhs) {
  return getAsOpFoldResult(
      builder.createOrFold<Op>(loc, getValue(lhs), getValue(rhs)));
}

OpFoldResult SizeBuilder::add(OpFoldResult lhs, OpFoldResult rhs) {
  return create<arith::AddIOp>(lhs, rhs);
}

OpFoldResult SizeBuilder::subtract(OpFoldResult lhs, OpFoldResult rhs) {
  return create<arith::SubIOp>(lhs, rhs);
}

OpFoldResult SizeBuilder::multiply(OpFoldResult lhs, OpFoldResult rhs) {
  return create<arith::MulIOp>(lhs, rhs);
}

OpFoldResult SizeBuilder::atLeast(OpFoldResult value, int64_t least) {
  return create<arith::MaxSIOp>(value, getNumber(least));
}

OpFoldResult SizeBuilder::atMost(OpFoldResult value, int64_t most) {
  return create<arith::MinSIOp>(value, getNumber(most));
}

OpFoldResult SizeBuilder::floorDivide(OpFoldResult lhs, OpFoldResult rhs) {
  return create<arith::FloorDivSIOp>(lhs, rhs);
}

OpFoldResult SizeBuilder::ceilDivide(OpFoldResult lhs, OpFoldResult rhs) {
  return create<arith::CeilDivSIOp>(lhs, rhs);
}

OpFoldResult SizeBuilder::multiplySizes(ArrayRef<OpFoldResult> factors) {
  OpFoldResult product = getNumber(1);
  for (OpFoldResult factor : factors) {
    if (isConstantIntValue(product, 1)) {
      product = factor;
      continue;
    }
    if (isConstantIntValue(factor, 1))
      continue;
    // The largest factor with which the product is no larger than that.
    OpFoldResult limit =
        create<arith::DivUIOp>(getNumber(kMostElements), atLeast(product, 1));
    Value isLarge =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                              getValue(factor), getValue(limit));
    product = getAsOpFoldResult(builder.createOrFold<arith::SelectOp>(
        loc, isLarge, getValue(getNumber(kMostElements)),
        getValue(multiply(product, factor))));
  }
  return product;
}

//===----------------------------------------------------------------------===//
// At the start of a function
//===----------------------------------------------------------------------===//

EntrySizes::EntrySizes(OpBuilder &builder, func::FuncOp function)
    : SizeBuilder(builder, function.getLoc()), function(function) {}

bool EntrySizes::isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &function.front();
}

FailureOr<OpFoldResult> EntrySizes::sum(ArrayRef<OpFoldResult> parts) {
  OpFoldResult total = getNumber(0);
  for (OpFoldResult part : parts) {
    FailureOr<OpFoldResult> known = getIndex(part);
    if (failed(known))
      return failure();
    total = add(total, *known);
  }
  return total;
}

FailureOr<OpFoldResult> EntrySizes::getSize(Value tensor, int64_t dim) {
  int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return getNumber(size);
  auto known = sizes.find({tensor, dim});
  if (known != sizes.end())
    return known->second;
  FailureOr<OpFoldResult> made = makeSize(tensor, dim);
  sizes.try_emplace({tensor, dim}, made);
  return made;
}

FailureOr<OpFoldResult> EntrySizes::getIndex(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return getNumber(*number);
  auto value = cast<Value>(index);
  auto known = indices.find(value);
  if (known != indices.end())
    return known->second;
  FailureOr<OpFoldResult> made = makeIndex(value);
  indices.try_emplace(value, made);
  return made;
}

/// The dimension of a slice's source that dimension `dim` of the slice is.
static int64_t getSourceDim(tensor::ExtractSliceOp slice, int64_t dim) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  int64_t source = 0;
  while (dropped.test(source) || dim-- > 0)
    ++source;
  return source;
}

FailureOr<OpFoldResult> EntrySizes::makeSize(Value tensor, int64_t dim) {
  if (isArgument(tensor))
    return getAsOpFoldResult(
        getBuilder().createOrFold<tensor::DimOp>(getLoc(), tensor, dim));
  Operation *op = tensor.getDefiningOp();
  if (!op || op->getParentRegion() != &function.getBody())
    return failure();
  using Result = FailureOr<OpFoldResult>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<tensor::CastOp, tensor::BitcastOp>([&](auto cast) -> Result {
        if (!isa<RankedTensorType>(cast.getSource().getType()))
          return failure();
        return getSize(cast.getSource(), dim);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return getIndex(slice.getMixedSizes()[getSourceDim(slice, dim)]);
      })
      .Case([&](tensor::ExpandShapeOp reshape) {
        return getIndex(reshape.getMixedOutputShape()[dim]);
      })
      .Case([&](tensor::CollapseShapeOp reshape) -> Result {
        SmallVector<OpFoldResult> parts;
        ReassociationIndices group = reshape.getReassociationIndices()[dim];
        for (int64_t part : group) {
          Result size = getSize(reshape.getSrc(), part);
          if (failed(size))
            return failure();
          parts.push_back(*size);
        }
        return multiplySizes(parts);
      })
      .Case([&](tensor::PadOp pad) -> Result {
        Result size = getSize(pad.getSource(), dim);
        if (failed(size))
          return failure();
        return sum(
            {*size, pad.getMixedLowPad()[dim], pad.getMixedHighPad()[dim]});
      })
      .Case<tensor::EmptyOp>([&](tensor::EmptyOp empty) {
        return getIndex(empty.getMixedSizes()[dim]);
      })
      .Case<tensor::GenerateOp, tensor::SplatOp>([&](Operation *made) {
        auto type = cast<RankedTensorType>(tensor.getType());
        return getIndex(made->getOperands().take_back(
            type.getNumDynamicDims())[type.getDynamicDimIndex(dim)]);
      })
      .Case([&](tensor::ConcatOp concat) -> Result {
        if (int64_t(concat.getDim()) != dim)
          return getSize(concat.getInputs().front(), dim);
        SmallVector<OpFoldResult> parts;
        for (Value input : concat.getInputs()) {
          Result size = getSize(input, dim);
          if (failed(size))
            return failure();
          parts.push_back(*size);
        }
        return sum(parts);
      })
      .Case([&](DestinationStyleOpInterface style) -> Result {
        return getSize(style.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                       dim);
      })
      .Default([&](Operation *other) -> Result {
        if (!OpTrait::hasElementwiseMappableTraits(other))
          return failure();
        for (Value operand : other->getOperands())
          if (isa<RankedTensorType>(operand.getType()))
            return getSize(operand, dim);
        return failure();
      });
}

/// Whether `extract` reads an element that any tensor of its operand's type
/// has.
static bool readsKnownElement(tensor::ExtractOp extract) {
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    int64_t size = extract.getTensor().getType().getDimSize(dim);
    std::optional<int64_t> number = getConstantIntValue(index);
    if (!number || ShapedType::isDynamic(size) || *number < 0 ||
        *number >= size)
      return false;
  }
  return true;
}

FailureOr<OpFoldResult> EntrySizes::makeIndex(Value index) {
  if (isArgument(index))
    return OpFoldResult(index);
  Operation *op = index.getDefiningOp();
  if (!op || op->getParentRegion() != &function.getBody() ||
      op->getNumRegions() != 0 || !isPure(op))
    return failure();
  if (auto size = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> dim = size.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(size.getSource().getType());
    if (!dim || !type || *dim < 0 || *dim >= type.getRank())
      return failure();
    return getSize(size.getSource(), *dim);
  }
  IRMapping map;
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  bool isKnown =
      extract && isArgument(extract.getTensor()) && readsKnownElement(extract);
  for (Value operand : op->getOperands()) {
    if (isa<ShapedType>(operand.getType())) {
      if (!isKnown)
        return failure();
      continue;
    }
    FailureOr<OpFoldResult> made = failure();
    if (Attribute number; matchPattern(operand, m_Constant(&number)))
      made = OpFoldResult(
          getBuilder().clone(*operand.getDefiningOp())->getResult(0));
    else
      made = getIndex(operand);
    if (failed(made))
      return failure();
    map.map(operand, getValue(*made));
  }
  Operation *clone = getBuilder().clone(*op, map);
  return getAsOpFoldResult(
      clone->getResult(cast<OpResult>(index).getResultNumber()));
}

FailureOr<OpFoldResult> EntrySizes::getElement(Value list, int64_t place) {
  auto elements = list.getDefiningOp<tensor::FromElementsOp>();
  if (!elements || elements->getParentRegion() != &function.getBody())
    return failure();
  FailureOr<OpFoldResult> element =
      getIndex(getAsOpFoldResult(elements.getElements()[place]));
  if (failed(element) || isa<Attribute>(*element))
    return element;
  return castToIndex(cast<Value>(*element));
}

//===----------------------------------------------------------------------===//
// Where an op is
//===----------------------------------------------------------------------===//

FailureOr<OpFoldResult> LocalSizes::getSize(Value tensor, int64_t dim) {
  int64_t size = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return getNumber(size);
  return getAsOpFoldResult(
      getBuilder().createOrFold<tensor::DimOp>(getLoc(), tensor, dim));
}

FailureOr<OpFoldResult> LocalSizes::getElement(Value list, int64_t place) {
  return castToIndex(getBuilder().createOrFold<tensor::ExtractOp>(
      getLoc(), list, getValue(getNumber(place))));
}
