//===- ScheduleChecks.cpp - What schedules check --------------------------===//

#include "ScheduleChecks.h"

#include "nm/Format/Bitmap.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/SumChains.h"
#include "nm/Support/Warp.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GivenFields;

//===----------------------------------------------------------------------===//
// Of parameters
//===----------------------------------------------------------------------===//

LogicalResult mlir::nm::verifySizes(EmitError emitError, StringRef name,
                                    ArrayRef<int64_t> sizes,
                                    std::initializer_list<int64_t> steps,
                                    int64_t most) {
  if (sizes.size() != steps.size())
    return emitError() << "expected " << steps.size() << " sizes in '" << name
                       << "', but got " << sizes.size();
  for (int64_t size : sizes)
    if (size < 1 || size > most)
      return emitError() << "expected sizes in '" << name << "' to be in 1.."
                         << most << ", but got " << size;
  for (auto [size, step] : llvm::zip(sizes, steps))
    if (size % step != 0)
      return emitError() << "expected sizes in '" << name
                         << "' to be multiples of " << ArrayRef(steps)
                         << ", but got " << sizes;
  return success();
}

LogicalResult mlir::nm::verifyCount(EmitError emitError, StringRef name,
                                    int64_t count, int64_t least, int64_t most,
                                    int64_t step) {
  if (count >= least && count <= most && count % step == 0)
    return success();
  InFlightDiagnostic diagnostic = emitError() << "expected " << name;
  if (step != 1)
    diagnostic << " to be a multiple of " << step;
  return diagnostic << " in " << least << ".." << most << ", but got " << count;
}

LogicalResult mlir::nm::verifyCopy(EmitError emitError, CopyKind copy,
                                   std::initializer_list<CopyKind> kinds) {
  if (llvm::is_contained(kinds, copy))
    return success();
  InFlightDiagnostic diagnostic = emitError()
                                  << "expected copy_a to be one of ";
  llvm::interleaveComma(kinds, diagnostic, [&](CopyKind kind) {
    diagnostic << stringifyCopyKind(kind);
  });
  return diagnostic << ", but got " << stringifyCopyKind(copy);
}

LogicalResult mlir::nm::verifyUnlistedPacking(EmitError emitError,
                                              PackingAttr packing) {
  if (packing.getBits() != 0)
    return emitError() << "expected a packing without bits, which follow from "
                          "those of the schedule, but got "
                       << packing;
  if (packing.getColInfo() == 0)
    return success();
  return emitError() << "expected a packing without col_info, which follows "
                        "from 'pack = true', but got "
                     << packing;
}

LogicalResult mlir::nm::verifyWgmmaPacking(EmitError emitError,
                                           PackingAttr packing) {
  if (packing.getColInfo() == 0 && packing.getIndexBits() == 8 &&
      packing.getPacking().isRowWise())
    return success();
  return emitError() << "expected a packing with index_bits = 8 and without "
                        "col_info or chunks, but got "
                     << packing;
}

LogicalResult mlir::nm::verifyMmaBlock(EmitError emitError,
                                       ArrayRef<int64_t> block,
                                       std::optional<SourceKind> source) {
  int64_t step = 1;
  if (source == SourceKind::MmaSparse)
    step = ::nm::SparseOperand::kStepRows;
  // A step of the shortest runs; windows of 64 and 128 rows have longer runs.
  if (source == SourceKind::MmaBitmap)
    step = ::nm::BitmapForm::kRuns * ::nm::BitmapForm::kWordRows;
  return verifySizes(emitError, "block", block, {1, 1, step}, ::nm::kMaxSize);
}

/// Whether lanes have fragments of condensed weights, of which warps have whole
/// ones.
static bool isOfFragments(std::optional<SourceKind> source) {
  return source == SourceKind::MmaSparse || source == SourceKind::MmaBitmap;
}

/// Sides of the squares of mma.sync's operands, and of a matrix of sums.
static constexpr int64_t kSquare = 16, kMatrix = 8;

LogicalResult mlir::nm::verifyMmaWarp(EmitError emitError,
                                      ArrayRef<int64_t> warp,
                                      std::optional<SourceKind> source) {
  int64_t columns =
      isOfFragments(source) || source == SourceKind::MmaImage ? kSquare : 1;
  int64_t rows = source == SourceKind::MmaImage ? kSquare
                 : isOfFragments(source)        ? kMatrix
                                                : 1;
  return verifySizes(emitError, "warp", warp, {rows, columns}, kMaxTile);
}

LogicalResult mlir::nm::refuseParameter(EmitError emitError, StringRef name,
                                        SourceKind source) {
  return emitError() << "expected no '" << name << "' of strategy "
                     << stringifySourceKind(source);
}

//===----------------------------------------------------------------------===//
// Of the fields of several strategies
//===----------------------------------------------------------------------===//

