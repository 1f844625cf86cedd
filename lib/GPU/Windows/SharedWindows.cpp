//===- SharedWindows.cpp - Windows that threads share ---------------------===//
//
// A block has some places, and each place as many threads as it has shares. Of
// four shares of a window of 49 elements, thread 1 combines elements 1, 5, 9
// and so on. Where neighbouring threads have neighbouring places, shares meet
// in shared memory, where a thread then combines those of an element in their
// order; threads along a window are lanes of a warp, and meet by shuffles. The
// order is always the same.
//
//===----------------------------------------------------------------------===//

#include "GPU/Windows/SharedWindows.h"

#include "GPU/Rows/LaneSums.h"
#include "GPU/Rows/RowOp.h"
#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/SharedMemory.h"
#include "GPU/Windows/WindowOutput.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

static constexpr int64_t kThreads = 256;
/// Elements of a window below which a thread has all of them.
static constexpr int64_t kLeastTaps = 8;
/// Shares of places that are neighbours: a block's other sixteen threads read a
/// segment of 256 bytes where each has an access of 16.
static constexpr int64_t kMaxShares = 16;
/// Elements of a window that a lane of several has at least. Means of 2048 x 32
/// images of 7 x 7 pixels in f16 take 3.9 us on an H200 by 8 lanes each, 6.0 by
/// 16, and 10.8 by 32.
static constexpr int64_t kLeastOfLane = 4;
/// Elements of a thread that are loaded one after the other, without a loop.
static constexpr int64_t kUnrolled = 8;

std::optional<SharedShape> mlir::nm::chooseSharedShape(const WindowOp &window) {
  int64_t count = window.countTaps();
  // Rows have kernels of their own, with the ops around them.
  if (!window.combiner || count < kLeastTaps || RowOp::findSpace(window.op) ||
      !arith::getNeutralElement(window.combiner))
    return std::nullopt;
  SharedShape shape;
  shape.thread = chooseShape(window);
  auto isAlong = [&](unsigned loop) {
    return llvm::any_of(window.inputs, [&](const WindowOperand &input) {
      return input.isMemref() && input.isRead && isAlongLast(input, loop);
    });
  };
  if (shape.thread.hasVectors && isAlong(shape.thread.loop)) {
    shape.shares =
        std::min<int64_t>(kMaxShares, llvm::bit_floor(uint64_t(count / 2)));
    return shape;
  }
  shape.isAlongTaps = true;
  shape.shares = std::min<int64_t>(
      kWarpSize, llvm::bit_floor(uint64_t(count / kLeastOfLane)));
  shape.thread.width = 1;
  shape.thread.hasVectors = false;
  bool isRow = llvm::any_of(window.taps, [&](unsigned loop) {
    return window.sizes[loop] > 1 && isAlong(loop);
  });
  return isRow ? std::optional(shape) : std::nullopt;
}

namespace {
class SharedWindows {
public:
  SharedWindows(OpBuilder &builder, const WindowOp &window,
                const SharedShape &shape)
      : builder(builder), loc(window.op->getLoc()), e{builder, loc},
        window(window), shape(shape), output(e, window, getOutputShape()),
        inputs(e, window, window.inputs) {}

  void launch();

private:
  WindowShape getOutputShape() const;
  bool isSmall() const;
  Value toNumber(Value number) const;
  Type getPartType() const;
  Value combineShare(ArrayRef<Value> at, Value share);
  Value addTap(ArrayRef<Value> at, Value tap, Value exists, Value part);
  Value getElement(size_t index);
  Value getIndex(ArrayRef<Value> places, unsigned loop);
  void finishElement(Value number, Value exists,
                     llvm::function_ref<Value(Value)> add);
  void meetAlongPlaces(Value part, Value block, Value thread);
  void meetAlongTaps(Value part, Value number, Value exists, Value thread,
                     Value share);

  /// How many places, of as many elements as a thread has, a block has.
  int64_t countLanes() const { return kThreads / shape.shares; }

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  const WindowOp &window;
  const SharedShape &shape;
  WindowOutput output;
  WindowInputs inputs;
  Value memory, elements;
};
} // namespace

