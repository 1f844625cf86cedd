//===- SizeBuilder.h - Sizes of tensors as IR -------------------*- C++ -*-===//

#ifndef NM_LIB_TRANSFORMS_SIZEBUILDER_H
#define NM_LIB_TRANSFORMS_SIZEBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::nm {

/// Makes IR of sizes, as numbers where they are known.
class SizeBuilder {
public:
  SizeBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  virtual ~SizeBuilder() = default;

  /// The size of dimension `dim` of `tensor`; a failure where it cannot be told
  /// at this builder's place.
  virtual FailureOr<OpFoldResult> getSize(Value tensor, int64_t dim) = 0;
  virtual FailureOr<OpFoldResult> getIndex(OpFoldResult index) = 0;
  /// Element `place` of `list`, a tensor of one dimension, as an index.
  virtual FailureOr<OpFoldResult> getElement(Value list, int64_t place) = 0;

  OpFoldResult getNumber(int64_t number) {
    return builder.getIndexAttr(number);
  }
  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult subtract(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult multiply(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult atLeast(OpFoldResult value, int64_t least);
  OpFoldResult atMost(OpFoldResult value, int64_t most);
  /// By a number that is above 0 when the program runs.
  OpFoldResult floorDivide(OpFoldResult lhs, OpFoldResult rhs);
  OpFoldResult ceilDivide(OpFoldResult lhs, OpFoldResult rhs);
  /// The product of numbers that are at least 0: at most kMostElements, where
  /// it is larger or overflows.
  OpFoldResult multiplySizes(ArrayRef<OpFoldResult> sizes);

  Value getValue(OpFoldResult value);
  /// `value`, an integer, as an index.
  OpFoldResult castToIndex(Value value);
  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  void setLoc(Location newLoc) { loc = newLoc; }

  static constexpr int64_t kMostElements = int64_t(1) << 62;

private:
  template <typename Op>
  OpFoldResult create(OpFoldResult lhs, OpFoldResult rhs);

  OpBuilder &builder;
  Location loc;
};

/// Makes sizes at the start of a function, of its arguments' sizes. Fails where
/// they depend on elements, or on a loop.
class EntrySizes : public SizeBuilder {
public:
  EntrySizes(OpBuilder &builder, func::FuncOp function);

  FailureOr<OpFoldResult> getSize(Value tensor, int64_t dim) override;
  FailureOr<OpFoldResult> getIndex(OpFoldResult index) override;
  FailureOr<OpFoldResult> getElement(Value list, int64_t place) override;

private:
  FailureOr<OpFoldResult> makeSize(Value tensor, int64_t dim);
  FailureOr<OpFoldResult> makeIndex(Value index);
  FailureOr<OpFoldResult> sum(ArrayRef<OpFoldResult> parts);
  bool isArgument(Value value);

  func::FuncOp function;
  DenseMap<std::pair<Value, int64_t>, FailureOr<OpFoldResult>> sizes;
  DenseMap<Value, FailureOr<OpFoldResult>> indices;
};

/// Makes sizes where an op is.
class LocalSizes : public SizeBuilder {
public:
  using SizeBuilder::SizeBuilder;

  FailureOr<OpFoldResult> getSize(Value tensor, int64_t dim) override;
  FailureOr<OpFoldResult> getIndex(OpFoldResult index) override {
    return index;
  }
  FailureOr<OpFoldResult> getElement(Value list, int64_t place) override;
};

} // namespace mlir::nm

#endif // NM_LIB_TRANSFORMS_SIZEBUILDER_H
