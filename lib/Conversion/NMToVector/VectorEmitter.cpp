//===- VectorEmitter.cpp - Emits vectors, masks and loops -----------------===//

#include "VectorEmitter.h"

#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Value VectorEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value VectorEmitter::add(Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(lhs, rhs);
}

Value VectorEmitter::sub(Value lhs, Value rhs) {
  return b.createOrFold<arith::SubIOp>(lhs, rhs);
}

Value VectorEmitter::mul(Value lhs, int64_t rhs) {
  return b.createOrFold<arith::MulIOp>(lhs, index(rhs));
}

Value VectorEmitter::min(Value lhs, Value rhs) {
  return b.createOrFold<arith::MinSIOp>(lhs, rhs);
}

Value VectorEmitter::floorDiv(Value lhs, int64_t rhs) {
  return b.createOrFold<arith::DivUIOp>(lhs, index(rhs));
}

Value VectorEmitter::ceilDiv(Value lhs, int64_t rhs) {
  return floorDiv(add(lhs, rhs - 1), rhs);
}

Value VectorEmitter::less(Value lhs, Value rhs) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, lhs, rhs);
}

Value VectorEmitter::select(Value condition, Value ifTrue, Value ifFalse) {
  return b.createOrFold<arith::SelectOp>(condition, ifTrue, ifFalse);
}

Value VectorEmitter::dim(Value memref, int64_t dimension) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dimension))
    return index(type.getDimSize(dimension));
  return memref::DimOp::create(b, memref, dimension);
}

//===----------------------------------------------------------------------===//
// Elements and vectors
//===----------------------------------------------------------------------===//

Value VectorEmitter::zeroVector() {
  return arith::ConstantOp::create(b,
                                   cast<TypedAttr>(b.getZeroAttr(vectorType)));
}

Value VectorEmitter::broadcast(Value scalar) {
  return vector::BroadcastOp::create(b, vectorType, scalar);
}

SmallVector<Value> VectorEmitter::broadcastEach(Value quarter) {
  int64_t count = lanes / 4;
  SmallVector<int64_t> repeated;
  for (int64_t lane = 0; lane < lanes; ++lane)
    repeated.push_back(lane % count);
  Value all = keepInRegister(
      vector::ShuffleOp::create(b, quarter, quarter, repeated).getResult());
  SmallVector<Value> results;
  for (int64_t element = 0; element < count; ++element) {
    // Each part of the vector repeats an element of its own, so that one
    // shuffle within parts does it.
    SmallVector<int64_t> same;
    for (int64_t lane = 0; lane < lanes; ++lane)
      same.push_back(lane / count * count + element);
    results.push_back(vector::ShuffleOp::create(b, all, all, same));
  }
  return results;
}

Value VectorEmitter::loadScalar(Value memref, ArrayRef<Value> indices) {
  return extend(memref::LoadOp::create(b, memref, indices));
}

/// A vector of `lanes` elements as they are in `memref`.
static VectorType memoryVector(Value memref, int64_t lanes) {
  return VectorType::get({lanes},
                         cast<MemRefType>(memref.getType()).getElementType());
}

Value VectorEmitter::load(Value memref, ArrayRef<Value> indices) {
  return extend(
      vector::LoadOp::create(b, memoryVector(memref, lanes), memref, indices));
}

Value VectorEmitter::mask(Value width) {
  return vector::CreateMaskOp::create(
      b, VectorType::get({lanes}, b.getI1Type()), ValueRange{width});
}

/// Where the element at `indices` is, of an array whose elements have
/// `elementBytes`, as an i64.
static Value getAddress(ImplicitLocOpBuilder &b, Value memref,
                        ArrayRef<Value> indices, int64_t elementBytes) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value element = metadata.getOffset();
  for (auto [index, stride] : llvm::zip_equal(indices, metadata.getStrides()))
    element = b.createOrFold<arith::AddIOp>(
        element, b.createOrFold<arith::MulIOp>(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  Value bytes = b.createOrFold<arith::MulIOp>(
      element, arith::ConstantIndexOp::create(b, elementBytes));
  return arith::IndexCastOp::create(b, b.getI64Type(),
                                    b.createOrFold<arith::AddIOp>(base, bytes));
}

static Value toPointer(ImplicitLocOpBuilder &b, Value address) {
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  address);
}

static Value getPointer(ImplicitLocOpBuilder &b, Value memref,
                        ArrayRef<Value> indices, int64_t elementBytes) {
  return toPointer(b, getAddress(b, memref, indices, elementBytes));
}

