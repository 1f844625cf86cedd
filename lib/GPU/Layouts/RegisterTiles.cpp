//===- RegisterTiles.cpp - Transpositions of 16 bits in registers ---------===//
//
// movmatrix (PTX ISA, warp-level matrix transpose instruction) takes a matrix
// of 8 x 8 elements of 16 bits, of which lane l has elements 2 (l % 4) and the
// next of row l / 4, to its transpose, held in the same way. A lane reads 16
// bytes along the row loop: word j of what the warp reads is a matrix whose
// rows are the lanes' places in the last loop. Word j of four such reads, 2
// apart in the last loop, becomes 16 bytes along it, for
//
//   lane l = 4 r + p       in the row loop            in the last loop
//   read i, b              8 p + 32 i                 8 (r / 2) + r % 2 + 2 b
//   written i, j           8 (r / 2) + r % 2 + 2 j + 32 i            8 p
//
// where i is 0 or 1, and b and j are 0 to 3: 64 x 32 elements of a warp.
//
// An op that makes 16 bits of 8 is applied to what is read, 8 bytes at a time,
// before it is transposed.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/Transposition.h"

#include "GPU/Expand/Assembly.h"
#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of 16 bits in 16 bytes, and words.
static constexpr int64_t kChunk = 8, kWords = 4;
/// The distance of a lane's two reads along the row loop.
static constexpr int64_t kReadStep = 32;
static constexpr int64_t kWarpRow = 2 * kReadStep, kWarpLast = 32;
/// Two warps of a block along each loop.
static constexpr int64_t kWarps = 2;
static constexpr int64_t kRowTile = kWarps * kWarpRow,
                         kLastTile = kWarps * kWarpLast;

static bool hasSixteenBits(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementTypeBitWidth() == 16;
}

bool mlir::nm::hasRegisterTiles(const Transposition &op) {
  return op.widens() ||
         llvm::all_of(op.getTransposed(), [](OpOperand *operand) {
           return hasSixteenBits(operand->get());
         });
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// The offset of `memref`, and strides of its rows that may not be multiples of
/// a chunk.
static SmallVector<OpFoldResult> getRowStarts(OpBuilder &builder, Location loc,
                                              Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  memref::ExtractStridedMetadataOp metadata;
  auto get = [&](int64_t known, auto value) -> OpFoldResult {
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(known);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(builder, loc, memref);
    return value(metadata);
  };
  SmallVector<OpFoldResult> starts = {
      get(offset, [](auto op) { return op.getOffset(); })};
  SmallVector<int64_t> factors = getStrideFactors(memref);
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1 && factors[dim] % kChunk != 0)
      starts.push_back(
          get(strides[dim], [&](auto op) { return op.getStrides()[dim]; }));
  return starts;
}

OpFoldResult mlir::nm::areRowsAligned(OpBuilder &builder,
                                      const Transposition &op) {
  Location loc = op.getLoc();
  ThreadEmitter emit{builder, loc};
  SmallVector<Value> memrefs = {op.getOutput()};
  for (OpOperand *operand : op.getTransposed())
    memrefs.push_back(operand->get());
  Value rest;
  for (Value memref : memrefs)
    for (OpFoldResult start : getRowStarts(builder, loc, memref)) {
      std::optional<int64_t> known = getConstantIntValue(start);
      if (known && *known % kChunk != 0)
        return builder.getBoolAttr(false);
      if (known)
        continue;
      Value more = emit.rem(cast<Value>(start), kChunk);
      rest = rest ? emit.either(rest, more) : more;
    }
  if (!rest)
    return builder.getBoolAttr(true);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                               emit.index(0))
      .getResult();
}

//===----------------------------------------------------------------------===//
// A thread's part
//===----------------------------------------------------------------------===//

namespace {
class RegisterTile {
public:
  RegisterTile(OpBuilder &builder, const Transposition &op);

  void emit();

private:
  /// What a lane reads of one input: for each place along the row loop, its
  /// chunks along the last.
  using Chunks = SmallVector<SmallVector<Value>>;

