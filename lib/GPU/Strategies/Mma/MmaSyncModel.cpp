//===- MmaSyncModel.cpp - Tiles of strategy mma_sync ----------------------===//
//
// The tiles of strategy mma_sync, and the choice by their estimated times.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/StreamModel.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

using namespace nm;

//===----------------------------------------------------------------------===//
// What chips do
//===----------------------------------------------------------------------===//

/// Bytes of an ldmatrix of four matrices.
static constexpr int64_t kMatricesBytes = 512;
/// Elements of a word of 16 bytes, which takes as long to store as a single
/// element.
static constexpr int64_t kElementsOfWord = 8;
/// Registers that a thread has beside its sums, for fragments, positions and
/// addresses.
static constexpr int64_t kOtherRegisters = 76;
/// Registers that a thread has besides where A comes by single elements.
static constexpr int64_t kEdgeRegisters = 80;
/// Instructions that take as long as an element of an image does, which is
/// loaded by itself and stored with another one; in blocks of fewer rows, where
/// a warp takes parts of several rows of k.
static constexpr int64_t kInstructionsOfPixel = 18, kOfShortRows = 24;
/// The most elements of an image that a thread has on their way, and rows of a
/// block: with more, blocks of f16 took up to twice as long. The most parts of
/// k that a cluster adds up.
static constexpr int64_t kMostPixels = 16, kMostImageRows = 64,
                         kMostPartsOfCluster = 8;
/// Rows and columns of the squares that fragments are loaded by.
static constexpr int64_t kMatrixSide = 16;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

// A warp of 128 x 32 has the fewest loads for each product of units of 32
// columns, one of 64 x 64 of wider ones; blocks of few rows take fewer.
static constexpr MmaTileShape kShapes[] = {
    {128, 256, 128, 32}, {256, 128, 128, 32}, {128, 128, 128, 32},
    {128, 256, 64, 64},  {256, 128, 64, 64},  {128, 128, 64, 64},
    {128, 128, 64, 32},  {64, 256, 64, 32},   {64, 128, 64, 32},
    {64, 128, 32, 32},   {128, 64, 64, 32},   {64, 64, 32, 32},
    {128, 128, 128, 16}, {64, 128, 64, 16},   {32, 128, 32, 32},
    {32, 64, 32, 16},    {16, 256, 16, 32},   {16, 128, 16, 32},
    {16, 64, 16, 16},
};

/// Rows of A's tile, and kept rows, beyond which a longer one saves nothing.
static constexpr int64_t kMaxTileRows = 256, kMaxKeptRows = 128;

/// Columns of a panel.
static int64_t panelOf(const Pattern &pattern, int64_t blockN) {
  return std::gcd(pattern.bn & -pattern.bn, blockN);
}

/// Rows of a row-major A up to which lanes gather its elements; more are
/// transposed before.
static constexpr int64_t kMaxRowMajorRows = 16;
/// The longest tiles of those, and of quantized weights, which are fewer bytes,
/// registers of a thread beside its sums, and clocks that a warp's gather and
/// product of a kept row takes a multiprocessor, a word of A and one of the
/// weights (11.6 us in all for 8:32 of 32 columns at 4096 x 11008).
static constexpr int64_t kMaxStreamTileRows = 512, kMaxQuantizedTileRows = 1024,
                         kStreamRegisters = 48, kWordsOfRow = 2;
/// The most warps of a block of quantized weights that hide no latency where it
/// has a multiprocessor to itself: a tile of eight takes 900 to 990 clocks.
static constexpr int64_t kQuantizedAloneWarps = 8;
/// Windows that ldmatrix takes a row of each at once.
static constexpr int64_t kWindows = 8;
/// Rows of a block below which weights are staged by several tiles ahead.
static constexpr int64_t kFewBlockRows = 64;

PanelPacking nm::chooseMmaSyncPacking(const Pattern &pattern,
                                      const GpuSchedule &tile) {
  // Rows of a chunk, and units of an index row, at most: more weights take
  // registers, and so many positions are one load.
  constexpr int64_t kMaxChunkRows = 4, kMaxIndexRows = 16;
  PanelPacking packing;
  packing.panel = panelOf(pattern, tile.blockN);
  packing.indexBits = 8;
  // Of a slice.
  int64_t windows = ceilDiv(tile.blockK, pattern.windowRows() * tile.sliceK);
  if (tile.bits != 0) {
    packing.bits = tile.bits;
    packing.panel = std::max(kMatrixSide, panelOf(pattern, tile.warpN));
    packing.chunkRows = kMatrixSide;
    windows = alignTo(windows, packing.squareWindows(pattern));
    if (windows % kWindows == 0)
      packing.chunkRows = 2;
    // The schedule says how many there are.
    packing.bits = 0;
    return packing;
  }
  int64_t power = pattern.n & -pattern.n;
  if (windows % kWindows == 0 && pattern.bk == 1 && power > 1 && !tile.pack &&
      tile.blockM >= kFewBlockRows) {
    packing.chunkRows = std::min(power, kMaxChunkRows);
    packing.indexRows = std::min(power, kMaxIndexRows);
  }
  return packing;
}

