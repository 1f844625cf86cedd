//===- PlanMemory.cpp - One allocation for a function's temporaries -------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPLANMEMORY
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The alignment of cuMemAlloc's memory: a place in the allocation is as good
/// as an allocation of its own.
static constexpr int64_t kAlignment = 256;

namespace {
/// A temporary, from its allocation to its release: numbers of ops in the
/// block.
struct Temporary {
  memref::AllocOp alloc;
  memref::DeallocOp dealloc;
  int64_t begin, end;
  int64_t bytes;
  int64_t offset = 0;

  bool lives(const Temporary &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

/// Bytes from the first element of `type` to the last, rounded up; none where
/// that is not known, or not on the device's plain memory.
static std::optional<int64_t> countBytes(MemRefType type,
                                         const DataLayout &layout) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.hasStaticShape() || type.getMemorySpace() ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return std::nullopt;
  int64_t last = 0;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides)) {
    if (size == 0 || stride < 0)
      return std::nullopt;
    last += (size - 1) * stride;
  }
  int64_t element = int64_t(layout.getTypeSize(type.getElementType()));
  return llvm::alignTo((last + 1) * element, kAlignment);
}

/// The release of `alloc` in its own block, if there is just one.
static memref::DeallocOp findDealloc(memref::AllocOp alloc) {
  memref::DeallocOp found;
  for (Operation *user : alloc->getUsers()) {
    auto dealloc = dyn_cast<memref::DeallocOp>(user);
    if (!dealloc)
      continue;
    if (found || dealloc->getBlock() != alloc->getBlock())
      return {};
    found = dealloc;
  }
  return found;
}

static SmallVector<Temporary> findTemporaries(Block &block) {
  DenseMap<Operation *, int64_t> numbers;
  for (Operation &op : block)
    numbers[&op] = int64_t(numbers.size());
  SmallVector<Temporary> temporaries;
  DataLayout layout = DataLayout::closest(block.getParentOp());
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    memref::DeallocOp dealloc = findDealloc(alloc);
    std::optional<int64_t> bytes = countBytes(alloc.getType(), layout);
    if (dealloc && bytes &&
        alloc.getAlignment().value_or(1) <= uint64_t(kAlignment))
      temporaries.push_back(
          {alloc, dealloc, numbers[alloc], numbers[dealloc], *bytes});
  }
  return temporaries;
}

/// The lowest offset at which `temporary` shares no byte with one of `placed`
/// that lives at the same time.
static int64_t findOffset(const Temporary &temporary,
                          ArrayRef<const Temporary *> placed) {
  SmallVector<const Temporary *> others;
  for (const Temporary *other : placed)
    if (temporary.lives(*other))
      others.push_back(other);
  llvm::sort(others, [](const Temporary *lhs, const Temporary *rhs) {
    return lhs->offset < rhs->offset;
  });
  int64_t offset = 0;
  for (const Temporary *other : others) {
    if (offset + temporary.bytes <= other->offset)
      break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

/// Gives each its offset, the largest first, and returns the bytes of all.
static int64_t placeTemporaries(MutableArrayRef<Temporary> temporaries) {
  SmallVector<Temporary *> order;
  for (Temporary &temporary : temporaries)
    order.push_back(&temporary);
  llvm::sort(order, [](const Temporary *lhs, const Temporary *rhs) {
    return std::pair(-lhs->bytes, lhs->begin) <
           std::pair(-rhs->bytes, rhs->begin);
  });
  SmallVector<const Temporary *> placed;
  int64_t bytes = 0;
  for (Temporary *temporary : order) {
    temporary->offset = findOffset(*temporary, placed);
    placed.push_back(temporary);
    bytes = std::max(bytes, temporary->offset + temporary->bytes);
  }
  return bytes;
}

namespace {
struct NMPlanMemory : mlir::nm::impl::NMPlanMemoryBase<NMPlanMemory> {
  using NMPlanMemoryBase::NMPlanMemoryBase;

  void runOnOperation() override;

private:
  void useOneAllocation(MutableArrayRef<Temporary> temporaries, int64_t bytes);
};
} // namespace

/// A memref of the allocation's pointer, which no pass takes for a view of it:
/// upstream's folds of views drop what memref.view adds to the pointer.
static Value placeIn(OpBuilder &builder, Value whole, memref::AllocOp alloc,
                     int64_t bytesBefore) {
  Location loc = alloc.getLoc();
  LLVMTypeConverter converter(builder.getContext());
  Value index =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, whole);
  Value offset = arith::ConstantIndexOp::create(builder, loc, bytesBefore);
  index = arith::AddIOp::create(builder, loc, index, offset);
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), integer);
  MemRefType type = alloc.getType();
  Value descriptor =
      MemRefDescriptor::fromStaticShape(builder, loc, converter, type, pointer);
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

void NMPlanMemory::useOneAllocation(MutableArrayRef<Temporary> temporaries,
                                    int64_t bytes) {
  auto first = llvm::min_element(
      temporaries, [](auto &lhs, auto &rhs) { return lhs.begin < rhs.begin; });
  auto last = llvm::max_element(
      temporaries, [](auto &lhs, auto &rhs) { return lhs.end < rhs.end; });
  OpBuilder builder(first->alloc);
  auto type = MemRefType::get({bytes}, builder.getI8Type());
  Value whole = memref::AllocOp::create(builder, first->alloc.getLoc(), type,
                                        ValueRange(), ValueRange(),
                                        builder.getI64IntegerAttr(kAlignment));
  builder.setInsertionPoint(last->dealloc);
  memref::DeallocOp::create(builder, last->dealloc.getLoc(), whole);
  for (Temporary &temporary : temporaries) {
    builder.setInsertionPoint(temporary.alloc);
    Value placed = placeIn(builder, whole, temporary.alloc, temporary.offset);
    temporary.dealloc.erase();
    temporary.alloc.replaceAllUsesWith(placed);
    temporary.alloc.erase();
  }
}

void NMPlanMemory::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return;
  SmallVector<Temporary> temporaries =
      findTemporaries(function.getBody().front());
  if (temporaries.empty())
    return;
  int64_t bytes = placeTemporaries(temporaries);
  if (!count)
    useOneAllocation(temporaries, bytes);
  function->setAttr(
      kTemporaryBytes,
      IntegerAttr::get(IntegerType::get(&getContext(), 64), bytes));
}