/// A thread ends with single elements.
WindowShape SharedWindows::getOutputShape() const {
  WindowShape single;
  single.loop = shape.thread.loop;
  return single;
}

bool SharedWindows::isSmall() const {
  return output.isSmall() && inputs.isSmall();
}

Value SharedWindows::toNumber(Value number) const {
  ThreadEmitter emitter = e;
  return isSmall() ? emitter.toI32(number) : number;
}

/// The type of what a thread combines.
Type SharedWindows::getPartType() const {
  Type type = window.output.getType().getElementType();
  int64_t width = shape.thread.width;
  return width == 1 ? type : Type(VectorType::get(width, type));
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// What input `index` has for the tap and the places that it began with.
Value SharedWindows::getElement(size_t index) {
  const WindowOperand &operand = window.inputs[index];
  WindowInput *input = inputs.get(index);
  if (!input)
    return operand.value;
  bool isVector = operand.dependsOn(shape.thread.loop);
  return input->load(input->getPlace({}, shape.thread.loop, 0),
                     isVector ? shape.thread.width : 1);
}

/// The index of `loop` at `places`; of the loop along neighbours a vector.
Value SharedWindows::getIndex(ArrayRef<Value> places, unsigned loop) {
  // Places are not numbered along a loop of one turn.
  Value first = places[loop] ? e.toIndex(places[loop]) : e.index(0);
  int64_t width = shape.thread.width;
  if (loop != shape.thread.loop || width == 1)
    return first;
  SmallVector<Value> indices;
  for (int64_t i = 0; i < width; ++i)
    indices.push_back(e.add(first, i));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(width, first.getType()), indices);
}

/// `part`, combined with tap number `tap` where that exists.
Value SharedWindows::addTap(ArrayRef<Value> at, Value tap, Value exists,
                            Value part) {
  tap = e.orZero(tap, exists);
  SmallVector<Value> places(at);
  for (size_t i = window.taps.size(); i-- > 0;) {
    auto [rest, index] = e.split(tap, window.sizes[window.taps[i]]);
    places[window.taps[i]] = i == 0 ? tap : index;
    tap = rest;
  }
  SmallVector<Value> arguments;
  for (auto [index, operand] : llvm::enumerate(window.inputs)) {
    if (WindowInput *input = inputs.get(index))
      input->begin(places);
    Value element = operand.isRead ? getElement(index) : part;
    if (auto type = dyn_cast<VectorType>(part.getType());
        type && !isa<VectorType>(element.getType()))
      element = vector::BroadcastOp::create(
          builder, loc, type.clone(element.getType()), element);
    arguments.push_back(element);
  }
  arguments.push_back(part);
  Value more =
      inlineElementwise(builder, loc, window.getBody(), arguments,
                        [&](unsigned loop) { return getIndex(places, loop); });
  if (!exists)
    return more;
  return arith::SelectOp::create(builder, loc, exists, more, part);
}

