//===- WgmmaByteModel.cpp - Strategy wgmma for operands of 8 bits ---------===//
//
// Tiles of units of a row-major A, which warps of their own copy. The tensor
// cores make 8192 FLOP of 8 bits a clock and multiprocessor.
//
//===----------------------------------------------------------------------===//

#include "WgmmaByteModel.h"

#include "GpuModels.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

/// Bytes of k of an instruction, columns of one, of a copy and at least.
static constexpr int64_t kInstructionK = 32, kPanel = 64, kCopyBytes = 16,
                         kLeastCopyBytes = 4;
/// The widest panel whose sums two warpgroups have, and the most rows of A of
/// one.
static constexpr int64_t kMaxPanel = 128, kMaxGroupM = 256;
/// Kept rows of a tile: as many as rows of 128 bytes have, and at most.
static constexpr int64_t kRowsOfTile = 128, kMaxRowsOfTile = 256;
static constexpr int64_t kProducers = 4, kMinStages = 3, kMaxStages = 4;
/// Bytes of the mbarriers of the rings.
static constexpr int64_t kBarrierBytes = 256;
/// Tiles along m whose blocks are neighbours, where panels share rows of A.
static constexpr int64_t kTilesAtOnceM = 4;
/// Multiply-adds of the tensor cores of a multiprocessor, a clock.
static constexpr double kTensorRate = 4096;
/// How much longer products take than that, and a step's barriers.
static constexpr double kFactor = 1.05, kFewStagesFactor = 1.2,
                        kStepClocks = 150, kCopyClocks = 100;
/// Sums that are added to totals a clock, and what of that no other warpgroup
/// multiplies in.
static constexpr double kAddedSums = 128, kOpenShare = 0.3;
/// Bytes that a multiprocessor receives a clock, and of few rows of A, whose
/// weights come from memory. Memory gives 32 bytes at least.
static constexpr double kIngress = 50, kColdIngress = 36;
static constexpr int64_t kFewRows = 64, kSectorBytes = 32;
/// Bytes of C stored a clock, what comes before a block's first tile, the clock
/// under load, of the highest there is, and the launch.
static constexpr double kStoreRate = 20, kStartClocks = 2000, kClock = 0.85,
                        kMicroseconds = 0.5;

bool nm::gathersByteUnits(const Pattern &pattern, int64_t rows) {
  if (pattern.m <= 1)
    return false;
  bool areUnits =
      rows % pattern.bk == 0 && pattern.n % (rows / pattern.bk) == 0;
  return areUnits || pattern.bk % rows == 0;
}

namespace {
/// The rows of a tile along k, of B and kept.
struct TileRows {
  int64_t ofB, kept;
};

class Candidate {
public:
  Candidate(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip) {}

  /// Whether there is such a schedule.
  bool set(int64_t panel, int64_t groupM, int64_t groups, const TileRows &rows);
  void estimate();

  WgmmaSchedule schedule;

private:
  int64_t bytesOfTile() const {
    return rows.kept * (schedule.blockM + schedule.blockN);
  }
  double multiplyClocks() const;
  double copyClocks(int64_t turns) const;
  void setFloors();

  const GpuProduct &product;
  const GpuChip &chip;
  TileRows rows = {};
};
} // namespace

/// Those that a tile may have: whole windows, and parts of one.
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
                    const TileRows &tileRows) {
  rows = tileRows;
  schedule = WgmmaSchedule();
  schedule.elementBytes = 1;
  int64_t groupsN = panel / kPanel;
  if (groups % groupsN != 0)
    return false;
  schedule.blockM = groupM * (groups / groupsN);
  schedule.blockN = panel;
  schedule.blockK = rows.ofB;
  schedule.groupM = groupM;
  schedule.groupN = kPanel;
  schedule.producers = kProducers;
  schedule.totals = isFloat(product.type);
  schedule.blocks = chip.multiprocessors;
  schedule.tilesAtOnceM = panel == kPanel ? 1 : kTilesAtOnceM;
  schedule.stages = std::min(kMaxStages, (chip.sharedPerBlock - kBarrierBytes) /
                                             bytesOfTile());
  schedule.sharedBytes = schedule.stages * bytesOfTile() + kBarrierBytes;
  schedule.pack(product.pattern);
  // A block is not much larger than the product.
  bool isLarge = schedule.blockM >= 2 * product.rows() &&
                 schedule.blockM > kPanel * (groups / groupsN);
  return schedule.stages >= kMinStages && !isLarge;
}

