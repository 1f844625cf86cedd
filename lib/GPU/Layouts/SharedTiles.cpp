//===- SharedTiles.cpp - Transpositions through shared memory -------------===//
//
// A block reads tiles of its inputs along the row loop, each to a buffer with
// a line for each iteration of the last loop, and writes the output along the
// last loop. Lanes that read a column of a buffer find it in different banks:
// lines are an odd number of 32-bit words apart.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/Transposition.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// A tile's iterations of both loops, and the warps of a block.
static constexpr int64_t kTile = 64, kWarps = 8;
/// What every chip gives a block that does not ask for more.
static constexpr int64_t kMaxSharedBytes = 48 * 1024;

/// A buffer for a tile of `operand`.
static MemRefType getBufferType(OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  int64_t perWord = std::max<int64_t>(32 / type.getElementTypeBitWidth(), 1);
  return getWorkgroupType({kTile, kTile + perWord}, type.getElementType());
}

static int64_t getBytes(MemRefType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

static int64_t countSharedBytes(const Transposition &op) {
  int64_t bytes = 0;
  for (OpOperand *operand : op.getTransposed())
    bytes += getBytes(getBufferType(*operand));
  return bytes;
}

LogicalResult mlir::nm::checkSharedTiles(RewriterBase &rewriter,
                                         const Transposition &op) {
  for (OpOperand *operand : op.getTransposed()) {
    Type element = cast<MemRefType>(operand->get().getType()).getElementType();
    if (!element.isIntOrFloat() ||
        !llvm::is_contained({8u, 16u, 32u, 64u},
                            element.getIntOrFloatBitWidth()))
      return rewriter.notifyMatchFailure(op.getOp(),
                                         "has elements that are not bytes");
  }
  if (countSharedBytes(op) > kMaxSharedBytes)
    return rewriter.notifyMatchFailure(op.getOp(),
                                       "has tiles that exceed shared memory");
  return success();
}

namespace {
class SharedTile {
public:
  SharedTile(OpBuilder &builder, const Transposition &op);

  void emit();

private:
  /// A thread's elements: warps are side by side along `outer`, lanes along
  /// `inner`.
  struct Element {
    SmallVector<Value> at;
    /// Its place in the tile.
    Value outer, inner;
    /// Whether there is one.
    Value exists;
  };
  SmallVector<Element> getElements(unsigned outer, unsigned inner);
  void read();
  void write();

  OpBuilder &builder;
  const Transposition &op;
  TileLaunch launch;
  ThreadEmitter e;
  SmallVector<Value> buffers;
};
} // namespace

SharedTile::SharedTile(OpBuilder &builder, const Transposition &op)
    : builder(builder), op(op),
      launch(builder, op, kTile, kTile, kWarps * kWarpSize,
             countSharedBytes(op)),
      e{builder, op.getLoc()} {
  Value memory = getLaunchMemory(builder, op.getLoc());
  int64_t offset = 0;
  for (OpOperand *operand : op.getTransposed()) {
    MemRefType type = getBufferType(*operand);
    buffers.push_back(viewLaunchMemory(builder, op.getLoc(), memory, offset,
                                       type.getShape(), type.getElementType()));
    offset += getBytes(type);
  }
}

SmallVector<SharedTile::Element> SharedTile::getElements(unsigned outer,
                                                         unsigned inner) {
  Value warp = e.div(launch.getThread(), kWarpSize);
  Value lane = e.rem(launch.getThread(), kWarpSize);
  SmallVector<Element> elements;
  for (int64_t o = 0; o < kTile; o += kWarps)
    for (int64_t i = 0; i < kTile; i += kWarpSize) {
      Element element;
      element.at = SmallVector<Value>(launch.getFirst());
      element.outer = e.add(warp, o);
      element.inner = e.add(lane, i);
      for (auto [loop, place] :
           {std::pair(outer, element.outer), std::pair(inner, element.inner)}) {
        element.at[loop] = e.add(element.at[loop], place);
        int64_t size = op.getStaticSize(loop);
        if (ShapedType::isDynamic(size) || size % kTile != 0)
          element.exists =
              e.both(element.exists,
                     e.less(element.at[loop], launch.getSizes()[loop]));
      }
      elements.push_back(std::move(element));
    }
  return elements;
}

void SharedTile::read() {
  SmallVector<Element> elements =
      getElements(op.getLastLoop(), op.getRowLoop());
  for (auto [operand, buffer] : llvm::zip(op.getTransposed(), buffers)) {
    // All loads are in flight before the first is waited for.
    SmallVector<Value> values;
    Type type = cast<MemRefType>(operand->get().getType()).getElementType();
    for (Element &element : elements) {
      auto load = [&, operand = operand]() -> SmallVector<Value> {
        return {memref::LoadOp::create(builder, op.getLoc(), operand->get(),
                                       op.getIndices(*operand, element.at))};
      };
      values.push_back(
          element.exists ? e.choose(element.exists, load, e.zero(type)).front()
                         : load().front());
    }
    for (auto [element, value] : llvm::zip(elements, values))
      memref::StoreOp::create(builder, op.getLoc(), value, buffer,
                              ValueRange{element.outer, element.inner});
  }
}

void SharedTile::write() {
  for (Element &element : getElements(op.getRowLoop(), op.getLastLoop()))
    e.onlyIf(element.exists, [&] {
      SmallVector<Value> elements;
      for (Value buffer : buffers)
        elements.push_back(
            memref::LoadOp::create(builder, op.getLoc(), buffer,
                                   ValueRange{element.inner, element.outer}));
      Value result = op.apply(builder, elements, element.at);
      memref::StoreOp::create(builder, op.getLoc(), result, op.getOutput(),
                              element.at);
    });
}

void SharedTile::emit() {
  read();
  gpu::BarrierOp::create(builder, op.getLoc());
  write();
}

void mlir::nm::launchSharedTiles(OpBuilder &builder, const Transposition &op) {
  OpBuilder::InsertionGuard guard(builder);
  SharedTile(builder, op).emit();
}
