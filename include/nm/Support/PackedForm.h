//===- PackedForm.h - Condensed weights re-laid for the CPU -----*- C++ -*-===//
//
// Columns are cut into panels of P. Values are [panels x w x P]: element
// (p, r, c) is condensed value [r, p*P + c], zero beyond the padded columns.
// Indices are [panels x u x s] bytes, u = unitRows(k): a row holds the indices
// of the panel's G = max(1, P/bn) groups of columns as fields of b bits, field
// g in bits [g*b, g*b + b) of the row, little-endian, so s = ceil(G*b / 8).
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_PACKEDFORM_H
#define NM_SUPPORT_PACKEDFORM_H

#include "nm/Support/Condensed.h"
#include "nm/Support/Error.h"
#include "nm/Support/Pattern.h"

#include <array>
#include <cstdint>

namespace nm {

struct PanelPacking {
  /// P, columns of a panel: a multiple or a divisor of the block's columns.
  int64_t panel = 16;
  /// b, bits of one index: 1 to 8.
  int64_t indexBits = 8;

  /// Checks the two against `pattern`: P a multiple or a divisor of bn, and b
  /// wide enough for M.
  Status verify(const Pattern &pattern) const;

  /// G, the indices of one unit row of one panel.
  int64_t groups(const Pattern &pattern) const {
    return panel > pattern.bn ? panel / pattern.bn : 1;
  }
  /// s, the bytes of one unit row of one panel.
  int64_t bytesPerUnitRow(const Pattern &pattern) const {
    return (groups(pattern) * indexBits + 7) / 8;
  }
  /// Panels that cover `n` columns and their padding.
  int64_t panels(const Pattern &pattern, int64_t n) const {
    return (pattern.paddedColumns(n) + panel - 1) / panel;
  }
  /// [panels, w, P], in elements.
  std::array<int64_t, 3> valueShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {panels(pattern, n), pattern.condensedRows(k), panel};
  }
  /// [panels, u, s], in bytes.
  std::array<int64_t, 3> indexShape(const Pattern &pattern, int64_t k,
                                    int64_t n) const {
    return {panels(pattern, n), pattern.unitRows(k), bytesPerUnitRow(pattern)};
  }

  bool operator==(const PanelPacking &other) const {
    return panel == other.panel && indexBits == other.indexBits;
  }
  bool operator!=(const PanelPacking &other) const { return !(*this == other); }
};

/// Writes the packed values of `from` to `packed`, valueShape elements.
/// `packing` must satisfy verify.
void packValues(const CondensedView &from, const PanelPacking &packing,
                void *packed);
/// Writes the packed indices of `from` to `packed`, indexShape bytes. Bits
/// that no group owns are zero. The indices must satisfy verifyIndices.
void packIndices(const CondensedView &from, const PanelPacking &packing,
                 uint8_t *packed);

/// The inverse: writes `to.values` [condensedRows(k) x paddedColumns(n)] from
/// packed values of type `to.type`.
void unpackValues(const void *packed, const PanelPacking &packing,
                  const Pattern &pattern, ElementType type, int64_t k,
                  int64_t n, void *values);
/// The inverse: writes indices [unitRows(k) x blockColumns(n)].
void unpackIndices(const uint8_t *packed, const PanelPacking &packing,
                   const Pattern &pattern, int64_t k, int64_t n,
                   uint8_t *indices);

/// Reads the field of `bits` bits (1 to 8) at `group` of a unit row.
uint8_t loadIndexField(const uint8_t *row, int64_t bits, int64_t group);
/// Writes it; the row must hold zeros there.
void storeIndexField(uint8_t *row, int64_t bits, int64_t group, uint8_t index);

} // namespace nm

#endif // NM_SUPPORT_PACKEDFORM_H
