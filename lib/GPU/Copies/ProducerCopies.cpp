//===- ProducerCopies.cpp - Copies by warps that do nothing else ----------===//

#include "GPU/Copies/ProducerCopies.h"

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Copies/ListedCopy.h"

#include "nm/Dialect/NM/IR/CollectOps.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::expandProducerCopies(RewriterBase &rewriter,
                                             WarpsOp role,
                                             RoleBarriers &barriers,
                                             const BlockTiling &tiling) {
  auto copies = collectOps<CopyOp>(role);
  for (CopyOp op : copies) {
    if (!op.getToken() || !op.getToken().hasOneUse() ||
        !isa<SignalOp>(*op.getToken().getUsers().begin()))
      return op.emitOpError() << "expected a token that is signalled";
    if (!op.getBarriers())
      return op.emitOpError() << "expected a barrier that it 'arrives' at, but "
                                 "got none";
    bool readsAhead = !op.isBulk() || op.getRows();
    if (readsAhead && !op.getWait())
      return op.emitOpError() << "expected a wait for its slot, which it is "
                                 "'after', but got none";
  }
  keepStarters(rewriter, role);
  for (CopyOp op : copies) {
    if (op.isBulk()) {
      if (failed(expandBulkCopy(rewriter, op, role, barriers, tiling)))
        return failure();
      continue;
    }
    // Of 8-bit operands, whose A is row-major; see nm-stage-shared-memory.
    bool areUnits =
        cast<MemRefType>(op.getSource().getType()).getElementTypeBitWidth() ==
        8;
    std::unique_ptr<ListedCopy> expansion =
        areUnits ? createUnitCopies(rewriter, op, role)
                 : createRowCopies(rewriter, op, role);
    if (failed(expansion->verify()))
      return failure();
    expansion->expand();
  }
  return success();
}
