//===- ElementType.cpp - Element types of operands ------------------------===//

#include "nm/Format/ElementType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace nm;

namespace {
/// A binary floating-point format narrower than f32.
struct SmallFloat {
  int exponentBits;
  int mantissaBits;
  /// Whether the largest exponent holds infinities; if not (e4m3fn), it holds
  /// finite values and one NaN per sign.
  bool hasInfinity;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  int maxExponent() const { return (1 << exponentBits) - 1; }
  uint32_t mantissaMask() const { return (1u << mantissaBits) - 1; }
};

struct Names {
  ElementType type;
  int64_t size;
  std::string_view name;
};
} // namespace

static constexpr SmallFloat kF16{5, 10, true};
static constexpr SmallFloat kBF16{8, 7, true};
static constexpr SmallFloat kF8E4M3{4, 3, false};
static constexpr SmallFloat kF8E5M2{5, 2, true};

static constexpr Names kNames[] = {
    {ElementType::F64, 8, "f64"},      {ElementType::F32, 4, "f32"},
    {ElementType::F16, 2, "f16"},      {ElementType::BF16, 2, "bf16"},
    {ElementType::I64, 8, "i64"},      {ElementType::I32, 4, "i32"},
    {ElementType::I8, 1, "i8"},        {ElementType::F8E4M3, 1, "f8E4M3FN"},
    {ElementType::F8E5M2, 1, "f8E5M2"}};

static const Names &namesOf(ElementType type) {
  for (const Names &names : kNames)
    if (names.type == type)
      return names;
  return kNames[0];
}

int64_t nm::elementSize(ElementType type) { return namesOf(type).size; }

std::string_view nm::elementName(ElementType type) {
  return namesOf(type).name;
}

std::optional<ElementType> nm::parseElementType(std::string_view name) {
  for (const Names &names : kNames)
    if (names.name == name)
      return names.type;
  return std::nullopt;
}

bool nm::isFloat(ElementType type) {
  return type != ElementType::I64 && type != ElementType::I32 &&
         type != ElementType::I8;
}

bool nm::isFloat8(ElementType type) {
  return isFloat(type) && elementSize(type) == 1;
}

template <typename T>
static T loadRaw(const void *data, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + i * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T>
static void storeRaw(void *data, int64_t i, T value) {
  std::memcpy(static_cast<char *>(data) + i * sizeof(T), &value, sizeof(T));
}

static double decode(SmallFloat format, uint32_t bits) {
  uint32_t mantissa = bits & format.mantissaMask();
  int exponent = (bits >> format.mantissaBits) & format.maxExponent();
  bool negative = bits >> (format.exponentBits + format.mantissaBits) & 1;
  double magnitude;
  if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - format.bias() - format.mantissaBits);
  else if (exponent == format.maxExponent() && format.hasInfinity)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN()
                         : std::numeric_limits<double>::infinity();
  else if (exponent == format.maxExponent() &&
           mantissa == format.mantissaMask())
    magnitude = std::numeric_limits<double>::quiet_NaN();
  else
    magnitude = std::ldexp(mantissa | (1u << format.mantissaBits),
                           exponent - format.bias() - format.mantissaBits);
  return negative ? -magnitude : magnitude;
}

static uint32_t encode(SmallFloat format, double value) {
  uint32_t sign = std::signbit(value)
                      ? 1u << (format.exponentBits + format.mantissaBits)
                      : 0;
  uint32_t infinity = uint32_t(format.maxExponent()) << format.mantissaBits;
  uint32_t nan = infinity | format.mantissaMask();
  if (std::isnan(value))
    return sign | nan;
  double magnitude = std::fabs(value);
  uint32_t overflow = format.hasInfinity ? infinity : nan;
  if (std::isinf(magnitude))
    return sign | overflow;
  if (magnitude == 0)
    return sign;
  // The quantum of the result: normal numbers scale it with their exponent.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  double quantum = std::ldexp(1.0, exponent - format.mantissaBits);
  // nearbyint rounds to nearest even in the default mode. A mantissa rounded
  // up to the next power of two carries into the exponent by the addition.
  auto steps = static_cast<uint64_t>(std::nearbyint(magnitude / quantum));
  uint64_t bits = steps;
  if (steps >> format.mantissaBits)
    bits += uint64_t(exponent + format.bias() - 1) << format.mantissaBits;
  return sign | static_cast<uint32_t>(std::min<uint64_t>(bits, overflow));
}

double nm::loadAsDouble(const void *data, ElementType type, int64_t i) {
  switch (type) {
  case ElementType::F64:
    return loadRaw<double>(data, i);
  case ElementType::F32:
    return loadRaw<float>(data, i);
  case ElementType::F16:
    return decode(kF16, loadRaw<uint16_t>(data, i));
  case ElementType::BF16:
    return decode(kBF16, loadRaw<uint16_t>(data, i));
  case ElementType::F8E4M3:
    return decode(kF8E4M3, loadRaw<uint8_t>(data, i));
  case ElementType::F8E5M2:
    return decode(kF8E5M2, loadRaw<uint8_t>(data, i));
  case ElementType::I64:
    return static_cast<double>(loadRaw<int64_t>(data, i));
  case ElementType::I32:
    return loadRaw<int32_t>(data, i);
  case ElementType::I8:
    return loadRaw<int8_t>(data, i);
  }
  return 0;
}

template <typename T>
static T saturate(double value) {
  // 2^63 is representable and out of range, so the upper bound is exclusive.
  if (!(value > static_cast<double>(std::numeric_limits<T>::min())))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(std::nearbyint(value));
}

void nm::storeFromDouble(void *data, ElementType type, int64_t i,
                         double value) {
  switch (type) {
  case ElementType::F64:
    return storeRaw<double>(data, i, value);
  case ElementType::F32:
    return storeRaw<float>(data, i, static_cast<float>(value));
  case ElementType::F16:
    return storeRaw<uint16_t>(data, i, encode(kF16, value));
  case ElementType::BF16:
    return storeRaw<uint16_t>(data, i, encode(kBF16, value));
  case ElementType::F8E4M3:
    return storeRaw<uint8_t>(data, i, encode(kF8E4M3, value));
  case ElementType::F8E5M2:
    return storeRaw<uint8_t>(data, i, encode(kF8E5M2, value));
  case ElementType::I64:
    return storeRaw<int64_t>(data, i, saturate<int64_t>(value));
  case ElementType::I32:
    return storeRaw<int32_t>(data, i, saturate<int32_t>(value));
  case ElementType::I8:
    return storeRaw<int8_t>(data, i, saturate<int8_t>(value));
  }
}
