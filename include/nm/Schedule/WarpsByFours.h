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

/// Whether strategy mma_sp copies metadata and scales of `fields`, of quantized
/// weights, ahead with these. Loaded to registers one tile ahead, they come
/// later than a short tile is made: 64 rows of 4 bits, k x n of 4096 x 11008,
/// take 25.2 us so and 29.6 else, 16 rows 12.0 and 12.8. One row and 32 rows
/// take longer, 9.6 and 21.1 beside 8.6 and 17.9, for fewer of their blocks fit
/// (one H200, 2026-11-28).
inline bool copiesMetadata(const ScheduleFields &fields) {
  constexpr int64_t kFewRows = 16, kManyRows = 64;
  bool areFaster = fields.blockM == kFewRows || fields.blockM >= kManyRows;
  return fields.bits != 0 && (areFaster || haveWarpsByFours(fields));
}

} // namespace nm

#endif // NM_SCHEDULE_WARPSBYFOURS_H
