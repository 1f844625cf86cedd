//===- RepeatedRowTiles.cpp - Kernels that repeat rows of k ---------------===//
//
// A thread writes chunks of 16 bytes. Along k, a chunk has groups of four
// neighbours, which start at even places of A: two loads of two elements fill a
// group. Groups of one window share loads where a chunk is inside of it. All
// divisions by windows are of a chunk's place along k, so that a thread, which
// writes that chunk of several rows of m, does them once.
//
// Of an A [k x m], chunks are copied along m: a thread copies those of the four
// rows of a group.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/RepeatedRowTiles.h"

#include "GPU/Layouts/Transposition.h"

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/Transforms/RepeatRows.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using Groups = ::nm::OverlappingGroups;

/// The threads of a block, side by side along the last dimension.
static constexpr int64_t kThreads = 4 * kWarpSize;
/// Rows of A [m x k] that a thread has, all of whose loads are in flight before
/// the first is waited for; and of A [k x m]: those of a group.
static constexpr int64_t kRows = Groups::kRows;

namespace {
class RepeatedRowTile {
public:
  RepeatedRowTile(OpBuilder &builder, linalg::GenericOp op,
                  const RepeatedRows &repeated)
      : builder(builder), loc(op.getLoc()), e{builder, loc}, a(repeated.a),
        output(op.getDpsInits()[0]), groups(repeated.groups),
        dim(repeated.dim) {}

  /// Whether there are chunks to write.
  bool fits() const;
  void emit();

private:
  MemRefType typeOf(Value memref) const {
    return cast<MemRefType>(memref.getType());
  }
  Type getElement() const { return typeOf(a).getElementType(); }
  /// An integer of the bits of an element: 8-bit floats have no zero in LLVM.
  Type getBits() const {
    return builder.getIntegerType(getElement().getIntOrFloatBitWidth());
  }
  Value toBits(Value loaded) { return bitcast(loaded, getBits()); }
  Value toElements(Value bits) { return bitcast(bits, getElement()); }
  Value bitcast(Value value, Type element) {
    auto vector = dyn_cast<VectorType>(value.getType());
    Type type = vector ? Type(vector.clone(element)) : element;
    return type == value.getType() ? value : e.bitcast(type, value);
  }
  int64_t getLast() const { return typeOf(a).getRank() - 1; }
  bool isAlongK() const { return dim == getLast(); }
  /// Elements, of `most` at most, of an access to a row of `memref`.
  int64_t getWidth(Value memref, int64_t most) const;
  int64_t getChunk() const;

  void createLaunch();
  /// `at`, `distance` further in dimension `along`.
  SmallVector<Value> move(ArrayRef<Value> at, int64_t along, int64_t distance) {
    SmallVector<Value> moved(at);
    moved[along] = e.add(moved[along], distance);
    return moved;
  }
  /// The bits of elements of A, and stores of such.
  Value load(ArrayRef<Value> at, int64_t width);
  void store(Value elements, ArrayRef<Value> at, int64_t width);
  /// Stores a chunk at `at`. A chunk that reaches beyond the last dimension is
  /// stored by parts of `part` elements, as far as these are inside.
  void storeChunk(Value elements, ArrayRef<Value> at, int64_t part);
  Value join(ArrayRef<Value> elements);
  void splitInto(Value loaded, SmallVectorImpl<Value> &elements);

  // Along k.

  /// Elements of A that are loaded at a time, and where they start.
  struct Read {
    Value k;
    /// Whether it is inside of A; null where all are.
    Value exists;
  };
  /// Whether groups reach beyond A: those that fill the last window, and those
  /// of a chunk that reaches beyond the last window.
  bool reachesBeyond() const {
    return typeOf(a).getDimSize(dim) % groups.windowRows != 0 ||
           typeOf(output).getDimSize(dim) % chunk != 0;
  }
  /// Adds the reads of four rows of k from `first` on.
  void addGroup(Value first);
  void findReads();
  /// The chunk of the reads of a row.
  Value readRow(ArrayRef<Value> at);
  void emitAlongK();

  // Along m.

  Value readColumns(ArrayRef<Value> at);
  void emitAlongM();

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  Value a, output;
  Groups groups;
  int64_t dim;
  /// Elements of a chunk, and of a load.
  int64_t chunk = 0, width = 0;
  std::optional<TileLaunch> launch;
  /// The reads of a chunk along k, and which of them has each of its elements,
  /// at which place.
  SmallVector<Read> reads;
  SmallVector<std::pair<int64_t, int64_t>> places;
  /// Where the thread writes its first chunk.
  SmallVector<Value> place;
};
} // namespace

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