  /// All of the tile; where `isEdge`, as far as there is one.
  void transpose(bool isEdge);
  void transposeReads(ArrayRef<int64_t> reads, bool isEdge);
  void keepTogether();
  Chunks readAll(OpOperand &operand, ArrayRef<int64_t> reads, bool isEdge);
  /// A chunk of `operand` along the row loop from `at` on.
  Value read(OpOperand &operand, ArrayRef<Value> at, bool isEdge);
  Value readInside(OpOperand &operand, ArrayRef<Value> at);
  Value readOneByOne(OpOperand &operand, ArrayRef<Value> at);
  /// What `operand` has at `at`, or the op makes of it where it widens; and the
  /// type of that.
  Value load(OpOperand &operand, ArrayRef<Value> at);
  Type getReadType(OpOperand &operand) const;
  /// What is transposed of what was read.
  Value applyFirst(Value elements, ArrayRef<Value> at) {
    return op.widens() ? op.apply(builder, elements, at) : elements;
  }
  /// What is written of the elements that were read.
  Value applyLast(ArrayRef<Value> elements, ArrayRef<Value> at) {
    return op.widens() ? elements.front() : op.apply(builder, elements, at);
  }
  /// Word `word` of the chunks that are neighbours in the last loop, transposed
  /// by the warp to neighbours along it.
  Value turn(ArrayRef<Value> chunks, int64_t word);
  void write(ArrayRef<Value> elements, ArrayRef<Value> at);
  void store(Value result, ArrayRef<Value> at);
  void writeInside(ArrayRef<Value> elements, ArrayRef<Value> at);
  void writeOneByOne(ArrayRef<Value> elements, ArrayRef<Value> at);

  /// `at`, `distance` further in `loop`.
  SmallVector<Value> move(ArrayRef<Value> at, unsigned loop, int64_t distance) {
    SmallVector<Value> moved(at);
    moved[loop] = e.add(moved[loop], distance);
    return moved;
  }
  Value isBefore(Value index, unsigned loop, int64_t distance = 0) {
    return e.less(e.add(index, distance), launch.getSizes()[loop]);
  }
  /// Whether all tiles, or all chunks, are whole along `loop`.
  bool isMultiple(unsigned loop, int64_t of) const {
    int64_t size = op.getStaticSize(loop);
    return !ShapedType::isDynamic(size) && size % of == 0;
  }

  OpBuilder &builder;
  const Transposition &op;
  TileLaunch launch;
  ThreadEmitter e;
  unsigned row, last;
  /// Where the lane reads and writes first.
  SmallVector<Value> readAt, writeAt;
};
} // namespace

RegisterTile::RegisterTile(OpBuilder &builder, const Transposition &op)
    : builder(builder), op(op),
      launch(builder, op, kRowTile, kLastTile, kWarps * kWarps * kWarpSize,
             /*sharedBytes=*/0),
      e{builder, op.getLoc()}, row(op.getRowLoop()), last(op.getLastLoop()) {
  Value warp = e.div(launch.getThread(), kWarpSize);
  Value lane = e.rem(launch.getThread(), kWarpSize);
  Value quad = e.div(lane, 4);
  Value along = e.mul(e.rem(lane, 4), kChunk);
  Value across = e.add(e.mul(e.div(quad, 2), kChunk), e.rem(quad, 2));
  SmallVector<Value> warpAt(launch.getFirst());
  warpAt[last] = e.add(warpAt[last], e.mul(e.rem(warp, kWarps), kWarpLast));
  warpAt[row] = e.add(warpAt[row], e.mul(e.div(warp, kWarps), kWarpRow));
  readAt = writeAt = warpAt;
  readAt[row] = e.add(warpAt[row], along);
  readAt[last] = e.add(warpAt[last], across);
  writeAt[row] = e.add(warpAt[row], across);
  writeAt[last] = e.add(warpAt[last], along);
}

