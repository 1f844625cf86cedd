//===- GpuCases.cpp - Drawn products for GPUs -----------------------------===//

#include "GpuCases.h"
#include "GpuKinds.h"

#include "nm/Format/Bitmap.h"
#include "nm/Format/SelectedBytes.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/WindowTiles.h"
#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/GPU/Strategies/Warpgroup/WgmmaModel.h"

#include <algorithm>
#include <numeric>
#include <string_view>

using namespace nm;
using namespace nm::test;

namespace {
struct Block {
  int64_t bk, bn;
};
} // namespace

// Element-wise, vector-wise and block-wise ones, and some that are neither
// powers of two nor square.
static constexpr Block kBlocks[] = {
    {1, 1}, {1, 4}, {1, 8}, {1, 32}, {1, 64},  {4, 4},  {1, 128}, {64, 64},
    {2, 6}, {3, 5}, {1, 2}, {8, 16}, {1, 256}, {16, 1}, {1, 24}};
// Those of the exact gather.
static constexpr Block kWideBlocks[] = {{1, 64},   {1, 128}, {64, 64}, {1, 192},
                                        {32, 128}, {3, 64},  {1, 256}};
// Those of 8 bits, and the units of a window that are a tile or several.
static constexpr Block kByteBlocks[] = {{16, 64},  {32, 64},  {64, 64},
                                        {16, 128}, {64, 128}, {48, 64},
                                        {128, 64}, {16, 192}, {256, 64}};
static constexpr int64_t kByteWindows[] = {2, 4, 6, 8};
static constexpr int64_t kWindows[] = {2, 4, 5, 8, 12, 16, 32, 64};
// The same for tensor cores.
static constexpr Block kMatrixBlocks[] = {{1, 8},   {1, 32},  {1, 16},  {1, 64},
                                          {8, 16},  {1, 24},  {1, 128}, {3, 8},
                                          {64, 64}, {1, 256}, {5, 32}};
static constexpr int64_t kMatrixWindows[] = {2, 4, 5, 8, 16, 20, 24, 32, 64};

/// The option of nm-compile that gives `kind` its schedule.
static std::string describeSchedule(const GroupKind &kind,
                                    const std::string &parameters) {
  std::string strategy = kind.strategy;
  if (strategy.empty())
    return "";
  return "schedule=" + strategy +
         (parameters.empty() ? "" : "<" + parameters + ">");
}

/// The parameters of `kind` with one part for each block of a cluster, or a
/// few.
static std::string drawClusters(const GroupKind &kind, Random &random) {
  int64_t blocks = random.oneOf({2, 3, 4, 8});
  int64_t clusters = random.chance(0.5) ? 1 : random.integer(2, 3);
  std::string parameters = kind.parameters;
  return parameters + (parameters.empty() ? "" : ", ") +
         "split_k = " + std::to_string(blocks * clusters) +
         ", cluster_k = " + std::to_string(blocks);
}

/// Whether lists for a block of `columns` leave out rows of A.
static bool canPack(const Pattern &pattern, const GroupKind &kind) {
  GpuSchedule block;
  block.blockN = kind.listColumns;
  block.pack = true;
  PanelPacking packing;
  packing.panel = kind.has(kMatrices)
                      ? chooseMmaSyncPacking(pattern, block).panel
                      : choosePanel(pattern, kind.listColumns, /*warpN=*/32);
  packing.colInfo = kind.listColumns;
  return bool(packing.verify(pattern));
}

template <size_t blockCount, size_t windowCount>
static Pattern drawPattern(const Block (&blocks)[blockCount],
                           const int64_t (&windows)[windowCount],
                           int64_t number, int64_t maxWindow, Random &random) {
  Pattern pattern;
  Block block = blocks[number % blockCount];
  if (block.bk * windows[0] > maxWindow)
    block = blocks[0];
  pattern.bk = block.bk;
  pattern.bn = block.bn;
  do
    pattern.m = windows[random.integer(0, windowCount - 1)];
  while (pattern.m * pattern.bk > maxWindow);
  pattern.n = random.integer(1, pattern.m);
  return pattern;
}

