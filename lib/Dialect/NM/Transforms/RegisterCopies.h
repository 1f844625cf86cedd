//===- RegisterCopies.h - Copies that go through registers ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_REGISTERCOPIES_H
#define NM_DIALECT_NM_TRANSFORMS_REGISTERCOPIES_H

#include "TileCopy.h"

namespace mlir::nm {

/// Stores element by element what was loaded `copy.width` at a time, to a
/// [columns x rows] destination if `transpose`.
void emitElementsCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                      const CopyThreads &threads, bool transpose);

/// Whether threads can transpose squares of the tile in their registers, and
/// have enough of those.
bool canCopySquares(const TileCopy &copy, const CopyThreads &threads);
/// Transposes by such squares.
void emitSquaresCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                     const CopyThreads &threads);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_REGISTERCOPIES_H