void RegisterTile::emit() {
  if (isMultiple(row, kRowTile) && isMultiple(last, kLastTile))
    return transpose(/*isEdge=*/false);
  // The same for all threads of the block.
  auto fits = [&](unsigned loop, int64_t tile) {
    return isBefore(launch.getFirst()[loop], loop, tile - 1);
  };
  Value isWhole = e.both(fits(row, kRowTile), fits(last, kLastTile));
  auto branch = scf::IfOp::create(builder, op.getLoc(), isWhole,
                                  /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  transpose(/*isEdge=*/false);
  builder.setInsertionPointToStart(branch.elseBlock());
  transpose(/*isEdge=*/true);
}

void RegisterTile::transpose(bool isEdge) {
  // All loads are in flight before the first is waited for; at an edge, where
  // places take registers, half of them.
  if (!isEdge)
    return transposeReads({0, 1}, isEdge);
  transposeReads({0}, isEdge);
  transposeReads({1}, isEdge);
}

void RegisterTile::transposeReads(ArrayRef<int64_t> reads, bool isEdge) {
  SmallVector<Chunks> inputs;
  for (OpOperand *operand : op.getTransposed())
    inputs.push_back(readAll(*operand, reads, isEdge));
  if (isEdge)
    keepTogether();
  SmallVector<SmallVector<Value>> elements;
  for (size_t i = 0; i < reads.size(); ++i)
    for (int64_t word = 0; word < kWords; ++word) {
      elements.emplace_back();
      for (const Chunks &chunks : inputs)
        elements.back().push_back(turn(chunks[i], word));
    }
  if (isEdge)
    keepTogether();
  SmallVector<SmallVector<Value>> places;
  for (int64_t read : reads)
    for (int64_t word = 0; word < kWords; ++word)
      places.push_back(move(writeAt, row, read * kReadStep + 2 * word));
  if (isEdge) {
    for (auto [values, at] : llvm::zip_equal(elements, places))
      write(values, at);
    return;
  }
  // What the op reads beside them does not wait for stores, and what it reads
  // of a column is read once.
  SmallVector<Value> results;
  for (auto [values, at] : llvm::zip_equal(elements, places))
    results.push_back(applyLast(values, at));
  for (auto [result, at] : llvm::zip_equal(results, places))
    store(result, at);
}

/// LLVM does not know that inline assembly needs all lanes, and would copy it
/// into both ways of a branch on what a lane may access. That it does not do
/// with a block in which the warp synchronizes.
void RegisterTile::keepTogether() { syncWarp(builder, op.getLoc()); }

RegisterTile::Chunks RegisterTile::readAll(OpOperand &operand,
                                           ArrayRef<int64_t> reads,
                                           bool isEdge) {
  Chunks chunks(reads.size());
  for (int64_t b = 0; b < kWords; ++b)
    for (auto [i, number] : llvm::enumerate(reads))
      chunks[i].push_back(read(
          operand, move(move(readAt, last, 2 * b), row, number * kReadStep),
          isEdge));
  // Behind the last load. At an edge, what reads has done it.
  for (SmallVector<Value> &places : chunks)
    for (Value &chunk : places)
      chunk = isEdge ? chunk : applyFirst(chunk, readAt);
  return chunks;
}

Type RegisterTile::getReadType(OpOperand &operand) const {
  Value memref = op.widens() ? op.getOutput() : operand.get();
  return cast<MemRefType>(memref.getType()).getElementType();
}

Value RegisterTile::readInside(OpOperand &operand, ArrayRef<Value> at) {
  auto type = cast<MemRefType>(operand.get().getType());
  return vector::LoadOp::create(
      builder, op.getLoc(), VectorType::get(kChunk, type.getElementType()),
      operand.get(), op.getIndices(operand, at),
      /*nontemporal=*/false,
      llvm::MaybeAlign(kChunk * type.getElementTypeBitWidth() / 8));
}

Value RegisterTile::load(OpOperand &operand, ArrayRef<Value> at) {
  Value element = memref::LoadOp::create(builder, op.getLoc(), operand.get(),
                                         op.getIndices(operand, at));
  return applyFirst(element, at);
}

Value RegisterTile::readOneByOne(OpOperand &operand, ArrayRef<Value> at) {
  Type element = getReadType(operand);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kChunk; ++i) {
    SmallVector<Value> next = move(at, row, i);
    elements.push_back(
        e.choose(
             isBefore(next[row], row),
             [&]() -> SmallVector<Value> { return {load(operand, next)}; },
             e.zero(element))
            .front());
  }
  return vector::FromElementsOp::create(
      builder, op.getLoc(), VectorType::get(kChunk, element), elements);
}