int64_t RepeatedRowTile::getWidth(Value memref, int64_t most) const {
  MemRefType type = typeOf(memref);
  int64_t offset = type.getStridesAndOffset().second;
  if (ShapedType::isDynamic(offset))
    return 1;
  SmallVector<int64_t> extents(type.getRank(), most);
  return std::gcd(getCopyWidth(memref, extents), std::gcd(offset, most));
}

int64_t RepeatedRowTile::getChunk() const {
  return getWidth(output,
                  kMaxAccessBytes * 8 / typeOf(a).getElementTypeBitWidth());
}

bool RepeatedRowTile::fits() const {
  Type element = getElement();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0 ||
      !typeOf(a).isStrided() || !typeOf(output).isStrided())
    return false;
  int64_t most = kMaxAccessBytes * 8 / element.getIntOrFloatBitWidth();
  return most >= kRows && (!isAlongK() || getChunk() % kRows == 0);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void RepeatedRowTile::createLaunch() {
  int64_t rank = typeOf(output).getRank(), rowDim = rank - 2;
  SmallVector<int64_t> tiles(rank, 1);
  tiles[rowDim] = kRows;
  tiles.back() = kThreads * chunk;
  // Neighbouring blocks write one after the other along rows.
  SmallVector<unsigned> order;
  for (int64_t i = rank; i-- > 0;)
    order.push_back(unsigned(i));
  launch.emplace(builder, loc, output, tiles, order, kThreads,
                 /*sharedBytes=*/0);
  place = SmallVector<Value>(launch->getFirst());
  place.back() = e.add(place.back(), e.mul(launch->getThread(), chunk));
}

Value RepeatedRowTile::load(ArrayRef<Value> at, int64_t width) {
  if (width == 1)
    return toBits(memref::LoadOp::create(builder, loc, a, at));
  int64_t bytes = width * getElement().getIntOrFloatBitWidth() / 8;
  return toBits(vector::LoadOp::create(
      builder, loc, VectorType::get(width, getElement()), a, at,
      /*nontemporal=*/false, llvm::MaybeAlign(bytes)));
}

