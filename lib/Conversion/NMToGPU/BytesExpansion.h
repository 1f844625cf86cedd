//===- BytesExpansion.h - Gathered products of bytes ------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_BYTESEXPANSION_H
#define NM_CONVERSION_NMTOGPU_BYTESEXPANSION_H

#include "TileExpansion.h"

namespace mlir::nm {

/// The expansion of strategy wgmma for operands of 8 bits; emits an error where
/// it cannot expand `op`.
FailureOr<std::unique_ptr<TileExpansion>>
createBytesExpansion(SpMMOp op, const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_BYTESEXPANSION_H
