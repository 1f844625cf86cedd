//===- PartSums.cpp - Sums of parts of k in shared memory -----------------===//

#include "PartSums.h"

#include "LaunchBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a line, and bytes: what a thread accesses at once.
static constexpr int64_t kLine = 4, kLineBytes = 16;

/// Waits for all threads of the cluster; what each wrote before, all can read.
void PartSums::meet() {
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

/// The blocks after this one come in a circle, so that not all read from the
/// same at once; which block sums a line, and so the order, is fixed.
void PartSums::findOthers() {
  member = slice;
  if (blocks == 1)
    return;
  Value rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  member = add(mul(rank, slices), slice);
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

/// Lines of one number stand side by side, one for each thread of a slice: all
/// lanes of a warp access neighbouring words.
void PartSums::share(ArrayRef<Value> lines) {
  count = int64_t(lines.size());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get({slices * count, threads, kLine}, builder.getF32Type(),
                      MemRefLayoutAttrInterface(), space);
  auto alloc = memref::AllocOp::create(builder, loc, type);
  alloc->setAttr(kOverlaysTiles, builder.getUnitAttr());
  buffer = alloc;
  // Warps may still read the last tile.
  gpu::BarrierOp::create(builder, loc);
  Value first = mul(slice, count);
  for (auto [i, line] : llvm::enumerate(lines))
    vector::StoreOp::create(
        builder, loc, line, buffer,
        ValueRange{add(first, int64_t(i)), thread, index(0)},
        /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
  meet();
  findOthers();
}

/// The first index of the line in the buffer.
Value PartSums::placeOf(int64_t slice, Value number) {
  return add(number, slice * count);
}

Value PartSums::loadOwn(int64_t slice, Value number) {
  return vector::LoadOp::create(
      builder, loc, VectorType::get(kLine, builder.getF32Type()), buffer,
      ValueRange{placeOf(slice, number), thread, index(0)},
      /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
}

Value PartSums::loadOther(Value pointer, int64_t slice, Value number) {
  Value line = add(mul(placeOf(slice, number), threads), thread);
  Value offset = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(), mul(line, kLineBytes));
  Value address =
      LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(),
                          pointer, ArrayRef<LLVM::GEPArg>{offset});
  return LLVM::LoadOp::create(builder, loc,
                              VectorType::get(kLine, builder.getF32Type()),
                              address, kLineBytes);
}

Value PartSums::sumLine(Value number) {
  SmallVector<Value> parts;
  for (int64_t i = 0; i < slices; ++i)
    parts.push_back(loadOwn(i, number));
  for (Value other : others)
    for (int64_t i = 0; i < slices; ++i)
      parts.push_back(loadOther(other, i, number));
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    sum = arith::AddFOp::create(builder, loc, sum, part);
  return sum;
}

void PartSums::forEachSum(function_ref<void(Value, Value)> use) {
  int64_t members = blocks * slices;
  // All loads come first, so that none waits for what is done with a sum.
  int64_t whole = count / members * members;
  SmallVector<std::pair<Value, Value>> sums;
  for (int64_t first = 0; first < whole; first += members) {
    Value number = add(member, first);
    sums.push_back({number, sumLine(number)});
  }
  for (auto [number, sum] : sums)
    use(number, sum);
  if (whole == count)
    return;
  Value number = add(member, whole);
  Value isThere = less(number, index(count));
  auto guarded = scf::IfOp::create(builder, loc, isThere);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  use(number, sumLine(number));
}

void PartSums::leave() {
  if (blocks > 1)
    meet();
}
