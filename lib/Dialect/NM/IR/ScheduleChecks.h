//===- ScheduleChecks.h - What schedules check ------------------*- C++ -*-===//
//
// The verifiers of NMSchedules.td, which nm-tblgen generates, call these: those
// that a parameter names, where it is given, and then those that its schedule
// names, of all fields.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H
#define NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Schedule/ScheduleFields.h"

#include <initializer_list>

namespace mlir::nm {

using EmitError = function_ref<InFlightDiagnostic()>;

/// The longest side of a warp's or a thread's tile, which is unrolled; no chip
/// has the registers for more.
inline constexpr int64_t kMaxTile = 1024;
/// The most buffers of a pipeline, and the most parts of k.
inline constexpr int64_t kMaxParts = 1 << 16;
/// The most warps of a block.
inline constexpr int64_t kMaxWarps = 32;
/// The most blocks of a cluster that every chip with clusters has.
inline constexpr int64_t kMaxCluster = 8;
/// The fewest stages of a warpgroup: a tile in flight, one whose operands
/// arrive, and one whose slot is free.
inline constexpr int64_t kMinWgmmaStages = 3;

//===----------------------------------------------------------------------===//
// Of parameters
//===----------------------------------------------------------------------===//

/// Checks that there are as many `sizes` as `steps`, and that each size is a
/// multiple of its step in 1..most.
LogicalResult verifySizes(EmitError emitError, StringRef name,
                          ArrayRef<int64_t> sizes,
                          std::initializer_list<int64_t> steps, int64_t most);

/// Checks that `count` is a multiple of `step` in least..most.
LogicalResult verifyCount(EmitError emitError, StringRef name, int64_t count,
                          int64_t least, int64_t most, int64_t step = 1);

LogicalResult verifyCopy(EmitError emitError, CopyKind copy,
                         std::initializer_list<CopyKind> kinds);

LogicalResult verifyUnlistedPacking(EmitError emitError, PackingAttr packing);
LogicalResult verifyAmxPacking(EmitError emitError, PackingAttr packing);
LogicalResult verifyWgmmaPacking(EmitError emitError, PackingAttr packing);

/// Checks the tiles of a block and a warp that multiply by mma, whose operand
/// comes from `source`.
LogicalResult verifyMmaBlock(EmitError emitError, ArrayRef<int64_t> block,
                             std::optional<SourceKind> source);
LogicalResult verifyMmaWarp(EmitError emitError, ArrayRef<int64_t> warp,
                            std::optional<SourceKind> source);

/// Says that schedules with `source` have no parameter `name`.
LogicalResult refuseParameter(EmitError emitError, StringRef name,
                              SourceKind source);

//===----------------------------------------------------------------------===//
// Of all fields
//===----------------------------------------------------------------------===//

/// Checks that cluster_k divides split_k.
LogicalResult verifyCluster(EmitError emitError,
                            const ::nm::GivenFields &fields);

/// Checks that the tile of a warp, or of four, divides the block's.
LogicalResult verifyPart(EmitError emitError, const ::nm::GivenFields &fields);
/// Checks it of warps that have fragments of condensed weights.
LogicalResult verifyMmaPart(EmitError emitError,
                            const ::nm::GivenFields &fields);

/// Checks that `kept` and `tile_rows` come together, as of #nm.columns.
LogicalResult verifyColumns(EmitError emitError,
                            const ::nm::GivenFields &fields);
/// Checks that weights are packed in columns or in panels, and not in both.
LogicalResult verifyColumnsOrPanels(EmitError emitError,
                                    const ::nm::GivenFields &fields);
LogicalResult verifyWarpsOfColumns(EmitError emitError,
                                   const ::nm::GivenFields &fields);
/// Checks that `steps` come with `gap_bits`, as of #nm.ell, and that a warp has
/// a slice's columns.
LogicalResult verifyEll(EmitError emitError, const ::nm::GivenFields &fields);

/// Checks that a schedule that asks for bytes of weights early has one row.
LogicalResult verifyEarlyBytes(EmitError emitError,
                               const ::nm::GivenFields &fields);

/// Checks that a lane has registers for as many promoted sums as it has sums.
LogicalResult verifyMmaPromotion(EmitError emitError,
                                 const ::nm::GivenFields &fields);
/// Checks that weights in the order of warpgroups have whole tiles of these,
/// and are not quantized.
LogicalResult verifyPairs(EmitError emitError, const ::nm::GivenFields &fields);

/// Checks a warpgroup's tile: the rows of A where A is the second operand, and
/// the rows of A and the columns where A is the first, which threads select.
LogicalResult verifyWarpgroupTile(EmitError emitError,
                                  const ::nm::GivenFields &fields);
/// Checks that a block with splits of a sparse operand has one step of k, and
/// one without kMinWgmmaStages stages.
LogicalResult verifySplits(EmitError emitError,
                           const ::nm::GivenFields &fields);
/// Checks the warps that copy, the blocks that take turns, and the order of
/// their tiles.
LogicalResult verifyRoles(EmitError emitError, const ::nm::GivenFields &fields);
/// Checks that both roles have a number of registers, or neither.
LogicalResult verifyRegisters(EmitError emitError,
                              const ::nm::GivenFields &fields);
/// Checks the slots that C leaves through.
LogicalResult verifyStoreBuffers(EmitError emitError,
                                 const ::nm::GivenFields &fields);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_IR_SCHEDULECHECKS_H
