//===- PaperPresets.cpp - The problems of published work ------------------===//

#include "PaperPresets.h"

using namespace nm;

const std::vector<std::pair<int64_t, int64_t>> &nm::nmsparseLayers() {
  static const std::vector<std::pair<int64_t, int64_t>> layers = {
      {1024, 1024}, {2048, 2048}, {4096, 4096},  {8192, 8192},
      {1024, 4096}, {4096, 1024}, {5120, 20480}, {20480, 5120}};
  return layers;
}

std::vector<BenchCase> nm::nmsparseCases() {
  // Windows of 32 units: 50, 75 and, where 90 % is not to be had, 90.6 %.
  const int64_t kept[] = {16, 8, 3};
  const std::pair<int64_t, int64_t> blocks[] = {
      {1, 1}, {1, 4}, {1, 32}, {4, 4}};
  std::vector<BenchCase> cases;
  // Its products with a vector have the finest granularity alone.
  for (auto [k, n] : nmsparseLayers())
    for (int64_t each : kept)
      cases.push_back({{1, n, k}, {each, 32}});
  // Weights with all numbers of rows, for which they are drawn once.
  for (auto [k, n] : nmsparseLayers())
    for (auto [bk, bn] : blocks)
      for (int64_t each : kept)
        for (int64_t m : {256, 1024, 4096})
          cases.push_back({{m, n, k}, {each, 32, bk, bn}});
  return cases;
}

std::vector<BenchCase> nm::nmSpmmCases() {
  // A to F, which it calls small, medium and large, two of each.
  const std::vector<ProductShape> sizes = {
      {512, 512, 512},    {512, 1024, 1024},  {512, 2048, 2048},
      {1024, 2048, 2048}, {2048, 4096, 4096}, {4096, 4096, 4096}};
  const std::vector<Pattern> kept = {
      {16, 32, 1, 32}, {12, 32, 1, 32}, {8, 32, 1, 32}, {4, 32, 1, 32}};
  std::vector<Pattern> fromNone = {{32, 32, 1, 32}};
  fromNone.insert(fromNone.end(), kept.begin(), kept.end());
  std::vector<BenchCase> cases =
      crossCases(sizes, fromNone, {ElementType::F32});

  // The width and the inner width of Llama's models; for each the layers of
  // query, key and value, of the output, and both of the MLP.
  const std::pair<int64_t, int64_t> widths[] = {
      {2048, 5632}, {4096, 11008}, {5120, 13824}, {6656, 17920}, {8192, 22016}};
  for (auto [width, inner] : widths)
    for (auto [n, k] : {std::pair(width, width), std::pair(3 * width, width),
                        std::pair(width, inner), std::pair(inner, width)})
      for (const Pattern &pattern : kept)
        for (int64_t m : {256, 512, 1024, 2048, 4096})
          cases.push_back({{m, n, k}, pattern});
  return cases;
}

std::vector<BenchCase> nm::nmsparseByteCases() {
  // Squares of 64, whose windows are smaller: 32 of them may be more than k.
  const Pattern patterns[] = {{1, 2, 64, 64},  {1, 4, 64, 64}, {1, 8, 64, 64},
                              {16, 32, 1, 64}, {8, 32, 1, 64}, {4, 32, 1, 64},
                              {16, 32, 1, 32}, {8, 32, 1, 32}, {4, 32, 1, 32}};
  std::vector<BenchCase> cases;
  for (auto [k, n] : nmsparseLayers())
    for (const Pattern &pattern : patterns)
      for (int64_t m : {256, 1024, 4096})
        cases.push_back({{m, n, k}, pattern, ElementType::I8});
  return cases;
}

std::vector<BenchCase> nm::bertLargeCases() {
  // By granularity, 50, 75 and 90.6 %.
  const std::pair<int64_t, int64_t> blocks[] = {
      {1, 1}, {1, 4}, {1, 32}, {1, 64}, {4, 4}};
  std::vector<BenchCase> cases;
  for (ElementType type : {ElementType::F32, ElementType::F16})
    for (auto [k, n] : {std::pair<int64_t, int64_t>(1024, 1024),
                        std::pair<int64_t, int64_t>(1024, 4096),
                        std::pair<int64_t, int64_t>(4096, 1024)})
      for (auto [bk, bn] : blocks)
        for (int64_t kept : {16, 8, 3})
          for (int64_t m : {384, 3072})
            cases.push_back({{m, n, k}, {kept, 32, bk, bn}, type});
  return cases;
}

std::vector<BenchCase> nm::studyCases() {
  std::vector<BenchCase> cases;
  for (ElementType type : {ElementType::F32, ElementType::F16})
    for (int64_t side = 64; side <= 8192; side *= 2)
      cases.push_back({{side, side, side}, {2, 4}, type});
  return cases;
}

/// SparseRT's products for `images` images or texts at once, whose pixels or
/// tokens are the rows of A.
static std::vector<BenchCase> sparsertOf(int64_t images) {
  // m, the pixels or tokens; n, the output channels; k, the input channels.
  const std::vector<ProductShape> shapes = {// ResNet-50.
                                            {3136, 64, 256},
                                            {3136, 256, 64},
                                            {784, 128, 512},
                                            {784, 512, 128},
                                            {196, 256, 1024},
                                            {196, 1024, 256},
                                            {49, 512, 2048},
                                            {49, 2048, 512},
                                            // A transformer.
                                            {256, 2048, 512},
                                            {256, 512, 2048},
                                            {256, 512, 512},
                                            // MobileNetV1.
                                            {12544, 64, 32},
                                            {3136, 128, 64},
                                            {3136, 128, 128},
                                            {784, 256, 128},
                                            {784, 256, 256},
                                            {196, 512, 256},
                                            {196, 512, 512},
                                            {49, 1024, 512},
                                            {49, 1024, 1024}};
  std::vector<BenchCase> cases;
  for (const ProductShape &shape : shapes)
    for (int64_t ofAll : {10, 20})
      for (bool isConstant : {false, true}) {
        BenchCase bench{shape, Pattern::unstructured()};
        bench.shape.m *= images;
        bench.pattern.n = shape.k * shape.n / ofAll;
        bench.isConstant = isConstant;
        cases.push_back(bench);
      }
  return cases;
}

std::vector<BenchCase> nm::sparsertCases() { return sparsertOf(1); }
std::vector<BenchCase> nm::sparsertBatchCases() { return sparsertOf(32); }
