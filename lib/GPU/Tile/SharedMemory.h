//===- SharedMemory.h - Memory that a block's threads share -----*- C++ -*-===//

#ifndef NM_LIB_GPU_TILE_SHAREDMEMORY_H
#define NM_LIB_GPU_TILE_SHAREDMEMORY_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// On the allocation of a workgroup buffer: it may have the memory of the
/// tiles, for it is used behind a barrier after which no thread reads a tile.
/// Without the attribute the block takes more shared memory.
inline constexpr llvm::StringLiteral kOverlaysTiles("nm.overlays_tiles");

/// The type of a buffer in workgroup memory.
MemRefType getWorkgroupType(ArrayRef<int64_t> shape, Type element,
                            MemRefLayoutAttrInterface layout = {});

/// A buffer in workgroup memory, which convert-nm-to-gpu places in the block's.
Value allocShared(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                  Type element, MemRefLayoutAttrInterface layout = {});

/// A buffer with kOverlaysTiles.
Value allocOverTiles(OpBuilder &builder, Location loc, ArrayRef<int64_t> shape,
                     Type element, MemRefLayoutAttrInterface layout = {});

/// All shared memory of a launch, as bytes; and a view of it from byte `offset`
/// on.
Value getLaunchMemory(OpBuilder &builder, Location loc);
Value viewLaunchMemory(OpBuilder &builder, Location loc, Value memory,
                       int64_t offset, ArrayRef<int64_t> shape, Type element);

/// Copies `count` neighbouring elements of `source` at `from` to `buffer`, in
/// workgroup memory, at `to`, asynchronously: 4, 8 or 16 bytes, and 16 bypass
/// L1 (PTX ISA, "cp.async"). Where `inside` is not null, the elements behind so
/// many are zeros, and `source` need not have them.
void copyAsync(OpBuilder &builder, Location loc, Value source, ValueRange from,
               Value buffer, ValueRange to, int64_t count, Value inside = {});

/// Lets a warp's lanes wait for one another. ptxas, which puts loads off until
/// they are used, to save registers, moves none past it.
void syncWarp(OpBuilder &builder, Location loc);

/// Lets bulk copies and wgmma, which access shared memory through another proxy
/// than threads, see what the thread has written.
void fenceAsyncProxy(OpBuilder &builder, Location loc);

} // namespace mlir::nm

#endif // NM_LIB_GPU_TILE_SHAREDMEMORY_H
