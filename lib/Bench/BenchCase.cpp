//===- BenchCase.cpp - What is measured -----------------------------------===//

#include "BenchCase.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace nm;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::vector<int64_t> ProductShape::rowsOf(int64_t columns) const {
  return m == 1 ? std::vector<int64_t>{columns}
                : std::vector<int64_t>{m, columns};
}

std::string ProductShape::str() const {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

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

/// The number of kept weights.
static int64_t countKept(const BenchCase &bench) {
  std::array<int64_t, 2> values =
      bench.pattern.valueShape(bench.shape.k, bench.shape.n);
  return bench.pattern.isUnstructured()
             ? values[1]
             : bench.pattern.condensedRows(bench.shape.k) * bench.shape.n;
}

double BenchCase::flops() const {
  return 2.0 * double(shape.m) * double(countKept(*this));
}

double BenchCase::sparsity() const {
  if (!pattern.isUnstructured())
    return pattern.sparsity();
  double kept = double(countKept(*this)) / double(shape.k * shape.n);
  return std::round(1e3 * (1 - kept)) / 1e3;
}

void BenchCase::takeShape(const ProductShape &other) {
  if (pattern.isUnstructured())
    pattern.n = std::llround(double(pattern.n) / double(shape.k * shape.n) *
                             double(other.k * other.n));
  shape = other;
}

double BenchCase::leastBytes() const {
  double activations =
      double(elementSize(type)) * double(shape.m) * double(shape.k) +
      double(elementSize(resultType())) * double(shape.m * shape.n);
  if (epilogue.hasResidual)
    activations +=
        double(elementSize(resultType())) * double(shape.m * shape.n);
  double bits =
      quantization ? double(quantization->bits) : 8 * double(elementSize(type));
  double weights = bits / 8 * double(countKept(*this));
  if (quantization)
    weights += double(elementSize(type)) * double(shape.n) *
               std::ceil(double(shape.k) / double(quantization->group));
  // A bit for each weight.
  if (pattern.isUnstructured())
    return activations + weights + double(shape.k * shape.n) / 8;
  int64_t units = pattern.unitRows(shape.k) * pattern.blockColumns(shape.n);
  // One number a unit, or one bit for each of a window's positions.
  double bitsPerUnit = std::min(double(pattern.indexBits()),
                                double(pattern.m) / double(pattern.n));
  return activations + weights + double(units) * bitsPerUnit / 8;
}

TensorType BenchCase::weightType() const {
  TensorType weights;
  weights.element = type;
  weights.shape = {shape.k, shape.n};
  weights.encoding = Encoding{pattern, 0};
  return weights;
}

bool BenchCase::canResultIn(ElementType result) const {
  return isFloat(type) && elementSize(type) <= 2 &&
         (result == ElementType::F32 || result == ElementType::F16 ||
          result == ElementType::BF16);
}

std::string CaseQuantization::str() const {
  return "i" + std::to_string(bits) + "/" + std::to_string(group);
}

Result<CaseQuantization> CaseQuantization::parse(std::string_view text) {
  CaseQuantization quantization;
  const char *end = text.data() + text.size();
  if (text.substr(0, 3) == "i4/" || text.substr(0, 3) == "i8/") {
    quantization.bits = text[1] - '0';
    auto [next, code] =
        std::from_chars(text.data() + 3, end, quantization.group);
    if (code == std::errc() && next == end && quantization.group > 0 &&
        quantization.group <= ProductShape::kMaxSide)
      return quantization;
  }
  return Error{"expected quantized weights such as i4/128 or i8/128, of 4 or 8 "
               "bits and with a scale for so many of k, but got '" +
               std::string(text) + "'"};
}

std::string BenchCase::typeText() const {
  return std::string(elementName(type)) +
         (quantization ? " x " + quantization->str() : "");
}

std::string BenchCase::str() const {
  return shape.str() + " " + pattern.str() + " " + typeText() +
         (isConstant ? " constant" : "") + (isMMajor ? " m-major" : "") +
         (givenResult ? " to " + std::string(elementName(*givenResult)) : "") +
         (hasFastAccum ? " fast accumulation" : "") + epilogue.str() +
         (schedule.empty() ? "" : " (" + schedule + ")");
}

/// Takes `word` off the end of `text`, with the space before it.
static bool takeLast(std::string &text, const std::string &word) {
  if (text.size() <= word.size() ||
      text.compare(text.size() - word.size(), word.size(), word) != 0)
    return false;
  text.resize(text.size() - word.size());
  return true;
}

Result<BenchCase> BenchCase::parse(const std::string &text) {
  Error error{"expected a product such as '256x4096x4096 8:32, block = 1x32 "
              "f16 m-major to f16', but got '" +
              text + "'"};
  std::string rest = text;
  BenchCase bench;
  Result<CaseEpilogue> epilogue = CaseEpilogue::take(rest);
  if (!epilogue)
    return epilogue.error();
  bench.epilogue = *epilogue;
  bench.hasFastAccum = takeLast(rest, " fast accumulation");
  if (size_t to = rest.rfind(" to "); to != std::string::npos) {
    Result<ElementType> result = parseBenchType(rest.substr(to + 4));
    if (!result)
      return error;
    bench.givenResult = *result;
    rest.resize(to);
  }
  bench.isMMajor = takeLast(rest, " m-major");
  bench.isConstant = takeLast(rest, " constant");
  if (size_t by = rest.rfind(" x "); by != std::string::npos) {
    Result<CaseQuantization> quantization =
        CaseQuantization::parse(std::string_view(rest).substr(by + 3));
    if (!quantization)
      return quantization.error();
    bench.quantization = *quantization;
    rest.resize(by);
  }
  size_t first = rest.find(' '), last = rest.rfind(' ');
  if (first == std::string::npos || first == last)
    return error;
  Result<ProductShape> shape = ProductShape::parse(rest.substr(0, first));
  Result<Pattern> pattern =
      Pattern::parse(rest.substr(first + 1, last - first - 1));
  Result<ElementType> type = parseBenchType(rest.substr(last + 1));
  if (!shape || !pattern || !type)
    return error;
  bench.shape = *shape;
  bench.pattern = *pattern;
  bench.type = *type;
  bool isPossible =
      (!bench.givenResult || bench.canResultIn(*bench.givenResult)) &&
      (!bench.hasFastAccum || isFloat8(bench.type)) &&
      (!bench.isMMajor || bench.shape.m > 1) &&
      // A scale of an integer is of A's type, of 16 bits, and for whole
      // windows. What is computed on sums is in f32.
      (!bench.quantization ||
       ((bench.type == ElementType::F16 || bench.type == ElementType::BF16) &&
        !bench.isConstant && !bench.pattern.isUnstructured() &&
        bench.quantization->group % bench.pattern.windowRows() == 0)) &&
      (bench.epilogue.isNone() || isFloat(bench.resultType()));
  return isPossible ? Result<BenchCase>(bench) : Result<BenchCase>(error);
}

Result<ElementType> nm::parseBenchType(std::string_view text) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3, ElementType::F8E5M2, ElementType::I8})
    if (text == elementName(type))
      return type;
  return Error{"expected f32, f16, bf16, f8E4M3FN, f8E5M2 or i8, but got '" +
               std::string(text) + "'"};
}

std::string nm::granularityName(const Pattern &pattern) {
  if (pattern.isUnstructured())
    return "unstructured";
  if (pattern.bk == 1 && pattern.bn == 1)
    return "EW";
  if (pattern.bk == 1)
    return "VW" + std::to_string(pattern.bn);
  return "BW" + std::to_string(pattern.bk) + "x" + std::to_string(pattern.bn);
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
