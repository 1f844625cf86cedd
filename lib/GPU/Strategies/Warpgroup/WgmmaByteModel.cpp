//===- WgmmaByteModel.cpp - Strategy wgmma for operands of 8 bits ---------===//
//
// Tiles of units of a row-major A, which warps of their own copy. The tensor
// cores make 8192 FLOP of 8 bits a clock and multiprocessor.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/WgmmaByteModel.h"

#include "GPU/Strategies/Warpgroup/TurnsModel.h"
#include "GPU/Strategies/Warpgroup/WarpgroupModel.h"

#include "nm/GPU/Stage/RowBytes.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

/// Bytes of k and columns of an instruction, and the most bytes of an access
/// that copies.
static constexpr int64_t kInstructionK = 32, kPanel = 64, kCopyBytes = 16;
/// Columns of the widest panel, of which two warpgroups have 64 each, and the
/// most rows of A of a warpgroup.
static constexpr int64_t kMaxPanel = 128, kMaxGroupM = 256;
/// The most kept rows of a tile that is a part of a window, 128 bytes of a row
/// of A, and of one that is whole windows.
static constexpr int64_t kRowsOfTile = 128, kMaxRowsOfTile = 256;
static constexpr int64_t kProducers = 4, kMinStages = 3, kMaxStages = 4;
/// Clocks of a step's barriers beside its products or copies. Measured on an
/// H200 (2026-11-23): m of 64 to 4096, k and n of 4096 and 11008, units of 16
/// and 64 rows, 64 and 128 columns, at 50 to 87.5 %.
static constexpr double kStepClocks = 30;
/// Bytes of a unit that a multiprocessor receives at once. A unit of fewer, 16
/// or 32, takes as long as one of 64; and the bytes of a sector, which two
/// units of 16 may share.
static constexpr int64_t kWideBytes = 64, kSectorBytes = 32;
/// Clocks of a copy of a panel of A beside its bytes, which shared memory takes
/// as they come. The kernel before, which makes the panels, goes by the
/// memory's rate. Measured on an H100 (2026-11-26) as parts of the time without
/// panels: m of 256, 1024 and 4096, n of 4096 and 11008, k of 4096, units of 16
/// and 64 rows, i8 and f8E4M3FN.
static constexpr double kPanelClocks = 80;
/// Rows of A up to which tensor copies take 5 to 9 % less than those of
/// threads. Of more rows they take up to 10 % more.
static constexpr int64_t kTensorRows = 256;
/// Tiles of a block from which on a C of 16-bit elements leaves through slots.
static constexpr int64_t kLeastTurns = 3;

bool nm::gathersByteUnits(const Pattern &pattern, int64_t rows) {
  if (pattern.m <= 1)
    return false;
  bool areUnits =
      rows % pattern.bk == 0 && pattern.n % (rows / pattern.bk) == 0;
  return areUnits || pattern.bk % rows == 0;
}

namespace {
/// The rows of a tile along k: rows of the dense B, and those that are kept.
struct TileRows {
  int64_t ofB, kept;
};

class Candidate : public WarpgroupBlock {
public:
  using WarpgroupBlock::WarpgroupBlock;

  /// Whether there is such a schedule.
  bool set(int64_t panel, int64_t groupM, int64_t groups, const TileRows &rows,
           bool hasPanelsOfA);
  void estimate();

private:
  int64_t bytesOfTile() const {
    return rows.kept * (schedule.blockM + schedule.blockN);
  }
  double multiplyClocks() const;
  double copyClocks() const;
  double packMicroseconds() const;
  bool prefersTensorCopies() const;

  TileRows rows = {};
};
} // namespace

/// What tiles may have: whole windows, or a part of one.
static std::vector<TileRows> listRows(const Pattern &pattern) {
  std::vector<TileRows> list;
  int64_t kept = pattern.keptRows();
  for (int64_t windows = 1; windows * kept <= kMaxRowsOfTile; ++windows)
    if (windows * kept % kInstructionK == 0)
      list.push_back({windows * pattern.windowRows(), windows * kept});
  for (int64_t part = kInstructionK; part <= kRowsOfTile; part += kInstructionK)
    if (part < kept && part < pattern.windowRows() &&
        gathersByteUnits(pattern, part))
      list.push_back({part, part});
  return list;
}

bool Candidate::set(int64_t panel, int64_t groupM, int64_t groups,
                    const TileRows &tileRows, bool hasPanelsOfA) {
  rows = tileRows;
  if (!start(panel, rows.ofB, groupM, kPanel, groups))
    return false;
  schedule.producers = kProducers;
  schedule.promote = product.promotesFloat8();
  schedule.copyA = hasPanelsOfA            ? CopyKind::Bulk
                   : prefersTensorCopies() ? CopyKind::Tensor
                                           : CopyKind::Direct;
  setStages(bytesOfTile(), kMaxStages, chip.sharedPerBlock);
  schedule.packing = packForWgmma(product, schedule);
  if (countTurns() >= kLeastTurns)
    addStoreBuffers(bytesOfTile());
  return schedule.stages >= kMinStages;
}

/// Whether rows of A start at multiples of 16 bytes, as tensor copies want it,
/// and rows are few, or promoted sums leave threads few registers for copies.
bool Candidate::prefersTensorCopies() const {
  if (product.factorOfRows() % kBulkRowBytes != 0 ||
      product.pattern.bk % kWideBytes != 0 || product.m == GpuProduct::kUnknown)
    return false;
  return product.m <= kTensorRows ||
         (schedule.promote && schedule.blockN == kMaxPanel);
}

