//===- TensorCore.cpp - Products of matrices in registers -----------------===//
//
// Products are exact. They and the sum that comes in are added in f64, in the
// order of k, and the result is rounded once, towards zero. The hardware aligns
// the terms to the greatest of them first and drops what is below: docs/Sim.md
// has the bound between the two.
//
//===----------------------------------------------------------------------===//

#include "TensorCore.h"

#include "nm/Format/MmaFragments.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace nm;
using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// A float of one sign bit, exponent and mantissa. The greatest exponent means
/// infinity or NaN, but for e4m3, which has only the NaN whose bits are all
/// set.
static double decodeFloat(uint32_t bits, int exponentBits, int mantissaBits,
                          bool hasInfinity) {
  int32_t most = (1 << exponentBits) - 1, bias = most / 2;
  int32_t exponent = int32_t(bits >> mantissaBits) & most;
  int32_t mantissa = int32_t(bits) & ((1 << mantissaBits) - 1);
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1.0 : 1.0;
  if (exponent == most && hasInfinity)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (exponent == most && mantissa == (1 << mantissaBits) - 1)
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent != 0)
    mantissa |= 1 << mantissaBits;
  return sign *
         std::ldexp(mantissa, std::max(exponent, 1) - bias - mantissaBits);
}

double nm::sim::decodeElement(NmSimElement type, uint32_t bits) {
  switch (type) {
  case NM_SIM_F16:
    return decodeFloat(bits & 0xffff, 5, 10, /*hasInfinity=*/true);
  case NM_SIM_BF16:
    return toFloat(bits << 16);
  case NM_SIM_TF32:
    return toFloat(bits & ~0x1fffu);
  case NM_SIM_E4M3:
    return decodeFloat(bits & 0xff, 4, 3, /*hasInfinity=*/false);
  case NM_SIM_E5M2:
    return decodeFloat(bits & 0xff, 5, 2, /*hasInfinity=*/true);
  case NM_SIM_S8:
    return int8_t(bits);
  case NM_SIM_U8:
    return uint8_t(bits);
  }
  return 0;
}

float nm::sim::truncateSum(double sum) {
  auto rounded = float(sum);
  if (!(std::abs(double(rounded)) > std::abs(sum)) || std::isinf(rounded))
    return rounded;
  // The next smaller float of the same sign.
  uint32_t bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  return toFloat(bits - 1);
}

double nm::sim::decodeSum(NmSimElement type, uint32_t bits) {
  return isInteger(type) ? double(int32_t(bits)) : toFloat(bits);
}

uint32_t nm::sim::encodeSum(NmSimElement type, double sum, bool saturates) {
  using Limits = std::numeric_limits<int32_t>;
  if (isInteger(type)) {
    if (saturates)
      sum = std::clamp(sum, double(Limits::min()), double(Limits::max()));
    return uint32_t(int64_t(sum));
  }
  float rounded = truncateSum(sum);
  uint32_t bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  return bits;
}

int nm::sim::findKeptColumn(const MmaShape &shape, int stored,
                            uint32_t metadata, const char *&fault) {
  int group = stored / shape.storedPerGroup();
  auto pair = int(metadata & 15);
  if (shape.bits == 32) {
    if (pair != encodeMmaSingle(0) && pair != encodeMmaSingle(1))
      fault = "expected metadata of tf32 to be 0b0100 or 0b1110 for each "
              "two columns";
    return 2 * group + (pair >> 3);
  }
  int first = pair & 3, second = pair >> 2;
  if (first >= second)
    fault = "expected metadata to name two columns of each four, the "
            "lower one first";
  return 4 * group + (stored % 2 ? second : first);
}

//===----------------------------------------------------------------------===//
// mma.sync and mma.sp.sync
//===----------------------------------------------------------------------===//

