//===- GemvActivations.cpp - Rows of A in strategy gemv -------------------===//

#include "GPU/Strategies/Gemv/GemvActivations.h"

#include "GPU/Expand/ElementWords.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Strategies/Gemv/GemvTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

static constexpr int64_t kChunk = ::nm::kGemvChunk;
static constexpr int64_t kBanksOfShared = 32;
/// Chunks of one word a k of which a thread has the loads in flight together.
static constexpr int64_t kChunksInFlight = 4;

GemvActivations::GemvActivations(ThreadEmitter &emitter, Type element,
                                 int64_t rows, int64_t kRows, int64_t words)
    : element(element), rows(rows), kRows(llvm::alignTo(kRows, kChunk)),
      perWord(rowsPerWord(element, rows)), words(words) {
  OpBuilder &builder = emitter.builder;
  int64_t count = planes() * this->kRows * words;
  asBytes = allocShared(builder, emitter.loc, {count * kWordBytes},
                        builder.getI8Type());
  asWords = viewLaunchMemory(builder, emitter.loc, asBytes, /*offset=*/0,
                             {count}, wordType(element, rows));
}

int64_t GemvActivations::chunks() const { return planes() * kRows / kChunk; }

namespace {
/// A place in A, and the condition that A has it: null if it always does.
struct Place {
  SmallVector<Value> at;
  Value inside;
};
} // namespace

/// A[row, k], where A may have fewer than `rows` rows and `kRows` k.
static Place findPlace(ThreadEmitter &emitter, SparseProductOpInterface op,
                       Value a, Value row, int64_t rows, Value k,
                       int64_t kRows) {
  auto type = cast<MemRefType>(a.getType());
  Place place{SmallVector<Value>(type.getRank()), Value()};
  auto set = [&](int64_t dim, Value position, int64_t positions) {
    place.at[dim] = position;
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) >= positions)
      return;
    Value size =
        emitter.builder.createOrFold<memref::DimOp>(emitter.loc, a, dim);
    place.inside = emitter.both(place.inside, emitter.less(position, size));
  };
  if (std::optional<int64_t> dim = op.getMDimOfA())
    set(*dim, row, rows);
  set(op.getKDimOfA(), k, kRows);
  return place;
}

/// A[row, k], or zero where A has no such row or k.
Value GemvActivations::loadElement(ThreadEmitter &emitter,
                                   SparseProductOpInterface op, Value row,
                                   Value k) const {
  Place place = findPlace(emitter, op, op.getA(), row, planes() * rowsOfPlane(),
                          k, kRows);
  auto load = [&]() -> SmallVector<Value> {
    return {memref::LoadOp::create(emitter.builder, emitter.loc, op.getA(),
                                   place.at)};
  };
  return emitter.choose(place.inside, load, emitter.zero(element)).front();
}

/// Whether rows of the memory that `a` is a part of begin at whole chunks.
static bool hasAlignedRows(Value a) {
  while (auto view = a.getDefiningOp<memref::SubViewOp>())
    a = view.getSource();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(
          cast<MemRefType>(a.getType()).getStridesAndOffset(strides, offset)))
    return false;
  strides.push_back(offset);
  return llvm::all_of(strides, [](int64_t stride) {
    return stride == 1 ||
           (!ShapedType::isDynamic(stride) && stride % kChunk == 0);
  });
}

/// Whether all chunks of a row of A are aligned, and lie inside of it or
/// outside.
static bool hasWholeChunks(SparseProductOpInterface op) {
  auto type = cast<MemRefType>(op.getA().getType());
  int64_t kDim = op.getKDimOfA(), offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides[kDim] != 1 ||
      type.isDynamicDim(kDim) || type.getDimSize(kDim) % kChunk != 0)
    return false;
  // Tiles of k begin at multiples of their size.
  return hasAlignedRows(op.getA());
}

/// A[row, k] to A[row, k + kChunk - 1] of `a`, whose chunks are whole.
Value GemvActivations::loadWholeLine(ThreadEmitter &emitter,
                                     SparseProductOpInterface op, Value a,
                                     Value row, Value k) const {
  auto type = VectorType::get(kChunk, element);
  Place place =
      findPlace(emitter, op, a, row, planes() * rowsOfPlane(), k, kRows);
  auto load = [&]() -> SmallVector<Value> {
    int64_t bytes = kChunk * element.getIntOrFloatBitWidth() / 8;
    return {vector::LoadOp::create(emitter.builder, emitter.loc, type, a,
                                   place.at, /*nontemporal=*/false,
                                   llvm::MaybeAlign(bytes))};
  };
  return emitter.choose(place.inside, load, emitter.zero(type)).front();
}

