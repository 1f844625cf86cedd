//===- MatrixRowCopies.cpp - Copies of matrices, row by row ---------------===//
//
// The lanes of a warp make neighbouring accesses of a row, as wide as rows of
// both sides are aligned, so that a warp moves whole sectors of memory even
// where rows start anywhere and accesses are of single elements. A thread has
// an access in each of four or eight rows, and reads all of them before it
// writes. What converts elements is done between both, on as many of them as
// the wider ones are in an access.
//
//===----------------------------------------------------------------------===//

#include "GPU/Tile/MatrixRowCopies.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/RowWidth.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

static constexpr int64_t kWarps = 8;
/// Accesses that a thread has in flight, of a word at most and of more.
static constexpr int64_t kNarrowAccesses = 8, kWideAccesses = 4;
/// Columns below which most of a warp would be idle.
static constexpr int64_t kLeastColumns = 16;

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}

static bool hasContiguousRows(MemRefType type) {
  return type && type.isStrided() && type.isLastDimUnitStride();
}

bool mlir::nm::hasRowCopies(memref::CopyOp copy) {
  auto source = dyn_cast<MemRefType>(copy.getSource().getType()),
       target = dyn_cast<MemRefType>(copy.getTarget().getType());
  if (!hasContiguousRows(source) || !hasContiguousRows(target) ||
      source.getRank() < 2)
    return false;
  Type element = source.getElementType();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  bool hasType =
      element.isF16() || element.isBF16() || element.isF32() ||
      (element.isInteger() && (bits == 8 || bits == 16 || bits == 32));
  int64_t columns = source.getShape().back();
  return hasType &&
         (ShapedType::isDynamic(columns) || columns >= kLeastColumns);
}

/// Whether rows of `memref` are of elements that are whole bytes, and long
/// enough.
static bool hasRowsToConvert(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!hasContiguousRows(type) || type.getRank() < 2 ||
      !type.getElementType().isIntOrFloat())
    return false;
  int64_t columns = type.getShape().back();
  return llvm::is_contained({8u, 16u, 32u}, type.getElementTypeBitWidth()) &&
         (ShapedType::isDynamic(columns) || columns >= kLeastColumns);
}

bool mlir::nm::hasRowCopies(linalg::GenericOp conversion) {
  if (!conversion.hasPureBufferSemantics() || !mapsElements(conversion))
    return false;
  Value source = conversion.getInputs()[0], target = conversion.getOutputs()[0];
  return hasRowsToConvert(source) && hasRowsToConvert(target) &&
         typeOf(source).getElementTypeBitWidth() !=
             typeOf(target).getElementTypeBitWidth();
}

//===----------------------------------------------------------------------===//
// The width of accesses
//===----------------------------------------------------------------------===//

/// Narrows `width` to what the known strides, offset and size of `memref`
/// allow, and adds those that are not known to be multiples of it.
static void restrict(OpBuilder &builder, Location loc, Value memref,
                     RowWidth &width) {
  MemRefType type = typeOf(memref);
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> factors = getStrideFactors(memref);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  auto take = [&](int64_t known, int64_t factor, Value value) {
    if (!ShapedType::isDynamic(known))
      width.elements = std::gcd(width.elements, known);
    else if (factor % width.elements != 0)
      width.unknown.push_back({value, width.elements});
  };
  take(offset, 1, metadata.getOffset());
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1)
      take(strides[dim], factors[dim], metadata.getStrides()[dim]);
  take(type.getShape().back(), 1, metadata.getSizes().back());
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// What is copied.
struct Rows {
  Location loc;
  Value source, target;
  /// What makes an element of the target of one of the source; null where they
  /// are the same.
  Block *conversion = nullptr;

  /// Bits of an element of the source or of the target, the wider one.
  int64_t bits() const {
    return std::max(typeOf(source).getElementTypeBitWidth(),
                    typeOf(target).getElementTypeBitWidth());
  }
};

class RowCopies {
public:
  RowCopies(OpBuilder &builder, const Rows &rows, int64_t width)
      : builder(builder), loc(rows.loc), e{builder, loc}, source(rows.source),
        target(rows.target), conversion(rows.conversion), type(typeOf(source)),
        width(width),
        accesses(width * type.getElementTypeBitWidth() <= 32 ? kNarrowAccesses
                                                             : kWideAccesses) {}

  void launch();

private:
  int64_t rowsOfTile() const { return kWarps * accesses; }
  int64_t columnsOfTile() const { return kWarpSize * width; }
  bool hasWholeTiles(int64_t dim, int64_t of) const {
    return !type.isDynamicDim(dim) && type.getDimSize(dim) % of == 0;
  }
  void copyRows(Value block, Value thread);
  void copyAll(ArrayRef<Value> at, bool isEdge);
  Value read(ArrayRef<Value> at);
  void write(Value elements, ArrayRef<Value> at);

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  Value source, target;
  Block *conversion;
  MemRefType type;
  int64_t width, accesses;
  SmallVector<Value> sizes, tiles;
};
} // namespace

