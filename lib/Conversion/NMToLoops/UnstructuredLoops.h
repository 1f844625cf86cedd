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

/// Emits the packing of one weight to the form of #nm.bitmap_panels.
void emitBitmapPanels(LoopEmitter &emitter, PackOp op);

/// Weights in that form. Their rows are all of k.
std::unique_ptr<WeightAccess> getBitmapPanelsAccess(LoopEmitter &emitter,
                                                    BitmapPanelsAttr form,
                                                    Value values, Value indices,
                                                    Value lists);

/// Sets all elements of the last dimension of `memref`, whose others are 1, to
/// zero.
void clearPlaces(LoopEmitter &emitter, Value memref);

/// Stops the program where more weights came than there are places.
void expectAtMost(LoopEmitter &emitter, Value count, Value places,
                  StringRef op);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOLOOPS_UNSTRUCTUREDLOOPS_H
