//===- KeepEncodings.cpp - Encodings of constants that are reshaped -------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"
#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMKEEPENCODINGS
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The constant is the op's alone: others may fold theirs.
static void keepEncoding(tensor::ExpandShapeOp op) {
  auto constant = op.getSrc().getDefiningOp<arith::ConstantOp>();
  if (!constant || !getEncoding(op.getSrcType()) ||
      !isa<DenseElementsAttr>(constant.getValue()))
    return;
  std::optional<ConstantArray> array = ConstantArray::get(constant.getValue());
  if (!array)
    return;
  OpBuilder builder(constant);
  TypedAttr value = getResourceConstant(
      cast<RankedTensorType>(constant.getType()), array->getBytes());
  op.getSrcMutable().assign(
      arith::ConstantOp::create(builder, constant.getLoc(), value));
  if (constant->use_empty())
    constant.erase();
}

namespace {
struct NMKeepEncodings : mlir::nm::impl::NMKeepEncodingsBase<NMKeepEncodings> {
  void runOnOperation() override { getOperation()->walk(keepEncoding); }
};
} // namespace
