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

Value ClusterBuffer::getAddress(OpBuilder &builder, Location loc,
                                Value buffer) {
  Value address = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
  return LLVM::IntToPtrOp::create(
      builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::Shared),
      address);
}

/// The same address in that of block `block`, an i32.
static Value getAddressOf(OpBuilder &builder, Location loc, Value own,
                          Value block) {
  return NVVM::MapaOp::create(
      builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::SharedCluster),
      own, block);
}

/// What is `byte`, an index, bytes behind `address`.
static Value loadAt(OpBuilder &builder, Location loc, Value address, Type type,
                    Value byte, int64_t alignment) {
  Value offset =
      arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), byte);
  Value place =
      LLVM::GEPOp::create(builder, loc, address.getType(), builder.getI8Type(),
                          address, ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(builder, loc, type, place,
                              static_cast<unsigned>(alignment));
}

void ClusterBuffer::storeAsync(OpBuilder &builder, Location loc, Value word,
                               Value address, Value barrier, Value block) {
  bool isWide = word.getType().isInteger(64);
  Value there = getAddressOf(builder, loc, address, block),
        waiting = getAddressOf(builder, loc, barrier, block);
  LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(), ValueRange{there, word, waiting},
      isWide ? "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 "
               "[$0], $1, [$2];"
             : "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
               "[$0], $1, [$2];",
      isWide ? "l,l,l" : "l,r,l", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

Value ClusterBuffer::loadFrom(OpBuilder &builder, Location loc, Value buffer,
                              Value block, Type type, Value byte) {
  Value address =
      getAddressOf(builder, loc, getAddress(builder, loc, buffer), block);
  return loadAt(builder, loc, address, type, byte,
                type.getIntOrFloatBitWidth() / 8);
}

ClusterBuffer::ClusterBuffer(OpBuilder &builder, Location loc, Value buffer,
                             int64_t blocks)
    : IndexEmitter{builder, loc} {
  if (blocks == 1)
    return;
  rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value own = getAddress(builder, loc, buffer);
  for (int64_t i = 1; i < blocks; ++i) {
    Value other =
        arith::RemUIOp::create(builder, loc, add(rank, i), index(blocks));
    others.push_back(
        getAddressOf(builder, loc, own,
                     arith::IndexCastUIOp::create(
                         builder, loc, builder.getI32Type(), other)));
  }
}

SmallVector<Value> ClusterBuffer::loadOthers(VectorType type, Value byte,
                                             int64_t alignment) {
  SmallVector<Value> loaded;
  if (others.empty())
    return loaded;
  for (Value other : others)
    loaded.push_back(loadAt(builder, loc, other, type, byte, alignment));
  return loaded;
}
