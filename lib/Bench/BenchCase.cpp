//===- BenchCase.cpp - What is measured -----------------------------------===//

#include "BenchCase.h"

#include <charconv>

using namespace nm;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::string ProductShape::str() const {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

/// Sizes above this would overflow products of three of them.
static constexpr int64_t kMaxSide = int64_t(1) << 20;

Result<ProductShape> ProductShape::parse(std::string_view text) {
  Error error{
      "expected sizes m x n x k such as 256x4096x4096, each from 1 to " +
      std::to_string(kMaxSide) + ", but got '" + std::string(text) + "'"};
  ProductShape shape;
  int64_t *sizes[] = {&shape.m, &shape.n, &shape.k};
  const char *at = text.data(), *end = text.data() + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != 'x'))
      return error;
    auto [next, code] = std::from_chars(at, end, *sizes[i]);
    if (code != std::errc() || *sizes[i] < 1 || *sizes[i] > kMaxSide)
      return error;
    at = next;
  }
  if (at != end)
    return error;
  return shape;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

double BenchCase::flops() const {
  return 2.0 * double(shape.m) * double(shape.n) *
         double(pattern.condensedRows(shape.k));
}

/// `tensor<4096x4096xf32>`, with `encoding` before the end.
static std::string tensorText(const std::vector<int64_t> &shape,
                              ElementType type,
                              const std::string &encoding = "") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + std::string(elementName(type)) +
         (encoding.empty() ? "" : ", " + encoding) + ">";
}

std::string BenchCase::moduleText() const {
  bool isVector = shape.m == 1;
  std::vector<int64_t> aShape{shape.k}, cShape{shape.n};
  if (!isVector) {
    aShape.insert(aShape.begin(), shape.m);
    cShape.insert(cShape.begin(), shape.m);
  }
  std::string a = tensorText(aShape, type);
  std::string b = tensorText({shape.k, shape.n}, type,
                             "#nm.encoding<" + pattern.str() + ">");
  std::string c = tensorText(cShape, resultType());
  std::string element(elementName(resultType()));
  std::string zero = isFloat(resultType()) ? "0.0" : "0";
  return "func.func @product(%a: " + a + ", %b: " + b + ") -> " + c +
         " {\n"
         "  %zero = arith.constant " +
         zero + " : " + element + "\n  %empty = tensor.empty() : " + c +
         "\n  %init = linalg.fill ins(%zero : " + element +
         ") outs(%empty : " + c + ") -> " + c + "\n  %c = linalg." +
         (isVector ? "vecmat" : "matmul") + " ins(%a, %b : " + a + ", " + b +
         ") outs(%init : " + c + ") -> " + c + "\n  return %c : " + c + "\n}\n";
}

std::vector<BenchCase> nm::crossCases(const std::vector<ProductShape> &shapes,
                                      const std::vector<Pattern> &patterns,
                                      const std::vector<ElementType> &types) {
  std::vector<BenchCase> cases;
  for (const ProductShape &shape : shapes)
    for (ElementType type : types)
      for (const Pattern &pattern : patterns)
        cases.push_back({shape, pattern, type});
  return cases;
}

//===----------------------------------------------------------------------===//
// Presets
//===----------------------------------------------------------------------===//

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

/// k x n of the layers that the papers on N:M products measure.
static const std::pair<int64_t, int64_t> kLayers[] = {
    {1024, 1024}, {2048, 2048}, {4096, 4096},  {8192, 8192},
    {1024, 4096}, {4096, 1024}, {5120, 20480}, {20480, 5120}};

static std::vector<ProductShape> layerShapes(const std::vector<int64_t> &rows) {
  std::vector<ProductShape> shapes;
  for (auto [k, n] : kLayers)
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
                     {20, 32, 1, 32},
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
      {"small", "small shapes with odd edges, every type", smallCases},
  };
  return list;
}

Result<std::vector<BenchCase>> nm::presetCases(std::string_view name) {
  std::string known;
  for (const Preset &preset : presets()) {
    if (name == preset.name)
      return preset.cases();
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  return Error{"unknown preset '" + std::string(name) + "'; expected one of " +
               known};
}
