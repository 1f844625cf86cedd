//===- ProducerCopies.cpp - Copies by warps that do nothing else ----------===//

#include "ProducerCopies.h"

#include "BulkCopies.h"
#include "ListedCopy.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::expandProducerCopies(RewriterBase &rewriter,
                                             WarpsOp role,
                                             RoleBarriers &barriers) {
  SmallVector<CopyOp> copies;
  role.walk([&](CopyOp op) { copies.push_back(op); });
  for (CopyOp op : copies)
    if (!op.getToken() || !op.getToken().hasOneUse() ||
        !isa<SignalOp>(*op.getToken().getUsers().begin()))
      return op.emitOpError() << "expected a token that is signalled";
  keepStarters(rewriter, role);
  for (CopyOp op : copies) {
    if (op.isBulk()) {
      if (failed(expandBulkCopy(rewriter, op, role, barriers)))
        return failure();
      continue;
    }
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