static Value constantVector(ImplicitLocOpBuilder &b, VectorType type,
                            int64_t value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(
             type, b.getIntegerAttr(type.getElementType(), value)));
}

/// Bits, which have a byte each in memory, where a vector of them would be
/// packed.
static Value loadBits(ImplicitLocOpBuilder &b, Value memref,
                      ArrayRef<Value> indices, Value mask, int64_t lanes) {
  auto bytes = VectorType::get({lanes}, b.getI8Type());
  Value loaded = LLVM::MaskedLoadOp::create(
      b, bytes, getPointer(b, memref, indices, /*elementBytes=*/1), mask,
      constantVector(b, bytes, 0), b.getI32IntegerAttr(1));
  return arith::TruncIOp::create(b, memoryVector(memref, lanes), loaded);
}

//===----------------------------------------------------------------------===//
// bf16 under masks
//===----------------------------------------------------------------------===//

// LLVM takes masked vectors of bf16 apart, value by value, and calls a function
// to round each, where a processor has no instructions for bf16. As integers of
// 16 bits they stay whole.

static bool isBF16(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType().isBF16();
}

static Value loadHalves(ImplicitLocOpBuilder &b, Value memref,
                        ArrayRef<Value> indices, Value mask, int64_t lanes) {
  auto half = VectorType::get({lanes}, b.getI16Type());
  return LLVM::MaskedLoadOp::create(
      b, half, getPointer(b, memref, indices, /*elementBytes=*/2), mask,
      constantVector(b, half, 0), b.getI32IntegerAttr(2));
}

/// The accumulators that the masked values are in the upper half of.
static Value loadBF16(ImplicitLocOpBuilder &b, Value memref,
                      ArrayRef<Value> indices, Value mask, VectorType type) {
  VectorType word = type.clone(b.getI32Type());
  Value bits = loadHalves(b, memref, indices, mask, type.getNumElements());
  Value wide = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, word, bits),
                                     constantVector(b, word, 16));
  return arith::BitcastOp::create(b, type, wide);
}

/// The masked values as they are in `memref`.
static Value loadUnderMask(ImplicitLocOpBuilder &b, Value memref,
                           ArrayRef<Value> indices, Value mask, int64_t lanes) {
  VectorType type = memoryVector(memref, lanes);
  if (isBF16(memref))
    return arith::BitcastOp::create(
        b, type, loadHalves(b, memref, indices, mask, lanes));
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
  return vector::MaskedLoadOp::create(b, type, memref, indices, mask, zero);
}

static void storeHalves(ImplicitLocOpBuilder &b, Value vector, Value memref,
                        ArrayRef<Value> indices, Value mask) {
  VectorType half = cast<VectorType>(vector.getType()).clone(b.getI16Type());
  LLVM::MaskedStoreOp::create(
      b, arith::BitcastOp::create(b, half, vector),
      getPointer(b, memref, indices, /*elementBytes=*/2), mask,
      b.getI32IntegerAttr(2));
}

/// The first of `width` elements alone where there is one: of a mask that has
/// one lane, known to LLVM 22, X86's code generator makes a store of 32 bits,
/// over the element behind.
static void storeBF16(ImplicitLocOpBuilder &b, Value vector, Value memref,
                      ArrayRef<Value> indices, Value width, Value mask) {
  auto storeFirst = [&](OpBuilder &inner, Location loc) {
    Value first = vector::ExtractOp::create(inner, loc, vector, int64_t(0));
    memref::StoreOp::create(inner, loc, first, memref, indices);
  };
  std::optional<int64_t> constant = getConstantIntValue(width);
  if (constant == 1)
    return storeFirst(b, b.getLoc());
  if (constant)
    return storeHalves(b, vector, memref, indices, mask);
  Value isOne =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, width,
                            arith::ConstantIndexOp::create(b, 1).getResult());
  scf::IfOp::create(
      b, isOne,
      [&](OpBuilder &inner, Location loc) {
        storeFirst(inner, loc);
        scf::YieldOp::create(inner, loc);
      },
      [&](OpBuilder &inner, Location loc) {
        ImplicitLocOpBuilder at(loc, inner);
        storeHalves(at, vector, memref, indices, mask);
        scf::YieldOp::create(inner, loc);
      });
}

Value VectorEmitter::maskedLoad(Value memref, ArrayRef<Value> indices,
                                Value width) {
  std::optional<int64_t> constant = getConstantIntValue(width);
  if (constant && *constant >= lanes)
    return load(memref, indices);
  return loadWhere(memref, indices, mask(width));
}

