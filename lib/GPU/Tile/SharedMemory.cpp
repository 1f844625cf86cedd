//===- SharedMemory.cpp - Memory that a block's threads share -------------===//

#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

MemRefType mlir::nm::getWorkgroupType(ArrayRef<int64_t> shape, Type element,
                                      MemRefLayoutAttrInterface layout) {
  auto space = gpu::AddressSpaceAttr::get(element.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return MemRefType::get(shape, element, layout, space);
}

Value mlir::nm::allocShared(OpBuilder &builder, Location loc,
                            ArrayRef<int64_t> shape, Type element,
                            MemRefLayoutAttrInterface layout) {
  return memref::AllocOp::create(builder, loc,
                                 getWorkgroupType(shape, element, layout));
}

Value mlir::nm::allocOverTiles(OpBuilder &builder, Location loc,
                               ArrayRef<int64_t> shape, Type element,
                               MemRefLayoutAttrInterface layout) {
  Value buffer = allocShared(builder, loc, shape, element, layout);
  buffer.getDefiningOp()->setAttr(kOverlaysTiles, builder.getUnitAttr());
  return buffer;
}

Value mlir::nm::getLaunchMemory(OpBuilder &builder, Location loc) {
  return gpu::DynamicSharedMemoryOp::create(
      builder, loc,
      getWorkgroupType({ShapedType::kDynamic}, builder.getI8Type()));
}

Value mlir::nm::viewLaunchMemory(OpBuilder &builder, Location loc, Value memory,
                                 int64_t offset, ArrayRef<int64_t> shape,
                                 Type element) {
  return memref::ViewOp::create(
      builder, loc, getWorkgroupType(shape, element), memory,
      arith::ConstantIndexOp::create(builder, loc, offset),
      /*sizes=*/ValueRange());
}

void mlir::nm::copyAsync(OpBuilder &builder, Location loc, Value source,
                         ValueRange from, Value buffer, ValueRange to,
                         int64_t count, Value inside) {
  Type element = cast<MemRefType>(source.getType()).getElementType();
  bool bypassesL1 =
      count * element.getIntOrFloatBitWidth() / 8 == kMaxAccessBytes;
  nvgpu::DeviceAsyncCopyOp::create(
      builder, loc, buffer, to, source, from, builder.getIndexAttr(count),
      inside, bypassesL1 ? builder.getUnitAttr() : UnitAttr());
}

void mlir::nm::syncWarp(OpBuilder &builder, Location loc) {
  NVVM::SyncWarpOp::create(builder, loc,
                           arith::ConstantIntOp::create(builder, loc, -1, 32));
}

void mlir::nm::fenceAsyncProxy(OpBuilder &builder, Location loc) {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}