bool nm::hasMmaSyncFragments(const PanelPacking &packing) {
  return (packing.chunkRows == 2 || packing.chunkRows == 4) &&
         packing.chunkColumns == 1 && packing.indexRows <= 16 &&
         packing.indexRows % packing.chunkRows == 0;
}

/// Bytes of the scales that a tile of quantized weights has.
static int64_t bytesOfScales(const GpuProduct &product,
                             const GpuSchedule &tile) {
  return product.weightBits == 0 ? 0
                                 : ceilDiv(tile.blockK, product.scaleGroup) *
                                       tile.blockN * kMmaBytes;
}

/// The clocks in which a multiprocessor's four schedulers issue what converts
/// 16 x 16 quantized weights (DequantizeWords.cpp); 0 where they are not.
static double convertedSquareClocks(const GpuProduct &product) {
  constexpr int64_t kSchedulers = 4;
  constexpr int64_t kOfFour = 13, kOfBytes = 14, kOfBytesBF16 = 44;
  if (product.weightBits == 0)
    return 0;
  int64_t instructions = product.weightBits == 4             ? kOfFour
                         : product.type == ElementType::BF16 ? kOfBytesBF16
                                                             : kOfBytes;
  return double(instructions) / kSchedulers;
}

/// Whether tiles start with groups of rows that share a scale, slices are of
/// whole groups or parts of one, and squares of quantized weights are whole.
static bool fitsGroups(const GpuProduct &product, const GpuSchedule &tile) {
  if (product.weightBits == 0)
    return true;
  PanelPacking packing = tile.packing;
  packing.bits = product.weightBits;
  int64_t group = product.scaleGroup, slice = tile.blockK / tile.sliceK,
          step = packing.windowStep(product.pattern) *
                 product.pattern.windowRows();
  return slice % step == 0 &&
         (group >= product.k || (tile.blockK % group == 0 &&
                                 (slice % group == 0 || group % slice == 0)));
}

namespace {
/// A candidate, and what it takes.
class Estimate : public MmaEstimate {
public:
  Estimate(const GpuProduct &product, const GpuChip &chip, GpuSchedule given)
      : MmaEstimate(product, chip, std::move(given)) {
    const Pattern &pattern = product.pattern;
    int64_t windows = tile.blockK / pattern.windowRows();
    kept = windows * pattern.keptRows();
    isSpread = windows % kWindows == 0;
    stagedRows = tile.blockK;
    if (tile.pack) {
      PanelPacking lists = tile.packing;
      lists.colInfo = tile.blockN;
      stagedRows = windows * lists.unitsOfList(pattern) * pattern.bk;
    }
  }

  int64_t sharedBytes() const override {
    int64_t weights =
        isInPlace() ? 0 : kept * tile.blockN * product.bitsOfWeight() / 8;
    return tile.stages *
           (countBufferBytes(stagedRows * tile.blockM * kMmaBytes) +
            countBufferBytes(weights) +
            countBufferBytes(bytesOfScales(product, tile)));
  }
  int64_t residentBlocks() const override;
  double microseconds() const override {
    if (product.hasImage)
      return ofImage();
    // With weights in place, whose clocks are a sum (see tileClocks), 0.94 to
    // 1.06 at 4096 cubed and 50 to 87.5 % of VW32.
    double measured = isInPlace() ? 1 : kMeasuredMma;
    return std::max(
        microsecondsAt(measured * clocks(), chip.clockGHz, chip.rates.received),
        streamMicroseconds());
  }

