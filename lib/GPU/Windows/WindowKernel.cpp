//===- WindowKernel.cpp - The kernel of a reduction of windows ------------===//
//
// A thread's windows are unrolled, so that an element that several of them have
// is loaded once, and all loads can be under way at the same time. A tap that
// is outside of a padded image loads an element that the image has, and does
// not use it: threads do not branch.
//
//===----------------------------------------------------------------------===//

#include "GPU/Windows/WindowKernel.h"

#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Windows/WindowOutput.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kThreads = 256;

namespace {
class WindowKernel {
public:
  WindowKernel(OpBuilder &builder, const WindowOp &window,
               const WindowShape &shape)
      : builder(builder), loc(window.op->getLoc()), e{builder, loc},
        window(window), shape(shape), output(e, window, shape),
        inputs(e, window, window.inputs) {}

  void launch();

private:
  bool isSmall() const;
  bool advance(SmallVector<int64_t> &taps) const;
  void announceTaps();
  Value getElement(size_t index, ArrayRef<int64_t> taps, int64_t number);
  void combine(SmallVector<Value> &parts);

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  const WindowOp &window;
  const WindowShape &shape;
  WindowOutput output;
  WindowInputs inputs;
};
} // namespace

/// Whether numbers of threads and elements are below 2^31.
bool WindowKernel::isSmall() const {
  return output.isSmall() && inputs.isSmall();
}

void WindowKernel::launch() {
  OpBuilder::InsertionGuard guard(builder);
  Value total = countNumbers(e, window, shape.loop, shape.width);
  Value blocks = e.ceilDiv(total, kThreads);
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, kThreads);
  Value first = e.mul(launch.getBlockIds().x, kThreads);
  Value number = e.add(first, launch.getThreadIds().x);
  auto exists = scf::IfOp::create(builder, loc, e.less(number, total));
  builder.setInsertionPointToStart(exists.thenBlock());
  SmallVector<Value> at = placeNumber(
      e, window, isSmall() ? e.toI32(number) : number, shape.loop, shape.width);
  output.begin(at);
  inputs.begin(at);
  SmallVector<Value> parts = output.start();
  combine(parts);
  output.store(std::move(parts));
}

/// Moves to the next tap in the op's order; false behind the last one.
bool WindowKernel::advance(SmallVector<int64_t> &taps) const {
  for (size_t i = taps.size(); i-- > 0;) {
    if (++taps[i] < window.sizes[window.taps[i]])
      return true;
    taps[i] = 0;
  }
  return false;
}

void WindowKernel::announceTaps() {
  SmallVector<int64_t> taps(window.taps.size(), 0);
  do {
    for (auto [index, group] : llvm::enumerate(shape.groups))
      if (WindowInput *input = inputs.get(index))
        for (int64_t part = 0; part < output.countParts(); ++part)
          input->announce(input->getPlace(taps, shape.loop, part), group);
  } while (advance(taps));
}

/// What input `index` has for a tap of window `number` of the thread.
Value WindowKernel::getElement(size_t index, ArrayRef<int64_t> taps,
                               int64_t number) {
  const WindowOperand &operand = window.inputs[index];
  WindowInput *input = inputs.get(index);
  if (!input)
    return operand.value;
  WindowPlace place = input->getPlace(taps, shape.loop, number);
  if (shape.hasVectors)
    return input->load(place, operand.dependsOn(shape.loop) ? shape.width : 1);
  return input->loadOfGroup(std::move(place), shape.groups[index]);
}

/// Combines `parts` with all elements of their windows.
void WindowKernel::combine(SmallVector<Value> &parts) {
  announceTaps();
  SmallVector<int64_t> taps(window.taps.size(), 0);
  do {
    for (auto [number, part] : llvm::enumerate(parts)) {
      SmallVector<Value> arguments;
      for (auto [index, operand] : llvm::enumerate(window.inputs))
        // What is not read may be anything.
        arguments.push_back(operand.isRead
                                ? output.widen(getElement(index, taps, number))
                                : part);
      arguments.push_back(part);
      part = inlineElementwise(builder, loc, window.getBody(), arguments);
    }
  } while (advance(taps));
}

void mlir::nm::launchWindowKernel(OpBuilder &builder, const WindowOp &window,
                                  const WindowShape &shape) {
  WindowKernel(builder, window, shape).launch();
}