static Pattern drawPattern(int64_t number, const GroupKind &kind,
                           Random &random) {
  if (kind.has(kMatrices))
    return drawPattern(kMatrixBlocks, kMatrixWindows, number, kind.maxWindow,
                       random);
  if (kind.has(kExactGather))
    return drawPattern(kWideBlocks, kMatrixWindows, number, kind.maxWindow,
                       random);
  return drawPattern(kBlocks, kWindows, number, kind.maxWindow, random);
}

/// Products in turn, of as many as a kind has in the simulator's test, of which
/// one each has what few draws have, so that no run goes without.
static constexpr int64_t kTurns = 5;

/// One whose kept rows tiles of instructions of 32 bytes can be made of; in
/// turn one of whose windows tiles are parts, for they keep more than a tile
/// has.
static Pattern drawBytePattern(int64_t number, const GroupKind &kind,
                               Random &random) {
  constexpr int64_t kStep = 32, kMostRows = 256;
  auto hasTiles = [](const Pattern &pattern) {
    for (int64_t rows = kStep; rows <= kMostRows; rows += kStep)
      if (rows % pattern.keptRows() == 0 || gathersByteUnits(pattern, rows))
        return true;
    return false;
  };
  Pattern pattern;
  if (number % kTurns == 0) {
    pattern.m = 8;
    pattern.n = random.integer(4, 7);
    pattern.bk = 128;
    pattern.bn = 64;
    return pattern;
  }
  do
    pattern =
        drawPattern(kByteBlocks, kByteWindows, number, kind.maxWindow, random);
  while (!hasTiles(pattern));
  return pattern;
}

/// Rows of B at most where threads select: two tiles or three, of 256 to 512.
static constexpr int64_t kMaxSelectedK = 700;

/// One of which each aligned group of four rows keeps at most two.
static Pattern drawSparsePattern(int64_t number, const GroupKind &kind,
                                 Random &random) {
  Pattern pattern;
  do {
    // Of the blocks only the columns matter.
    pattern = drawPattern(number, kind, random);
    pattern.bk = random.chance(0.8) ? 1 : 2;
    pattern.n = random.chance(0.6) ? 2 : 1;
    if (random.chance(0.2))
      pattern.m = random.oneOf({3, 4, 20, 24});
    // Few that are drawn keep two of each four rows.
    if (number % kTurns == 0) {
      pattern.n = 2;
      pattern.m = 4;
      pattern.bk = 1;
    }
  } while (!fitsSparseOperand(pattern) ||
           (kind.has(kQuantized) && !QuantizedCase::suits(number, pattern)));
  return pattern;
}

/// One whose bits and kept weights take less than dense ones; in turn of
/// elements, of which windows of any number of rows keep more than two of four,
/// and of windows that are runs: not in the model's tiles, whose long runs are
/// blocks of the simulator that LLVM schedules for many minutes.
static Pattern drawBitmapPattern(int64_t number, const GroupKind &kind,
                                 Random &random) {
  Pattern pattern;
  do {
    pattern = drawPattern(number, kind, random);
    if (number % kTurns < 2)
      pattern = {random.integer(1, 16), random.oneOf({8, 10, 16, 32}), 1, 1};
    if (number % kTurns == 2 && *kind.parameters)
      pattern = {random.integer(1, 100), random.oneOf({64, 128}), 1, 1};
  } while (pattern.n > pattern.m || (!*kind.parameters && pattern.m > 32) ||
           !BitmapForm::verify(pattern, kind.type));
  return pattern;
}

/// One of which no groups of four rows have all, unless they overlap: M - 2 of
/// an even M, M - 1 of an odd one, or down to half as many.
static Pattern drawOverlappingPattern(int64_t number, const GroupKind &kind,
                                      Random &random) {
  Pattern pattern;
  do {
    // Of the blocks only the columns matter.
    pattern = drawPattern(number, kind, random);
    pattern.bk = 1;
    pattern.m = number % kTurns == 2 ? random.oneOf({3, 5})
                                     : random.oneOf({3, 5, 6, 6, 8, 10, 16});
    int64_t most = pattern.m % 2 == 0 ? pattern.m - 2 : pattern.m - 1;
    pattern.n =
        random.chance(0.5) ? most : random.integer((most + 1) / 2, most);
    if (number % kTurns == 3) {
      pattern.m = random.oneOf({8, 10, 16});
      pattern.n = pattern.m - 3;
    }
  } while (fitsSparseOperand(pattern));
  return pattern;
}