void RowCopies::launch() {
  OpBuilder::InsertionGuard guard(builder);
  int64_t rank = type.getRank();
  Value blocks = e.index(1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t ofTile = dim == rank - 1   ? columnsOfTile()
                     : dim == rank - 2 ? rowsOfTile()
                                       : 1;
    sizes.push_back(builder.createOrFold<memref::DimOp>(loc, source, dim));
    tiles.push_back(e.ceilDiv(sizes.back(), ofTile));
    blocks = builder.createOrFold<arith::MulIOp>(loc, blocks, tiles.back());
  }
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, kWarps * kWarpSize);
  copyRows(launch.getBlockIds().x, launch.getThreadIds().x);
}

void RowCopies::copyRows(Value block, Value thread) {
  int64_t last = type.getRank() - 1, row = last - 1;
  // Neighbouring blocks go along rows. A grid has less than 2^31 blocks, and
  // i32 is divided in a fourth of i64's time.
  SmallVector<Value> at(sizes.size());
  Value rest = e.toI32(block);
  for (int64_t dim = last; dim >= 0; --dim) {
    Value tile = rest;
    if (dim != 0) {
      Value count = e.toI32(tiles[dim]);
      tile = builder.createOrFold<arith::RemUIOp>(loc, rest, count);
      rest = builder.createOrFold<arith::DivUIOp>(loc, rest, count);
    }
    at[dim] = e.toIndex(tile);
  }
  auto [warp, lane] = e.split(thread, kWarpSize);
  Value firstRow = e.mul(at[row], rowsOfTile());
  at[row] = e.add(firstRow, warp);
  at[last] = e.mul(e.add(e.mul(at[last], kWarpSize), lane), width);
  Value exists = hasWholeTiles(last, columnsOfTile())
                     ? Value()
                     : e.less(at[last], sizes[last]);
  e.onlyIf(exists, [&] {
    if (hasWholeTiles(row, rowsOfTile()))
      return copyAll(at, /*isEdge=*/false);
    // The same for all threads of the block.
    Value isWhole = e.less(e.add(firstRow, rowsOfTile() - 1), sizes[row]);
    auto branch = scf::IfOp::create(builder, loc, isWhole,
                                    /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    copyAll(at, /*isEdge=*/false);
    builder.setInsertionPointToStart(branch.elseBlock());
    copyAll(at, /*isEdge=*/true);
  });
}

/// Copies the thread's access at `at`, and those in the rows of its tile behind
/// it; with `isEdge` only in rows that the matrix has.
void RowCopies::copyAll(ArrayRef<Value> at, bool isEdge) {
  int64_t row = type.getRank() - 2;
  SmallVector<SmallVector<Value>> places;
  for (int64_t i = 0; i < accesses; ++i) {
    places.emplace_back(at);
    places.back()[row] = e.add(at[row], i * kWarps);
  }
  if (isEdge) {
    for (const SmallVector<Value> &place : places)
      e.onlyIf(e.less(place[row], sizes[row]),
               [&] { write(read(place), place); });
    return;
  }
  // All are in flight before the first is waited for.
  SmallVector<Value> elements;
  for (const SmallVector<Value> &place : places)
    elements.push_back(read(place));
  for (auto [vector, place] : llvm::zip(elements, places))
    write(vector, place);
}

Value RowCopies::read(ArrayRef<Value> at) {
  if (width == 1)
    return memref::LoadOp::create(builder, loc, source, at);
  int64_t bytes = width * type.getElementTypeBitWidth() / 8;
  return vector::LoadOp::create(
      builder, loc, VectorType::get(width, type.getElementType()), source, at,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

void RowCopies::write(Value elements, ArrayRef<Value> at) {
  // The op's output, its second argument, is not used.
  if (conversion)
    elements = inlineElementwise(builder, loc, *conversion,
                                 SmallVector<Value>(2, elements));
  if (width == 1) {
    memref::StoreOp::create(builder, loc, elements, target, at);
    return;
  }
  int64_t bytes = width * typeOf(target).getElementTypeBitWidth() / 8;
  vector::StoreOp::create(builder, loc, elements, target, at,
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

static void launch(OpBuilder &builder, const Rows &rows) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = rows.loc;
  RowWidth width{kMaxAccessBytes * 8 / rows.bits(), {}};
  for (Value memref : {rows.source, rows.target})
    restrict(builder, loc, memref, width);
  for (auto &[value, factor] : width.unknown)
    factor = width.elements;
  launchForWidth(builder, loc, width, [&](int64_t elements) {
    RowCopies(builder, rows, elements).launch();
  });
}

void mlir::nm::launchRowCopies(OpBuilder &builder, memref::CopyOp copy) {
  launch(builder, {copy.getLoc(), copy.getSource(), copy.getTarget()});
}

void mlir::nm::launchRowCopies(OpBuilder &builder,
                               linalg::GenericOp conversion) {
  launch(builder, {conversion.getLoc(), conversion.getInputs()[0],
                   conversion.getOutputs()[0], conversion.getBody()});
}
