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
#include "GPU/Windows/WindowInput.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kThreads = 256;

namespace {
class WindowKernel {
public:
  WindowKernel(OpBuilder &builder, const WindowOp &window,
               const WindowShape &shape)
      : builder(builder), loc(window.op->getLoc()), e{builder, loc},
        window(window), shape(shape), output(e, window, window.output) {
    for (const WindowOperand &operand : window.inputs)
      inputs.push_back(operand.isMemref() && operand.isRead
                           ? std::optional(WindowInput(e, window, operand))
                           : std::nullopt);
  }

  void launch();

private:
  bool isSmall() const;
  void countThreads();
  SmallVector<Value> placeThread(Value number);
  bool advance(SmallVector<int64_t> &taps) const;
  void announceTaps();
  SmallVector<Value> start();
  Value getElement(size_t index, ArrayRef<int64_t> taps, int64_t number);
  Value widen(Value value);
  void combine(SmallVector<Value> &parts);

  /// How many parts a thread computes one after the other: vectors, or
  /// elements.
  int64_t countParts() const { return shape.hasVectors ? 1 : shape.width; }
  int64_t getVectorWidth() const { return shape.hasVectors ? shape.width : 1; }

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  const WindowOp &window;
  const WindowShape &shape;
  WindowInput output;
  std::vector<std::optional<WindowInput>> inputs;
  /// Threads along each loop over places, in their order, and in all.
  SmallVector<Value> counts;
  Value total;
};
} // namespace

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Whether numbers of threads and elements are below 2^31.
bool WindowKernel::isSmall() const {
  return output.isSmall() &&
         llvm::all_of(inputs, [](const std::optional<WindowInput> &input) {
           return !input || input->isSmall();
         });
}

void WindowKernel::countThreads() {
  total = e.index(1);
  for (auto [dim, loop] : llvm::enumerate(window.places)) {
    Value size =
        builder.createOrFold<memref::DimOp>(loc, window.output.value, dim);
    counts.push_back(loop == shape.loop ? e.div(size, shape.width) : size);
    total = e.mul(total, counts.back());
  }
}

/// Where thread `number` is along each loop over places.
SmallVector<Value> WindowKernel::placeThread(Value number) {
  SmallVector<Value> at(window.sizes.size());
  for (size_t i = window.places.size(); i-- > 0;) {
    unsigned loop = window.places[i];
    Value index = number;
    if (i != 0) {
      Value count = number.getType().isIndex() ? counts[i] : e.toI32(counts[i]);
      index = builder.createOrFold<arith::RemUIOp>(loc, number, count);
      number = e.div(number, count);
    }
    at[loop] = loop == shape.loop ? e.mul(index, shape.width) : index;
  }
  return at;
}

void WindowKernel::launch() {
  OpBuilder::InsertionGuard guard(builder);
  countThreads();
  Value blocks = e.ceilDiv(total, kThreads);
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, kThreads);
  Value first = e.mul(launch.getBlockIds().x, kThreads);
  Value number = e.add(first, launch.getThreadIds().x);
  auto exists = scf::IfOp::create(builder, loc, e.less(number, total));
  builder.setInsertionPointToStart(exists.thenBlock());
  SmallVector<Value> at = placeThread(isSmall() ? e.toI32(number) : number);
  output.begin(at);
  for (std::optional<WindowInput> &input : inputs)
    if (input)
      input->begin(at);
  SmallVector<Value> parts = start();
  combine(parts);
  Value elements = parts.front();
  if (parts.size() > 1)
    elements = vector::FromElementsOp::create(
        builder, loc, VectorType::get(shape.width, elements.getType()), parts);
  output.store(elements, shape.width);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

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
    for (auto [input, group] : llvm::zip(inputs, shape.groups))
      for (int64_t part = 0; input && part < countParts(); ++part)
        input->announce(input->getPlace(taps, shape.loop, part), group);
  } while (advance(taps));
}

/// As many copies of `value` as a vector has, where threads compute vectors.
Value WindowKernel::widen(Value value) {
  int64_t width = getVectorWidth();
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(width, value.getType()), value);
}

/// What the output holds before.
SmallVector<Value> WindowKernel::start() {
  if (window.fill)
    return SmallVector<Value>(countParts(), widen(window.fill->value));
  WindowPlace place(window.output.constants.begin(),
                    window.output.constants.end());
  Value elements = output.load(place, shape.width);
  if (countParts() == 1)
    return {elements};
  return llvm::map_to_vector(llvm::seq(shape.width),
                             [&](int64_t i) { return e.extract(elements, i); });
}

/// What input `index` has for a tap of window `number` of the thread.
Value WindowKernel::getElement(size_t index, ArrayRef<int64_t> taps,
                               int64_t number) {
  const WindowOperand &operand = window.inputs[index];
  std::optional<WindowInput> &input = inputs[index];
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
        arguments.push_back(
            operand.isRead ? widen(getElement(index, taps, number)) : part);
      arguments.push_back(part);
      part = inlineElementwise(builder, loc, window.getBody(), arguments);
    }
  } while (advance(taps));
}

void mlir::nm::launchWindowKernel(OpBuilder &builder, const WindowOp &window,
                                  const WindowShape &shape) {
  WindowKernel(builder, window, shape).launch();
}