  /// Elements of A that each thread loads of a tile.
  int64_t elementsOfThread() const {
    return ceilDiv(stagedRows * tile.blockM, warps() * kWarpSize);
  }

private:
  bool isInPlace() const { return hasMmaSyncFragments(tile.packing); }
  /// Whether rows of A are not whole words, or not known to be, so that no
  /// asynchronous copies take them.
  bool isByElements() const { return product.factorOfRows() % 2 != 0; }
  double ofImage() const;
  double streamMicroseconds() const;
  int64_t squares() const {
    if (!isSpread)
      return ceilDiv(kept, kMatrixSide);
    int64_t windows = tile.blockK / product.pattern.windowRows();
    return windows / kWindows * ceilDiv(product.pattern.keptRows(), 2);
  }
  double multiplyClocks() const;
  double sharedClocks() const;
  double bytesOfA() const {
    return double(kMmaBytes) * double(stagedRows * tile.blockM);
  }
  double bytesOfWeights() const {
    return double(product.bitsOfWeight() * kept * tile.blockN) / 8 +
           double(bytesOfScales(product, tile));
  }
  /// The clocks in which a tile's weights are converted.
  double convertClocks() const {
    return double(warps() * squares() * tile.warpN / kMatrixSide) *
           convertedSquareClocks(product);
  }
  double tileClocks(int64_t blocks) const override;

  /// Kept rows of a tile, and rows of A that are staged.
  int64_t kept, stagedRows;
  /// Whether ldmatrix reads rows of eight windows at once, and thus in
  /// different banks.
  bool isSpread;
};
} // namespace

int64_t Estimate::residentBlocks() const {
  // Weights of these squares, the next ones, and the next tile's first.
  int64_t weights =
      isInPlace() ? 3 * tile.packing.chunkRows * tile.warpN / 8 : 0;
  int64_t registers = sums() + kOtherRegisters + weights;
  // Elements of A, and bounds of its rows.
  if (product.hasImage)
    registers += elementsOfThread();
  else if (isByElements())
    registers +=
        stagedRows * tile.blockM / (warps() * kWarpSize) + kEdgeRegisters;
  if (registers > kMaxRegisters)
    return 0;
  return countResident(registers);
}

double Estimate::multiplyClocks() const {
  return 2.0 * double(tile.blockM * tile.blockN * squares() * kMatrixSide) /
         chip.rates.mma;
}

double Estimate::sharedClocks() const {
  int64_t units = std::max<int64_t>(
      1, tile.warpN / std::min(tile.packing.panel, product.pattern.bn));
  double matrices = double(units * tile.warpM) +
                    double(tile.warpN * product.bitsOfWeight()) / 16;
  double loads = matrices / double(kMatrixSide) * double(kMatricesBytes) /
                 chip.rates.shared;
  double copied = bytesOfA() * double(isByElements() ? kElementsOfWord : 1) +
                  (isInPlace() ? 0 : bytesOfWeights());
  return double(warps() * squares()) * loads + copied / chip.rates.shared;
}

/// The microseconds in which weights come from memory to fragments, where each
/// is read by one block: two squares of each column are on their way. With 64
/// rows, 8192 x 8192 and weights cold, kernels took 0.85 to 1.3 times as long
/// as estimated so, at 50 and 75 % of VW8 to VW32 (an H200, 2026-11-28).
double Estimate::streamMicroseconds() const {
  constexpr int64_t kSquaresAhead = 2;
  int64_t columnBlocks =
      product.batch * ceilDiv(product.n, tile.blockN) * tile.splitK;
  if (!isInPlace() || product.rows() > tile.blockM)
    return 0;
  int64_t places = residentBlocks() * chip.multiprocessors;
  double inFlight = double(std::min(columnBlocks, places) * tile.blockN *
                           kSquaresAhead * kMatrixSide * kMmaBytes);
  double bytes =
      double(product.batch * product.pattern.condensedRows(product.k) *
             product.n * kMmaBytes);
  return bytes / inFlight * kBusyLatency + chip.rates.launch +
         sumMicroseconds(chip.rates.received);
}

double Estimate::ofImage() const {
  double time = clocks() / chip.clockGHz / 1000 + chip.rates.launch;
  // Blocks of a cluster add up their parts of k. One image of 256 x 14 x 14 and
  // of 512 x 7 x 7 takes 5.0 and 6.0 us so, on an H200.
  if (tile.splitK > 1)
    time += chip.rates.launch / 2;
  return std::max(time, tile.memoryFloor);
}