void RepeatedRowTile::store(Value elements, ArrayRef<Value> at, int64_t width) {
  if (width == 1) {
    memref::StoreOp::create(builder, loc, toElements(e.extract(elements, 0)),
                            output, at);
    return;
  }
  int64_t bytes = width * getElement().getIntOrFloatBitWidth() / 8;
  vector::StoreOp::create(builder, loc, toElements(elements), output, at,
                          /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

Value RepeatedRowTile::join(ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(int64_t(elements.size()), getBits()),
      elements);
}

void RepeatedRowTile::storeChunk(Value elements, ArrayRef<Value> at,
                                 int64_t part) {
  int64_t last = getLast(), known = typeOf(output).getDimSize(last);
  if (!ShapedType::isDynamic(known) && known % chunk == 0)
    return store(elements, at, chunk);
  Value size = launch->getSizes()[last];
  auto branch =
      scf::IfOp::create(builder, loc, e.less(e.add(at[last], chunk - 1), size),
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  store(elements, at, chunk);
  builder.setInsertionPointToStart(branch.elseBlock());
  for (int64_t i = 0; i + part < chunk; i += part) {
    SmallVector<Value> next = move(at, last, i);
    e.onlyIf(e.less(next[last], size), [&] {
      SmallVector<Value> ofPart;
      for (int64_t j = 0; j < part; ++j)
        ofPart.push_back(e.extract(elements, i + j));
      store(join(ofPart), next, part);
    });
  }
}

void RepeatedRowTile::splitInto(Value loaded,
                                SmallVectorImpl<Value> &elements) {
  auto type = dyn_cast<VectorType>(loaded.getType());
  if (!type)
    return elements.push_back(loaded);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(e.extract(loaded, i));
}

//===----------------------------------------------------------------------===//
// Along k
//===----------------------------------------------------------------------===//

void RepeatedRowTile::addGroup(Value first) {
  int64_t k = typeOf(a).getDimSize(dim);
  for (int64_t i = 0; i < kRows; i += width) {
    Value at = e.add(first, i);
    for (int64_t j = 0; j < width; ++j)
      places.emplace_back(reads.size(), j);
    Read read{e.toIndex(at), Value()};
    if (reachesBeyond()) {
      Value last = e.constant(at, k - width);
      read.exists = e.less(at, e.add(last, 1));
      read.k = e.toIndex(e.least(at, last));
    }
    reads.push_back(read);
  }
}

void RepeatedRowTile::findReads() {
  // i32 is divided in a fourth of i64's time.
  Value first = e.toI32(place.back());
  IndexEmitter &emitter = e;
  auto rowOfK = [&](Value row) {
    return groups.rowOfK(EmittedIndex{&emitter, row}).value;
  };
  bool isInWindow = groups.rowsOfWindow() % chunk == 0;
  Value start = rowOfK(first);
  for (int64_t i = 0; i < chunk; i += kRows)
    addGroup(isInWindow ? e.add(start, i / kRows * Groups::kStep)
                        : rowOfK(e.add(first, i)));
}

Value RepeatedRowTile::readRow(ArrayRef<Value> at) {
  SmallVector<SmallVector<Value>> loaded;
  for (const Read &read : reads) {
    SmallVector<Value> from(at);
    from.back() = read.k;
    splitInto(e.orZero(load(from, width), read.exists), loaded.emplace_back());
  }
  SmallVector<Value> elements;
  for (auto [read, i] : places)
    elements.push_back(loaded[read][i]);
  return join(elements);
}

void RepeatedRowTile::emitAlongK() {
  int64_t rowDim = dim - 1, rows = typeOf(output).getDimSize(rowDim);
  bool hasAllRows = !ShapedType::isDynamic(rows) && rows % kRows == 0;
  e.onlyIf(e.less(place.back(), launch->getSizes().back()), [&] {
    findReads();
    SmallVector<Value> chunks;
    // A row behind the last is read as the last, and not written.
    Value last = e.sub(launch->getSizes()[rowDim], e.index(1));
    for (int64_t i = 0; i < kRows; ++i) {
      SmallVector<Value> at = move(place, rowDim, i);
      if (!hasAllRows)
        at[rowDim] = e.least(at[rowDim], last);
      chunks.push_back(readRow(at));
    }
    for (auto [i, elements] : llvm::enumerate(chunks)) {
      SmallVector<Value> at = move(place, rowDim, int64_t(i));
      e.onlyIf(hasAllRows ? Value()
                          : e.less(at[rowDim], launch->getSizes()[rowDim]),
               [&, elements = elements] { storeChunk(elements, at, kRows); });
    }
  });
}

//===----------------------------------------------------------------------===//
// Along m
//===----------------------------------------------------------------------===//

/// The chunk at `at`, which is inside of A but for the end of its last row.
Value RepeatedRowTile::readColumns(ArrayRef<Value> at) {
  SmallVector<Value> elements;
  int64_t last = getLast(), m = typeOf(a).getDimSize(last);
  bool isWhole = !ShapedType::isDynamic(m) && m % chunk == 0;
  for (int64_t i = 0; i < chunk; i += width) {
    SmallVector<Value> from = move(at, last, i);
    if (!isWhole)
      from[last] =
          e.least(from[last], e.sub(launch->getSizes()[last], e.index(width)));
    splitInto(load(from, width), elements);
  }
  return join(elements);
}

void RepeatedRowTile::emitAlongM() {
  int64_t k = typeOf(a).getDimSize(dim);
  e.onlyIf(e.less(place.back(), launch->getSizes().back()), [&] {
    IndexEmitter &emitter = e;
    Value first = e.toIndex(
        groups.rowOfK(EmittedIndex{&emitter, e.toI32(place[dim])}).value);
    SmallVector<Value> chunks;
    for (int64_t i = 0; i < kRows; ++i) {
      SmallVector<Value> at(place);
      at[dim] = e.add(first, i);
      Value exists;
      if (k % groups.windowRows != 0) {
        exists = e.less(at[dim], e.index(k));
        at[dim] = e.least(at[dim], e.index(k - 1));
      }
      chunks.push_back(e.orZero(readColumns(at), exists));
    }
    for (auto [i, elements] : llvm::enumerate(chunks))
      storeChunk(elements, move(place, dim, int64_t(i)), 1);
  });
}

void RepeatedRowTile::emit() {
  chunk = getChunk();
  // Whole loads only: what they are multiples of, sizes are, too.
  int64_t size = typeOf(a).getDimSize(getLast()),
          most = isAlongK() ? Groups::kStep : chunk;
  width = ShapedType::isDynamic(size) ? 1 : std::gcd(getWidth(a, most), size);
  createLaunch();
  isAlongK() ? emitAlongK() : emitAlongM();
}

bool mlir::nm::launchRepeatedRowTiles(OpBuilder &builder,
                                      linalg::GenericOp op) {
  std::optional<RepeatedRows> repeated = findRepeatedRows(op);
  if (!repeated || !isa<MemRefType>(repeated->a.getType()))
    return false;
  OpBuilder::InsertionGuard guard(builder);
  RepeatedRowTile tile(builder, op, *repeated);
  if (!tile.fits())
    return false;
  tile.emit();
  return true;
}
