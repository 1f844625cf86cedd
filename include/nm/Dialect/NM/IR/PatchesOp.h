//===- PatchesOp.h - Patches of an image ------------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_PATCHESOP_H
#define NM_DIALECT_NM_IR_PATCHESOP_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Format/WindowTiles.h"
#include "nm/Schedule/PatchRows.h"

#include <optional>

namespace mlir::nm {
/// What result `dim` of a map of patches is a sum of: a factor for each loop,
/// and the constant.
SmallVector<int64_t> getFactors(AffineMap map, unsigned dim);

/// A dimension of an image that some places' taps are outside of, and the one
/// loop of k along it, if any: index i of that has bit `firstBit` + i.
struct TapLoop {
  unsigned dim;
  std::optional<unsigned> loop;
  /// The size of the loop, or 1.
  int64_t size;
  int64_t firstBit;
};

/// Bits by which a thread knows the taps of a place that are outside of the
/// image.
inline constexpr int64_t kMostTapBits = 32;

/// All such dimensions of patches as an nm.patches describes them, of an image
/// of `shape`; none where they have more than kMostTapBits, or several loops of
/// k.
std::optional<SmallVector<TapLoop>> findTapLoops(AffineMap map,
                                                 ArrayRef<int64_t> loops,
                                                 ArrayRef<int64_t> groups,
                                                 ArrayRef<int64_t> shape);

/// The rows of an image of `shape` that the places of such patches take; none
/// where it has no planes, one after another, of which k takes some and a place
/// a part.
std::optional<::nm::ImagePart> findImagePart(AffineMap map,
                                             ArrayRef<int64_t> loops,
                                             ArrayRef<int64_t> groups,
                                             ArrayRef<int64_t> shape);

/// How tensor copies take rows of patches from an image, whose first dimension
/// is of images and whose last is of channels (PTX ISA, "Im2col mode"). For
/// each dimension between: where the first place's first tap is from the first
/// pixel, where the last place's is from the last one, and how far places are
/// apart.
struct PixelBoxes {
  SmallVector<int64_t> lower, upper, steps;
};

/// That of patches [m x k] of an image of `shape`, where a copy of `channels`
/// neighbours along k is of one tap; none where tensor copies have no such
/// image.
std::optional<PixelBoxes> findPixelBoxes(AffineMap map, ArrayRef<int64_t> loops,
                                         ArrayRef<int64_t> groups,
                                         ArrayRef<int64_t> shape,
                                         int64_t channels);

/// The convolution of an image with a filter whose taps and channels are the
/// loops of k, in their order. Its first dimension is of images.
struct PatchConvolution {
  /// A dimension of pixels. `before` is how far the first tap of the first
  /// place is in front of the image.
  struct Pixels {
    unsigned dim;
    /// The loops along it; none where they have one iteration.
    std::optional<unsigned> tapLoop, placeLoop;
    int64_t taps, places, step, dilation, before;
  };

  /// The loops of images and channels; none where they have one iteration.
  std::optional<unsigned> images, channels;
  unsigned channelDim = 0;
  SmallVector<Pixels> pixels;

  bool hasChannelsLast() const {
    return pixels.empty() || channelDim > pixels.back().dim;
  }
};

/// That of patches, [k x m] if `isMMajor` and else [m x k], of an image of
/// `shape`; none of others.
std::optional<PatchConvolution> findConvolution(AffineMap map,
                                                ArrayRef<int64_t> loops,
                                                ArrayRef<int64_t> groups,
                                                ArrayRef<int64_t> shape,
                                                bool isMMajor);
} // namespace mlir::nm

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMPatches.h.inc"

namespace mlir::nm {
/// findPixelBoxes of the patches that `op` makes.
std::optional<PixelBoxes> findPixelBoxes(PatchesOp op, int64_t channels);

/// findConvolution of the patches that `op` makes.
std::optional<PatchConvolution> findConvolution(PatchesOp op, bool isMMajor);

/// The patches that `op`, a product of strategy cublas, has as its A: it is a
/// convolution of cuDNN. None of other products.
PatchesOp findConvolvedPatches(SparseProductOpInterface op);

/// The name of the strategy that makes `op`, which has a schedule: `cudnn`
/// where that is a convolution of the library, else the schedule's.
StringRef getStrategyName(SparseProductOpInterface op);

/// Whether `value` is a matrix that is in no memory: patches or repeated rows.
bool isInNoMemory(Value value);

/// Erases such matrices in `root` that are read no more, and views of them.
void erasePatches(Operation *root);
} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_PATCHESOP_H
