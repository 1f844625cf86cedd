//===- WindowOutput.h - What becomes of a thread's windows ------*- C++ -*-===//

#ifndef NM_LIB_GPU_WINDOWS_WINDOWOUTPUT_H
#define NM_LIB_GPU_WINDOWS_WINDOWOUTPUT_H

#include "GPU/Windows/WindowInput.h"
#include "GPU/Windows/WindowShape.h"

namespace mlir::nm {

/// Emits what a thread begins with and ends with: the first value of each
/// element of the output, the elementwise op behind, and the store.
class WindowOutput {
public:
  /// Makes views, outside of the kernel.
  WindowOutput(const ThreadEmitter &emitter, const WindowOp &window,
               const WindowShape &shape);

  /// Whether places of all elements are below 2^31.
  bool isSmall() const;

  /// Begins in the kernel, for a thread whose loops over places are at `at`.
  void begin(ArrayRef<Value> at);

  /// How many parts a thread computes one after the other: vectors, or
  /// elements.
  int64_t countParts() const { return shape.hasVectors ? 1 : shape.width; }
  /// As many copies of `value` as a vector has, where threads compute vectors.
  Value widen(Value value);

  /// What the output holds before.
  SmallVector<Value> start();
  /// Stores what becomes of `parts`.
  void store(SmallVector<Value> parts);

private:
  int64_t getVectorWidth() const { return shape.hasVectors ? shape.width : 1; }
  Value getOperand(size_t index, int64_t part);

  ThreadEmitter e;
  const WindowOp &window;
  WindowShape shape;
  WindowInput stored;
  /// The output that is read, if it is; what the op behind reads.
  std::optional<WindowInput> before;
  std::optional<WindowInputs> inputs;
};

/// Where thread or element `number` is along each loop over places, of which
/// `loop` has one for `width` turns. Numbers run along the last loop first.
SmallVector<Value> placeNumber(ThreadEmitter &e, const WindowOp &window,
                               Value number, unsigned loop, int64_t width);

/// How many numbers there are.
Value countNumbers(ThreadEmitter &e, const WindowOp &window, unsigned loop,
                   int64_t width);

} // namespace mlir::nm

#endif // NM_LIB_GPU_WINDOWS_WINDOWOUTPUT_H
