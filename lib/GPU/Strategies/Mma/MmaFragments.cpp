//===- MmaFragments.cpp - Operands and sums of mma.sync -------------------===//

#include "GPU/Strategies/Mma/MmaFragments.h"

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Expand/Assembly.h"
#include "GPU/Sums/TileStores.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

MmaLane::MmaLane(ThreadEmitter &emitter, Value thread) {
  Value number = emitter.toI32(thread);
  warp = emitter.div(number, mlir::nm::kWarpSize);
  lane = emitter.rem(number, mlir::nm::kWarpSize);
  row = emitter.div(lane, 4);
  pair = emitter.rem(lane, 4);
}

/// Lanes 8 i to 8 i + 7 name the rows of matrix i.
MatrixAddress MmaLane::addressFor(ThreadEmitter &emitter, MmaRole role) const {
  Value second = emitter.rem(emitter.div(lane, kMatrixSide), 2);
  Value third = emitter.div(lane, 2 * kMatrixSide);
  bool isRows = role == MmaRole::Rows;
  return {emitter.add(emitter.rem(lane, kMatrixSide),
                      emitter.mul(isRows ? third : second, kMatrixSide)),
          isRows ? second : third};
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static Value exclusiveOr(ThreadEmitter &emitter, Value a, Value b) {
  return emitter.builder.createOrFold<arith::XOrIOp>(emitter.loc, a, b);
}

MatrixRows::RowOffset MatrixRows::placeRow(Value row) {
  Value start = order.empty()
                    ? row
                    : placeAlong(emitter.builder, emitter.loc,
                                 ::nm::TileLayout{{order}, {}}, /*dim=*/0, row);
  RowOffset place{emitter.mul(start, columns), {}};
  for (const ::nm::BitXor &bits : swizzle) {
    int64_t mask = ((int64_t(1) << bits.count) - 1) << bits.bit;
    int64_t up = bits.bit - bits.fromBit;
    place.swizzle = emitter.mask(up >= 0 ? emitter.shiftLeft(row, up)
                                         : emitter.shiftRight(row, -up),
                                 mask);
  }
  return place;
}

MatrixRows::RowOffset MatrixRows::placeRow(Value window, Value inWindow) {
  RowOffset place = placeRow(window);
  // The bits of a row in its window move up together, by those that come first.
  int64_t first = llvm::find(order, 0) - order.begin();
  place.start =
      emitter.add(place.start, emitter.mul(inWindow, columns << first));
  return place;
}

Value MatrixRows::placeWord(const RowOffset &row, Value column,
                            int64_t offset) {
  // What is added to a column beyond the bits that are XORed is a constant of
  // the instruction.
  int64_t period = 1;
  for (const ::nm::BitXor &bits : swizzle)
    period = int64_t(1) << (bits.bit + bits.count);
  Value word = emitter.add(column, offset % period);
  if (row.swizzle)
    word = exclusiveOr(emitter, word, row.swizzle);
  Value place = emitter.toIndex(emitter.add(row.start, word));
  return emitter.add(place, offset - offset % period);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value mlir::nm::clampToDim(ThreadEmitter &emitter, Value memref, int64_t dim,
                           Value index, int64_t bound) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim) && type.getDimSize(dim) >= bound)
    return index;
  OpBuilder &builder = emitter.builder;
  Value size = builder.createOrFold<memref::DimOp>(emitter.loc, memref, dim);
  Value last =
      builder.createOrFold<arith::SubIOp>(emitter.loc, size, emitter.index(1));
  last =
      builder.createOrFold<arith::MaxSIOp>(emitter.loc, last, emitter.index(0));
  return emitter.least(index, last);
}

Value mlir::nm::flattenBuffer(ThreadEmitter &emitter, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto flat =
      MemRefType::get({type.getNumElements()}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  return AliasOp::create(emitter.builder, emitter.loc, flat, buffer);
}

/// Four matrices of 8-bit floats, of which nvgpu's op has no conversion.
static SquareWords loadFloat8Matrices(ThreadEmitter &emitter, Value elements,
                                      Value place) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SquareWords words;
  Value address = emitter.add(getElementAddress(emitter, elements), place);
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, getStructOf(builder.getI32Type(), words.size()),
      toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared),
      uint32_t(words.size()), NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), kMatrixSide,
                                     kMatrixSide),
      NVVM::LdStMatrixEltType::B16);
  for (auto [i, word] : llvm::enumerate(words))
    word = LLVM::ExtractValueOp::create(builder, loc, loaded, int64_t(i));
  return words;
}