static SmallVector<Value> extractAll(ThreadEmitter &emitter, Value vector) {
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kChunk; ++i)
    elements.push_back(emitter.extract(vector, i));
  return elements;
}

/// A[row, k] to A[row, k + kChunk - 1].
SmallVector<Value> GemvActivations::loadLine(ThreadEmitter &emitter,
                                             SparseProductOpInterface op,
                                             Value row, Value k) const {
  if (hasWholeChunks(op))
    return extractAll(emitter, loadWholeLine(emitter, op, op.getA(), row, k));
  SmallVector<Value> line;
  for (int64_t i = 0; i < kChunk; ++i)
    line.push_back(loadElement(emitter, op, row, emitter.add(k, i)));
  return line;
}

/// The k at which chunk `chunk` begins, and its first row.
std::pair<Value, Value> GemvActivations::startOf(ThreadEmitter &emitter,
                                                 Value chunk) const {
  if (planes() == 1)
    return {emitter.mul(chunk, kChunk), emitter.index(0)};
  int64_t perPlane = kRows / kChunk;
  return {emitter.mul(emitter.rem(chunk, perPlane), kChunk),
          emitter.mul(emitter.div(chunk, perPlane), rowsOfPlane())};
}

/// The elements of a chunk of words: of k, and of the rows of each k.
SmallVector<Value> GemvActivations::loadChunk(ThreadEmitter &emitter,
                                              SparseProductOpInterface op,
                                              Value chunk) const {
  auto [k, firstRow] = startOf(emitter, chunk);
  SmallVector<Value> elements(kChunk * rowsOfPlane());
  for (int64_t i = 0; i < rowsOfPlane(); ++i) {
    Value row = emitter.add(firstRow, i);
    for (auto [j, element] : llvm::enumerate(loadLine(emitter, op, row, k)))
      elements[j * rowsOfPlane() + i] = element;
  }
  return elements;
}

/// Stores words from word `first` on, of which they are a power of two.
void GemvActivations::storeWords(ThreadEmitter &emitter, ArrayRef<Value> stored,
                                 Value first) const {
  Value vector = vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(int64_t(stored.size()), stored.front().getType()),
      stored);
  vector::StoreOp::create(emitter.builder, emitter.loc, vector, asWords, first,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(stored.size() * kWordBytes));
}

/// Stores a chunk k by k. Lanes that would meet in banks, as the third and the
/// first of words of 16 bytes do, begin at another k each.
void GemvActivations::storeInTurns(ThreadEmitter &emitter,
                                   ArrayRef<Value> stored, Value chunk) const {
  int64_t lanes = kBanksOfShared / (kChunk * words);
  Value start = emitter.rem(emitter.div(chunk, lanes), kChunk);
  SmallVector<Value> turned(stored);
  for (int64_t by = 1; by < kChunk; by *= 2) {
    Value isTurned = arith::CmpIOp::create(
        emitter.builder, emitter.loc, arith::CmpIPredicate::ne,
        emitter.mask(start, by), emitter.index(0));
    SmallVector<Value> before = turned;
    for (size_t i = 0; i < turned.size(); ++i)
      turned[i] = arith::SelectOp::create(
          emitter.builder, emitter.loc, isTurned,
          before[(i + size_t(by * words)) % before.size()], before[i]);
  }
  Value first = emitter.mul(chunk, kChunk * words);
  for (int64_t turn = 0; turn < kChunk; ++turn)
    storeWords(
        emitter, ArrayRef(turned).slice(turn * words, words),
        emitter.add(
            first,
            emitter.mul(emitter.rem(emitter.add(start, turn), kChunk), words)));
}

void GemvActivations::storeChunk(ThreadEmitter &emitter,
                                 ArrayRef<Value> elements, Value chunk) const {
  SmallVector<Value> stored;
  for (int64_t i = 0; i < kChunk * words; ++i)
    stored.push_back(packWord(emitter, elements.slice(i * perWord, perWord)));
  if (words == 1)
    storeWords(emitter, stored, emitter.mul(chunk, kChunk));
  else
    storeInTurns(emitter, stored, chunk);
}

