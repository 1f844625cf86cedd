//===- RepeatRows.cpp - Activations of groups that overlap ----------------===//

#include "nm/Dialect/NM/Transforms/RepeatRows.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Schedule/SharedBytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;
using Groups = ::nm::OverlappingGroups;

/// The rows of a window, on the op that repeats some: what else reads them can
/// then do so itself.
static constexpr StringLiteral kWindowsAttr = "nm.windows";

/// The element of `a` at `position`, of whose dimension `dim` there are `k`;
/// zero behind these.
static Value emitElement(OpBuilder &builder, Location loc, Value a,
                         SmallVector<Value> position, int64_t dim, int64_t k) {
  Value row = position[dim];
  Value last = arith::ConstantIndexOp::create(builder, loc, k - 1);
  position[dim] = arith::MinUIOp::create(builder, loc, row, last);
  Value element = tensor::ExtractOp::create(builder, loc, a, position);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(element.getType()));
  Value exists =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, row, last);
  return arith::SelectOp::create(builder, loc, exists, element, zero);
}

Value mlir::nm::createRepeatedRows(OpBuilder &builder, Location loc, Value a,
                                   int64_t dim, const Groups &groups) {
  auto type = cast<RankedTensorType>(a.getType());
  int64_t k = type.getDimSize(dim), rank = type.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, a);
  sizes[dim] = builder.getIndexAttr(groups.rows(k));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  auto emit = [&](OpBuilder &body, Location loc, ValueRange) {
    SmallVector<Value> position;
    for (int64_t i = 0; i < rank; ++i)
      position.push_back(linalg::IndexOp::create(body, loc, i));
    IndexEmitter emitter{body, loc};
    position[dim] = groups.rowOfK(EmittedIndex{&emitter, position[dim]}).value;
    linalg::YieldOp::create(body, loc,
                            emitElement(body, loc, a, position, dim, k));
  };
  auto repeat = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange(), empty,
      builder.getMultiDimIdentityMap(unsigned(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      emit);
  repeat->setAttr(kWindowsAttr, builder.getI64IntegerAttr(groups.windowRows));
  return repeat.getResult(0);
}

int64_t mlir::nm::getRepeatedChunk(int64_t bits) {
  return ::nm::kLineBytes * 8 / bits;
}

/// What the body of `op` reads an element of at computed places.
static Value findRead(linalg::GenericOp op) {
  for (Operation &inner : *op.getBody()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      return extract.getTensor();
    if (auto load = dyn_cast<memref::LoadOp>(inner))
      return load.getMemRef();
  }
  return {};
}

std::optional<RepeatedRows> mlir::nm::findRepeatedRows(linalg::GenericOp op) {
  auto windows = op->getAttrOfType<IntegerAttr>(kWindowsAttr);
  Value a = windows ? findRead(op) : Value();
  if (!a)
    return std::nullopt;
  Groups groups{windows.getInt()};
  auto from = cast<ShapedType>(a.getType()),
       to = cast<ShapedType>(op.getDpsInits()[0].getType());
  // Groups have more rows than k: only that dimension grows.
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!from.isDynamicDim(dim) &&
        to.getDimSize(dim) == groups.rows(from.getDimSize(dim)))
      return RepeatedRows{a, dim, groups};
  return std::nullopt;
}

std::optional<RepeatedRows> mlir::nm::findRepeatedRows(Value value) {
  auto repeat = value.getDefiningOp<linalg::GenericOp>();
  return repeat ? findRepeatedRows(repeat) : std::nullopt;
}