Value VectorEmitter::loadWhere(Value memref, ArrayRef<Value> indices,
                               Value mask) {
  if (isBF16(memref))
    return loadBF16(b, memref, indices, mask, vectorType);
  return extend(loadUnderMask(b, memref, indices, mask, lanes));
}

void VectorEmitter::store(Value vector, Value memref, ArrayRef<Value> indices) {
  vector::StoreOp::create(b, vector, memref, indices);
}

void VectorEmitter::maskedStore(Value vector, Value memref,
                                ArrayRef<Value> indices, Value width) {
  if (isBF16(memref))
    return storeBF16(b, vector, memref, indices, width, mask(width));
  vector::MaskedStoreOp::create(b, memref, indices, mask(width), vector);
}

Value VectorEmitter::loadAlong(Value memref, ArrayRef<Value> indices,
                               std::optional<int64_t> dim, Value width) {
  auto type = cast<MemRefType>(memref.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  VectorType vector = memoryVector(memref, lanes);
  if (!dim)
    return vector::BroadcastOp::create(
        b, vector, memref::LoadOp::create(b, memref, indices));
  bool isContiguous = *dim == rank - 1 && type.isLastDimUnitStride();
  if (isContiguous && type.getElementType().isInteger(1))
    return loadBits(b, memref, indices, mask(width), lanes);
  if (isContiguous)
    return loadUnderMask(b, memref, indices, mask(width), lanes);
  auto map = AffineMap::get(
      rank, 0, b.getAffineDimExpr(static_cast<unsigned>(*dim)), b.getContext());
  Value padding = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  return vector::TransferReadOp::create(
      b, vector, memref, indices, AffineMapAttr::get(map), padding, mask(width),
      b.getBoolArrayAttr({true}));
}

void VectorEmitter::accumulate(Value vector, Value memref,
                               ArrayRef<Value> indices, Value width) {
  Value old = loadWhere(memref, indices, mask(width));
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  maskedStore(round(addElements(vector, old), element), memref, indices, width);
}

void VectorEmitter::accumulateScalar(Value scalar, Value memref,
                                     ArrayRef<Value> indices) {
  Value old = loadScalar(memref, indices);
  Value sum = addElements(scalar, old);
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  memref::StoreOp::create(b, round(sum, element), memref, indices);
}

/// `type`, scalar or vector, with another element type.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

Value VectorEmitter::extend(Value value) {
  Type type = withElement(value.getType(), accumulator);
  if (type == value.getType())
    return value;
  if (isa<FloatType>(accumulator))
    return arith::ExtFOp::create(b, type, value);
  return arith::ExtSIOp::create(b, type, value);
}

Value VectorEmitter::round(Value value, Type element) {
  if (element == accumulator)
    return value;
  return arith::TruncFOp::create(b, withElement(value.getType(), element),
                                 value);
}

Value VectorEmitter::multiplyAdd(Value lhs, Value rhs, Value sum) {
  if (isa<FloatType>(accumulator))
    return vector::FMAOp::create(b, lhs, rhs, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, lhs, rhs), sum);
}

Value VectorEmitter::addElements(Value lhs, Value rhs) {
  if (isa<FloatType>(accumulator))
    return arith::AddFOp::create(b, lhs, rhs);
  return arith::AddIOp::create(b, lhs, rhs);
}

SmallVector<Value> VectorEmitter::addAll(ArrayRef<Value> lhs,
                                         ArrayRef<Value> rhs) {
  SmallVector<Value> sums;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs))
    sums.push_back(addElements(left, right));
  return sums;
}

SmallVector<Value> VectorEmitter::transpose(ArrayRef<Value> rows) {
  // log2(lanes) perfect shuffles of the whole block transpose it, for any
  // power of two. Of vector.transpose's lowerings only the one for 16x16 stays
  // in registers.
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    low.push_back(lane / 2 + (lane % 2) * lanes);
    high.push_back(lanes / 2 + lane / 2 + (lane % 2) * lanes);
  }
  SmallVector<Value> block(rows);
  for (int64_t step = 1; step < lanes; step *= 2) {
    SmallVector<Value> shuffled;
    for (int64_t row = 0; row < lanes / 2; ++row) {
      Value first = block[row], second = block[row + lanes / 2];
      shuffled.push_back(vector::ShuffleOp::create(b, first, second, low));
      shuffled.push_back(vector::ShuffleOp::create(b, first, second, high));
    }
    block = std::move(shuffled);
  }
  return block;
}

Value VectorEmitter::allocate(ArrayRef<Value> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamicSizes;
  for (Value size : sizes) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamicSizes.push_back(size);
  }
  return memref::AllocOp::create(b, MemRefType::get(shape, accumulator),
                                 dynamicSizes,
                                 b.getI64IntegerAttr(target.bits / 8));
}