/// The taps of a thread's share, combined in their order.
Value SharedWindows::combineShare(ArrayRef<Value> at, Value share) {
  auto neutral = arith::getNeutralElement(window.combiner);
  Value part = arith::ConstantOp::create(builder, loc, *neutral);
  if (auto type = dyn_cast<VectorType>(getPartType()))
    part = vector::BroadcastOp::create(builder, loc, type, part);
  int64_t count = window.countTaps(), turns = count / shape.shares;
  Value limit = e.constant(share, count);
  int64_t loops = turns / kUnrolled;
  if (loops > 1) {
    auto loop = scf::ForOp::create(builder, loc, e.index(0), e.index(loops),
                                   e.index(1), ValueRange{part});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value turn = loop.getInductionVar();
    if (!share.getType().isIndex())
      turn = e.toI32(turn);
    Value from = e.add(share, e.mul(turn, kUnrolled * shape.shares));
    Value inner = loop.getRegionIterArg(0);
    for (int64_t i = 0; i < kUnrolled; ++i)
      inner = addTap(at, e.add(from, i * shape.shares), Value(), inner);
    scf::YieldOp::create(builder, loc, inner);
    part = loop.getResult(0);
  } else {
    loops = 0;
  }
  for (int64_t i = loops * kUnrolled; i * shape.shares < count; ++i) {
    Value tap = e.add(share, i * shape.shares);
    part = addTap(at, tap, i < turns ? Value() : e.less(tap, limit), part);
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Stores what becomes of element `number`, whose shares `add` adds to what it
/// begins with.
void SharedWindows::finishElement(Value number, Value exists,
                                  llvm::function_ref<Value(Value)> add) {
  e.onlyIf(exists, [&] {
    output.begin(placeNumber(e, window, toNumber(number), shape.thread.loop,
                             /*width=*/1));
    SmallVector<Value> total = output.start();
    total.front() = add(total.front());
    output.store(std::move(total));
  });
}

/// Threads of a place stand behind each other: shares meet in shared memory.
void SharedWindows::meetAlongPlaces(Value part, Value block, Value thread) {
  int64_t width = shape.thread.width, ofBlock = countLanes() * width;
  Type type = window.output.getType().getElementType();
  Value buffer = viewLaunchMemory(builder, loc, memory, /*offset=*/0,
                                  {shape.shares, ofBlock}, type);
  auto [share, lane] = e.split(thread, countLanes());
  Value column = e.mul(lane, width);
  if (width == 1)
    memref::StoreOp::create(builder, loc, part, buffer,
                            ValueRange{share, column});
  else
    vector::StoreOp::create(builder, loc, part, buffer,
                            ValueRange{share, column});
  gpu::BarrierOp::create(builder, loc);
  for (int64_t first = 0; first < ofBlock; first += kThreads) {
    Value element = e.add(thread, first);
    Value number = e.add(e.mul(block, ofBlock), element);
    Value exists = e.less(number, elements);
    if (first + kThreads > ofBlock)
      exists = e.both(exists, e.less(element, e.index(ofBlock)));
    finishElement(number, exists, [&](Value total) {
      for (int64_t i = 0; i < shape.shares; ++i) {
        Value other = memref::LoadOp::create(builder, loc, buffer,
                                             ValueRange{e.index(i), element});
        total = mlir::nm::combine(builder, loc, window.combiner, total, other);
      }
      return total;
    });
  }
}

/// Threads of a place are lanes side by side.
void SharedWindows::meetAlongTaps(Value part, Value number, Value exists,
                                  Value thread, Value share) {
  LaneSums sums(builder, loc, shape.shares, countLanes(), /*cluster=*/1, thread,
                /*results=*/1);
  Value all = sums.add(window.combiner, part);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        share, e.index(0));
  finishElement(number, e.both(exists, isFirst), [&](Value total) {
    return mlir::nm::combine(builder, loc, window.combiner, total, all);
  });
}

void SharedWindows::launch() {
  OpBuilder::InsertionGuard guard(builder);
  const WindowShape &thread = shape.thread;
  elements = countNumbers(e, window, thread.loop, /*width=*/1);
  Value total = countNumbers(e, window, thread.loop, thread.width);
  Value blocks = e.ceilDiv(total, countLanes());
  int64_t bytes = window.output.getType().getElementTypeBitWidth() / 8;
  gpu::LaunchOp launch =
      createLaunch(builder, loc, blocks, kThreads,
                   shape.isAlongTaps ? 0 : kThreads * thread.width * bytes);
  if (!shape.isAlongTaps)
    memory = getLaunchMemory(builder, loc);
  Value block = launch.getBlockIds().x, id = launch.getThreadIds().x;
  auto [lane, share] =
      e.split(id, shape.isAlongTaps ? shape.shares : countLanes());
  if (!shape.isAlongTaps)
    std::swap(lane, share);
  Value number = e.add(e.mul(block, countLanes()), lane);
  Value exists = e.less(number, total);
  // Threads of a place that there is not do as those of the last one.
  Value known = e.least(number, e.sub(total, e.index(1)));
  SmallVector<Value> at =
      placeNumber(e, window, toNumber(known), thread.loop, thread.width);
  Value part = combineShare(at, toNumber(share));
  if (shape.isAlongTaps)
    meetAlongTaps(part, number, exists, id, share);
  else
    meetAlongPlaces(part, block, id);
}

void mlir::nm::launchSharedWindows(OpBuilder &builder, const WindowOp &window,
                                   const SharedShape &shape) {
  SharedWindows(builder, window, shape).launch();
}