SquareWords mlir::nm::loadMatrices(ThreadEmitter &emitter, Value elements,
                                   Value place, bool transpose) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SquareWords words;
  Type element = cast<MemRefType>(elements.getType()).getElementType();
  if (isFloat8(element))
    return loadFloat8Matrices(emitter, elements, place);
  int64_t perWord = 32 / int64_t(element.getIntOrFloatBitWidth());
  auto type = VectorType::get({int64_t(words.size()), perWord}, element);
  Value loaded = nvgpu::LdMatrixOp::create(builder, loc, type, elements,
                                           ValueRange{place}, transpose,
                                           /*numTiles=*/uint32_t(words.size()));
  for (auto [i, word] : llvm::enumerate(words)) {
    Value row = vector::ExtractOp::create(builder, loc, loaded, int64_t(i));
    word = perWord == 2 ? Value(LLVM::BitcastOp::create(
                              builder, loc, builder.getI32Type(), row))
                        : emitter.words(row).front();
  }
  return words;
}

SmallVector<Value> mlir::nm::toFragment(ThreadEmitter &emitter, Type type,
                                        ArrayRef<Value> words) {
  // The op takes words of f16 as pairs, and those of bf16 as bits.
  if (!type.isF16())
    return SmallVector<Value>(words);
  return llvm::map_to_vector(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(emitter.builder, emitter.loc,
                                   VectorType::get(2, type), word);
  });
}

/// The halves of a word with k from `first` + 2 pair on that are below `count`,
/// all ones.
static Value maskWord(ThreadEmitter &emitter, const MmaLane &lane,
                      int64_t first, int64_t count) {
  auto half = [&](int64_t number, int64_t ones) -> Value {
    Value k = emitter.add(emitter.mul(lane.pair, 2), first + number);
    return emitter.orZero(emitter.i32(ones),
                          emitter.less(k, emitter.i32(count)));
  };
  return emitter.either(half(0, 0xffff), half(1, 0xffff0000));
}

void mlir::nm::clearRows(ThreadEmitter &emitter, const MmaLane &lane,
                         MmaRole role, int64_t count, SquareWords &words) {
  for (auto [i, word] : llvm::enumerate(words)) {
    int64_t matrix = int64_t(i);
    int64_t first =
        (role == MmaRole::Rows ? matrix / 2 : matrix % 2) * kMatrixSide;
    if (first + kMatrixSide <= count)
      continue;
    word = first >= count
               ? emitter.i32(0)
               : emitter.builder.createOrFold<arith::AndIOp>(
                     emitter.loc, word, maskWord(emitter, lane, first, count));
  }
}

/// Operands `first` to `first + count - 1` of inline assembly: `{$4, $5}`.
static std::string listOperands(size_t first, size_t count) {
  std::string text = "{";
  for (size_t i = first; i < first + count; ++i)
    text += (i == first ? "$" : ", $") + std::to_string(i);
  return text + "}";
}

/// Rows of k of an instruction, of which a sparse one has twice as many.
static int64_t countRowsOfK(Type type,
                            const std::optional<MmaMetadata> &metadata) {
  constexpr int64_t kBits = kSquareSide * kSquareSide;
  return kBits / type.getIntOrFloatBitWidth() * (metadata ? 2 : 1);
}

/// A product of 8-bit floats, which NVVM's ops do not take, as a struct of sums
/// that start at zero.
static Value multiplyFloats8(ThreadEmitter &emitter, Type type,
                             ArrayRef<Value> rows, ArrayRef<Value> columns,
                             const std::optional<MmaMetadata> &metadata) {
  std::string name = isa<Float8E5M2Type>(type) ? "e5m2" : "e4m3", text,
              constraints = "=f,=f,=f,=f";
  SmallVector<Value> zeros(kMmaSums,
                           emitter.zero(emitter.builder.getF32Type())),
      operands;
  llvm::raw_string_ostream stream(text);
  stream << "mma" << (metadata ? ".sp" : "")
         << (metadata && metadata->isOrdered ? "::ordered_metadata" : "")
         << ".sync.aligned.m" << kSquareSide << "n" << kMatrixSide << "k"
         << countRowsOfK(type, metadata) << ".row.col.f32." << name << "."
         << name << ".f32 " << listOperands(0, kMmaSums);
  for (ArrayRef<Value> values : {rows, columns, ArrayRef(zeros)}) {
    stream << ", " << listOperands(kMmaSums + operands.size(), values.size());
    llvm::append_range(operands, values);
  }
  if (metadata) {
    stream << ", $" << kMmaSums + operands.size() << ", 0";
    operands.push_back(metadata->word);
  }
  stream << ";";
  for (Value operand : operands)
    constraints += operand.getType().isF32() ? ",f" : ",r";
  return emitAssembly(emitter.builder, emitter.loc,
                      getStructOf(zeros.front().getType(), kMmaSums), operands,
                      text, constraints);
}

