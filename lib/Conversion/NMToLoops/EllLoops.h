//===- EllLoops.h - Columns of weights with gaps, as loops ------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_ELLLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_ELLLOOPS_H

#include "LoopWeightAccess.h"

namespace mlir::nm {

/// Emits the packing of one weight to the form of #nm.ell.
void emitEll(LoopEmitter &emitter, PackOp op);

/// Weights in the form of #nm.ell.
std::unique_ptr<WeightAccess> getEllAccess(LoopEmitter &emitter, EllAttr form,
                                           Value values, Value indices);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_ELLLOOPS_H
