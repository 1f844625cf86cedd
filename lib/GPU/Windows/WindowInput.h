//===- WindowInput.h - A thread's elements of an operand --------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_WINDOWINPUT_H
#define NM_LIB_GPU_WINDOWS_WINDOWINPUT_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Windows/WindowOp.h"

#include <map>
#include <set>

namespace mlir::nm {

/// A place relative to a thread's first one, along each dimension of a memref:
/// a tap of the first window, or of one of its neighbours.
using WindowPlace = std::vector<int64_t>;

/// Emits a thread's loads from a memref, or its stores. Places are offsets in a
/// flat view, so that those that differ by constants are one address and
/// constants.
class WindowInput {
public:
  /// Makes the view, outside of the kernel.
  WindowInput(const ThreadEmitter &emitter, const WindowOp &window,
              const WindowOperand &operand);

  /// Whether places of all elements are below 2^31.
  bool isSmall() const { return extent && *extent < (int64_t(1) << 31); }

  /// Begins in the kernel, or anew, for a thread whose loops are at `at`: null
  /// for those that places count, or that have one turn.
  void begin(ArrayRef<Value> at);

  /// The place of the tap at which loops are at `taps`, of the thread's window
  /// number `number` along `loop`.
  WindowPlace getPlace(ArrayRef<int64_t> taps, unsigned loop,
                       int64_t number) const;

  /// Says that the element at `place` will be loaded, of a group of `group`
  /// along the last dimension.
  void announce(WindowPlace place, int64_t group);
  /// The element at `place`, from one load for all of its group that were
  /// announced.
  Value loadOfGroup(WindowPlace place, int64_t group);
  /// The elements from `place` on: a scalar, where `width` is 1.
  Value load(const WindowPlace &place, int64_t width);
  void store(Value elements, int64_t width);

private:
  Value isInside(int64_t dim, int64_t constant);
  Value getOffset(const WindowPlace &place, Value inside);
  WindowPlace takeGroup(WindowPlace place, int64_t group,
                        int64_t &position) const;

  ThreadEmitter e;
  const WindowOp &window;
  const WindowOperand &operand;
  std::optional<int64_t> extent;
  Value flat;
  /// The offset of the thread's first place, without the taps, constants, and
  /// dimensions with a border; those dimensions' offset, all indices, and where
  /// loops are.
  Value plain, bordered;
  SmallVector<Value> indices, counted;
  std::map<std::pair<int64_t, int64_t>, Value> insides;
  std::map<std::pair<WindowPlace, int64_t>, Value> loaded;
  /// The elements of each group that are used.
  std::map<WindowPlace, std::set<int64_t>> used;
};

/// The inputs of an op, of which a kernel loads those that are memrefs and are
/// read.
class WindowInputs {
public:
  /// Makes their views, outside of the kernel, but for input `left`.
  WindowInputs(const ThreadEmitter &emitter, const WindowOp &window,
               ArrayRef<WindowOperand> operands,
               std::optional<unsigned> left = std::nullopt);

  /// Whether places of all elements are below 2^31.
  bool isSmall() const;

  /// Begins each; see WindowInput.
  void begin(ArrayRef<Value> at);

  /// Input `index`; null where it is none of them.
  WindowInput *get(size_t index) {
    return inputs[index] ? &*inputs[index] : nullptr;
  }

private:
  std::vector<std::optional<WindowInput>> inputs;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWINPUT_H
