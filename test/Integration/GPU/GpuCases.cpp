//===- GpuCases.cpp - Drawn products for GPUs -----------------------------===//

#include "GpuCases.h"

#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/GpuSchedule.h"
#include "nm/Schedule/WgmmaModel.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

using namespace nm;
using namespace nm::test;

namespace {
struct Block {
  int64_t bk, bn;
};

/// What a group's cases have in common.
struct GroupKind {
  const char *name;
  /// The strategy of all, and what its schedule says; empty for the cost
  /// model's choice.
  const char *strategy;
  const char *parameters;
  ElementType type;
  /// Rows of A at most; 0 for vectors.
  int64_t maxRows;
  /// Rows of B of a window at most: a tile has one, and shared memory all of a
  /// tile's stages.
  int64_t maxWindow;
  /// Whether cuBLAS, or what stands for it, has all of them.
  bool isDense = false;
  /// Columns of a block that shares lists of its rows of A; 0 for none.
  int64_t listColumns = 0;
  /// Whether the blocks of clusters sum parts of k.
  bool hasClusters = false;
  /// Whether tensor cores multiply, which take units of whole matrices of 8
  /// columns, and activations whose m are contiguous.
  bool isByMatrices = false;
  /// Whether the weights are the sparse operand of tensor cores.
  bool isSparseOperand = false;
  /// Whether it gathers rows of A, k-major, for columns that share them.
  bool isExactGather = false;
  /// Whether it copies rows of A as they are.
  bool copiesRows = isExactGather;
  /// Whether tensor copies fetch them.
  bool hasTensorCopies = false;
  /// Whether it gathers units of rows of A, for columns that share them.
  bool gathersUnits = false;
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

// The schedules that the cost model chooses, and some that it does not.
static constexpr GroupKind kKinds[] = {
    {"simt", "simt", "", ElementType::F32, 300, 256},
    {"gemv", "gemv", "", ElementType::F32, 16, 64},
    {"simt-one-stage", "simt", "stages = 1", ElementType::F32, 150, 256},
    {"simt-pack", "simt",
     "block = [64, 128, 32], warp = [64, 32], thread = [8, 8], stages = 2, "
     "pack = true",
     ElementType::F32, 200, 128, false, 128},
    {"vector", "", "", ElementType::F32, 0, 64},
    {"gemv-f16", "", "", ElementType::F16, 16, 64},
    {"simt-four-stages", "simt", "stages = 4", ElementType::F32, 150, 64},
    {"gemv-bf16", "", "", ElementType::BF16, 16, 64},
    {"simt-split-k", "simt", "split_k = 3", ElementType::F32, 60, 256},
    {"gemv-i8", "", "", ElementType::I8, 16, 64},
    {"simt-no-prefetch", "simt", "prefetch = false", ElementType::F32, 150,
     256},
    {"loops", "loops", "", ElementType::F16, 40, 256},
    {"simt-groups", "simt",
     "block = [32, 32, 32], warp = [32, 32], thread = [4, 8], group_m = 3",
     ElementType::F32, 200, 256},
    {"gemv-f8", "", "", ElementType::F8E4M3, 16, 64},
    {"free", "", "", ElementType::F32, 200, 256},
    {"gemv-split-k", "gemv", "split_k = 2", ElementType::F32, 20, 64},
    {"gemv-vector-f16", "gemv", "", ElementType::F16, 0, 4096},
    {"gemv-vector-split-k", "gemv", "split_k = 3", ElementType::F32, 0, 64},
    {"gemv-vector-f8", "gemv", "slice_k = 3", ElementType::F8E4M3, 0, 256},
    {"gemv-vector-i8", "gemv", "", ElementType::I8, 0, 4096},
    {"cublas", "cublas", "", ElementType::F32, 200, 256, true},
    {"cublas-f16", "cublas", "", ElementType::F16, 200, 256, true},
    {"cublas-bf16", "cublas", "", ElementType::BF16, 40, 256, true},
    {"cublas-i8", "cublas", "", ElementType::I8, 40, 256, true},
    {"simt-pack-one-stage", "simt",
     "block = [64, 64, 64], warp = [32, 32], thread = [4, 8], stages = 1, pack "
     "= true",
     ElementType::F32, 150, 256, false, 64},
    {"simt-pack-four-stages", "simt",
     "block = [32, 64, 64], warp = [32, 32], thread = [8, 4], stages = 4, pack "
     "= true",
     ElementType::F32, 150, 64, false, 64},
    {"simt-pack-split-k", "simt",
     "block = [32, 32, 32], warp = [32, 32], thread = [4, 8], stages = 3, "
     "split_k = 3, pack = true",
     ElementType::F32, 60, 128, false, 32},
    {"simt-cluster", "simt", "", ElementType::F32, 60, 128, false, 0, true},
    {"simt-cluster-tile", "simt",
     "block = [32, 32, 32], warp = [32, 32], thread = [4, 8], stages = 2",
     ElementType::F32, 100, 32, false, 0, true},
    {"simt-cluster-pack", "simt",
     "block = [32, 32, 32], warp = [32, 32], thread = [4, 8], stages = 2, pack "
     "= true",
     ElementType::F32, 60, 128, false, 32, true},
    {"mma-sync", "mma_sync", "", ElementType::F16, 300, 256, false, 0, false,
     true},
    {"mma-sync-bf16", "mma_sync",
     "block = [64, 64, 64], warp = [32, 32], stages = 2", ElementType::BF16,
     200, 256, false, 0, false, true},
    {"mma-sync-registers", "mma_sync",
     "block = [64, 64, 128], warp = [64, 16], stages = 3", ElementType::F16,
     150, 16, false, 0, false, true},
    {"mma-sync-one-stage", "mma_sync",
     "block = [32, 64, 128], warp = [16, 16], stages = 1", ElementType::F16,
     100, 256, false, 0, false, true},
    {"mma-sync-split-k", "mma_sync",
     "block = [16, 128, 32], warp = [16, 32], stages = 4, split_k = 3",
     ElementType::F16, 60, 128, false, 0, false, true},
    {"mma-sync-slices", "mma_sync",
     "block = [16, 32, 128], warp = [16, 16], stages = 3, slice_k = 4",
     ElementType::F16, 20, 64, false, 0, false, true},
    {"mma-sync-few-rows", "mma_sync", "", ElementType::BF16, 16, 256, false, 0,
     false, true},
    {"mma-sync-cluster", "mma_sync",
     "block = [32, 64, 64], warp = [16, 32], stages = 2, slice_k = 2",
     ElementType::BF16, 20, 128, false, 0, true, true},
    {"mma-sync-pack", "mma_sync",
     "block = [64, 128, 64], warp = [64, 32], stages = 3, pack = true",
     ElementType::F16, 200, 128, false, 128, false, true},
    {"mma-sync-pack-bf16", "mma_sync",
     "block = [48, 64, 32], warp = [16, 64], stages = 2, pack = true",
     ElementType::BF16, 100, 128, false, 64, false, true},
    {"mma-sp", "mma_sp", "", ElementType::F16, 300, 64, false, 0, false, false,
     true},
    {"mma-sp-bf16", "mma_sp", "block = [64, 64, 64], warp = [32, 32]",
     ElementType::BF16, 200, 64, false, 0, false, false, true},
    {"mma-sp-one-stage", "mma_sp",
     "block = [24, 64, 128], warp = [8, 32], stages = 1", ElementType::F16, 100,
     64, false, 0, false, false, true},
    {"mma-sp-split-k", "mma_sp",
     "block = [16, 128, 64], warp = [16, 32], stages = 4, split_k = 3",
     ElementType::F16, 60, 64, false, 0, false, false, true},
    {"mma-sp-slices", "mma_sp",
     "block = [16, 96, 128], warp = [16, 96], stages = 3, slice_k = 2",
     ElementType::F16, 30, 64, false, 0, false, false, true},
    {"mma-sp-few-rows", "mma_sp", "", ElementType::BF16, 32, 64, false, 0,
     false, false, true},
    {"mma-sp-cluster", "mma_sp",
     "block = [16, 32, 128], warp = [16, 32], stages = 2, slice_k = 2",
     ElementType::BF16, 60, 64, false, 0, true, false, true},
    {"mma-sp-i8", "mma_sp", "", ElementType::I8, 300, 64, false, 0, false,
     false, true},
    {"mma-sp-i8-slices", "mma_sp",
     "block = [16, 96, 128], warp = [16, 96], stages = 3, slice_k = 2",
     ElementType::I8, 30, 64, false, 0, true, false, true},
    {"wgmma-f16", "wgmma", "", ElementType::F16, 300, 256, false, 0, false,
     false, false, true},
    {"wgmma-bf16", "wgmma", "", ElementType::BF16, 300, 256, false, 0, false,
     false, false, true},
    {"wgmma-tile", "wgmma",
     "block = [128, 64, 48], warpgroup = [64, 64], stages = 3",
     ElementType::F16, 300, 48, false, 0, false, false, false, true},
    {"wgmma-roles", "wgmma", "producers = 4", ElementType::F16, 300, 256, false,
     0, false, false, false, true},
    {"wgmma-roles-bf16", "wgmma", "stages = 3, producers = 4, blocks = 2",
     ElementType::BF16, 300, 256, false, 0, false, false, false, true},
    {"wgmma-roles-tile", "wgmma",
     "block = [128, 64, 48], warpgroup = [64, 64], stages = 3, producers = 4, "
     "blocks = 3, group_m = 2",
     ElementType::F16, 300, 48, false, 0, false, false, false, true},
    {"wgmma-split-k", "wgmma", "split_k = 3", ElementType::F16, 60, 64, false,
     0, false, false, false, true},
    {"wgmma-terms", "wgmma", "", ElementType::F32, 300, 64, false, 0, false,
     false, false, true},
    {"wgmma-terms-tile", "wgmma",
     "block = [128, 64, 48], warpgroup = [64, 64], stages = 3, producers = 4, "
     "blocks = 3",
     ElementType::F32, 300, 48, false, 0, false, false, false, true},
    {"wgmma-terms-split-k", "wgmma", "split_k = 3", ElementType::F32, 60, 32,
     false, 0, false, false, false, true},
    {"wgmma-i8", "wgmma", "copy_a = direct", ElementType::I8, 300, 1024, false,
     0, false, false, false, false, false, false, true},
    {"wgmma-f8", "wgmma", "copy_a = direct", ElementType::F8E4M3, 300, 1024,
     false, 0, false, false, false, false, false, false, true},
    {"wgmma-i8-tensor-copies", "wgmma", "copy_a = tensor", ElementType::I8, 300,
     1024, false, 0, false, false, false, false, false, true, true},
    {"wgmma-f8-tensor-copies", "wgmma", "copy_a = tensor, blocks = 3",
     ElementType::F8E4M3, 300, 1024, false, 0, false, false, false, false,
     false, true, true},
    {"wgmma-sp", "wgmma_sp", "", ElementType::F16, 300, 64, false, 0, false,
     false, true, false, true},
    {"wgmma-sp-bf16", "wgmma_sp",
     "block = [128, 128, 64], warpgroup = [64, 64], stages = 3",
     ElementType::BF16, 300, 64, false, 0, false, false, true, false, true},
    {"wgmma-sp-two-steps", "wgmma_sp",
     "block = [64, 128, 128], warpgroup = [64, 128], stages = 4",
     ElementType::F16, 300, 64, false, 0, false, false, true, false, true},
    {"wgmma-sp-split-k", "wgmma_sp", "split_k = 3", ElementType::F16, 60, 64,
     false, 0, false, false, true, false, true},
    {"wgmma-sp-cluster", "wgmma_sp", "", ElementType::F16, 100, 64, false, 0,
     true, false, true, false, true},
    {"wgmma-sp-i8", "wgmma_sp", "", ElementType::I8, 300, 64, false, 0, false,
     false, true, false, true},
    {"wgmma-sp-f8", "wgmma_sp", "", ElementType::F8E4M3, 300, 64, false, 0,
     false, false, true, false, true},
    {"wgmma-sp-i8-one-step", "wgmma_sp",
     "block = [128, 128, 64], warpgroup = [64, 64], stages = 3",
     ElementType::I8, 300, 64, false, 0, false, false, true, false, true},
    {"wgmma-sp-f8-three-steps", "wgmma_sp",
     "block = [128, 128, 192], warpgroup = [128, 64], stages = 3, split_k = 2",
     ElementType::F8E4M3, 300, 64, false, 0, false, false, true, false, true},
    {"wgmma-sp-roles", "wgmma_sp", "producers = 4", ElementType::F16, 300, 64,
     false, 0, false, false, true, false, false, true},
    {"wgmma-sp-roles-bf16", "wgmma_sp",
     "block = [128, 128, 64], warpgroup = [64, 64], stages = 3, producers = 4, "
     "blocks = 3, group_m = 2",
     ElementType::BF16, 300, 64, false, 0, false, false, true, false, false,
     true},
    {"wgmma-sp-roles-split-k", "wgmma_sp",
     "block = [256, 128, 64], warpgroup = [256, 64], stages = 3, split_k = 2, "
     "producers = 4",
     ElementType::F16, 300, 64, false, 0, false, false, true, false, false,
     true},
    {"wgmma-sp-terms", "wgmma_sp", "", ElementType::F32, 300, 64, false, 0,
     false, false, true},
    {"wgmma-sp-terms-tile", "wgmma_sp",
     "block = [192, 128, 64], warpgroup = [192, 64], stages = 2, producers = "
     "4, blocks = 3, group_m = 2, terms = 3",
     ElementType::F32, 400, 64, false, 0, false, false, true},
    {"wgmma-sp-terms-split-k", "wgmma_sp",
     "block = [64, 128, 64], warpgroup = [64, 64], stages = 3, split_k = 2",
     ElementType::F32, 60, 64, false, 0, false, false, true, false, false,
     true},
};

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
  packing.panel = kind.isByMatrices
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
  if (kind.isByMatrices)
    return drawPattern(kMatrixBlocks, kMatrixWindows, number, kind.maxWindow,
                       random);
  if (kind.isExactGather)
    return drawPattern(kWideBlocks, kMatrixWindows, number, kind.maxWindow,
                       random);
  return drawPattern(kBlocks, kWindows, number, kind.maxWindow, random);
}

/// One whose kept rows tiles of instructions of 32 bytes can be made of.
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
  do
    pattern =
        drawPattern(kByteBlocks, kByteWindows, number, kind.maxWindow, random);
  while (!hasTiles(pattern));
  return pattern;
}

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
  } while (!fitsSparseOperand(pattern));
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
  int64_t window = pattern.m * pattern.bk;
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
/// A lies. Terms of f32 are filled up, of any number.
static void limitToCopiedRows(ModelCase &drawn) {
  if (drawn.type == ElementType::F32)
    return;
  drawn.dynamic = false;
  int64_t perWord = 4 / elementSize(drawn.type);
  for (int64_t *size : {&drawn.k, &drawn.leading.back()})
    *size = (*size + perWord - 1) / perWord * perWord;
}

