//===- GemvActivations.cpp - Rows of A in strategy gemv -------------------===//

#include "GemvActivations.h"

#include "ElementWords.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Words that a thread copies with one access.
static constexpr int64_t kChunk = 4;
/// Chunks of which a thread has the loads in flight together.
static constexpr int64_t kChunksInFlight = 4;

GemvActivations::GemvActivations(ThreadEmitter &emitter, Type element,
                                 int64_t rows, int64_t kRows)
    : element(element), rows(rows), kRows(llvm::alignTo(kRows, kChunk)),
      perWord(rowsPerWord(element, rows)) {
  OpBuilder &builder = emitter.builder;
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({planes() * this->kRows}, wordType(element, rows),
                              MemRefLayoutAttrInterface(), space);
  buffer = memref::AllocOp::create(builder, emitter.loc, type);
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
                       Value row, int64_t rows, Value k, int64_t kRows) {
  auto type = cast<MemRefType>(op.getA().getType());
  Place place{SmallVector<Value>(type.getRank()), Value()};
  auto set = [&](int64_t dim, Value position, int64_t positions) {
    place.at[dim] = position;
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) >= positions)
      return;
    Value size = emitter.builder.createOrFold<memref::DimOp>(emitter.loc,
                                                             op.getA(), dim);
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
  Place place = findPlace(emitter, op, row, planes() * perWord, k, kRows);
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

/// A[row, k] to A[row, k + kChunk - 1].
SmallVector<Value> GemvActivations::loadLine(ThreadEmitter &emitter,
                                             SparseProductOpInterface op,
                                             Value row, Value k) const {
  SmallVector<Value> line;
  if (!hasWholeChunks(op)) {
    for (int64_t i = 0; i < kChunk; ++i)
      line.push_back(loadElement(emitter, op, row, emitter.add(k, i)));
    return line;
  }
  auto type = VectorType::get(kChunk, element);
  Place place = findPlace(emitter, op, row, planes() * perWord, k, kRows);
  auto load = [&]() -> SmallVector<Value> {
    int64_t bytes = kChunk * element.getIntOrFloatBitWidth() / 8;
    return {vector::LoadOp::create(
        emitter.builder, emitter.loc, type, op.getA(), place.at,
        /*nontemporal=*/false, llvm::MaybeAlign(bytes))};
  };
  Value loaded = emitter.choose(place.inside, load, emitter.zero(type)).front();
  for (int64_t i = 0; i < kChunk; ++i)
    line.push_back(emitter.extract(loaded, i));
  return line;
}

/// The elements of a chunk of words: of k, and of the rows of each k.
SmallVector<Value> GemvActivations::loadChunk(ThreadEmitter &emitter,
                                              SparseProductOpInterface op,
                                              Value chunk) const {
  int64_t perPlane = kRows / kChunk;
  Value plane = planes() == 1 ? emitter.index(0) : emitter.div(chunk, perPlane);
  Value k =
      emitter.mul(planes() == 1 ? chunk : emitter.rem(chunk, perPlane), kChunk);
  SmallVector<Value> elements(kChunk * perWord);
  for (int64_t i = 0; i < perWord; ++i) {
    Value row = emitter.add(emitter.mul(plane, perWord), i);
    for (auto [j, element] : llvm::enumerate(loadLine(emitter, op, row, k)))
      elements[j * perWord + i] = element;
  }
  return elements;
}

void GemvActivations::storeChunk(ThreadEmitter &emitter,
                                 ArrayRef<Value> elements, Value chunk) const {
  SmallVector<Value> words;
  for (int64_t i = 0; i < kChunk; ++i)
    words.push_back(packWord(emitter, elements.slice(i * perWord, perWord)));
  Value vector = vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(kChunk, words.front().getType()), words);
  vector::StoreOp::create(emitter.builder, emitter.loc, vector, buffer,
                          emitter.mul(chunk, kChunk), /*nontemporal=*/false,
                          llvm::MaybeAlign(kChunk * 4));
}

void GemvActivations::stage(ThreadEmitter &emitter, SparseProductOpInterface op,
                            Value thread, int64_t threads) const {
  OpBuilder &builder = emitter.builder;
  int64_t inFlight =
      std::min<int64_t>(kChunksInFlight, llvm::divideCeil(chunks(), threads));
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

SmallVector<Value> GemvActivations::load(ThreadEmitter &emitter, Value k,
                                         int64_t offset) const {
  SmallVector<Value> result;
  Value first = emitter.toIndex(k);
  for (int64_t plane = 0; plane < planes(); ++plane) {
    Value at = emitter.add(first, plane * kRows + offset);
    Value word =
        memref::LoadOp::create(emitter.builder, emitter.loc, buffer, at);
    llvm::append_range(result, unpackWord(emitter, word, element, perWord));
  }
  result.resize(rows);
  return result;
}
