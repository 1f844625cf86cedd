//===- CopyGroups.h - Groups of asynchronous copies -------------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_COPYGROUPS_H
#define NM_LIB_GPU_COPIES_COPYGROUPS_H

namespace mlir {
class Operation;
class RewriterBase;
} // namespace mlir

namespace mlir::nm {

/// Turns nm.group, nm.await and nm.release in `parent` into what a thread does.
/// A thread waits until at most as many of its groups are in flight as were
/// ended after those that it waits for, whatever way the program takes (PTX
/// ISA, `cp.async.wait_group`). No token is left.
void lowerCopyGroups(RewriterBase &rewriter, Operation *parent);

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_COPYGROUPS_H