/// The clocks of a tile of k, with `blocks` blocks on a multiprocessor.
double Estimate::tileClocks(int64_t blocks) const {
  // The numbers of rows are loaded first, then the elements that these name.
  // Channels that are last take as long as planes.
  if (product.hasImage) {
    int64_t ofPixel =
        tile.blockM < kMostImageRows ? kOfShortRows : kInstructionsOfPixel;
    return chip.rates.latency / 2 +
           double(blocks * stagedRows * tile.blockM * ofPixel) /
               (4 * kWarpSize);
  }
  double multiply = multiplyClocks(), shared = sharedClocks();
  bool startWithLines = product.factorOfRows() * kMmaBytes % kLineBytes == 0;
  double copies =
      (bytesOfA() / (startWithLines ? 1 : kUnalignedShare) + bytesOfWeights()) /
      chip.rates.received;
  // Weights in place are loaded two squares ahead, which take as long as the
  // loads: multiplications wait behind the copies.
  double bound = isInPlace() ? std::max(shared, multiply + copies)
                             : std::max({multiply, shared, copies});
  // Blocks hide each other's waits, as do a scheduler's warps.
  double atOnce = std::max(1.0, double(blocks * warps()) / 4);
  double waits = chip.rates.barrier + kNotHidden * std::min(multiply, shared);
  return double(blocks) * (bound + convertClocks()) + 2 * waits / atOnce;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(const GpuProduct &product, const GpuChip &chip)
      : product(product), chip(chip), choice(product, chip) {}

  std::optional<GpuSchedule> run() {
    if (!product.isMMajor)
      return runStream();
    if (product.hasImage)
      return runImage();
    for (const MmaTileShape &shape : kShapes)
      if (fits(shape))
        for (int64_t windows = 1; isWorthwhile(windows); ++windows)
          visitTile(shape, windows);
    return choice.best;
  }

  /// Tiles of few rows of a row-major A.
  std::optional<GpuSchedule> runStream() const;

private:
  bool fits(const MmaTileShape &shape) const {
    int64_t panel = panelOf(product.pattern, shape.blockN);
    // A block of half as many rows would do.
    bool hasRows =
        shape.blockM <= kMatrixSide || shape.blockM / 2 < product.rows();
    return hasRows && (panel % shape.warpN == 0 || shape.warpN % panel == 0) &&
           shape.hasRegisters(product.pattern.condensedRows(product.k));
  }
  bool isWorthwhile(int64_t windows) const {
    const Pattern &pattern = product.pattern;
    if (windows == 1)
      return true;
    int64_t rows = windows * pattern.windowRows();
    return rows <= kMaxTileRows &&
           windows * pattern.keptRows() <= kMaxKeptRows &&
           rows - pattern.windowRows() < product.k;
  }
  std::optional<GpuSchedule> runImage();
  void visitTile(const MmaTileShape &shape, int64_t windows);
  /// Whether blocks that copy an image are to be considered.
  bool fitsImage(const GpuSchedule &tile) const;
  /// The most parts of k, where blocks leave half of the chip idle.
  int64_t mostPartsOfImage(const GpuSchedule &tile) const {
    int64_t blocks = product.batch * ceilDiv(product.rows(), tile.blockM) *
                     ceilDiv(product.n, tile.blockN);
    bool isFull = 2 * blocks >= chip.multiprocessors;
    return chip.hasClusters() && !isFull ? kMostPartsOfCluster : 1;
  }
  void setFloorsOf(GpuSchedule &tile) const;
  std::optional<GpuSchedule> streamTile(int64_t slices, int64_t windows,
                                        int64_t columns) const;

  const GpuProduct &product;
  const GpuChip &chip;
  MmaChoice choice;
};
} // namespace

void Search::visitTile(const MmaTileShape &shape, int64_t windows) {
  const Pattern &pattern = product.pattern;
  GpuSchedule tile = shape.makeSchedule(SourceKind::MmaGathered,
                                        windows * pattern.windowRows());
  tile.bits = product.weightBits;
  tile.packing = chooseMmaSyncPacking(pattern, tile);
  if (!fitsGroups(product, tile))
    return;
  setFloorsOf(tile);
  PanelPacking lists;
  lists.panel = tile.packing.panel;
  lists.colInfo = shape.blockN;
  // Panels that are narrower than a unit make it a unit of their columns.
  Pattern narrowed = pattern;
  narrowed.bn = std::min(narrowed.bn, lists.panel);
  bool canPack = product.weightBits == 0 && bool(lists.verify(narrowed));
  for (bool packs : {false, true}) {
    if (packs ? product.rowPacking == RowPacking::Never || !canPack
              : product.rowPacking == RowPacking::Always)
      continue;
    tile.pack = packs;
    tile.packing = chooseMmaSyncPacking(pattern, tile);
    if (!product.hasImage)
      choice.visit<Estimate>(tile);
    else if (fitsImage(tile))
      choice.visit<Estimate>(tile, mostPartsOfImage(tile));
  }
}