LogicalResult mlir::nm::verifyCluster(EmitError emitError,
                                      const GivenFields &fields) {
  if (fields.splitK && fields.clusterK &&
      *fields.splitK % *fields.clusterK != 0)
    return emitError() << "expected cluster_k to divide split_k, "
                       << *fields.splitK << ", but got " << *fields.clusterK;
  return success();
}

LogicalResult mlir::nm::verifyPart(EmitError emitError,
                                   const GivenFields &fields) {
  std::optional<int64_t> m = fields.warpM ? fields.warpM : fields.warpgroupM,
                         n = fields.warpN ? fields.warpN : fields.warpgroupN;
  if (!fields.blockM || !m ||
      (*fields.blockM % *m == 0 && *fields.blockN % *n == 0))
    return success();
  return emitError() << "expected '" << (fields.warpM ? "warp" : "warpgroup")
                     << "' to divide the block's " << *fields.blockM << ", "
                     << *fields.blockN << ", but got " << *m << ", " << *n;
}

LogicalResult mlir::nm::verifyMmaPart(EmitError emitError,
                                      const GivenFields &fields) {
  return fields.source == ::nm::SourceKind::MmaGathered
             ? success()
             : verifyPart(emitError, fields);
}

//===----------------------------------------------------------------------===//
// Fields of schedules with #nm.columns and #nm.bitmap_panels
//===----------------------------------------------------------------------===//

LogicalResult mlir::nm::verifyColumns(EmitError emitError,
                                      const GivenFields &fields) {
  bool hasPanels = fields.wordRows.has_value();
  if (hasPanels && (!fields.kept || fields.tileRows))
    return emitError() << "expected 'word_rows' with 'kept', and without "
                          "'tile_rows'";
  if (!hasPanels && fields.kept.has_value() != fields.tileRows.has_value())
    return emitError() << "expected 'kept' and 'tile_rows' together";
  if (!fields.kept)
    return success();
  ::nm::Status status =
      hasPanels ? ::nm::BitmapPanels{*fields.kept, *fields.wordRows}.verify()
                : ::nm::ColumnsForm{*fields.kept, *fields.tileRows}.verify();
  return status ? success() : emitError() << status.error().message;
}

LogicalResult mlir::nm::verifyColumnsOrPanels(EmitError emitError,
                                              const GivenFields &fields) {
  if (fields.kept && fields.packing)
    return emitError() << "expected 'kept' and 'tile_rows' without 'packing'";
  return success();
}

LogicalResult mlir::nm::verifyWarpsOfColumns(EmitError emitError,
                                             const GivenFields &fields) {
  constexpr int64_t kMostColumns = 64;
  if (!fields.warpM)
    return success();
  bool isWarp = llvm::is_contained({32, 64, 128}, *fields.warpM) &&
                *fields.warpN <= (fields.kept ? 1 : kMostColumns);
  bool fits =
      !fields.threadM || (*fields.warpM == *fields.threadM * ::nm::kWarpSize &&
                          *fields.warpN == *fields.threadN);
  if (isWarp && fits)
    return success();
  return emitError() << "expected warps of 32, 64 or 128 rows, of 32 threads "
                        "each, and of one column with 'kept', else at most "
                     << kMostColumns;
}

//===----------------------------------------------------------------------===//
// Schedules whose weights are packed as #nm.ell
//===----------------------------------------------------------------------===//

LogicalResult mlir::nm::verifyEll(EmitError emitError,
                                  const GivenFields &fields) {
  using ::nm::EllForm;
  if (fields.steps && !fields.gapBits)
    return emitError() << "expected 'gap_bits' with 'steps'";
  if (fields.gapBits)
    if (::nm::Status status = EllForm{fields.steps.value_or(1), *fields.gapBits,
                                      fields.sliceK.value_or(1)}
                                  .verify();
        !status)
      return emitError() << status.error().message;
  bool isWarp = !fields.warpM ||
                (*fields.warpN == EllForm::kColumns &&
                 (!fields.blockM || (*fields.warpM == *fields.blockM &&
                                     *fields.blockN % *fields.warpN == 0)));
  bool isThread =
      !fields.threadM || (*fields.threadN == 1 &&
                          (!fields.warpM || *fields.threadM == *fields.warpM));
  if (isWarp && isThread)
    return success();
  return emitError() << "expected warps of " << EllForm::kColumns
                     << " columns and threads of one, each of all rows of the "
                        "block";
}

//===----------------------------------------------------------------------===//
// Of single warps
//===----------------------------------------------------------------------===//

LogicalResult mlir::nm::verifyEarlyBytes(EmitError emitError,
                                         const GivenFields &fields) {
  if (fields.earlyBytes.value_or(0) == 0 || fields.blockM.value_or(1) == 1)
    return success();
  return emitError() << "expected a block of one row for 'early_bytes', but "
                        "got "
                     << *fields.blockM;
}

LogicalResult mlir::nm::verifyMmaPromotion(EmitError emitError,
                                           const GivenFields &fields) {
  if (!fields.promote.value_or(false) || !fields.warpM ||
      ::nm::hasMmaPromotion(*fields.warpM * *fields.warpN / ::nm::kWarpSize))
    return success();
  return emitError() << "expected a warp's tile of few enough sums for "
                        "'promote', but got "
                     << *fields.warpM << " x " << *fields.warpN;
}