/// One of which threads select bytes, in turn with 1, 2 and 4 of each eight,
/// and in turn for fewer than 64 columns and for more. A block of 64 columns
/// has units of powers of two.
static Pattern drawSelectedPattern(int64_t number, const GroupKind &kind,
                                   Random &random) {
  bool isGiven = std::string_view(kind.parameters).find("block =") !=
                 std::string_view::npos;
  bool isNarrow = number / 3 % 2 == 0;
  Pattern pattern;
  pattern.bk = 1;
  do
    pattern.bn = isNarrow ? random.oneOf({16, 32, 48})
                          : random.oneOf({64, 96, 128, 256});
  while (isGiven && pattern.bn % 3 == 0);
  int64_t keptOfGroup = 1 << number % 3;
  do {
    pattern.m = random.oneOf({2, 4, 8, 8, 8});
    pattern.n = keptOfGroup * pattern.m / SelectedBytes::kSource;
  } while (pattern.n == 0);
  return pattern;
}

/// One of windows of eight rows, or four, of which threads make several words
/// side by side.
static Pattern drawSelectedRuns(int64_t number, Random &random) {
  Pattern pattern;
  pattern.bk = 1;
  pattern.bn = number % 2 == 0 ? random.oneOf({16, 32, 48})
                               : random.oneOf({64, 96, 128, 256});
  pattern.m = random.oneOf({4, 8, 8});
  pattern.n = pattern.m == 4 ? 3 : random.oneOf({3, 5, 6, 7});
  return pattern;
}

/// One that lists for a block of `columns` pay for.
static Pattern drawPackedPattern(int64_t number, const GroupKind &kind,
                                 Random &random) {
  Pattern pattern;
  do
    pattern = drawPattern(random.chance(0.5) ? number : random.integer(0, 99),
                          kind, random);
  while (!canPack(pattern, kind));
  return pattern;
}

static void drawSizes(ModelCase &drawn, int64_t maxRows, Random &random) {
  const Pattern &pattern = drawn.pattern;
  int64_t window = pattern.windowRows();
  drawn.k = random.integer(pattern.bk, std::max<int64_t>(3 * window, 200));
  if (random.chance(0.3))
    drawn.k = (drawn.k + window - 1) / window * window;
  drawn.n = random.integer(pattern.bn, pattern.bn + 200);
  if (random.chance(0.3))
    drawn.n = (drawn.n + 31) / 32 * 32;
  if (maxRows == 0)
    return;
  // Up to two batch dimensions before the rows.
  for (int64_t batch = random.integer(-3, 2); batch > 0; --batch)
    drawn.leading.push_back(random.integer(1, 3));
  drawn.leading.push_back(random.chance(0.2) ? random.integer(1, 4)
                                             : random.integer(1, maxRows));
}

/// So few weights that all of them can become code.
static void limitToCode(ModelCase &drawn) {
  constexpr int64_t kMost = 2000;
  if (drawn.pattern.isUnstructured()) {
    drawn.pattern.n = std::min(drawn.pattern.n, kMost);
    return;
  }
  auto count = [&] {
    return drawn.pattern.condensedRows(drawn.k) *
           drawn.pattern.paddedColumns(drawn.n);
  };
  drawn.n = std::max(drawn.pattern.bn, std::min<int64_t>(drawn.n, 40));
  while (count() > kMost && drawn.pattern.n > 1)
    --drawn.pattern.n;
  if (count() > kMost)
    drawn.k = std::max(drawn.pattern.bk, drawn.k * kMost / count());
}

/// At most one batch dimension, and whole words of bytes.
static void limitToCublas(ModelCase &drawn) {
  if (drawn.leading.size() > 2)
    drawn.leading.erase(drawn.leading.begin());
  if (drawn.type != ElementType::I8)
    return;
  for (int64_t *size : {&drawn.leading.back(), &drawn.n, &drawn.k})
    *size = (*size + 3) / 4 * 4;
  drawn.dynamic = false;
}