bool Search::fitsImage(const GpuSchedule &tile) const {
  Estimate estimate(product, chip, tile);
  bool isWhole = product.k % tile.blockK == 0;
  // Wide blocks were measured of the most rows alone.
  bool isMeasured = (tile.blockM == kMostImageRows && tile.warpN >= 32) ||
                    (tile.blockM < kMostImageRows && tile.blockN <= 64);
  bool isLeast =
      tile.blockM == kMatrixSide && tile.blockK == product.pattern.windowRows();
  return isLeast ||
         (isWhole && isMeasured && estimate.elementsOfThread() <= kMostPixels);
}

/// Blocks whose parts of k those of a cluster add up.
std::optional<GpuSchedule> Search::runImage() {
  for (const MmaTileShape &shape : kShapes)
    if (fits(shape))
      for (int64_t windows = 1; isWorthwhile(windows); ++windows)
        visitTile(shape, windows);
  if (!choice.best)
    return std::nullopt;
  GpuSchedule best = *choice.best;
  best.clusterK = best.splitK;
  // What goes through registers gains nothing by more.
  best.stages = 2;
  best.sharedBytes = Estimate(product, chip, best).sharedBytes();
  return best;
}

void Search::setFloorsOf(GpuSchedule &tile) const {
  const Pattern &pattern = product.pattern;
  double kept = double(pattern.condensedRows(product.k)), n = double(product.n);
  // Weights, and an index of a byte for each unit.
  double weightBytes = double(product.bitsOfWeight()) / 8 * kept * n +
                       kept / double(pattern.bk) * n / double(pattern.bn);
  if (product.weightBits != 0)
    weightBytes +=
        kMmaBytes * n * double(ceilDiv(product.k, product.scaleGroup));
  setLeastTimes(product, chip, chip.rates.mma, kept, weightBytes, tile);
}

/// A warp of a slice has all columns of the block.
std::optional<GpuSchedule> Search::streamTile(int64_t slices, int64_t windows,
                                              int64_t columns) const {
  const Pattern &pattern = product.pattern;
  int64_t rows = slices * windows * pattern.windowRows();
  MmaTileShape shape{kMatrixSide, columns, kMatrixSide, columns};
  GpuSchedule tile = shape.makeSchedule(SourceKind::MmaGathered, rows);
  tile.sliceK = slices;
  tile.bits = product.weightBits;
  tile.packing = chooseMmaSyncPacking(pattern, tile);
  if (!fitsGroups(product, tile))
    return std::nullopt;
  setFloorsOf(tile);
  int64_t kept = slices * windows * pattern.keptRows();
  int64_t units = columns / std::min({columns, tile.packing.panel, pattern.bn});
  StreamTile parts;
  parts.activationBytes = kMatrixSide * rows * kMmaBytes;
  parts.valueBytes = kept * columns * product.bitsOfWeight() / 8;
  parts.copiedIndexBytes = bytesOfScales(product, tile);
  parts.indexBytes = kept / pattern.bk * units + parts.copiedIndexBytes;
  parts.registers = shape.sumsOfThread() + kStreamRegisters;
  parts.clocks =
      double(slices) *
      double(ceilDiv(windows * pattern.keptRows(), kMatrixSide)) *
      (double(kWordsOfRow * kMatrixSide * units) +
       double(columns / kMatrixSide) * convertedSquareClocks(product));
  if (windows * pattern.keptRows() % kMatrixSide != 0)
    parts.waits = kTileBarrier;
  if (product.weightBits != 0)
    parts.aloneWarps = kQuantizedAloneWarps;
  parts.startsBeside = false;
  if (!shape.hasRegisters(pattern.condensedRows(product.k)))
    return std::nullopt;
  std::optional<GpuSchedule> best = chooseStages(product, chip, parts, tile);
  if (best)
    best->microseconds *= kMeasured;
  return best;
}

