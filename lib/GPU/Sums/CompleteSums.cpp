//===- CompleteSums.cpp - Sums that are made before branches --------------===//

#include "GPU/Sums/CompleteSums.h"

#include "GPU/Expand/Assembly.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// An empty instruction that reads and gives `sum`, and stays where it is.
static Value complete(OpBuilder &builder, Location loc, Value sum) {
  StringRef registers = isa<FloatType>(sum.getType()) ? "=f,0" : "=r,0";
  return emitAssembly(builder, loc, sum.getType(), sum, /*text=*/"", registers);
}

SmallVector<Value> mlir::nm::completeSums(OpBuilder &builder, Location loc,
                                          ArrayRef<Value> sums) {
  return llvm::map_to_vector(sums, [&](Value sum) -> Value {
    auto type = dyn_cast<VectorType>(sum.getType());
    if (!type)
      return complete(builder, loc, sum);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      elements.push_back(complete(
          builder, loc, vector::ExtractOp::create(builder, loc, sum, i)));
    return vector::FromElementsOp::create(builder, loc, type, elements);
  });
}

/// ptxas 13.0 moves what reads the sums in front of the wait, if LLVM has put
/// other instructions between it and the products' loop, as those of a tile's
/// place. It moves nothing past a fence.
void mlir::nm::awaitProducts(OpBuilder &builder, Location loc) {
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel,
                        /*syncscope=*/"block");
}
