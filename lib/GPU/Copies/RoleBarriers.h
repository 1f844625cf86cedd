//===- RoleBarriers.h - Rings of mbarriers to instructions ------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_ROLEBARRIERS_H
#define NM_LIB_GPU_COPIES_ROLEBARRIERS_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {

/// The mbarriers of the rings in a block, each of stages words of 64 bits.
class RoleBarriers {
public:
  /// Gives all rings in `blocks` memory, and initializes them. Emits an error
  /// where a role signals a ring in more than one way.
  static FailureOr<RoleBarriers> create(RewriterBase &rewriter,
                                        scf::ForallOp blocks);

  /// A pointer to the mbarrier of `step`.
  Value getPointer(OpBuilder &builder, Location loc, Value ring, Value step);
  /// Turns all nm.wait and nm.signal in `blocks` into instructions, and erases
  /// the copies, which have been expanded: of the tokens, those of bulk copies
  /// have been seen to.
  void lower(RewriterBase &rewriter, scf::ForallOp blocks);

private:
  void initialize(RewriterBase &rewriter, Value thread, BarriersOp ring,
                  int64_t arrivals);
  void lowerWait(RewriterBase &rewriter, WaitOp op);
  void lowerSignal(RewriterBase &rewriter, SignalOp op);

  /// The address of each ring in shared memory, of type i32.
  llvm::SmallDenseMap<Value, Value> addresses;
};

/// The number of a thread in its role.
Value getThreadOfRole(OpBuilder &builder, WarpsOp role);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_ROLEBARRIERS_H