void VectorEmitter::deallocate(Value memref) {
  memref::DeallocOp::create(b, memref);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Accumulators are f32 or i32.
static constexpr int64_t kAccumulatorBytes = 4;

Value VectorEmitter::address(Value memref, ArrayRef<Value> indices) {
  return getAddress(b, memref, indices, kAccumulatorBytes);
}

Value VectorEmitter::advance(Value address, Value elements) {
  Value bytes = arith::IndexCastOp::create(b, b.getI64Type(),
                                           mul(elements, kAccumulatorBytes));
  return b.createOrFold<arith::AddIOp>(address, bytes);
}

Value VectorEmitter::keepInRegister(Value value) {
  // Empty assembly, behind which LLVM sees neither a sum nor a load.
  Type type = value.getType();
  return LLVM::InlineAsmOp::create(
             b, type, ValueRange{value}, /*asm_string=*/"",
             /*constraints=*/isa<VectorType>(type) ? "=v,0" : "=r,0",
             /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             LLVM::AsmDialectAttr{}, ArrayAttr{})
      .getResult(0);
}

Value VectorEmitter::loadAt(Value address, int64_t element) {
  Value pointer = toPointer(b, address);
  Value place = LLVM::GEPOp::create(
      b, pointer.getType(), accumulator, pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(element)});
  return LLVM::LoadOp::create(b, vectorType, place,
                              /*alignment=*/unsigned(target.bits / 8));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void VectorEmitter::loop(Value lower, Value upper, int64_t step, Body body) {
  loop(lower, upper, step, {},
       [&](Value iv, ArrayRef<Value>) -> SmallVector<Value> {
         body(iv);
         return {};
       });
}

SmallVector<Value> VectorEmitter::loop(Value lower, Value upper, int64_t step,
                                       ArrayRef<Value> carried,
                                       CarryingBody body) {
  std::optional<int64_t> low = getConstantIntValue(lower);
  std::optional<int64_t> high = getConstantIntValue(upper);
  if (low && high && *low >= *high)
    return SmallVector<Value>(carried);
  if (low && high && *high - *low <= step)
    return body(lower, carried);
  auto loop = scf::ForOp::create(b, lower, upper, index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> arguments(loop.getRegionIterArgs());
  SmallVector<Value> results = body(loop.getInductionVar(), arguments);
  // Without carried values the builder has put the terminator already.
  if (!carried.empty())
    scf::YieldOp::create(b, results);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> VectorEmitter::unrolledLoop(Value first, int64_t count,
                                               int64_t factor,
                                               ArrayRef<Value> carried,
                                               CarryingBody body) {
  int64_t whole = count / factor * factor;
  auto emitTogether = [&](Value start, ArrayRef<Value> arguments) {
    SmallVector<Value> current(arguments);
    for (int64_t i = 0; i < factor; ++i)
      current = body(add(start, i), current);
    return current;
  };
  SmallVector<Value> values(carried);
  if (whole == factor)
    values = emitTogether(first, values);
  else if (whole != 0)
    values = loop(first, add(first, whole), factor, values, emitTogether);
  for (int64_t i = whole; i < count; ++i)
    values = body(add(first, i), values);
  return values;
}

SmallVector<Value> VectorEmitter::sumItems(Value first, int64_t count,
                                           int64_t rowsPerItem, int64_t factor,
                                           ArrayRef<Value> sums,
                                           CarryingBody body) {
  int64_t part = sumsRound() ? ::nm::itemsPerPart(count, rowsPerItem) : 0;
  if (part == 0)
    return unrolledLoop(first, count, std::min(factor, count), sums, body);
  auto addPart = [&](Value start, int64_t items, ArrayRef<Value> promoted) {
    SmallVector<Value> zeros(promoted.size(), zeroVector());
    return addAll(promoted,
                  sumItems(start, items, rowsPerItem, factor, zeros, body));
  };
  int64_t whole = count / part * part;
  SmallVector<Value> promoted =
      loop(first, add(first, whole), part, sums,
           [&](Value start, ArrayRef<Value> arguments) {
             return addPart(start, part, arguments);
           });
  if (whole < count)
    promoted = addPart(add(first, whole), count - whole, promoted);
  return promoted;
}

void VectorEmitter::ifThenElse(Value condition,
                               llvm::function_ref<void()> thenBody,
                               llvm::function_ref<void()> elseBody) {
  auto op = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  thenBody();
  b.setInsertionPointToStart(op.elseBlock());
  elseBody();
}