/// Rows of A at multiples of 16 bytes, whichever way A lies: of a row-major one
/// m may be any and unknown. Parts of k have as many tiles.
static void limitToTensorCopies(ModelCase &drawn, bool hasParts) {
  constexpr int64_t kTiles = 2 * 64;
  const int64_t kUnit = 16 / elementSize(drawn.type);
  auto roundUp = [](int64_t &size, int64_t unit) {
    size = (size + unit - 1) / unit * unit;
  };
  bool isRowMajor = drawn.activationLoops.back() == drawn.kLoop();
  if (hasParts)
    roundUp(drawn.k, kTiles);
  else if (isRowMajor)
    roundUp(drawn.k, kUnit);
  if (isRowMajor)
    return;
  roundUp(drawn.leading.back(), kUnit);
  drawn.dynamic = false;
}

/// Operands as they come, or A and C column-major in their last two dimensions.
static void drawLoops(ModelCase &drawn, Random &random) {
  drawn.outputLoops.resize(drawn.leading.size() + 1);
  std::iota(drawn.outputLoops.begin(), drawn.outputLoops.end(), 0);
  drawn.activationLoops = drawn.outputLoops;
  drawn.activationLoops.back() = drawn.kLoop();
  if (drawn.leading.empty())
    return;
  for (std::vector<int64_t> *loops :
       {&drawn.activationLoops, &drawn.outputLoops})
    if (random.chance(0.3))
      std::swap(loops->back(), *(loops->end() - 2));
}

