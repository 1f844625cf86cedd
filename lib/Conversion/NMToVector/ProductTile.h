//===- ProductTile.h - The product that is expanded -------------*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_PRODUCTTILE_H
#define NM_LIB_CONVERSION_NMTOVECTOR_PRODUCTTILE_H

#include "VectorEmitter.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"

#include <optional>

namespace mlir::nm {

/// How a product on memrefs is expanded: see #nm.vector. Sizes in elements.
struct VectorSchedule {
  /// Whether vectors run along m; else along n.
  bool alongM = false;
  /// The register tile.
  int64_t rows = 1;
  int64_t columns = 16;
  /// Rows of k that are summed before the next part of A is taken; along m
  /// only.
  int64_t kRows = 128;
  /// The width of the panels that condensed weights are read in.
  int64_t panel = 16;
};

/// How a product on memrefs is expanded for AMX: see #nm.amx.
struct AmxSchedule {
  /// Rows of m, and of k, that A is laid out for at a time.
  int64_t rows = 256;
  int64_t kRows = 512;
};

/// An A that are patches of an image, and where the tile begins in them.
struct ImageOfA {
  PatchesOp patches;
  /// One for each dimension of A that is not of one entry alone.
  SmallVector<Value> offsets;
};

/// A product on memrefs with one m and one n: batch dimensions are indexed by
/// the loops around it.
struct ProductTile {
  ::nm::Pattern pattern;
  Value a;
  /// In place of what `a` has in no memory.
  std::optional<ImageOfA> image;
  Value values;
  Value indices;
  /// Where the weights of a column are, in the form of #nm.columns.
  Value lists;
  Value c;
  /// What has an epilogue, and its operands; null where C is added to.
  SparseProductOpInterface epilogue;
  /// Null for weights in condensed form.
  PackingAttr packing;
  bool transposeA = false;
  bool transposeC = false;
  /// Whether A and C have no dimension m.
  bool isVector = false;
  int64_t k = 0;
  /// Sizes as index values, and m where it is static.
  Value m;
  Value n;
  int64_t staticM = ShapedType::kDynamic;
  /// Values that index the batch dimensions of A and C.
  SmallVector<Value> batch;

  /// Indices of A's element (row of m, row of k) and C's (row, column).
  SmallVector<Value> indicesOfA(Value row, Value k) const {
    return arrange(row, k, transposeA);
  }
  SmallVector<Value> indicesOfC(Value row, Value column) const {
    return arrange(row, column, transposeC);
  }

  /// Adds `sums`, of `lanes` neighbours, to C from (row, column) on, or stores
  /// what the epilogue makes of them. They run along m if `alongM`, else along
  /// n; the first `width` are stored.
  void write(VectorEmitter &emitter, Value sums, Value row, Value column,
             bool alongM, Value width) const;
  /// Adds `sum` to the element of C at (row, column), or stores what the
  /// epilogue makes of it.
  void writeScalar(VectorEmitter &emitter, Value sum, Value row,
                   Value column) const;

private:
  /// The element's positions in the loops (batch..., m, n).
  SmallVector<Value> positionsOf(Value row, Value column) const;
  SmallVector<Value> arrange(Value row, Value other, bool transposed) const {
    SmallVector<Value> indices(batch);
    if (isVector)
      indices.push_back(other);
    else if (transposed)
      indices.append({other, row});
    else
      indices.append({row, other});
    return indices;
  }
};

/// Expands `tile` with vectors along m.
void expandAlongM(VectorEmitter &emitter, const ProductTile &tile,
                  const VectorSchedule &schedule);
/// Expands `tile` with vectors along n.
void expandAlongN(VectorEmitter &emitter, const ProductTile &tile,
                  const VectorSchedule &schedule);

/// Expands `tile`, of weights in the form of #nm.columns, with vectors of at
/// most `rows` rows along m, or along the weights of a column.
void expandColumns(VectorEmitter &emitter, const ProductTile &tile,
                   const ::nm::ColumnsForm &form, int64_t rows);

/// Expands `tile`, of weights in the form of #nm.bitmap_panels, with vectors
/// along n, for at most `rows` rows of m and `columns` columns at a time.
void expandBitmapPanels(VectorEmitter &emitter, const ProductTile &tile,
                        const ::nm::BitmapPanels &form, int64_t rows,
                        int64_t columns);

/// Expands `tile`, in the packed form of #nm.amx: of bf16 by AMX, of i8 by
/// AVX512_VNNI, and either by NEON where vectors have 128 bits.
void expandAmx(VectorEmitter &emitter, const ProductTile &tile,
               const AmxSchedule &schedule);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_PRODUCTTILE_H
