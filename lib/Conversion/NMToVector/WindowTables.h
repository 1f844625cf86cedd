//===- WindowTables.h - A's windows as tables to look up --------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_WINDOWTABLES_H
#define NM_LIB_CONVERSION_NMTOVECTOR_WINDOWTABLES_H

#include "ProductTile.h"

namespace mlir::nm {

/// Rows of A laid out so that each window of k is a table of its units' rows:
/// entry p of table (window, r) is A at row r of unit p of the window, zero
/// past k. A table has 2^⌈log2 M⌉ entries, so that an index with unspecified
/// bits above those looks the right one up.
class WindowTables {
public:
  WindowTables(VectorEmitter &emitter, const ProductTile &tile, int64_t rows);

  /// Allocates memory for the tables of `rows` rows of A.
  void allocate();
  void deallocate();
  /// Lays out the rows of A from `firstRow` on; those past the end repeat the
  /// last one.
  void fill(Value firstRow);

  /// The entry `position` of a table, in all lanes.
  Value broadcastEntry(int64_t row, Value window, Value rowOfUnit,
                       Value position);
  /// The entries that the lanes of `indices` name; see
  /// WeightAccess::unitIndices.
  Value lookUp(int64_t row, Value window, Value rowOfUnit, Value indices);

private:
  Value firstEntry(Value window, Value rowOfUnit);
  bool rowsAreContiguous() const;
  void copyWindows(int64_t row, Value rowOfA);
  void copyEntries(int64_t row, Value rowOfA);
  Value lookUpInRegisters(int64_t row, Value firstEntry, Value indices);
  Value gather(int64_t row, Value firstEntry, Value indices);
  Value loadPeriodic(int64_t row, Value firstEntry);
  Value permute(Value table, Value indices);
  Value permutePair(Value low, Value high, Value indices);

  VectorEmitter &e;
  const ProductTile &tile;
  int64_t rows;
  /// Entries of a table.
  int64_t entries;
  Value tables;
};

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_WINDOWTABLES_H
