//===- SimtCopies.cpp - How operands of strategy simt are staged ----------===//

#include "nm/GPU/Strategies/Simt/SimtCopies.h"

#include "GPU/Select/GpuModels.h"

#include "nm/GPU/Stage/LateLoads.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Simt/SimtLimits.h"

#include <algorithm>
#include <string>

using namespace nm;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

bool SimtBlock::hasUnreadIndices() const {
  // Lists that name one unit after the other leave those that are kept.
  if (packsRows && stagedRows == keptRows())
    return hasFullTiles;
  return pattern.m == 1 && pattern.bk % kInterleavedRows == 0;
}

int64_t SimtBlock::stageBytes(const ScheduleFields &copies) const {
  int64_t a = copies.layoutA == TileOrder::RowMajor
                  ? m * k
                  : stagedRows * (m + kRowPadding);
  int64_t bytes =
      countBufferBytes(4 * a) + countBufferBytes(4 * keptRows() * n);
  if (copies.prefetch || hasUnreadIndices())
    return bytes;
  return bytes + countBufferBytes(k / pattern.windowRows() * pattern.n * n /
                                  pattern.bn);
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

static bool isPowerOfTwo(int64_t value) { return (value & (value - 1)) == 0; }

/// Elements of a 16-byte word, and of eight, which are swizzled together.
static constexpr int64_t kWord = 4, kWordGroup = 8 * kWord;

static Error expectMultiple(const char *field, const char *name, int64_t size,
                            int64_t of) {
  return Error{std::string("expected ") + name + " to be a multiple of " +
               std::to_string(of) + " for " + field + ", but got " +
               std::to_string(size)};
}

static Error expectAligned(const char *field, int64_t width) {
  return Error{std::string("expected rows of A of whole 16-byte words for ") +
               field + ", but accesses of them take " + std::to_string(width) +
               " elements"};
}

static Status verifySquares(const SimtBlock &block, TileOrder layoutA) {
  if (block.widthOfA != kSquare)
    return expectAligned("copy_a = squares", block.widthOfA);
  // Interleaved rows are stored by whole warps.
  int64_t rows =
      layoutA == TileOrder::Interleaved ? kSquareRowsOfWarp * kSquare : kSquare;
  if (block.m % rows != 0)
    return expectMultiple("copy_a = squares", "the block tile's m", block.m,
                          rows);
  return Status::success();
}

static Status verifyMatrices(const SimtBlock &block, TileOrder layoutA) {
  const char *field = "copy_a = matrices";
  if (layoutA != TileOrder::MMajor || block.packsRows)
    return Error{std::string("expected layout_a = m_major and all rows of A "
                             "for ") +
                 field};
  if (!block.hasLoop || block.stages == 1)
    return Error{std::string("expected two stages or more, and as many tiles "
                             "along k, for ") +
                 field};
  if (block.widthOfA != kWord)
    return expectAligned(field, block.widthOfA);
  if (block.m % kFragmentRows != 0)
    return expectMultiple(field, "the block tile's m", block.m, kFragmentRows);
  if (block.k % kFragmentColumns != 0)
    return expectMultiple(field, "the block tile's k", block.k,
                          kFragmentColumns);
  // Which warp refills a fragment must be the one that has emptied it, and
  // without a branch.
  int64_t fragments = block.m / kFragmentRows * (block.k / kFragmentColumns);
  if (fragments % block.warps() != 0)
    return expectMultiple(field, "the tile's fragments of 16 x 32 elements",
                          fragments, block.warps());
  return Status::success();
}

static Status verifyCopy(const SimtBlock &block, const ScheduleFields &copies) {
  bool isDirect = copies.copyA == CopyKind::Direct;
  bool staysAsIs = block.isMMajor || copies.layoutA == TileOrder::RowMajor;
  if (isDirect && !staysAsIs)
    return Error{"expected copy_a = elements, squares or matrices for a "
                 "row-major A, but got direct"};
  if (!isDirect && staysAsIs)
    return Error{std::string("expected copy_a = direct for ") +
                 (block.isMMajor ? "an m-major A" : "layout_a = row_major") +
                 ", which is not transposed"};
  if (copies.copyA == CopyKind::Squares)
    return verifySquares(block, copies.layoutA);
  if (copies.copyA == CopyKind::Matrices)
    return verifyMatrices(block, copies.layoutA);
  return Status::success();
}

static Status verifyInterleaved(const SimtBlock &block) {
  const char *field = "layout_a = interleaved";
  if (block.isMMajor || block.packsRows)
    return Error{std::string("expected all rows of a row-major A for ") +
                 field};
  if (!block.sharesUnits() || !isPowerOfTwo(block.pattern.m) ||
      !isPowerOfTwo(block.pattern.bk))
    return Error{std::string("expected panels of one unit each that warps "
                             "share, and M and bk that are powers of two, "
                             "for ") +
                 field};
  if (block.k % kInterleavedRows != 0)
    return expectMultiple(field, "the block tile's k", block.k,
                          kInterleavedRows);
  if (block.m % kInterleavedSide != 0)
    return expectMultiple(field, "the block tile's m", block.m,
                          kInterleavedSide);
  return Status::success();
}

static Status verifyRowMajor(const SimtBlock &block) {
  const char *field = "layout_a = row_major";
  if (block.isMMajor || block.packsRows)
    return Error{std::string("expected all rows of a row-major A for ") +
                 field};
  if (!block.gathers() || block.pattern.bk % kWord != 0)
    return Error{std::string("expected units narrower than a warp's tile, of "
                             "a multiple of 4 rows, for ") +
                 field + ", but got units of " +
                 std::to_string(block.pattern.bk) + " x " +
                 std::to_string(block.pattern.bn)};
  if (block.widthOfA != kWord)
    return expectAligned(field, block.widthOfA);
  // Words of rows that start within 128 bytes would go to shared memory apart.
  for (auto [name, size] :
       {std::pair<const char *, int64_t>("the elements between rows of A",
                                         block.strideOfA),
        {"the block tile's k", block.k},
        {"the block tile's m", block.m}})
    if (size % kWordGroup != 0)
      return expectMultiple(field, name, size, kWordGroup);
  return Status::success();
}

/// Registers have no address: which unit is meant must be constant. A ragged
/// tile lacks positions, which a copy fills up.
static Status verifyPrefetch(const SimtBlock &block) {
  if (block.pattern.m == 1 || !block.sharesUnits())
    return Error{"expected indices in panels of one unit each that warps "
                 "share, for prefetch = true"};
  if (int64_t rows = block.keptRows() / block.sliceK; rows > kMaxUnrolledRows)
    return Error{"expected at most " + std::to_string(kMaxUnrolledRows) +
                 " kept rows of a slice for prefetch = true, but got " +
                 std::to_string(rows)};
  if (!block.hasFullTiles)
    return Error{"expected tiles of indices that are all full for prefetch = "
                 "true"};
  return Status::success();
}

/// Whether products can be deferred to the next tile: all columns of a warp are
/// multiplied by the same row of A, or each lane gathers.
static bool canDefer(const SimtBlock &block) {
  return block.gathers() || (block.pattern.bn % kAccessWords == 0 &&
                             block.pattern.bn % block.warpN == 0);
}

Status SimtBlock::verify(const ScheduleFields &copies) const {
  if (Status copy = verifyCopy(*this, copies); !copy)
    return copy;
  if (copies.layoutA == TileOrder::Interleaved)
    if (Status layout = verifyInterleaved(*this); !layout)
      return layout;
  if (copies.layoutA == TileOrder::RowMajor)
    if (Status layout = verifyRowMajor(*this); !layout)
      return layout;
  if (copies.prefetch)
    if (Status prefetch = verifyPrefetch(*this); !prefetch)
      return prefetch;
  if (copies.defer && !canDefer(*this))
    return Error{"expected units of whole warp tiles, or narrower ones, for "
                 "defer = true, but got units of " +
                 std::to_string(pattern.bn) + " columns"};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// What is fast
//===----------------------------------------------------------------------===//

/// Kept rows among whose multiplications a tile can be moved out of a staging
/// buffer: a fragment is read, stored and refilled in turn, a row or more each,
/// and is to arrive in those that are left.
static constexpr int64_t kMinRows = 8;

/// Multiply-adds of a slice of the tile for which the same holds of their time:
/// with the 128 a clock of all chips, 768 clocks, most of which a copy takes
/// in flight. On an H200 shorter tiles take up to 10 % longer by way of a
/// staging buffer; so do slices of shorter ones, which share the multipliers.
static constexpr int64_t kMinMultiplications = 128 * 768;

/// Warps of a multiprocessor that keep each other's latencies out of sight: two
/// for each of its schedulers.
static constexpr int64_t kEnoughWarps = 8;

/// Whether memory that a staging buffer takes is no other warps'. A block that
/// has all that a block can have is alone on its multiprocessor.
static bool leavesWarps(const SimtBlock &block, int64_t otherBytes,
                        int64_t maxBytes) {
  auto countWarps = [&](int64_t bytes) {
    return maxBytes / std::max<int64_t>(1, bytes) * block.warps();
  };
  return countWarps(otherBytes + block.stagingBytes()) >=
         std::clamp<int64_t>(countWarps(otherBytes), 1, kEnoughWarps);
}

bool SimtBlock::usesStagingBuffer(const ScheduleFields &copies,
                                  int64_t maxBytes) const {
  if (isMMajor || std::max({m, n, k}) > maxBytes ||
      !verifyMatrices(*this, TileOrder::MMajor))
    return false;
  // A loop over kept rows has no places for what is moved.
  int64_t rows = keptRows() / sliceK;
  bool hasPlaces = rows >= kMinRows && rows <= kMaxUnrolledRows &&
                   m * n * rows >= kMinMultiplications;
  // Lanes that gather rows of A wait for shared memory, which a staging buffer
  // has more to do with. Tiles that are multiplied whole, as units that are
  // staged by themselves are, took 7 % longer on an H200.
  return hasPlaces && pattern.m > 1 && pattern.bn % warpN == 0 &&
         leavesWarps(*this, stageBytes(copies) * stages + totalBytes, maxBytes);
}

/// Threads of a block beyond which they have 128 registers at most: a square
/// would hold 16 of them at once, and take those that operands are read ahead
/// to.
static constexpr int64_t kMaxThreadsWithSquares = 256;

CopyKind SimtBlock::chooseCopy(const ScheduleFields &copies,
                               int64_t maxBytes) const {
  if (isMMajor || copies.layoutA == TileOrder::RowMajor)
    return CopyKind::Direct;
  bool isInterleaved = copies.layoutA == TileOrder::Interleaved;
  if (!isInterleaved && usesStagingBuffer(copies, maxBytes))
    return CopyKind::Matrices;
  bool hasRegisters = isInterleaved || threads <= kMaxThreadsWithSquares;
  return hasRegisters && verifySquares(*this, copies.layoutA)
             ? CopyKind::Squares
             : CopyKind::Elements;
}

TileOrder SimtBlock::chooseLayout(const GivenFields &given,
                                  const ScheduleFields &copies,
                                  int64_t maxBytes) const {
  if (given.copyA.value_or(CopyKind::Direct) == CopyKind::Direct &&
      verifyRowMajor(*this))
    return TileOrder::RowMajor;
  bool isStaged = given.copyA ? *given.copyA == CopyKind::Matrices
                              : usesStagingBuffer(copies, maxBytes);
  return !isStaged && verifyInterleaved(*this) ? TileOrder::Interleaved
                                               : TileOrder::MMajor;
}

/// Threads of a block, sums of a thread and kept rows of a tile beyond which
/// lanes that gather lack registers to defer, or gain nothing by it.
static constexpr int64_t kMaxGatheringThreadsToDefer = 256;
static constexpr int64_t kMaxGatheredSumsToDefer = 64;

bool SimtBlock::isWorthDeferring(TileOrder layoutA) const {
  if (!canDefer(*this))
    return false;
  if (!gathers())
    return keptRows() / sliceK <= kMaxRowsToDefer;
  if (layoutA == TileOrder::RowMajor)
    return threadM * threadN <= kMaxGatheredSumsToDefer;
  return threads <= kMaxGatheringThreadsToDefer &&
         keptRows() <= kMaxGatheredRowsToDefer;
}

/// Whether indices go to shared memory through registers: fewer of a row stand
/// side by side than an asynchronous copy takes.
bool SimtBlock::loadsIndices(const ScheduleFields &copies) const {
  int64_t ofRow = (panel == 0 ? n : panel) / pattern.bn;
  return !copies.prefetch && !hasUnreadIndices() && ofRow % kAsyncRowBytes != 0;
}

bool SimtBlock::isWorthLoadingLate(const ScheduleFields &copies) const {
  bool isOfSquares = copies.copyA == CopyKind::Squares,
       isThroughRegisters = isOfSquares || copies.copyA == CopyKind::Elements;
  if (!isThroughRegisters && !loadsIndices(copies))
    return false;
  int64_t atOnce = isOfSquares ? kSquare * kSquare : widthOfA;
  int64_t bytes = isThroughRegisters ? bytesOfLoads(m * stagedRows, atOnce,
                                                    sizeof(float), threads)
                                     : 0;
  return wantsLateLoads(threads, bytes);
}

void SimtBlock::choose(const GivenFields &given, int64_t maxBytes,
                       ScheduleFields &copies) const {
  copies.layoutA = TileOrder::MMajor;
  copies.prefetch = given.prefetch.value_or(bool(verifyPrefetch(*this)));
  copies.layoutA =
      given.layoutA ? *given.layoutA : chooseLayout(given, copies, maxBytes);
  copies.copyA = given.copyA ? *given.copyA : chooseCopy(copies, maxBytes);
  copies.defer = given.defer.value_or(isWorthDeferring(copies.layoutA));
  copies.lateLoads = given.lateLoads.value_or(isWorthLoadingLate(copies));
}
