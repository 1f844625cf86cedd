//===- Patches.h - What a convolution's product has as its A ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PATCHES_H
#define NM_DIALECT_NM_TRANSFORMS_PATCHES_H

#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Schedule/PatchRows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::nm {

/// A linalg op that copies what each place of a convolution's output takes of
/// an image, and the reshape that makes it the A of a product.
struct Patches {
  linalg::GenericOp copy;
  tensor::CollapseShapeOp collapse;
  /// The dimension of A that is m.
  int64_t mDim;

  ::nm::PatchRows getRows();

  /// Whether neighbours of a patch are neighbours in its image, 16 bytes or a
  /// multiple of them, as channels that are last.
  bool copiesVectors() const;
};

/// The patches that `op` takes as its A; none where it takes anything else.
std::optional<Patches> findPatches(SparseProductOpInterface op);

/// Whether `a` are patches, in either order.
bool arePatches(Value a);

/// Lets what copies patches make them in the order of `transposition`, if that
/// swaps their k and m.
bool transposePatches(RewriterBase &rewriter,
                      linalg::TransposeOp transposition);

/// Makes the patches of a tile of A, of which `slice` is the slice, in its
/// place. The tile is one of PatchRows.
LogicalResult makePatchesOfTile(RewriterBase &rewriter, Patches patches,
                                tensor::ExtractSliceOp slice);

/// An image that a strategy can read in place of the patches of it.
struct ReadableImage {
  int64_t elements;
  /// Whether the image's channels are neighbours in memory, rather than its
  /// pixels.
  bool hasChannelsLast;
  /// The rows of it that places take; none where it has no such planes.
  std::optional<::nm::ImagePart> part;
};

/// The image of the patches that `op` has as its A [k x m], where each patch is
/// copied from that image alone, and findTapLoops has an answer; none
/// otherwise. With `transposes`, of a row-major A that a kernel would
/// transpose.
std::optional<ReadableImage> findReadableImage(SparseProductOpInterface op,
                                               bool transposes = false);

/// Whether findReadableImage finds one and the pixels of a row of places are
/// neighbours in the image, or every other one: these can be loaded as vectors.
bool canReadImageRows(SparseProductOpInterface op);

/// An image that tensor copies can read in place of the patches of it.
struct CopiedImage {
  /// Without its padding, where that is zeros.
  Value image;
  /// Whether its channels are not last, so that a kernel transposes it before.
  bool isTransposed;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(image.getType());
  }
};

/// That of the patches that `op` has as its A [m x k], of `channels` neighbours
/// or a multiple along k; none where tensor copies have no such image. With
/// `transposes`, of an A [k x m] that a kernel would transpose.
std::optional<CopiedImage> findCopiedImage(SparseProductOpInterface op,
                                           int64_t channels,
                                           bool transposes = false);

/// An image whose patches are those of a convolution.
struct ConvolvedImage {
  /// Without its padding, where that is zeros.
  Value image;
  PatchConvolution convolution;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(image.getType());
  }
};

/// That of the patches that `op` has as its A; none of others.
std::optional<ConvolvedImage> findConvolvedImage(SparseProductOpInterface op);

/// Gives `op`, whose image findReadableImage or findConvolvedImage finds, an
/// nm.patches as its A: of the image without its padding, where that is zeros.
void takeImage(RewriterBase &rewriter, SparseProductOpInterface op);

/// Gives `op`, whose image findCopiedImage finds, an nm.patches as its A: of
/// that image with its channels last.
void takeCopiedImage(RewriterBase &rewriter, SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PATCHES_H