static ModelCase drawCase(int64_t number, const GroupKind &kind) {
  Random random(6000000 + number);
  ModelCase drawn;
  drawn.number = number;
  drawn.type = drawn.outputType = kind.type;
  if (kind.type == ElementType::I8)
    drawn.outputType = ElementType::I32;
  else if (kind.type == ElementType::F8E4M3 || random.chance(0.3))
    drawn.outputType = ElementType::F32;
  drawn.pattern = kind.isSparseOperand ? drawSparsePattern(number, kind, random)
                  : kind.gathersUnits  ? drawBytePattern(number, kind, random)
                  : kind.listColumns == 0
                      ? drawPattern(number, kind, random)
                      : drawPackedPattern(number, kind, random);
  drawSizes(drawn, kind.maxRows, random);
  drawn.weightDim = random.integer(0, 1);
  drawn.dynamic = random.chance(0.4);
  drawn.filled = random.chance(0.6);
  if (kind.isDense)
    limitToCublas(drawn);
  // Others are copied before, to rows of whole words.
  bool isCopiedBefore = elementSize(kind.type) == 2 && random.chance(0.4);
  if (kind.copiesRows && !isCopiedBefore)
    limitToCopiedRows(drawn);
  // Rows of whole words, of any number.
  if (kind.gathersUnits)
    drawn.k = (drawn.k + 3) / 4 * 4;
  drawLoops(drawn, random);
  // Tensor cores transpose no bytes.
  if ((kind.isSparseOperand || kind.gathersUnits) &&
      elementSize(kind.type) == 1 &&
      drawn.activationLoops.back() != drawn.kLoop())
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
  if (kind.hasTensorCopies)
    limitToTensorCopies(drawn,
                        std::string_view(kind.parameters).find("split_k") !=
                            std::string_view::npos);
  // A few rows may be row-major for strategy mma_sync, too.
  bool isFewRows = kind.isByMatrices && kind.listColumns == 0 &&
                   !drawn.dynamic && drawn.leading.back() <= 16;
  if ((kind.isByMatrices || kind.isExactGather) && !isFewRows &&
      drawn.type != ElementType::F32 &&
      drawn.activationLoops.back() == drawn.kLoop())
    std::swap(drawn.activationLoops.back(), *(drawn.activationLoops.end() - 2));
  drawn.drawEpilogue(random);
  return drawn;
}

std::vector<GpuGroup> nm::test::drawGpuGroups(int64_t count) {
  // Each kind has its turn; ten cases share the compiler's and the linker's
  // start.
  int64_t casesOfGroup =
      std::clamp<int64_t>(count / int64_t(std::size(kKinds)), 1, 10);
  std::vector<GpuGroup> groups;
  for (int64_t number = 0; number < count;) {
    size_t turn = groups.size();
    const GroupKind &kind = kKinds[turn % std::size(kKinds)];
    GpuGroup &group = groups.emplace_back();
    group.name = "group" + std::to_string(turn) + "-" + kind.name;
    group.options = describeSchedule(kind, kind.parameters);
    if (kind.hasClusters) {
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
