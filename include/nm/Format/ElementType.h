//===- ElementType.h - Element types of operands ----------------*- C++ -*-===//

#ifndef NM_FORMAT_ELEMENTTYPE_H
#define NM_FORMAT_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace nm {

/// The element types that operands, weights and results may have.
/// F8E4M3 is OCP e4m3fn (MLIR's f8E4M3FN): no infinities, NaN is S.1111.111.
/// F8E5M2 is OCP e5m2 (MLIR's f8E5M2): the upper byte of an f16, infinities and
/// NaNs included. Compiled programs hold the numbers, so new types come last.
enum class ElementType { F64, F32, F16, BF16, F8E4M3, I64, I32, I8, F8E5M2 };

/// Bytes of one element.
int64_t elementSize(ElementType type);
/// MLIR's name: f32, f16, bf16, f8E4M3FN, f8E5M2, i8, …
std::string_view elementName(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);
bool isFloat(ElementType type);
/// Whether it is a float of 8 bits.
bool isFloat8(ElementType type);

/// Reads element `i` of an array of `type` at `data`.
double loadAsDouble(const void *data, ElementType type, int64_t i);
/// Writes `value` to element `i`, rounded to nearest even. Integers saturate;
/// floats overflow to infinity, and to NaN where they have none (f8E4M3FN).
void storeFromDouble(void *data, ElementType type, int64_t i, double value);

} // namespace nm

#endif // NM_FORMAT_ELEMENTTYPE_H
