//===- ImageTile.h - The part of an image that a block has ------*- C++ -*-===//
//
// A block copies the rows of an image in planes that its places take to shared
// memory, plane by plane. Taps that are outside of the image lead to some
// element of the copy, or to one in front of it or behind, too.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_IMAGETILE_H
#define NM_LIB_GPU_STRATEGIES_MMA_IMAGETILE_H

#include "GPU/Expand/ImagePlaces.h"

namespace mlir::nm {

class ImageTile {
public:
  /// The part that at most `places` places of a tile of `a` take; none where
  /// `a` are no patches of planes.
  static std::optional<ImageTile> find(ThreadEmitter &emitter, Value a,
                                       int64_t places);

  /// Starts copies of the rows, by `threads` threads, of which `thread` is one;
  /// what is around them is zeros. `await` ends the thread's copies.
  void copy(ThreadEmitter &emitter, Value thread, int64_t threads) const;
  void await(ThreadEmitter &emitter) const;

  /// The places of patches in the copy, in bytes.
  const ImagePlaces &getPlaces() const { return *places; }
  /// The element at byte `at` of the copy, an i32.
  Value load(ThreadEmitter &emitter, Value at) const;

private:
  ImageTile(ThreadEmitter &emitter, PatchesOp patches, const ImagePlaces &image,
            const ::nm::ImagePart &part, int64_t rows);

  /// A dimension in memory.
  struct Axis {
    int64_t size, stride;
  };
  void addAxis(int64_t size, int64_t stride);
  void setAxes(MemRefType type, const ::nm::ImagePart &part, int64_t rows);
  int64_t chooseWidth(int64_t factorOfBegin) const;
  void clearAround(ThreadEmitter &emitter, Value thread, int64_t threads) const;
  bool isAsynchronous() const { return width > 1; }
  int64_t countPlanes() const { return axes.size() > 1 ? axes[0].size : 1; }
  Value findInPlane(ThreadEmitter &emitter, Value access) const;
  void copyPlanes(ThreadEmitter &emitter, Value access, Value plane,
                  int64_t step) const;

  /// The dimensions of what is copied, outermost first; two dimensions without
  /// a gap between them in memory are one.
  SmallVector<Axis> axes;
  /// Where the copied rows begin in the image, and elements of an access.
  Value begin;
  int64_t width = 1;
  /// Elements that are copied, and those in front of them and behind.
  int64_t copied = 1, guard = 0;
  Value image, bytes, elements;
  std::optional<ImagePlaces> places;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_IMAGETILE_H