/// The best of tiles of one unit's columns, for a warp takes the rows of
/// another one after the other; of quantized weights, which are fewer bytes
/// beside those of A, also of more.
std::optional<GpuSchedule> Search::runStream() const {
  constexpr int64_t kMostColumns = 64;
  bool isQuantized = product.weightBits != 0;
  int64_t ofUnit =
              std::max(kMatrixSide, panelOf(product.pattern, kMostColumns)),
          mostColumns = isQuantized ? kMostColumns : ofUnit,
          most = isQuantized ? kMaxQuantizedTileRows : kMaxStreamTileRows;
  std::optional<GpuSchedule> best;
  auto visit = [&](int64_t slices, int64_t windows) {
    // One tile may be longer than k, not more of them.
    int64_t rows = slices * windows * product.pattern.windowRows();
    if (rows > most && slices * windows > 1)
      return;
    for (int64_t columns = ofUnit; columns <= mostColumns; columns *= 2)
      if (std::optional<GpuSchedule> found =
              streamTile(slices, windows, columns);
          found && (!best || found->microseconds < best->microseconds))
        best = found;
  };
  for (int64_t slices : {8, 4, 2, 1})
    for (int64_t windows : {1, 2, 4, 8})
      visit(slices, windows);
  return best;
}

/// The best of such tiles with two parts of k in the blocks of a cluster, where
/// all of these have a multiprocessor each; none where they do not.
static std::optional<GpuSchedule> runStreamOfParts(const GpuProduct &product,
                                                   const GpuChip &chip) {
  constexpr int64_t kParts = 2;
  if (product.weightBits == 0 || !chip.hasClusters())
    return std::nullopt;
  GpuProduct part = product;
  part.k = ceilDiv(product.k, kParts);
  part.n = product.n * kParts;
  std::optional<GpuSchedule> best = Search(part, chip).runStream();
  if (!best || !fitsGroups(product, *best) ||
      best->blockK * kParts * kParts > product.k ||
      kParts * ceilDiv(product.n, best->blockN) > chip.multiprocessors)
    return std::nullopt;
  best->splitK = best->clusterK = kParts;
  best->microseconds += microsecondsOfLatency(chip);
  return best;
}

/// Rows of A up to which quantized weights are converted in registers; for
/// more, a kernel that does so before is a small part of the product.
static constexpr int64_t kMostQuantizedRows = 64;

/// Why it does not have quantized weights of the product, if so.
static std::optional<std::string> whyNotQuantized(const GpuProduct &product) {
  const Pattern &pattern = product.pattern;
  if (product.hasImage)
    return "activations in memory for quantized weights, but got an image";
  if (product.rows() > kMostQuantizedRows)
    return "at most " + std::to_string(kMostQuantizedRows) +
           " rows of A for quantized weights, but got " +
           std::to_string(product.rows());
  if (pattern.keptRows() % 2 != 0 ||
      (pattern.bn != kMatrixSide / 2 && pattern.bn % kMatrixSide != 0))
    return "windows that keep an even number of rows, in units of 8 or a "
           "multiple of 16 columns, for quantized weights, but got " +
           pattern.str();
  return std::nullopt;
}

/// Why the strategy does not have the product, if so.
static std::optional<std::string> whyNot(const GpuProduct &product) {
  if (product.isVector)
    return "a matrix, but got a vector";
  if (product.type != ElementType::F16 && product.type != ElementType::BF16)
    return "operands of f16 or bf16, but got " +
           std::string(elementName(product.type));
  if (product.pattern.bn % 8 != 0)
    return "units of a multiple of 8 columns, but got " +
           std::to_string(product.pattern.bn);
  if (product.weightBits != 0)
    if (std::optional<std::string> reason = whyNotQuantized(product))
      return reason;
  if (!product.isMMajor && product.rows() > kMaxRowMajorRows)
    return "activations whose m are contiguous, or at most " +
           std::to_string(kMaxRowMajorRows) + " rows of them, but got " +
           std::to_string(product.rows()) + " that are row-major";
  return std::nullopt;
}

Result<GpuSchedule> nm::selectMmaSyncSchedule(const GpuProduct &product,
                                              const GpuChip &chip) {
  if (std::optional<std::string> reason = whyNot(product))
    return Error{"strategy mma_sync expected " + *reason};
  std::optional<GpuSchedule> best = Search(product, chip).run();
  if (!product.isMMajor)
    if (std::optional<GpuSchedule> parts = runStreamOfParts(product, chip);
        parts && (!best || parts->microseconds < kWorthIt * best->microseconds))
      best = parts;
  if (best)
    return *best;
  return Error{"strategy mma_sync expected tiles of whole windows of " +
               std::to_string(product.pattern.windowRows()) +
               " rows to fit in " + std::to_string(chip.sharedPerBlock) +
               " bytes of shared memory"};
}
