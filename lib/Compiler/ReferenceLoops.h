//===- ReferenceLoops.h - linalg.generic as plain loops ---------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_REFERENCELOOPS_H
#define NM_LIB_COMPILER_REFERENCELOOPS_H

#include "mlir/Pass/Pass.h"

namespace mlir::nm {

/// A pass that makes loops of each linalg.generic on memrefs: a parallel one
/// over tasks where there is enough to do, and nothing else that the lowering
/// of products has.
std::unique_ptr<Pass> createReferenceLoopsPass();

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_REFERENCELOOPS_H
