//===- GemvPrefetch.cpp - Weights before they may be read -----------------===//

#include "GPU/Strategies/Gemv/GemvPrefetch.h"

#include "GPU/Copies/TensorAddress.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Bulk copies begin and end at multiples of this.
static constexpr int64_t kBulkBytes = 16;
/// A line of the second-level cache.
static constexpr int64_t kLine = 128;

/// Asks for `bytes` at `address`, an index, each of `warps` warps for a part,
/// of at most `perWarp` bytes.
static void prefetchRange(ThreadEmitter &emitter, Value address, Value bytes,
                          int64_t perWarp, Value warp, int64_t warps) {
  OpBuilder &builder = emitter.builder;
  bytes = emitter.least(bytes, emitter.index(perWarp * warps));
  Value part = emitter.mul(
      emitter.div(emitter.add(bytes, kLine * warps - 1), kLine * warps), kLine);
  Value begin = builder.createOrFold<arith::MulIOp>(emitter.loc, warp, part);
  emitter.onlyIf(emitter.less(begin, bytes), [&] {
    Value rest = builder.createOrFold<arith::SubIOp>(emitter.loc, bytes, begin);
    Value at =
        arith::IndexCastUIOp::create(builder, emitter.loc, builder.getI64Type(),
                                     emitter.add(address, begin));
    Value pointer = LLVM::IntToPtrOp::create(
        builder, emitter.loc,
        LLVM::LLVMPointerType::get(
            builder.getContext(),
            static_cast<unsigned>(NVVM::NVVMMemorySpace::Global)),
        at);
    NVVM::CpAsyncBulkPrefetchOp::create(
        builder, emitter.loc, pointer, emitter.toI32(emitter.least(rest, part)),
        /*l2CacheHint=*/Value());
  });
}

/// The first rows of each panel of `weights`, values or indices.
static void prefetchPanels(ThreadEmitter &emitter, Value weights,
                           int64_t perWarp, Value warp, const GpuTile &tile,
                           int64_t panels) {
  auto type = cast<MemRefType>(weights.getType());
  int64_t elementBytes = type.getElementTypeBitWidth() / 8, offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides[2] != 1 ||
      strides[1] != type.getDimSize(2) || ShapedType::isDynamic(strides[0]) ||
      strides[0] * elementBytes % kBulkBytes != 0 ||
      strides[1] * elementBytes % kBulkBytes != 0)
    return;
  OpBuilder &builder = emitter.builder;
  auto size = [&](int64_t dim) {
    return builder.createOrFold<memref::DimOp>(emitter.loc, weights, dim);
  };
  Value address = getElementAddress(emitter, weights);
  Value bytes = emitter.mul(size(1), strides[1] * elementBytes);
  int64_t warpsOfPanel =
      std::max<int64_t>(1, tile.threads / mlir::nm::kWarpSize / panels);
  Value panel = emitter.div(warp, warpsOfPanel);
  emitter.onlyIf(emitter.less(panel, size(0)), [&] {
    Value begin = emitter.mul(panel, strides[0] * elementBytes);
    prefetchRange(emitter, emitter.add(address, begin), bytes, perWarp,
                  emitter.rem(warp, warpsOfPanel), warpsOfPanel);
  });
}

void mlir::nm::prefetchWeights(ThreadEmitter &emitter, Value values,
                               Value indices, const GpuTile &tile, Value thread,
                               int64_t panel, int64_t perWarp) {
  Value isFirstLane = arith::CmpIOp::create(
      emitter.builder, emitter.loc, arith::CmpIPredicate::eq,
      emitter.rem(thread, mlir::nm::kWarpSize), emitter.index(0));
  int64_t panels = llvm::divideCeil(tile.n, panel);
  emitter.onlyIf(isFirstLane, [&] {
    Value warp = emitter.div(thread, mlir::nm::kWarpSize);
    prefetchPanels(emitter, values, perWarp, warp, tile, panels);
    prefetchPanels(emitter, indices, perWarp, warp, tile, panels);
  });
}