Value RegisterTile::read(OpOperand &operand, ArrayRef<Value> at, bool isEdge) {
  if (!isEdge)
    return readInside(operand, at);
  Value zeros = e.zero(VectorType::get(kChunk, getReadType(operand)));
  auto whole = [&]() -> SmallVector<Value> {
    return {applyFirst(readInside(operand, at), at)};
  };
  auto part = [&]() -> SmallVector<Value> {
    return {readOneByOne(operand, at)};
  };
  Value exists =
      isMultiple(last, kLastTile) ? Value() : isBefore(at[last], last);
  if (isMultiple(row, kChunk))
    return e.choose(e.both(exists, isBefore(at[row], row)), whole, zeros)
        .front();
  auto both = [&]() -> SmallVector<Value> {
    auto branch = scf::IfOp::create(builder, op.getLoc(), zeros.getType(),
                                    isBefore(at[row], row, kChunk - 1),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, op.getLoc(), whole());
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, op.getLoc(), part());
    return {branch.getResult(0)};
  };
  return e.choose(exists, both, zeros).front();
}

/// NVVM has no op for movmatrix.
static Value emitMovmatrix(OpBuilder &builder, Location loc, Value word) {
  return emitAssembly(builder, loc, word.getType(), word,
                      "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r");
}

Value RegisterTile::turn(ArrayRef<Value> chunks, int64_t word) {
  SmallVector<Value> words;
  for (Value chunk : chunks)
    words.push_back(
        emitMovmatrix(builder, op.getLoc(), e.words(chunk)[size_t(word)]));
  Value joined = vector::FromElementsOp::create(
      builder, op.getLoc(), VectorType::get(kWords, builder.getI32Type()),
      words);
  return vector::BitCastOp::create(builder, op.getLoc(),
                                   chunks.front().getType(), joined);
}

void RegisterTile::store(Value result, ArrayRef<Value> at) {
  auto type = cast<VectorType>(result.getType());
  int64_t bytes = kChunk * type.getElementTypeBitWidth() / 8;
  vector::StoreOp::create(builder, op.getLoc(), result, op.getOutput(), at,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
}

void RegisterTile::writeInside(ArrayRef<Value> elements, ArrayRef<Value> at) {
  store(applyLast(elements, at), at);
}

void RegisterTile::writeOneByOne(ArrayRef<Value> elements, ArrayRef<Value> at) {
  for (int64_t i = 0; i < kChunk; ++i) {
    SmallVector<Value> next = move(at, last, i);
    e.onlyIf(isBefore(next[last], last), [&] {
      SmallVector<Value> scalars;
      for (Value vector : elements)
        scalars.push_back(e.extract(vector, i));
      Value result = applyLast(scalars, next);
      memref::StoreOp::create(builder, op.getLoc(), result, op.getOutput(),
                              next);
    });
  }
}

/// Writes the elements of a tile at an edge that lie inside of the output.
void RegisterTile::write(ArrayRef<Value> elements, ArrayRef<Value> at) {
  Value exists = isMultiple(row, kRowTile) ? Value() : isBefore(at[row], row);
  if (isMultiple(last, kChunk))
    return e.onlyIf(e.both(exists, isBefore(at[last], last)),
                    [&] { writeInside(elements, at); });
  e.onlyIf(exists, [&] {
    auto branch = scf::IfOp::create(builder, op.getLoc(),
                                    isBefore(at[last], last, kChunk - 1),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    writeInside(elements, at);
    builder.setInsertionPointToStart(branch.elseBlock());
    writeOneByOne(elements, at);
  });
}

void mlir::nm::launchRegisterTiles(OpBuilder &builder,
                                   const Transposition &op) {
  OpBuilder::InsertionGuard guard(builder);
  RegisterTile(builder, op).emit();
}