namespace {
/// A product of all lanes' fragments.
class WarpProduct {
public:
  explicit WarpProduct(NmSimCollective *lanes)
      : lanes(lanes), form(operandsOf(0)),
        shape{form.k, getBits(form.a), form.isSparse != 0},
        a(size_t(MmaShape::kM * shape.storedK())),
        b(size_t(form.k * MmaShape::kN)), columns(a.size()) {}

  void run();

private:
  const NmSimMultiply &operandsOf(int lane) const {
    return *static_cast<NmSimMultiply *>(lanes->operands[lane]);
  }
  double decode(NmSimElement type, uint32_t word, int i) const {
    return decodeElement(type, word >> i * shape.bits);
  }
  /// The first word after the registers of A, B and the sums.
  int metadataWord() const {
    return shape.aRegisters() + shape.bRegisters() + MmaShape::kSumsPerLane;
  }
  bool isSelectorValid() const {
    return form.words[metadataWord() + 1] < uint32_t(shape.selectors());
  }
  int findColumn(int row, int stored);
  void gatherA();
  void gatherB();
  uint32_t getSum(FragmentOffset place, uint32_t before) const;

  NmSimCollective *lanes;
  const NmSimMultiply &form;
  MmaShape shape;
  /// In rows; a sparse A as it is stored.
  std::vector<double> a, b;
  /// The rows of B that the elements of A are multiplied with.
  std::vector<int> columns;
};
} // namespace

/// The column of A that its element `stored` of a row is in.
int WarpProduct::findColumn(int row, int stored) {
  if (!shape.isSparse)
    return stored;
  MmaMetadataOffset place =
      getMmaMetadataOffset(shape, row, stored / shape.storedPerGroup(),
                           int(form.words[metadataWord() + 1]));
  return findKeptColumn(shape, stored,
                        operandsOf(place.lane).words[metadataWord()] >>
                            4 * place.nibble,
                        lanes->fault);
}

void WarpProduct::gatherA() {
  for (int lane = 0; lane < MmaShape::kLanes; ++lane)
    for (int r = 0; r < shape.aRegisters(); ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.aOffset(lane, r, i);
        auto at = size_t(place.row * shape.storedK() + place.column);
        a[at] = decode(form.a, operandsOf(lane).words[r], i);
        columns[at] = findColumn(place.row, place.column);
      }
}

void WarpProduct::gatherB() {
  for (int lane = 0; lane < MmaShape::kLanes; ++lane)
    for (int r = 0; r < shape.bRegisters(); ++r)
      for (int i = 0; i < shape.perRegister(); ++i) {
        FragmentOffset place = shape.bOffset(lane, r, i);
        b[size_t(place.row * MmaShape::kN + place.column)] =
            decode(form.b, operandsOf(lane).words[shape.aRegisters() + r], i);
      }
}

uint32_t WarpProduct::getSum(FragmentOffset place, uint32_t before) const {
  double sum = decodeSum(form.a, before);
  auto first = size_t(place.row * shape.storedK());
  for (size_t i = first; i < first + size_t(shape.storedK()); ++i)
    sum += a[i] * b[size_t(columns[i] * MmaShape::kN + place.column)];
  return encodeSum(form.a, sum, form.saturates != 0);
}

void WarpProduct::run() {
  if (shape.isSparse && !isSelectorValid()) {
    lanes->fault = "expected a sparsity selector of a lane or a pair of lanes "
                   "among four";
    return;
  }
  gatherA();
  gatherB();
  for (int lane = 0; lane < MmaShape::kLanes; ++lane)
    for (int i = 0; i < MmaShape::kSumsPerLane; ++i)
      static_cast<uint32_t *>(lanes->results[lane])[i] = getSum(
          getMmaSumOffset(lane, i),
          operandsOf(lane).words[shape.aRegisters() + shape.bRegisters() + i]);
}

void nmSimMultiplyMatrices(NmSimCollective *lanes) {
  for (int lane = 0; lane < MmaShape::kLanes; ++lane)
    if (!lanes->operands[lane]) {
      lanes->fault = "expected all 32 lanes of a warp to take part";
      return;
    }
  WarpProduct(lanes).run();
}