/// Rows of A of a known number of words of 4 bytes, which copies take, however
/// A lies. Splits of f32 are filled up, of any number.
static void limitToCopiedRows(ModelCase &drawn) {
  if (drawn.type == ElementType::F32)
    return;
  drawn.dynamic = false;
  int64_t perWord = 4 / elementSize(drawn.type);
  for (int64_t *size : {&drawn.k, &drawn.leading.back()})
    *size = (*size + perWord - 1) / perWord * perWord;
}

/// k of whole panels; or of as many windows as have whole instructions of 32
/// kept rows, where one has not.
static void limitToPanels(ModelCase &drawn) {
  int64_t unit =
      drawn.pattern.keptRows() % 32 == 0 ? 16 : 2 * drawn.pattern.windowRows();
  drawn.k = (drawn.k + unit - 1) / unit * unit;
}

/// Rows of A of an odd number of elements, however A lies.
static void limitToRaggedRows(ModelCase &drawn) {
  drawn.k |= 1;
  drawn.leading.back() |= 1;
}

/// Rows of A at multiples of 16 bytes, whichever way A lies: of a row-major one
/// m may be any and unknown. Parts of k have as many tiles, and a sparse
/// operand of bytes whole ones.
static void limitToTensorCopies(ModelCase &drawn, const GroupKind &kind,
                                Random &random) {
  constexpr int64_t kTiles = 2 * 64, kTilesOfBytes = 2 * 128;
  const int64_t kUnit = 16 / elementSize(drawn.type);
  bool hasParts = std::string_view(kind.parameters).find("split_k") !=
                  std::string_view::npos,
       isOfBytes = elementSize(drawn.type) == 1 && kind.has(kSparseOperand);
  auto roundUp = [](int64_t &size, int64_t unit) {
    size = (size + unit - 1) / unit * unit;
  };
  bool isRowMajor = drawn.activationLoops.back() == drawn.kLoop();
  if (hasParts || isOfBytes)
    roundUp(drawn.k, isOfBytes ? kTilesOfBytes : kTiles);
  else if (isRowMajor)
    roundUp(drawn.k, kUnit);
  if (isOfBytes)
    drawn.k *= random.integer(1, 3);
  if (isRowMajor)
    return;
  roundUp(drawn.leading.back(), kUnit);
  drawn.dynamic = false;
}

/// Tensor copies repeat rows of an m-major A. Two of the turns have all windows
/// in tiles of 16, and some behind the last of these.
static void limitToRepeatedRows(ModelCase &drawn, int64_t turn,
                                Random &random) {
  constexpr int64_t kLeastRows = 48, kMostRows = 300;
  if (drawn.activationLoops.back() == drawn.kLoop())
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
  if (turn > 1)
    return;
  int64_t windowRows =
      drawn.pattern.m % 2 == 0 ? drawn.pattern.m : 2 * drawn.pattern.m;
  int64_t together = WindowTiles::kWindows * windowRows;
  drawn.k = together * random.integer(1, 2);
  if (turn == 1)
    drawn.k += random.integer(1, together - 1);
  drawn.leading.back() = random.integer(kLeastRows, kMostRows);
}

/// Operands as they come, or A and C column-major in their last two dimensions.
static void drawLoops(ModelCase &drawn, bool isTransposed, Random &random) {
  drawn.outputLoops.resize(drawn.leading.size() + 1);
  std::iota(drawn.outputLoops.begin(), drawn.outputLoops.end(), 0);
  drawn.activationLoops = drawn.outputLoops;
  drawn.activationLoops.back() = drawn.kLoop();
  if (drawn.leading.empty())
    return;
  for (std::vector<int64_t> *loops :
       {&drawn.activationLoops, &drawn.outputLoops})
    if (isTransposed || random.chance(0.3))
      std::swap(loops->back(), *(loops->end() - 2));
}

