//===- UnstructuredLoops.h - Weights kept anywhere, as loops ----*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOLOOPS_UNSTRUCTUREDLOOPS_H
#define NM_LIB_CONVERSION_NMTOLOOPS_UNSTRUCTUREDLOOPS_H

#include "LoopWeightAccess.h"

namespace mlir::nm {

/// nm.compress and nm.decompress of unstructured weights.
void emitUnstructuredCompress(LoopEmitter &emitter, CompressOp op);
void emitUnstructuredDecompress(LoopEmitter &emitter, DecompressOp op);

/// Emits the packing of one weight to the form of #nm.columns.
void emitColumns(LoopEmitter &emitter, PackOp op);

/// Weights in the form of #nm.columns. Their rows are all of k.
std::unique_ptr<WeightAccess> getColumnsAccess(LoopEmitter &emitter,
                                               ColumnsAttr form, Value values,
                                               Value indices, Value lists);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_UNSTRUCTUREDLOOPS_H
