//===- CountFlops.cpp - The operations of a function ----------------------===//

#include "CountFlops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::nm;

/// Adds `flops` times the product of `sizes`. A product with two dynamic sizes
/// has no place in the manifest and is left out.
static void addProduct(Flops &total, int64_t flops, ArrayRef<int64_t> sizes) {
  int64_t dynamicSizes = 0;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      ++dynamicSizes;
    else if (llvm::MulOverflow(flops, size, flops))
      return;
  }
  if (dynamicSizes == 0)
    total.fixed += flops;
  else if (dynamicSizes == 1)
    total.perRow += flops;
}

static int64_t countBodyFlops(linalg::LinalgOp op) {
  int64_t flops = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
            arith::AddIOp, arith::MulIOp>(inner) ||
        inner.getDialect()->getNamespace() ==
            math::MathDialect::getDialectNamespace())
      ++flops;
  return flops;
}

/// Each kept weight is multiplied and added once for each row.
static void addSparseProduct(Flops &total, SparseProductOpInterface op) {
  if (op.getPackingAttr() || op.getValuesType().getRank() != 2)
    return;
  SmallVector<int64_t> sizes(op.getValuesType().getShape());
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    sizes.push_back(op.getAType().getDimSize(dim));
  sizes.push_back(op.getStaticM());
  addProduct(total, 2, sizes);
}

Flops mlir::nm::countFlops(func::FuncOp function) {
  Flops total;
  function.walk([&](Operation *op) {
    if (auto product = dyn_cast<SparseProductOpInterface>(op))
      addSparseProduct(total, product);
    else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      addProduct(total, countBodyFlops(linalgOp),
                 linalgOp.getStaticLoopRanges());
  });
  return total;
}