double Candidate::multiplyClocks() const {
  double sums = double(schedule.blockM * schedule.blockN);
  double clocks = double(rows.kept) * sums / chip.rates.tensor;
  if (schedule.promote)
    clocks += sums / double(chip.fmaPerClock);
  return clocks;
}

/// How many times longer than by their bytes units take that are narrower than
/// what a multiprocessor receives at once. Units of 16 bytes share a sector
/// where both of its halves are kept.
static double narrowFactor(const Pattern &pattern) {
  if (pattern.bk % kWideBytes == 0)
    return 1;
  double density = double(pattern.n) / double(pattern.m);
  double shared = pattern.bk < kSectorBytes ? 1 - density / 2 : 1;
  double slots = kWideBytes % pattern.bk == 0
                     ? double(kWideBytes) / double(pattern.bk)
                     : 2;
  return slots * shared;
}

double Candidate::copyClocks() const {
  if (schedule.copyA == CopyKind::Bulk) {
    double clocks = double(rows.kept) / kCopyBytes * kPanelClocks +
                    double(bytesOfTile()) / chip.rates.shared;
    // Blocks that make several tiles want no rows of A at once.
    return countTurns() == 1 ? clocks
                             : clocks * kSharedIngress / chip.rates.received;
  }
  int64_t stride = std::gcd(product.factorOfRows(), kCopyBytes);
  double activations = double(rows.kept * schedule.blockM) *
                       narrowFactor(product.pattern) * double(kCopyBytes) /
                       double(stride);
  return (activations + double(rows.kept * schedule.blockN)) /
         chip.rates.received;
}

/// What the kernel takes that puts A into panels, unless it is one that makes
/// A.
double Candidate::packMicroseconds() const {
  if (schedule.copyA != CopyKind::Bulk || product.isMadeElementwise)
    return 0;
  double bytes = 2 * double(product.rows() * product.k);
  return chip.rates.earlyLaunch + bytes / chip.memoryGBs / 1000;
}

void Candidate::estimate() {
  setFloorsOfKeptRows(/*elementBytes=*/1, /*operations=*/1);
  TurnsOfBlocks blocks;
  blocks.turns = countTurns();
  blocks.steps = ceilDiv(product.pattern.condensedRows(product.k), rows.kept);
  blocks.step = std::max(multiplyClocks(), copyClocks()) + kStepClocks;
  blocks.stored = bytesOfTileOfC();
  if (hasStoreBuffers())
    blocks.storeRate = chip.rates.stored;
  blocks.start = chip.rates.start;
  schedule.microseconds =
      blocks.microseconds(chip, schedule.memoryFloor) + packMicroseconds();
}

bool nm::canHavePanels(const GpuProduct &product, int64_t rowsOfB) {
  int64_t windowRows = product.pattern.windowRows(),
          filled = ceilDiv(product.k, windowRows) * windowRows;
  return !product.isMMajor && product.k % kCopyBytes == 0 &&
         product.pattern.bk % kCopyBytes == 0 &&
         (rowsOfB < windowRows || filled % rowsOfB == 0);
}

static Error refuse(const std::string &reason) {
  return Error{"strategy wgmma " + reason};
}

static std::optional<Error> whyNot(const GpuProduct &product) {
  if (product.type != ElementType::I8 && !isFloat8(product.type))
    return refuse("multiplies no " + std::string(elementName(product.type)));
  if (product.isMMajor)
    return refuse("cannot transpose an m-major A of " +
                  std::string(elementName(product.type)));
  if (product.pattern.bk % kCopyBytes != 0)
    return refuse("copies units of a multiple of " +
                  std::to_string(kCopyBytes) + " rows of " +
                  std::string(elementName(product.type)) +
                  ", but blocks have " + std::to_string(product.pattern.bk));
  if (product.factorOfRows() % kAsyncRowBytes != 0)
    return refuse("copies rows of A at multiples of " +
                  std::to_string(kAsyncRowBytes) +
                  " bytes, but got rows that are " +
                  std::to_string(product.factorOfRows()) + " apart");
  return std::nullopt;
}

Result<GpuSchedule> nm::selectWgmmaByteSchedule(const GpuProduct &product,
                                                const GpuChip &chip,
                                                std::optional<bool> panelsOfA) {
  if (std::optional<Error> reason = whyNot(product))
    return *reason;
  std::optional<GpuSchedule> best;
  Candidate candidate(product, chip);
  for (const TileRows &rows : listRows(product.pattern))
    for (int64_t panel = kPanel; panel <= kMaxPanel; panel *= 2)
      for (int64_t groupM : {int64_t(64), int64_t(128), kMaxGroupM})
        for (int64_t groups : {1, 2})
          for (bool hasPanelsOfA : {false, true}) {
            if (product.pattern.bn % panel != 0 ||
                hasPanelsOfA == !panelsOfA.value_or(hasPanelsOfA) ||
                (hasPanelsOfA && !canHavePanels(product, rows.ofB)) ||
                !candidate.set(panel, groupM, groups, rows, hasPanelsOfA))
              continue;
            candidate.estimate();
            takeFaster(candidate.schedule, best);
          }
  if (best)
    return *best;
  if (panelsOfA.value_or(false))
    return refuse("has panels of an A of whole tiles of k, but got k = " +
                  std::to_string(product.k) + " with " + product.pattern.str());
  return refuse("has no tile of a multiple of " +
                std::to_string(kInstructionK) + " kept rows of " +
                product.pattern.str() + ", at most " +
                std::to_string(kMaxRowsOfTile));
}