void GemvActivations::stage(ThreadEmitter &emitter, SparseProductOpInterface op,
                            Value thread, int64_t threads) const {
  OpBuilder &builder = emitter.builder;
  int64_t inFlight = std::min<int64_t>(kChunksInFlight / words,
                                       llvm::divideCeil(chunks(), threads));
  Value end = emitter.index(chunks());
  auto copy = [&](OpBuilder &inner, Location loc, Value first, ValueRange) {
    ThreadEmitter body{inner, loc};
    SmallVector<Value> numbers, conditions;
    SmallVector<SmallVector<Value>> loaded;
    // A thread that has no chunk loads its first one again.
    for (int64_t i = 0; i < inFlight; ++i) {
      numbers.push_back(body.add(first, i * threads));
      conditions.push_back(i == 0 ? Value() : body.less(numbers[i], end));
      Value number = i == 0 ? first
                            : arith::SelectOp::create(inner, loc, conditions[i],
                                                      numbers[i], first)
                                  .getResult();
      loaded.push_back(loadChunk(body, op, number));
    }
    for (int64_t i = 0; i < inFlight; ++i)
      body.onlyIf(conditions[i],
                  [&] { storeChunk(body, loaded[i], numbers[i]); });
    scf::YieldOp::create(inner, loc);
  };
  scf::ForOp::create(builder, emitter.loc, thread, end,
                     emitter.index(threads * inFlight), ValueRange(), copy);
}

/// Chunks that each of `threads` threads copies.
int64_t GemvActivations::chunksOfThread(int64_t threads) const {
  return llvm::divideCeil(chunks(), threads);
}

/// Chunk `i` of the thread's, and whether there is one: null if so.
std::pair<Value, Value> GemvActivations::chunkOf(ThreadEmitter &emitter,
                                                 Value thread, int64_t threads,
                                                 int64_t i) const {
  Value number = emitter.add(thread, i * threads);
  if ((i + 1) * threads <= chunks())
    return {number, Value()};
  return {number, emitter.less(number, emitter.index(chunks()))};
}

SmallVector<Value> GemvActivations::loadAhead(ThreadEmitter &emitter,
                                              SparseProductOpInterface op,
                                              Value a, Value thread,
                                              int64_t threads) const {
  SmallVector<Value> lines;
  if (!hasWholeChunks(op) || chunksOfThread(threads) > ::nm::kGemvChunksAhead)
    return lines;
  for (int64_t i = 0; i < chunksOfThread(threads); ++i) {
    // A thread that has no chunk loads the first.
    auto [number, isThere] = chunkOf(emitter, thread, threads, i);
    number = emitter.orZero(number, isThere);
    auto [k, row] = startOf(emitter, number);
    for (int64_t j = 0; j < rowsOfPlane(); ++j)
      lines.push_back(loadWholeLine(emitter, op, a, emitter.add(row, j), k));
  }
  return lines;
}

void GemvActivations::storeLoaded(ThreadEmitter &emitter, ArrayRef<Value> lines,
                                  Value thread, int64_t threads) const {
  for (int64_t i = 0; i < chunksOfThread(threads); ++i) {
    auto chunk = chunkOf(emitter, thread, threads, i);
    SmallVector<Value> elements(kChunk * rowsOfPlane());
    for (int64_t row = 0; row < rowsOfPlane(); ++row)
      for (auto [j, element] :
           llvm::enumerate(extractAll(emitter, lines[i * rowsOfPlane() + row])))
        elements[j * rowsOfPlane() + row] = element;
    emitter.onlyIf(chunk.second,
                   [&] { storeChunk(emitter, elements, chunk.first); });
  }
}

SmallVector<Value> GemvActivations::load(ThreadEmitter &emitter, Value at,
                                         int64_t offset) const {
  SmallVector<Value> result;
  OpBuilder &builder = emitter.builder;
  Type word = cast<MemRefType>(asWords.getType()).getElementType();
  auto loaded = VectorType::get(bytesOfK(), builder.getI8Type());
  Value first = emitter.toIndex(at);
  for (int64_t plane = 0; plane < planes(); ++plane) {
    Value place = emitter.add(first, (plane * kRows + offset) * bytesOfK());
    Value value = vector::LoadOp::create(builder, emitter.loc, loaded, asBytes,
                                         place, /*nontemporal=*/false,
                                         llvm::MaybeAlign(bytesOfK()));
    value = vector::BitCastOp::create(builder, emitter.loc,
                                      VectorType::get(words, word), value);
    for (int64_t i = 0; i < words; ++i)
      llvm::append_range(result, unpackWord(emitter, emitter.extract(value, i),
                                            element, perWord));
  }
  result.resize(rows);
  return result;
}
