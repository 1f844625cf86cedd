//===- GemvWeights.cpp - A thread's weights in strategy gemv --------------===//

#include "GPU/Strategies/Gemv/GemvWeights.h"

#include "GPU/Expand/Assembly.h"
#include "GPU/Expand/ElementWords.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/GPU/Select/GpuSchedule.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Bytes of the widest load from global memory.
static constexpr int64_t kMaxLoadBytes = 16;

GemvWeights::GemvWeights(ThreadEmitter &emitter, SparseProductOpInterface op,
                         Value values, Value indices, Value column,
                         int64_t columns)
    : pattern(op.getPattern()), packing(op.getPanelPacking().getPacking()),
      values(values), indices(indices), columns(columns) {
  panel = emitter.div(column, packing.panel);
  Value inPanel = emitter.rem(column, packing.panel);
  element = emitter.mul(inPanel, packing.chunkRows);
  group = emitter.div(inPanel, pattern.bn);
}

LogicalResult GemvWeights::verify(SparseProductOpInterface op,
                                  int64_t columns) {
  PackingAttr attribute = op.getPanelPacking();
  if (!attribute)
    return op->emitOpError()
           << "expected weights packed in panels for strategy gemv";
  ::nm::PanelPacking packing = attribute.getPacking();
  ::nm::Pattern pattern = op.getPattern();
  if (packing.colInfo != 0)
    return op->emitOpError()
           << "expected packing without col_info for strategy gemv, but got "
           << attribute;
  int64_t bits = op.getValuesType().getElementTypeBitWidth();
  int64_t bytes = packing.chunkRows * packing.chunkColumns * bits / 8;
  if (packing.chunkColumns != columns || bytes > kMaxLoadBytes ||
      !llvm::isPowerOf2_64(packing.chunkRows))
    return op->emitOpError()
           << "expected chunks of the thread's " << columns
           << " columns, of a power of two of rows, and of at most "
           << kMaxLoadBytes << " bytes for strategy gemv, but got "
           << attribute;
  int64_t rows = packing.indexRows * pattern.bk;
  int64_t step = ::nm::gemvStepRows(rows);
  if (step % packing.chunkRows != 0 || (step != rows && packing.indexRows > 1))
    return op->emitOpError()
           << "expected index rows of at most 64 kept rows, or of one unit, "
              "and "
              "steps of whole chunks for strategy gemv, but got "
           << attribute;
  if (columns > 1 && pattern.bn % columns != 0)
    return op->emitOpError() << "expected the thread's " << columns
                             << " columns to divide the block's " << pattern.bn
                             << ", so that they share their indices";
  if (packing.indexRows == 1 && packing.indexBits != 8 &&
      packing.groups(pattern) != 1)
    return op->emitOpError() << "expected index_bits = 8 where index_rows = 1 "
                                "for strategy gemv, but got "
                             << attribute;
  return success();
}

int64_t GemvWeights::rowsPerStep() const {
  return ::nm::gemvStepRows(packing.indexRows * pattern.bk);
}

int64_t GemvWeights::stepsPerIndexRow() const {
  return packing.indexRows * pattern.bk / rowsPerStep();
}

Value GemvWeights::steps(ThreadEmitter &emitter) const {
  Value indexRows =
      emitter.builder.createOrFold<memref::DimOp>(emitter.loc, indices, 1);
  return emitter.mul(indexRows, stepsPerIndexRow());
}

VectorType GemvWeights::chunkType() const {
  return VectorType::get(packing.chunkRows * packing.chunkColumns,
                         cast<MemRefType>(values.getType()).getElementType());
}

/// The bytes of a thread's indices of a step.
int64_t GemvWeights::indexBytes() const {
  return packing.indexRows == 1 ? 1 : packing.bytesPerGroup(pattern);
}

SmallVector<Type> GemvWeights::loadedTypes() const {
  SmallVector<Type> types(chunks(), chunkType());
  Type byte = IntegerType::get(values.getContext(), 8);
  for (int64_t offset = 0; offset < indexBytes();) {
    int64_t bytes = ::nm::indexWordBytes(indexBytes(), offset);
    types.push_back(VectorType::get(bytes, byte));
    offset += bytes;
  }
  return types;
}

SmallVector<Value> GemvWeights::load(ThreadEmitter &emitter, Value step) const {
  OpBuilder &builder = emitter.builder;
  auto load = [&](Type type, Value from, Value row, Value column,
                  int64_t alignment) -> Value {
    return vector::LoadOp::create(builder, emitter.loc, cast<VectorType>(type),
                                  from, ValueRange{panel, row, column},
                                  /*nontemporal=*/false,
                                  llvm::MaybeAlign(alignment));
  };
  SmallVector<Value> loaded;
  VectorType type = chunkType();
  int64_t chunkBytes =
      type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Value firstRow = emitter.mul(step, chunks());
  for (int64_t i = 0; i < chunks(); ++i)
    loaded.push_back(
        load(type, values, emitter.add(firstRow, i), element, chunkBytes));
  Value indexRow = emitter.div(step, stepsPerIndexRow());
  int64_t groups = packing.groups(pattern), offset = 0;
  int64_t rowBytes = packing.bytesPerIndexRow(pattern);
  SmallVector<Type> types = loadedTypes();
  for (Type word : ArrayRef(types).drop_front(chunks())) {
    int64_t bytes = cast<VectorType>(word).getNumElements();
    Value at = emitter.add(emitter.mul(group, bytes), groups * offset);
    loaded.push_back(
        load(word, indices, indexRow, at,
             std::gcd(bytes, std::gcd(rowBytes, groups * offset))));
    offset += bytes;
  }
  return loaded;
}

