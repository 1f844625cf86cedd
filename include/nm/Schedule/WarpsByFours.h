//===- WarpsByFours.h - Warps that multiply as warpgroups -------*- C++ -*-===//

#ifndef NM_SCHEDULE_WARPSBYFOURS_H
#define NM_SCHEDULE_WARPSBYFOURS_H

#include "nm/Format/MmaFragments.h"
#include "nm/Schedule/ScheduleFields.h"

namespace nm {

/// Columns of a warp that multiplies with three others, and how many rows of A
/// it has at most.
inline constexpr int64_t kColumnsOfFourth = 16, kMostRowsOfFours = 256;

/// Whether `fields`, of strategy mma_sp, are of quantized weights that warps of
/// a Hopper multiply by fours: each warp has 16 columns, and all rows of the
/// block.
inline bool haveWarpsByFours(const ScheduleFields &fields) {
  bool haveAllRows =
      fields.warpN == kColumnsOfFourth && fields.warpM == fields.blockM;
  // Blocks of 64 columns and less than 64 rows are those of all chips.
  bool isLarge = fields.blockM % kWarpgroupM == 0 ||
                 (fields.blockM % kColumnsOfFourth == 0 &&
                  fields.blockM < kWarpgroupM && fields.blockN > kWarpgroupM);
  return fields.bits != 0 && haveAllRows && isLarge &&
         fields.blockM <= kMostRowsOfFours && fields.blockN % kWarpgroupM == 0;
}

/// Whether they convert a tile's weights while the products of the tile before
/// are in flight, whose registers and buffers they leave alone: 256 rows have
/// no registers for that.
inline bool haveProductsInFlight(const ScheduleFields &fields) {
  constexpr int64_t kMostRows = 128, kLeastStages = 3;
  return haveWarpsByFours(fields) && !fields.promote &&
         fields.blockM <= kMostRows && fields.stages >= kLeastStages;
}

} // namespace nm

#endif // NM_SCHEDULE_WARPSBYFOURS_H
