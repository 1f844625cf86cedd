//===- ImagePlaces.h - Where an image has rows of patches -------*- C++ -*-===//
//
// The element of the patches at row k and column m is an element of the image.
// Column m gives the image's element where the filter is put; row k, a channel
// and a tap, gives the distance from there. So a thread computes where its
// columns begin once, and adds the distance of each row of k. A word for each
// column has a bit for each index of a tap's loop, set where the tap is outside
// of the image; a word for each row of k has the bits of the row's own tap.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_EXPAND_IMAGEPLACES_H
#define NM_LIB_GPU_EXPAND_IMAGEPLACES_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"

namespace mlir::nm {

/// A view of `memref` that begins at element `offset`, of no known size.
Value viewFrom(ThreadEmitter &emitter, Value memref, Value offset);

/// The patches that `a` is a view of by slices of step 1; null for others.
PatchesOp findPatches(Value a);

/// A tile [k x m] of patches, whose elements are found in the image.
class ImagePlaces {
public:
  /// The places of the patches that `a` is a view of; none where `a` is a view
  /// of something else.
  static std::optional<ImagePlaces> find(ThreadEmitter &emitter, Value a);

  /// Where a place or a row of k is, and the bits of the taps that the place is
  /// without, or that the row is of; null where there is no padding.
  struct Part {
    Value distance, taps;
    /// The rest of a row's distance, within its window: from the image's first
    /// element on, too, it leads to an element.
    Value inWindow;
  };
  /// An element of the image: another one where it has none, as in padding.
  /// `isInside` is null where it always has.
  struct Element {
    Value index, isInside;
  };

  bool hasTaps() const { return !taps.empty(); }
  /// Whether the rows of a window of `count` rows are of one tap.
  bool isOfOneTap(int64_t count) const;
  /// Whether neighbouring rows of k are neighbours in the image.
  bool hasChannelsLast() const { return steps[groups[kGroup].back()] == 1; }
  /// The image from its first element of the tile's batch on.
  Value getImage() const { return image; }
  /// A factor that the places where batches begin all have; 0 for one batch.
  int64_t getFactorOfBatches() const;
  /// The bits of taps; 0 where no tap is outside of the image.
  int64_t countTapBits() const;
  /// The same places in `copy`, which has the elements of an image as `strides`
  /// of its dimensions say, those of the first place `shift`, an i32, further
  /// on than there.
  ImagePlaces inCopy(ThreadEmitter &emitter, Value copy,
                     ArrayRef<int64_t> strides, Value shift) const;
  /// The column of all patches that column `m` of the tile is, an index.
  Value getColumn(ThreadEmitter &emitter, Value m) const {
    return emitter.add(firstM, m);
  }
  /// The place of column `m` of the tile, an index.
  Part placeOfM(ThreadEmitter &emitter, Value m) const;
  /// Row `k` of the tile, an i32.
  Part placeOfK(ThreadEmitter &emitter, Value k) const;
  /// Row `row` of the window of `count` rows that begins at row `window` of the
  /// tile, both indices. Where windows are of channels of one tap, rows of one
  /// have nothing to compute but their channel.
  Part placeInWindow(ThreadEmitter &emitter, Value window, Value row,
                     int64_t count) const;
  /// As placeOfK, for a row of all patches.
  Part placeOfRow(ThreadEmitter &emitter, Value k) const;
  /// `condition` says whether there is such an element; null if there always is
  /// but for the padding.
  Element getElement(ThreadEmitter &emitter, const Part &ofM, const Part &ofK,
                     Value condition = {}) const;

private:
  ImagePlaces(ThreadEmitter &emitter, PatchesOp patches,
              ArrayRef<Value> offsets);

  void setSteps(ArrayRef<int64_t> strides);
  SmallVector<Value> split(ThreadEmitter &emitter, Value index,
                           unsigned group) const;
  Value sum(ThreadEmitter &emitter, ArrayRef<int64_t> factors, unsigned group,
            ArrayRef<Value> indices) const;
  Value findOutside(ThreadEmitter &emitter, ArrayRef<Value> indices) const;

  /// The loops of the nm.patches that make up each dimension of A, and the
  /// sizes of all loops and of the image.
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> loops, shape;
  AffineMap map;
  SmallVector<TapLoop> taps;
  /// For each loop how far its steps are from one another in the image, and
  /// how far the first place is from the image's first element.
  SmallVector<int64_t> steps;
  unsigned kGroup, mGroup;
  /// Where the tile begins along k and m.
  Value firstK, firstM;
  Value image;
  /// How many elements all places are further on; null for none.
  Value shift;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_EXPAND_IMAGEPLACES_H