SmallVector<Value> GemvWeights::indexWords(ThreadEmitter &emitter,
                                           ArrayRef<Value> loaded) const {
  OpBuilder &builder = emitter.builder;
  SmallVector<Value> words;
  for (Value word : loaded.drop_front(chunks())) {
    int64_t bytes = cast<VectorType>(word.getType()).getNumElements();
    if (bytes >= 4) {
      llvm::append_range(words, emitter.words(word));
      continue;
    }
    auto type = VectorType::get(1, builder.getIntegerType(bytes * 8));
    Value bits = emitter.extract(
        vector::BitCastOp::create(builder, emitter.loc, type, word), 0);
    words.push_back(arith::ExtUIOp::create(builder, emitter.loc,
                                           builder.getI32Type(), bits));
  }
  return words;
}

/// `value` shifted right by `bits`, or left where that is negative.
static Value shift(ThreadEmitter &emitter, Value value, int64_t bits) {
  return bits < 0 ? emitter.shiftLeft(value, -bits)
                  : emitter.shiftRight(value, bits);
}

Value GemvWeights::field(ThreadEmitter &emitter, ArrayRef<Value> words,
                         int64_t begin, int64_t bits, int64_t up) const {
  int64_t first = begin % 32;
  Value field = shift(emitter, words[begin / 32], first - up);
  if (first + bits > 32)
    field = emitter.either(
        field, shift(emitter, words[begin / 32 + 1], first - up - 32));
  return bits + up >= 32
             ? field
             : emitter.mask(field, ((int64_t(1) << bits) - 1) << up);
}

/// The bits of a window. One that fills a step or columns up has none, and gets
/// some, as its zeros may meet any activations that are there.
Value GemvWeights::bitmap(ThreadEmitter &emitter, ArrayRef<Value> words,
                          int64_t window) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value bits = field(emitter, words, window * pattern.m, pattern.m, /*up=*/0);
  Value none = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     bits, emitter.i32(0));
  Value some = emitter.i32((int64_t(1) << pattern.n) - 1);
  return arith::SelectOp::create(builder, loc, none, some, bits);
}

int64_t GemvWeights::unitOfTurn(int64_t turn) const {
  if (!packing.hasBitmaps())
    return turn;
  return turn - turn % pattern.n + pattern.n - 1 - turn % pattern.n;
}

/// The number of the highest bit of `word`. LLVM makes three instructions of
/// 31 less the leading zeros, where the chip has one.
static Value findHighestBit(OpBuilder &builder, Location loc, Value word) {
  return emitAssembly(builder, loc, word.getType(), word, "bfind.u32 $0, $1;",
                      "=r,r", /*hasSideEffects=*/false);
}

Value GemvWeights::position(ThreadEmitter &emitter, ArrayRef<Value> indexWords,
                            int64_t turn, int64_t scale, Value &rest) const {
  if (!packing.hasBitmaps()) {
    // Cut out where it is wanted, which takes one shift less.
    int64_t up = llvm::isPowerOf2_64(scale) ? llvm::Log2_64(scale) : 0;
    Value scaled = field(emitter, indexWords, turn * packing.indexBits,
                         packing.indexBits, up);
    return emitter.mul(scaled, scale >> up);
  }
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  if (turn % pattern.n == 0)
    rest = bitmap(emitter, indexWords, turn / pattern.n);
  Value highest = findHighestBit(builder, loc, rest);
  Value bit = arith::ShLIOp::create(builder, loc, emitter.i32(1), highest);
  rest = arith::XOrIOp::create(builder, loc, rest, bit);
  return emitter.mul(highest, scale);
}

bool GemvWeights::hasF8Words() const {
  VectorType type = chunkType();
  return isFloat8(type.getElementType()) && type.getNumElements() % 4 == 0 &&
         4 % columns == 0;
}

bool GemvWeights::isScaledF8() const {
  return hasF8Words() && isa<Float8E4M3FNType>(chunkType().getElementType());
}

Value GemvWeights::nans(ThreadEmitter &emitter, ArrayRef<Value> loaded) const {
  Value all = emitter.i32(0);
  for (Value chunk : loaded.take_front(chunks()))
    for (Value word : emitter.words(chunk))
      all = emitter.either(all, nanBytes(emitter, word));
  return all;
}

SmallVector<Value> GemvWeights::chunk(ThreadEmitter &emitter,
                                      ArrayRef<Value> loaded,
                                      int64_t chunk) const {
  VectorType type = chunkType();
  SmallVector<Value> result;
  if (hasF8Words()) {
    for (Value word : emitter.words(loaded[chunk]))
      llvm::append_range(result,
                         decodeF8Word(emitter, word, type.getElementType()));
    return result;
  }
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    result.push_back(toAccumulator(emitter, emitter.extract(loaded[chunk], i)));
  return result;
}