/// A product of `sums` and more, of 16-bit floats or of i8, as a struct.
static Value multiplyTypes(ThreadEmitter &emitter, Type type,
                           ArrayRef<Value> rows, ArrayRef<Value> columns,
                           const std::optional<MmaMetadata> &metadata,
                           ArrayRef<Value> sums) {
  OpBuilder &builder = emitter.builder;
  bool areBytes = type.isInteger(8);
  NVVM::MMATypes element = areBytes       ? NVVM::MMATypes::s8
                           : type.isF16() ? NVVM::MMATypes::f16
                                          : NVVM::MMATypes::bf16;
  std::array<NVVM::MMATypes, 2> elements = {element, element};
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (areBytes)
    overflow = NVVM::MMAIntOverflow::wrapped;
  Type result = getStructOf(sums.front().getType(), sums.size());
  SmallVector<Value> a = toFragment(emitter, type, rows),
                     b = toFragment(emitter, type, columns);
  std::array<int64_t, 3> shape = {kSquareSide, kMatrixSide,
                                  countRowsOfK(type, metadata)};
  if (!metadata)
    return NVVM::MmaOp::create(builder, emitter.loc, result, a, b,
                               ValueRange(sums), shape,
                               /*b1Op=*/std::nullopt, overflow, elements,
                               std::array<NVVM::MMALayout, 2>{
                                   NVVM::MMALayout::row, NVVM::MMALayout::col});
  auto product = NVVM::MmaSpOp::create(
      builder, emitter.loc, result, a, b, ValueRange(sums), metadata->word,
      emitter.i32(metadata->selector), shape, overflow, elements);
  product.setOrderedMetadata(metadata->isOrdered);
  return product;
}

void mlir::nm::multiply(ThreadEmitter &emitter, Type type, ArrayRef<Value> rows,
                        ArrayRef<Value> columns, MutableArrayRef<Value> sums,
                        std::optional<MmaMetadata> metadata) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  bool addsApart = isFloat8(type);
  Value product =
      addsApart ? multiplyFloats8(emitter, type, rows, columns, metadata)
                : multiplyTypes(emitter, type, rows, columns, metadata, sums);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value made =
        LLVM::ExtractValueOp::create(builder, loc, product, int64_t(i));
    sum = addsApart ? addSums(builder, loc, sum, made) : made;
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static Value shuffle(ThreadEmitter &emitter, NVVM::ShflKind kind, Value value,
                     Value from) {
  return NVVM::ShflOp::create(emitter.builder, emitter.loc, value.getType(),
                              emitter.i32(-1), value, from,
                              emitter.i32(mlir::nm::kWarpSize - 1), kind,
                              /*return_value_and_is_valid=*/UnitAttr());
}

Value mlir::nm::shuffleFrom(ThreadEmitter &emitter, Value value, Value lane) {
  return shuffle(emitter, NVVM::ShflKind::idx, value, lane);
}

static Value select(ThreadEmitter &emitter, Value condition, Value a, Value b) {
  return arith::SelectOp::create(emitter.builder, emitter.loc, condition, a, b);
}

static Value isOdd(ThreadEmitter &emitter, Value number) {
  return emitter.builder.createOrFold<arith::CmpIOp>(
      emitter.loc, arith::CmpIPredicate::ne, emitter.rem(number, 2),
      emitter.i32(0));
}

Value mlir::nm::joinPairs(ThreadEmitter &emitter, const MmaLane &lane,
                          ArrayRef<Value> first, ArrayRef<Value> second) {
  Value odd = isOdd(emitter, lane.pair);
  SmallVector<Value> low, high;
  for (auto [a, b] : llvm::zip(first, second)) {
    Value received = shuffle(emitter, NVVM::ShflKind::bfly,
                             select(emitter, odd, a, b), emitter.i32(1));
    low.push_back(select(emitter, odd, received, a));
    high.push_back(select(emitter, odd, b, received));
  }
  llvm::append_range(low, high);
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(int64_t(low.size()), low.front().getType()), low);
}

SmallVector<Value> mlir::nm::transposeMatrix(ThreadEmitter &emitter,
                                             const MmaLane &lane,
                                             ArrayRef<Value> values) {
  // Of row 2 pair and the next, the column that the lane's row then was.
  Value first =
      emitter.add(emitter.mul(lane.pair, 2 * 4), emitter.div(lane.row, 2));
  Value odd = isOdd(emitter, lane.row);
  SmallVector<Value> result;
  for (int64_t i = 0; i < int64_t(values.size()); ++i) {
    Value from = emitter.add(first, 4 * i);
    Value even = shuffleFrom(emitter, values[0], from);
    Value next = shuffleFrom(emitter, values[1], from);
    result.push_back(select(emitter, odd, next, even));
  }
  return result;
}
