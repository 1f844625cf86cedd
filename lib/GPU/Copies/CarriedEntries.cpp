//===- CarriedEntries.cpp - Entries of lists, a tile ahead ----------------===//

#include "GPU/Copies/CarriedEntries.h"

#include "GPU/Expand/ExpandProduct.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::nm;

void mlir::nm::carryEntries(RewriterBase &rewriter, scf::ForOp loop,
                            ArrayRef<memref::LoadOp> entries) {
  if (entries.empty())
    return;
  auto loadAt = [&](Value k) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), k);
    return llvm::map_to_vector(entries, [&](memref::LoadOp entry) {
      return cloneView(rewriter, entry.getResult(), loop.getBody(), mapping);
    });
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> first = loadAt(loop.getLowerBound());
  auto loadNext = [&](OpBuilder &, Location,
                      ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    // The last ones once more after the last: past them there are none.
    SmallVector<Value> ahead = loadAt(nextOfLoop(rewriter, loop));
    for (auto [entry, carried] : llvm::zip(entries, arguments))
      rewriter.replaceOp(entry, carried);
    return ahead;
  };
  rewriter.setInsertionPoint(loop);
  (void)loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, loadNext);
}