double Candidate::multiplyClocks() const {
  double sums = double(schedule.blockM * schedule.blockN);
  double clocks = double(rows.kept) * sums / kTensorRate *
                  (schedule.stages == kMinStages ? kFewStagesFactor : kFactor);
  if (schedule.totals)
    clocks += kOpenShare * sums / kAddedSums;
  return clocks + kStepClocks;
}

/// Units narrower than a sector take as long as one.
double Candidate::copyClocks(int64_t turns) const {
  double ingress = product.rows() <= kFewRows ? kColdIngress : kIngress;
  int64_t stride = std::gcd(product.factorOfRows(), kCopyBytes);
  double wide = double(std::max(kSectorBytes, product.pattern.bk)) /
                double(product.pattern.bk);
  double activations = double(rows.kept * schedule.blockM) * wide *
                       double(kCopyBytes) / double(stride);
  (void)turns;
  return (activations + double(rows.kept * schedule.blockN)) / ingress +
         kCopyClocks;
}

void Candidate::setFloors() {
  double m = double(product.rows()), n = double(product.n),
         kept = double(product.pattern.condensedRows(product.k));
  double clocks = chip.multiprocessors * chip.clockGHz * 1000;
  schedule.tensorFloor = m * n * kept / kTensorRate / clocks;
  double bytes = m * double(product.k) + kept * n +
                 m * n * double(elementSize(product.outputType));
  schedule.memoryFloor = bytes / chip.memoryGBs / 1000;
}

void Candidate::estimate() {
  setFloors();
  int64_t tiles = ceilDiv(product.rows(), schedule.blockM) *
                  ceilDiv(product.n, schedule.blockN);
  int64_t turns = ceilDiv(tiles, schedule.blocks);
  int64_t steps = ceilDiv(product.pattern.condensedRows(product.k), rows.kept);
  double step = std::max(multiplyClocks(), copyClocks(turns));
  double stored = double(schedule.blockM * schedule.blockN) *
                  double(elementSize(product.outputType));
  double clocks = kStartClocks +
                  double(turns) * (double(steps) * step + stored / kStoreRate);
  schedule.microseconds =
      std::max(clocks / kClock / 1000 / chip.clockGHz, schedule.memoryFloor) +
      kMicroseconds;
}

static Error refuse(const std::string &reason) {
  return Error{"strategy wgmma " + reason};
}

static std::optional<Error> whyNot(const GpuProduct &product) {
  if (product.type != ElementType::I8 && product.type != ElementType::F8E4M3)
    return refuse("multiplies no " + std::string(elementName(product.type)));
  if (product.isKMajor)
    return refuse("cannot transpose a k-major A of " +
                  std::string(elementName(product.type)));
  if (product.pattern.bk % kCopyBytes != 0)
    return refuse("copies units of a multiple of " +
                  std::to_string(kCopyBytes) + " rows of " +
                  std::string(elementName(product.type)) +
                  ", but blocks have " + std::to_string(product.pattern.bk));
  if (product.factorOfRows() % kLeastCopyBytes != 0)
    return refuse("copies rows of A at multiples of " +
                  std::to_string(kLeastCopyBytes) + " bytes");
  return std::nullopt;
}

Result<WgmmaSchedule> nm::selectWgmmaByteSchedule(const GpuProduct &product,
                                                  const GpuChip &chip) {
  if (std::optional<Error> reason = whyNot(product))
    return *reason;
  std::optional<WgmmaSchedule> best;
  Candidate candidate(product, chip);
  for (const TileRows &rows : listRows(product.pattern))
    for (int64_t panel = kPanel; panel <= kMaxPanel; panel *= 2)
      for (int64_t groupM : {int64_t(64), int64_t(128), kMaxGroupM})
        for (int64_t groups : {1, 2}) {
          if (product.pattern.bn % panel != 0 ||
              !candidate.set(panel, groupM, groups, rows))
            continue;
          candidate.estimate();
          if (!best || candidate.schedule.microseconds < best->microseconds)
            best = candidate.schedule;
        }
  if (best)
    return *best;
  return refuse("has no tile of a multiple of " +
                std::to_string(kInstructionK) + " kept rows of " +
                product.pattern.str() + ", at most " +
                std::to_string(kMaxRowsOfTile));
}
