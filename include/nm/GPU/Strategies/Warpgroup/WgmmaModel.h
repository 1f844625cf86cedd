//===- WgmmaModel.h - Schedules of wgmma and wgmma_select -------*- C++ -*-===//

#ifndef NM_GPU_STRATEGIES_WARPGROUP_WGMMAMODEL_H
#define NM_GPU_STRATEGIES_WARPGROUP_WGMMAMODEL_H

#include "nm/GPU/Select/GpuSchedule.h"

namespace nm {

/// The best of strategy wgmma by estimate, or why it has none; of those with
/// panels of A, or of those without, where `panelsOfA` says so.
Result<GpuSchedule>
selectWgmmaSchedule(const GpuProduct &product, const GpuChip &chip,
                    std::optional<bool> panelsOfA = std::nullopt);

/// The best of strategy wgmma_select by estimate, or why it has none.
Result<GpuSchedule> selectWgmmaSelectSchedule(const GpuProduct &product,
                                              const GpuChip &chip);

/// How strategy wgmma packs weights of `product` for `schedule`'s other fields.
PanelPacking packForWgmma(const GpuProduct &product,
                          const ScheduleFields &schedule);

/// How strategy wgmma_select packs weights of `pattern`, which is one of
/// SelectedBytes, for blocks of so many columns and tiles of so many rows of B.
PanelPacking packForSelection(const Pattern &pattern, int64_t columns,
                              int64_t rowsOfB);

/// Whether the product is to be as accurate as f32, and so long that one f32
/// for all sums of tiles, which the expansion of splits has, is not: of 100 000
/// equal products its relative error is 7.9e-6. Parts of k then are.
bool isLongSumOfSplitFloats(const GpuProduct &product);

/// Whether sums of `splits` splits, in tiles of `rowsOfTile` kept rows, are to
/// be as accurate as a chain of multiply-adds in f32, and so short that they
/// are only with error compensation.
bool wantsCompensation(const GpuProduct &product, int64_t splits,
                       int64_t rowsOfTile);

/// Whether strategy wgmma makes each kept unit of `pattern`, or a part of one,
/// a tile along k, whose rows of A are neighbours: windows have too many, of
/// values that are made of `splits`.
bool gathersWgmmaUnits(const Pattern &pattern, int64_t splits);

/// Whether a window of operands of 8 bits can be cut into tiles of `rows` kept
/// rows, at least 1: of whole units, whose number divides those that the window
/// keeps, or of parts of a unit, whose rows `rows` divides. Of 8:32 in units of
/// 64 rows, tiles may have 32, 64 or 128 rows, and not 96 or 192.
bool gathersByteUnits(const Pattern &pattern, int64_t rows);

/// Whether A, of 8-bit elements, can be put into panels of 16 columns for a
/// product whose weights have units of a multiple of 16 rows: it is row-major,
/// k is whole panels, and filled up to whole windows it is whole tiles of
/// `rowsOfB`.
bool canHavePanels(const GpuProduct &product, int64_t rowsOfB);

/// The pattern of units of `columns` columns, at least `pattern.bn`, that every
/// matrix of `pattern` fits in: each has the rows of all units that it covers.
/// 4:32 in vectors of 32 is 8:32 in vectors of 64; where that keeps every row,
/// windows are single rows, as 1:1 in vectors of 64.
Pattern widenUnits(const Pattern &pattern, int64_t columns);

} // namespace nm

#endif // NM_GPU_STRATEGIES_WARPGROUP_WGMMAMODEL_H
