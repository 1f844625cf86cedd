//===- ClusterBuffer.cpp - Memory that a cluster's blocks read ------------===//

#include "GPU/Copies/ClusterBuffer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

void ClusterBuffer::meet(OpBuilder &builder, Location loc, int64_t blocks) {
  if (blocks == 1) {
    gpu::BarrierOp::create(builder, loc);
    return;
  }
  NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
}

static LLVM::LLVMPointerType getPointer(OpBuilder &builder,
                                        NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(builder.getContext(),
                                    static_cast<unsigned>(space));
}

ClusterBuffer::ClusterBuffer(OpBuilder &builder, Location loc, Value buffer,
                             int64_t blocks)
    : IndexEmitter{builder, loc} {
  if (blocks == 1)
    return;
  rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value address = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
  Value own = LLVM::IntToPtrOp::create(
      builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::Shared),
      address);
  for (int64_t i = 1; i < blocks; ++i) {
    Value other =
        arith::RemUIOp::create(builder, loc, add(rank, i), index(blocks));
    others.push_back(NVVM::MapaOp::create(
        builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::SharedCluster),
        own,
        arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                     other)));
  }
}

SmallVector<Value> ClusterBuffer::loadOthers(VectorType type, Value byte,
                                             int64_t alignment) {
  SmallVector<Value> loaded;
  if (others.empty())
    return loaded;
  Value offset =
      arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), byte);
  for (Value other : others) {
    Value address =
        LLVM::GEPOp::create(builder, loc, other.getType(), builder.getI8Type(),
                            other, ArrayRef<LLVM::GEPArg>{offset});
    loaded.push_back(LLVM::LoadOp::create(builder, loc, type, address,
                                          static_cast<unsigned>(alignment)));
  }
  return loaded;
}
