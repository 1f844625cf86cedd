//===- Presets.cpp - Named lists of cases ---------------------------------===//

#include "Presets.h"

#include "PaperPresets.h"

using namespace nm;

static void append(std::vector<BenchCase> &cases,
                   const std::vector<BenchCase> &more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

/// The first goals for the CPU: a product of 256 rows, and of one.
static std::vector<BenchCase> cpuCases() {
  std::vector<BenchCase> cases = crossCases(
      {{256, 4096, 4096}},
      {{16, 32, 1, 32}, {8, 32, 1, 32}, {4, 32, 1, 32}, {2, 4}, {1, 4}},
      {ElementType::F32});
  append(cases,
         crossCases({{1, 4096, 4096}, {1, 8192, 8192}}, {{2, 4}, {1, 4}},
                    {ElementType::F32, ElementType::F16, ElementType::BF16}));
  return cases;
}

static std::vector<ProductShape> layerShapes(const std::vector<int64_t> &rows) {
  std::vector<ProductShape> shapes;
  for (auto [k, n] : nmsparseLayers())
    for (int64_t m : rows)
      shapes.push_back({m, n, k});
  return shapes;
}

static std::vector<BenchCase> spmvCases() {
  return crossCases(layerShapes({1}), {{2, 4}, {1, 4}, {4, 32}, {3, 32}},
                    {ElementType::F32, ElementType::F16});
}

static std::vector<BenchCase> spmmCases() {
  return crossCases(layerShapes({256, 1024, 4096}),
                    {{16, 32, 1, 32},
                     {12, 32, 1, 32},
                     {8, 32, 1, 32},
                     {4, 32, 1, 32},
                     {3, 32, 1, 32}},
                    {ElementType::F32});
}

/// One sparsity, every granularity.
static std::vector<BenchCase> granularityCases() {
  return crossCases({{256, 4096, 4096}},
                    {{8, 32},
                     {8, 32, 1, 4},
                     {8, 32, 1, 32},
                     {8, 32, 1, 64},
                     {8, 32, 1, 128},
                     {8, 32, 4, 4},
                     {1, 4, 64, 64}},
                    {ElementType::F32});
}

/// The sparsities that the papers measure, in windows of 32 units.
static const int64_t kKeptOf32[] = {16, 12, 8, 4, 3};

/// What is pruned at once: a weight, a part of a row, or a square.
static const std::pair<int64_t, int64_t> kBlocks[] = {
    {1, 1}, {1, 4}, {1, 32}, {1, 64}, {1, 128}, {4, 4}, {64, 64}};

/// N of 32 units, in the smallest window of that sparsity where units are high:
/// 32 of them may be more than there are.
static Pattern gpuPattern(int64_t kept, std::pair<int64_t, int64_t> block) {
  int64_t of = 32;
  while (block.first > 4 && kept % 2 == 0) {
    kept /= 2;
    of /= 2;
  }
  return {kept, of, block.first, block.second};
}

static std::vector<Pattern> gpuPatterns() {
  std::vector<Pattern> patterns{{2, 4}, {1, 4}};
  for (std::pair<int64_t, int64_t> block : kBlocks)
    for (int64_t kept : kKeptOf32)
      patterns.push_back(gpuPattern(kept, block));
  return patterns;
}

/// Each layer with all its patterns, and these with all numbers of rows: the
/// weights are drawn once for them.
static std::vector<BenchCase>
gpuLayerCases(const std::vector<int64_t> &rows,
              const std::vector<Pattern> &patterns,
              const std::vector<ElementType> &types) {
  std::vector<BenchCase> cases;
  for (auto [k, n] : nmsparseLayers())
    for (ElementType type : types)
      for (const Pattern &pattern : patterns) {
        // A window that reaches beyond k would keep more than it says.
        if (pattern.windowRows() > k)
          continue;
        for (int64_t m : rows)
          cases.push_back({{m, n, k}, pattern, type});
      }
  return cases;
}

static std::vector<BenchCase> gpuSpmmCases() {
  return gpuLayerCases({256, 1024, 4096}, gpuPatterns(), {ElementType::F32});
}

static std::vector<BenchCase> gpuSpmvCases() {
  std::vector<Pattern> patterns{{2, 4}, {1, 4}};
  for (int64_t kept : kKeptOf32)
    patterns.push_back({kept, 32});
  for (int64_t columns : {8, 32})
    for (int64_t kept : {16, 8, 3})
      patterns.push_back({kept, 32, 1, columns});
  return gpuLayerCases({1, 8, 16}, patterns,
                       {ElementType::F32, ElementType::F16});
}

static std::vector<BenchCase> gpuCases() {
  std::vector<BenchCase> cases = gpuSpmmCases();
  append(cases, gpuSpmvCases());
  return cases;
}

/// Every granularity and every sparsity once, and each kind of shape.
static std::vector<BenchCase> gpuQuickCases() {
  std::vector<BenchCase> cases = crossCases({{4096, 4096, 4096}},
                                            {{16, 32, 1, 32},
                                             {12, 32, 1, 32},
                                             {8, 32, 1, 32},
                                             {4, 32, 1, 32},
                                             {3, 32, 1, 32},
                                             {8, 32},
                                             {3, 32},
                                             {8, 32, 1, 4},
                                             {8, 32, 4, 4},
                                             {8, 32, 1, 128},
                                             {1, 4, 64, 64}},
                                            {ElementType::F32});
  append(cases,
         crossCases({{256, 20480, 5120}, {1024, 1024, 1024}},
                    {{16, 32, 1, 32}, {4, 32, 1, 32}}, {ElementType::F32}));
  append(cases, crossCases({{1, 4096, 4096}}, {{16, 32}, {8, 32}, {3, 32}},
                           {ElementType::F32}));
  append(cases, crossCases({{1, 4096, 4096}, {16, 4096, 4096}}, {{8, 32}},
                           {ElementType::F16}));
  return cases;
}

static std::vector<BenchCase> smallCases() {
  return crossCases(
      {{1, 100, 72}, {5, 37, 70}, {33, 100, 72}},
      {{2, 4}, {3, 5}, {8, 32, 1, 32}, {1, 2, 4, 4}},
      {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I8});
}

const std::vector<Preset> &nm::presets() {
  static const std::vector<Preset> list = {
      {"cpu", "256x4096x4096 and vectors of 4096 and 8192, 50 to 87.5 %",
       cpuCases},
      {"spmv", "one row, the eight layers of the papers, f32 and f16",
       spmvCases},
      {"spmm",
       "256, 1024 and 4096 rows, the eight layers of the papers, VW32; long",
       spmmCases},
      {"granularity", "256x4096x4096 at 75 %, every granularity",
       granularityCases},
      {"gpu",
       "the whole grid for a GPU: every layer, granularity and sparsity at "
       "256,\n1024 and 4096 rows (gpu-spmm) and at 1, 8 and 16 (gpu-spmv)",
       gpuCases},
      {"gpu-spmm", "256, 1024 and 4096 rows, f32", gpuSpmmCases},
      {"gpu-spmv", "1, 8 and 16 rows, EW, VW8 and VW32, f32 and f16",
       gpuSpmvCases},
      {"gpu-quick", "20 cases of that grid", gpuQuickCases},
      {"nmsparse",
       "nmSPARSE's M1 to M32: one row in EW, and 256, 1024 and 4096 rows in "
       "EW,\n"
       "VW4, VW32 and BW4x4 at 50, 75 and 90.6 %",
       nmsparseCases},
      {"nmsparse-i8",
       "its 24 shapes of more rows in i8: BW64x64, VW64 and VW32 at 50, 75 "
       "and\n87.5 %",
       nmsparseByteCases},
      {"bert-large",
       "a layer's products by granularity at 50, 75 and 90.6 %, f32 and f16",
       bertLargeCases},
      {"nm-spmm",
       "NM-SpMM's sizes A to F from 0 to 87.5 %, and its hundred points of\n"
       "Llama from 50 to 87.5 %, VW32",
       nmSpmmCases},
      {"study", "cubes of 64 to 8192 at 2:4, f32 and f16", studyCases},
      {"sparsert",
       "SparseRT's 20 products, 90 and 95 % pruned anywhere, of weights that\n"
       "are loaded and of constants, which may become code; with\n"
       "--dense-type=tf32 and --dense-type=f16",
       sparsertCases, /*comparesReduced=*/true},
      {"sparsert-batch", "those of 32 images", sparsertBatchCases,
       /*comparesReduced=*/true},
      {"small", "small shapes with odd edges, every type", smallCases},
  };
  return list;
}

Result<const Preset *> nm::findPreset(std::string_view name) {
  std::string known;
  for (const Preset &preset : presets()) {
    if (name == preset.name)
      return &preset;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  return Error{"unknown preset '" + std::string(name) + "'; expected one of " +
               known};
}
