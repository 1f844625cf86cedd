//===- ImageTile.h - Parts of A that are read from an image -----*- C++ -*-===//
//
// Of an A that nm.patches makes, a tile of m is whole rows of pixels of the
// output, or a part of one where that is wide. A row of k has one tap, by which
// the pixels of a row are neighbours in the image, or every other one.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_IMAGETILE_H
#define NM_LIB_CONVERSION_NMTOVECTOR_IMAGETILE_H

#include "ProductTile.h"
#include "TileOfA.h"

#include "nm/Schedule/PatchRows.h"

namespace mlir::nm {

/// The patches that `a` is a view of; none where it is memory.
std::optional<ImageOfA> findImage(VectorEmitter &e, Value a);

/// The tiles that m is made of: of at most `maxVectors`.
::nm::ImageRows chooseRows(VectorEmitter &e, const ProductTile &product,
                           int64_t maxVectors);

/// Calls `expandRange` with ranges of m, which tiles of `rows` are made of,
/// `step` places one after another. Tiles are of at most `maxVectors`.
void forEachImageRange(
    VectorEmitter &e, const ProductTile &product, int64_t maxVectors,
    llvm::function_ref<void(Value begin, Value end, int64_t step,
                            ::nm::ImageRows rows)>
        expandRange);

/// As layOutA, of the image. Rows of A past m are those of some pixels, or
/// zero.
void layOutImage(VectorEmitter &e, const ProductTile &product,
                 const TileOfA &tile);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_IMAGETILE_H