/// Tensor copies store rows of 16-bit elements at multiples of 16 bytes. Each
/// of five turns has a form of its own: a row-major C, a column-major one, one
/// of an odd number of columns, an epilogue, and a number of rows that is
/// unknown.
static void limitToSlots(ModelCase &drawn, const GroupKind &kind, int64_t turn,
                         Random &random) {
  constexpr int64_t kUnit = 8;
  auto roundUp = [](int64_t &size) {
    size = (size + kUnit - 1) / kUnit * kUnit;
  };
  bool isTransposed = turn == 1 || turn == 2, isOfBytes = kind.has(kByteUnits);
  if (drawn.leading.empty())
    drawn.leading = {kUnit};
  // The epilogue of a product with several sizes that are unknown stays apart.
  if (isOfBytes && turn == 4)
    drawn.leading = {drawn.leading.back()};
  drawLoops(drawn, /*isTransposed=*/true, random);
  if (!isTransposed)
    std::swap(drawn.outputLoops.back(), *(drawn.outputLoops.end() - 2));
  // Tensor copies of a row-major A need not know m, and bytes are not turned.
  if (kind.has(kTensorCopies) || isOfBytes) {
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
    roundUp(drawn.k);
  }
  roundUp(isTransposed ? drawn.leading.back() : drawn.n);
  drawn.dynamic = turn == 4;
  if (turn == 2)
    drawn.n |= 1;
  // Of bytes, an epilogue makes C, which is not added to.
  drawn.filled |= isOfBytes;
  drawn.outputType = isOfBytes ? drawn.outputType : drawn.type;
  while (
      (turn == 3 && !drawn.epilogue) ||
      (isOfBytes && (!drawn.epilogue || elementSize(drawn.epilogueType) != 2)))
    drawn.drawEpilogue(random);
}

