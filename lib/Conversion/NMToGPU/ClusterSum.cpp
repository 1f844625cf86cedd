//===- ClusterSum.cpp - Sums over the blocks of a cluster -----------------===//

#include "ClusterSum.h"

#include "LaunchBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a line, and bytes: what a thread accesses at once.
static constexpr int64_t kLine = 4, kLineBytes = 16;

Value ClusterSum::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

/// Waits for all threads of the cluster; what each wrote before, all can read.
void ClusterSum::meet() {
  NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
}

static LLVM::LLVMPointerType getPointer(OpBuilder &builder,
                                        NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(builder.getContext(),
                                    static_cast<unsigned>(space));
}

/// Lines of one number stand side by side, one for each thread: all lanes of a
/// warp access neighbouring words.
void ClusterSum::share(ArrayRef<Value> lines) {
  count = int64_t(lines.size());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({count, threads, kLine}, builder.getF32Type(),
                              MemRefLayoutAttrInterface(), space);
  auto alloc = memref::AllocOp::create(builder, loc, type);
  alloc->setAttr(kReusesTiles, builder.getUnitAttr());
  buffer = alloc;
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  // Warps may still read the last tile.
  gpu::BarrierOp::create(builder, loc);
  for (auto [i, line] : llvm::enumerate(lines))
    vector::StoreOp::create(
        builder, loc, line, buffer,
        ValueRange{constant(int64_t(i)), thread, constant(0)},
        /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
  meet();

  rank = gpu::ClusterBlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value address = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(),
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer));
  Value own = LLVM::IntToPtrOp::create(
      builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::Shared),
      address);
  for (int64_t i = 0; i < blocks; ++i) {
    Value other = arith::RemUIOp::create(
        builder, loc,
        builder.createOrFold<arith::AddIOp>(loc, rank, constant(i)),
        constant(blocks));
    pointers.push_back(NVVM::MapaOp::create(
        builder, loc, getPointer(builder, NVVM::NVVMMemorySpace::SharedCluster),
        own,
        arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                     other)));
  }
}

/// The blocks after this one come in a circle, so that not all read from the
/// same at once; which block sums a line, and so the order, is fixed.
Value ClusterSum::sumLine(Value number) {
  auto type = VectorType::get(kLine, builder.getF32Type());
  Value line = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, number, constant(threads)), thread);
  Value offset = arith::IndexCastUIOp::create(
      builder, loc, builder.getI64Type(),
      arith::MulIOp::create(builder, loc, line, constant(kLineBytes)));
  SmallVector<Value> parts;
  for (Value pointer : pointers) {
    Value at = LLVM::GEPOp::create(builder, loc, pointer.getType(),
                                   builder.getI8Type(), pointer,
                                   ArrayRef<LLVM::GEPArg>{offset});
    parts.push_back(LLVM::LoadOp::create(builder, loc, type, at, kLineBytes));
  }
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    sum = arith::AddFOp::create(builder, loc, sum, part);
  return sum;
}

void ClusterSum::forEachSum(function_ref<void(Value, Value)> use) {
  auto getNumber = [&](int64_t first) -> Value {
    return arith::AddIOp::create(builder, loc, rank, constant(first));
  };
  // All loads come first, so that none waits for what is done with a sum.
  int64_t whole = count / blocks * blocks;
  SmallVector<std::pair<Value, Value>> sums;
  for (int64_t first = 0; first < whole; first += blocks) {
    Value number = getNumber(first);
    sums.push_back({number, sumLine(number)});
  }
  for (auto [number, sum] : sums)
    use(number, sum);
  if (whole == count)
    return;
  Value number = getNumber(whole);
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        number, constant(count));
  auto guarded = scf::IfOp::create(builder, loc, isThere);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  use(number, sumLine(number));
}

void ClusterSum::leave() { meet(); }
