//===- Host.cpp - The dialect of a compiler that embeds nm ----------------===//

#include "Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "HostDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "HostAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "HostOps.cpp.inc"

void host::HostDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "HostAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "HostOps.cpp.inc"
      >();
}

namespace {
struct SaturateToLinalg : OpRewritePattern<host::SaturateOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(host::SaturateOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = op.getResult().getType();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(),
                                           utils::IteratorType::parallel);
    float limit = op.getLimit().convertToFloat();
    auto saturated = linalg::GenericOp::create(
        rewriter, loc, type, op.getInput(), empty, ArrayRef{map, map}, loops,
        [&](OpBuilder &builder, Location loc, ValueRange elements) {
          auto constant = [&](float value) {
            return arith::ConstantOp::create(builder, loc,
                                             builder.getF32FloatAttr(value));
          };
          Value low = arith::MaximumFOp::create(builder, loc, elements[0],
                                                constant(-limit));
          Value both =
              arith::MinimumFOp::create(builder, loc, low, constant(limit));
          linalg::YieldOp::create(builder, loc, both);
        });
    rewriter.replaceOp(op, saturated);
    return success();
  }
};
} // namespace

void host::populateHostToLinalgPatterns(RewritePatternSet &patterns) {
  patterns.add<SaturateToLinalg>(patterns.getContext());
}
