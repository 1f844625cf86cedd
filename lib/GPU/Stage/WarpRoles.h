//===- WarpRoles.h - Warps that copy, and warps that multiply ---*- C++ -*-===//

#ifndef NM_LIB_GPU_STAGE_WARPROLES_H
#define NM_LIB_GPU_STAGE_WARPROLES_H

#include "GPU/Stage/StagedTile.h"

namespace mlir::nm {

/// Splits the block that makes `tile` into two roles, which its schedule asks
/// for: the last warps copy operands to rings of slots, as far ahead as these
/// reach, and the others multiply and store. Where the schedule has blocks that
/// take turns at the tiles of C, each role has a loop over those.
LogicalResult splitIntoRoles(RewriterBase &rewriter, StagedTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STAGE_WARPROLES_H