LogicalResult mlir::nm::verifyPairs(EmitError emitError,
                                    const GivenFields &fields) {
  if (!fields.pairs.value_or(false))
    return success();
  if (fields.bits)
    return emitError() << "expected no bits for 'pairs', but got "
                       << *fields.bits;
  if (fields.blockN.value_or(0) % ::nm::kWarpgroupM != 0)
    return emitError() << "expected n of the block to be a multiple of "
                       << ::nm::kWarpgroupM << " for 'pairs', but got "
                       << *fields.blockN;
  return success();
}

//===----------------------------------------------------------------------===//
// Of warpgroups
//===----------------------------------------------------------------------===//

/// Rows of the instruction's first operand, and the most columns of its second.
static constexpr int64_t kWgmmaStep = 64, kMaxWgmmaColumns = 256;

/// Checks the rows of A where A is the second operand.
static LogicalResult verifyRowsOfA(EmitError emitError,
                                   const GivenFields &fields) {
  if (fields.warpgroupM.value_or(0) <= kMaxWgmmaColumns)
    return success();
  return emitError() << "expected at most " << kMaxWgmmaColumns
                     << " rows of A in 'warpgroup', but got "
                     << *fields.warpgroupM;
}

/// Checks the rows of A, which threads select for the first operand, and the
/// columns.
static LogicalResult verifySelectedTile(EmitError emitError,
                                        const GivenFields &fields) {
  if (!fields.warpgroupM || (*fields.warpgroupM == kWgmmaStep &&
                             *fields.warpgroupN <= kMaxWgmmaColumns))
    return success();
  return emitError() << "expected " << kWgmmaStep << " rows of A and at most "
                     << kMaxWgmmaColumns << " columns in 'warpgroup', but got "
                     << *fields.warpgroupM << " and " << *fields.warpgroupN;
}

LogicalResult mlir::nm::verifyWarpgroupTile(EmitError emitError,
                                            const GivenFields &fields) {
  return fields.source == ::nm::SourceKind::Selected
             ? verifySelectedTile(emitError, fields)
             : verifyRowsOfA(emitError, fields);
}

LogicalResult mlir::nm::verifySplits(EmitError emitError,
                                     const GivenFields &fields) {
  if (fields.source != ::nm::SourceKind::Sparse)
    return success();
  constexpr int64_t kStepRows = ::nm::SparseOperand::kStepRows;
  if (!fields.splits)
    return fields.stages ? verifyCount(emitError, "stages", *fields.stages,
                                       kMinWgmmaStages, kMaxParts)
                         : success();
  if (fields.blockK.value_or(kStepRows) != kStepRows)
    return emitError() << "expected k of the block to be " << kStepRows
                       << ", with splits, but got " << *fields.blockK;
  return success();
}

LogicalResult mlir::nm::verifyRoles(EmitError emitError,
                                    const GivenFields &fields) {
  if (fields.blocks && fields.producers == 0)
    return emitError() << "expected producers for 'blocks', but got none";
  if (fields.groupM.value_or(1) != 1 && fields.groupN.value_or(1) != 1)
    return emitError() << "expected a group_m or a group_n of 1, but got "
                       << *fields.groupM << " and " << *fields.groupN;
  if (fields.producers.value_or(0) != 0 && fields.clusterK.value_or(1) != 1)
    return emitError() << "expected a cluster_k of 1, with producers, but got "
                       << *fields.clusterK;
  return success();
}

LogicalResult mlir::nm::verifyRegisters(EmitError emitError,
                                        const GivenFields &fields) {
  bool ofProducers = fields.producerRegisters.has_value();
  if (ofProducers != fields.consumerRegisters.has_value())
    return emitError() << "expected producer_registers and consumer_registers, "
                          "or neither";
  if (ofProducers && fields.producers == 0)
    return emitError()
           << "expected producers for 'producer_registers', but got none";
  return success();
}

LogicalResult mlir::nm::verifyStoreBuffers(EmitError emitError,
                                           const GivenFields &fields) {
  constexpr int64_t kElements =
      StageStoresOp::kSlotSide * StageStoresOp::kSlotSide;
  int64_t slots = fields.storeBuffers.value_or(0);
  if (slots == 0)
    return success();
  if (fields.producers == 0)
    return emitError()
           << "expected producers for 'store_buffers', but got none";
  if (fields.splitK.value_or(1) != 1)
    return emitError() << "expected k in one part for 'store_buffers', but got "
                       << *fields.splitK;
  if (!fields.warpgroupM)
    return success();
  int64_t parts = *fields.warpgroupM * *fields.warpgroupN / kElements;
  if (parts % slots != 0)
    return emitError() << "expected store_buffers to divide the " << parts
                       << " parts of 64 x 64 of a warpgroup's tile, but got "
                       << slots;
  return success();
}