static ModelCase drawCase(int64_t number, const GroupKind &kind) {
  Random random(6000000 + number);
  ModelCase drawn;
  drawn.number = number;
  int64_t turn = number % kTurns;
  drawn.type = drawn.outputType = kind.type;
  if (kind.type == ElementType::I8)
    drawn.outputType = ElementType::I32;
  else if (isFloat8(kind.type) || random.chance(0.3))
    drawn.outputType = ElementType::F32;
  drawn.pattern =
      kind.has(kUnstructured)    ? Pattern::unstructured()
      : kind.has(kSparseOperand) ? drawSparsePattern(number, kind, random)
      : kind.has(kBitmap)        ? drawBitmapPattern(number, kind, random)
      : kind.has(kOverlapping)   ? drawOverlappingPattern(number, kind, random)
      : kind.has(kByteUnits)     ? drawBytePattern(number, kind, random)
      : kind.has(kSelected)      ? drawSelectedPattern(number, kind, random)
      : kind.has(kSelectedRuns)  ? drawSelectedRuns(number, random)
      : kind.listColumns == 0    ? drawPattern(number, kind, random)
                                 : drawPackedPattern(number, kind, random);
  // Windows of parts of images keep an even number of rows.
  if (kind.has(kImage) && kind.has(kExactGather) &&
      drawn.pattern.keptRows() % 2 != 0)
    drawn.pattern.n += drawn.pattern.n < drawn.pattern.m ? 1 : -1;
  drawSizes(drawn, kind.maxRows, random);
  if (kind.has(kSelectedRuns))
    drawn.k = random.integer(1, kMaxSelectedK);
  // Rows of all entries of a batch are one product's.
  if (kind.has(kBitmap))
    drawn.leading = {drawn.leading.back()};
  // Several steps of long runs.
  if (kind.has(kBitmap) && drawn.pattern.m >= 64)
    drawn.k = random.integer(1, 1300);
  drawn.arithmetic = kind.arithmetic;
  drawn.isConstant = kind.has(kConstant);
  if (kind.has(kQuantized)) {
    drawn.quantized =
        QuantizedCase::draw(number, drawn.pattern, random, kind.maxGroup);
    drawn.k = drawn.quantized->drawK(drawn.pattern, random);
  }
  drawn.weightDim = random.integer(0, 1);
  // Of few kinds, each of which has these in turn.
  bool isWidened = kind.has(kExactGather) && elementSize(kind.type) == 1,
       hasForms = kind.has(kOverlapping) || isWidened;
  drawn.dynamic = (hasForms && turn == 3) || random.chance(0.4);
  if (isWidened && turn == 3)
    drawn.leading.insert(drawn.leading.begin(), random.integer(2, 3));
  drawn.filled = random.chance(0.6);
  if (kind.has(kDense))
    limitToCublas(drawn);
  // Others are copied before, to rows of whole words.
  bool isCopiedBefore = elementSize(kind.type) == 2 && random.chance(0.4);
  if (kind.has(kCopiesRows) && !isCopiedBefore)
    limitToCopiedRows(drawn);
  else if (kind.has(kCopiesRows) && random.chance(0.5))
    limitToRaggedRows(drawn);
  // Rows of whole words, of any number.
  if (kind.has(kByteUnits))
    drawn.k = (drawn.k + 3) / 4 * 4;
  drawLoops(drawn, hasForms && turn == 4, random);
  // Tensor cores transpose no bytes.
  if ((kind.has(kSparseOperand) || kind.has(kOverlapping) ||
       kind.has(kByteUnits) || kind.has(kSelected) ||
       kind.has(kSelectedRuns)) &&
      elementSize(kind.type) == 1 &&
      drawn.activationLoops.back() != drawn.kLoop())
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
  if (kind.has(kTensorCopies) && kind.has(kOverlapping))
    limitToRepeatedRows(drawn, turn, random);
  if (kind.has(kTensorCopies))
    limitToTensorCopies(drawn, kind, random);
  // Nor do threads that select turn C.
  if ((kind.has(kSelected) || kind.has(kSelectedRuns)) &&
      drawn.outputLoops.back() != drawn.nLoop())
    std::swap(drawn.outputLoops.back(), *(drawn.outputLoops.end() - 2));
  // A few rows may be row-major for strategy mma_sync, too.
  bool isFewRows = kind.has(kMatrices) && kind.listColumns == 0 &&
                   !drawn.dynamic && drawn.leading.back() <= 16;
  // What is widened, and split floats, may be either way round.
  if ((kind.has(kMatrices) || kind.has(kExactGather)) && !isFewRows &&
      elementSize(drawn.type) == 2 &&
      drawn.activationLoops.back() == drawn.kLoop())
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
  if (kind.has(kSlots))
    limitToSlots(drawn, kind, turn, random);
  if (kind.has(kPanels))
    limitToPanels(drawn);
  if (kind.has(kImage))
    // Copies of parts of images have room for padding as wide as the image.
    drawn.drawImage(random, kind.has(kChannelsLast),
                    /*mayBeNarrow=*/!kind.has(kExactGather));
  if (kind.has(kUnstructured))
    drawn.drawKept(random);
  if (kind.has(kConstant))
    limitToCode(drawn);
  if (!drawn.epilogue)
    drawn.drawEpilogue(random);
  return drawn;
}

std::vector<GpuGroup> nm::test::drawGpuGroups(int64_t count) {
  // Each kind has its turn; ten cases share the compiler's and the linker's
  // start.
  const std::vector<GroupKind> &kinds = groupKinds();
  count = std::max<int64_t>(count, kinds.size());
  int64_t casesOfGroup =
      std::clamp<int64_t>(count / int64_t(kinds.size()), 1, 10);
  std::vector<GpuGroup> groups;
  for (int64_t number = 0; number < count;) {
    size_t turn = groups.size();
    const GroupKind &kind = kinds[turn % kinds.size()];
    GpuGroup &group = groups.emplace_back();
    group.name = "group" + std::to_string(turn) + "-" + kind.name;
    group.options = describeSchedule(kind, kind.parameters);
    if (kind.has(kClusters)) {
      Random random(7000000 + int64_t(turn));
      group.clusterOptions = describeSchedule(kind, drawClusters(kind, random));
    }
    for (int64_t i = 0; i < casesOfGroup; ++i)
      group.cases.push_back(drawCase(number++, kind));
  }
  return groups;
}

std::string GpuGroup::module() const {
  std::string text;
  for (const ModelCase &product : cases)
    text += product.function();
  return text;
}
