//===- NMToSparseTensor.cpp - Encodings to structured levels --------------===//

#include "nm/Conversion/NMToSparseTensor/NMToSparseTensor.h"

#include "../SparseTensorToNM/ReplaceEncodings.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTNMTOSPARSETENSOR
#include "nm/Conversion/NMToSparseTensor/NMToSparseTensor.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using sparse_tensor::LevelFormat;
using sparse_tensor::LevelType;

static RankedTensorType withoutEncoding(Type type) {
  return cast<RankedTensorType>(type).dropEncoding();
}

//===----------------------------------------------------------------------===//
// Ops on encoded tensors
//===----------------------------------------------------------------------===//

/// Users of `value` get a tensor of its type that is made of `dense`.
static void replaceByConversion(OpBuilder &builder, Value value, Value dense) {
  auto converted = sparse_tensor::ConvertOp::create(builder, value.getLoc(),
                                                    value.getType(), dense);
  value.replaceAllUsesWith(converted);
}

static void rewriteConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements || !getEncoding(op.getType()))
    return;
  OpBuilder builder(op);
  Value dense = arith::ConstantOp::create(
      builder, op.getLoc(), elements.reshape(withoutEncoding(op.getType())));
  replaceByConversion(builder, op.getResult(), dense);
  op.erase();
}

static void rewriteAssemble(AssembleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RankedTensorType type = withoutEncoding(op.getEncoded().getType());
  EncodingAttr encoding = getEncoding(op.getEncoded().getType());
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  Value dense = DecompressOp::create(builder, loc, TypeRange{type},
                                     encoding.getPattern(), encoding.getDim(),
                                     op.getValues(), op.getIndices(), empty)
                    .getResult(0);
  replaceByConversion(builder, op.getEncoded(), dense);
  op.erase();
}

static void rewriteDisassemble(DisassembleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  EncodingAttr encoding = getEncoding(op.getEncoded().getType());
  Value dense = sparse_tensor::ConvertOp::create(
      builder, loc, withoutEncoding(op.getEncoded().getType()),
      op.getEncoded());
  SmallVector<Value> empty;
  for (Type type : op->getResultTypes()) {
    auto part = cast<RankedTensorType>(type);
    empty.push_back(tensor::EmptyOp::create(builder, loc, part.getShape(),
                                            part.getElementType()));
  }
  auto parts = CompressOp::create(builder, loc, op->getResultTypes(),
                                  encoding.getPattern(), encoding.getDim(),
                                  dense, empty[0], empty[1]);
  op->replaceAllUsesWith(parts->getResults());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

static FailureOr<Attribute> replaceEncoding(RankedTensorType type,
                                            EmitError emitError) {
  EncodingAttr encoding = getEncoding(type);
  if (!encoding)
    return Attribute();
  PatternAttr pattern = encoding.getPattern();
  if (pattern.getPattern().isUnstructured()) {
    emitError() << "expected an N:M pattern, which structured levels of "
                   "sparse_tensor have, but got "
                << type;
    return failure();
  }
  if (pattern.getBk() != 1 || pattern.getBn() != 1) {
    emitError() << "expected units of one element, which structured levels of "
                   "sparse_tensor have, but got "
                << type;
    return failure();
  }
  int64_t m = pattern.getM(), dim = encoding.getDim();
  if (encoding.getK(type.getShape()) % m != 0) {
    emitError() << "expected k to be a multiple of M, of which windows of "
                   "sparse_tensor are, but got "
                << type;
    return failure();
  }
  std::optional<LevelType> structured = sparse_tensor::buildLevelType(
      LevelFormat::NOutOfM, ArrayRef<sparse_tensor::LevelPropNonDefault>(),
      pattern.getN(), m);
  std::optional<LevelType> dense = sparse_tensor::buildLevelType(
      LevelFormat::Dense, /*ordered=*/true, /*unique=*/true);
  if (!structured || !dense) {
    emitError() << "expected a pattern that structured levels have, but got "
                << type;
    return failure();
  }
  MLIRContext *context = type.getContext();
  AffineExpr k = getAffineDimExpr(dim, context),
             other = getAffineDimExpr(1 - dim, context);
  AffineMap map = AffineMap::get(/*dimCount=*/2, /*symbolCount=*/0,
                                 {other, k.floorDiv(m), k % m}, context);
  return Attribute(sparse_tensor::SparseTensorEncodingAttr::get(
      context, {*dense, *dense, *structured}, map));
}

LogicalResult mlir::nm::convertNMToSparseTensor(Operation *op) {
  op->walk(rewriteConstant);
  op->walk(rewriteAssemble);
  op->walk(rewriteDisassemble);
  return replaceEncodings(op, replaceEncoding);
}

namespace {
struct ConvertNMToSparseTensor
    : mlir::nm::impl::ConvertNMToSparseTensorBase<ConvertNMToSparseTensor> {
  using ConvertNMToSparseTensorBase::ConvertNMToSparseTensorBase;

  void runOnOperation() override {
    if (failed(convertNMToSparseTensor(getOperation())))
      signalPassFailure();
  }
};
} // namespace
