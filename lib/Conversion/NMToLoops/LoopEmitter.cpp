//===- LoopEmitter.cpp - The words that reference loops are made of -------===//

#include "LoopEmitter.h"

#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value LoopEmitter::size(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return index(type.getDimSize(dim));
  return memref::DimOp::create(builder, loc, memref, dim);
}

SmallVector<Value> LoopEmitter::sizes(Value memref) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < cast<MemRefType>(memref.getType()).getRank();
       ++dim)
    sizes.push_back(size(memref, dim));
  return sizes;
}

Value LoopEmitter::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(builder, loc, memref, indices);
}

void LoopEmitter::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(builder, loc, value, memref, indices);
}

Value LoopEmitter::loadOrZero(Value memref, ValueRange indices) {
  Value inside;
  for (auto [dim, position] : llvm::enumerate(indices)) {
    Value fits = less(position, size(memref, dim));
    inside = inside ? both(inside, fits) : fits;
  }
  return choose(
      inside, [&] { return load(memref, indices); },
      [&] {
        return zero(cast<MemRefType>(memref.getType()).getElementType());
      });
}

void LoopEmitter::storeBytes(Value number, int64_t bytes, Value memref,
                             ArrayRef<Value> at) {
  SmallVector<Value> place(at);
  for (int64_t i = 0; i < bytes; ++i) {
    Value byte = asByte(shiftRight(number, 8 * i));
    place.back() = add(at.back(), i);
    store(byte, memref, place);
  }
}

Value LoopEmitter::loadBytes(int64_t bytes, Value memref, ArrayRef<Value> at) {
  SmallVector<Value> place(at);
  Value number = index(0);
  for (int64_t i = 0; i < bytes; ++i) {
    place.back() = add(at.back(), i);
    number = either(number, shiftLeft(toIndex(load(memref, place)), 8 * i));
  }
  return number;
}

Value LoopEmitter::asByte(Value number) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getI8Type(),
                                      number);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value LoopEmitter::zero(Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// f8E4M3FN has no lowering upstream. Its seven lower bits, put where an f32
/// has exponent and mantissa, are the number divided by 2^(127 - 7), subnormals
/// included; all seven set are NaN.
Value LoopEmitter::decodeF8E4M3FN(Value element) {
  Type i32 = builder.getI32Type(), f32 = builder.getF32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i32, value);
  };
  Value byte =
      arith::BitcastOp::create(builder, loc, builder.getI8Type(), element);
  Value bits = arith::ExtSIOp::create(builder, loc, i32, byte);
  Value magnitude = arith::AndIOp::create(builder, loc, bits, constant(0x7f));
  Value shifted = arith::ShLIOp::create(builder, loc, magnitude, constant(20));
  // The sign was extended to bit 31.
  Value sign = arith::AndIOp::create(
      builder, loc, bits, constant(std::numeric_limits<int32_t>::min()));
  Value scaled = arith::BitcastOp::create(
      builder, loc, f32, arith::OrIOp::create(builder, loc, shifted, sign));
  Value scale = arith::ConstantOp::create(builder, loc,
                                          builder.getF32FloatAttr(0x1p120f));
  Value number = arith::MulFOp::create(builder, loc, scaled, scale);
  Value nan = arith::ConstantOp::create(
      builder, loc,
      builder.getF32FloatAttr(std::numeric_limits<float>::quiet_NaN()));
  Value isNaN = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      magnitude, constant(0x7f));
  return arith::SelectOp::create(builder, loc, isNaN, nan, number);
}

/// f8E5M2 has no lowering either. It is the upper byte of an f16.
Value LoopEmitter::decodeF8E5M2(Value element) {
  Value byte =
      arith::BitcastOp::create(builder, loc, builder.getI8Type(), element);
  Value bits = arith::ExtUIOp::create(builder, loc, builder.getI16Type(), byte);
  Value places =
      arith::ConstantIntOp::create(builder, loc, builder.getI16Type(), 8);
  Value half = arith::BitcastOp::create(
      builder, loc, builder.getF16Type(),
      arith::ShLIOp::create(builder, loc, bits, places));
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), half);
}

Value LoopEmitter::toAccumulator(Value element) {
  Type type = element.getType();
  if (type.isF32() || type.isInteger(32))
    return element;
  if (type.isInteger())
    return arith::ExtSIOp::create(builder, loc, builder.getI32Type(), element);
  if (isa<Float8E4M3FNType>(type))
    return decodeF8E4M3FN(element);
  if (isa<Float8E5M2Type>(type))
    return decodeF8E5M2(element);
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), element);
}

Value LoopEmitter::fromAccumulator(Value sum, Type type) {
  if (sum.getType() == type)
    return sum;
  return arith::TruncFOp::create(builder, loc, type, sum);
}

Value LoopEmitter::isNonZero(Value element) {
  Value number = toAccumulator(element);
  Value none = zero(number.getType());
  if (number.getType().isInteger())
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, number,
                                 none);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, number,
                               none);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void LoopEmitter::forEach(ValueRange sizes,
                          function_ref<void(ValueRange)> body) {
  SmallVector<Value> begins(sizes.size(), index(0));
  SmallVector<Value> steps(sizes.size(), index(1));
  scf::buildLoopNest(
      builder, loc, begins, sizes, steps,
      [&](OpBuilder &, Location, ValueRange positions) { body(positions); });
}

void LoopEmitter::forEachInParallel(ValueRange sizes,
                                    function_ref<void(ValueRange)> body) {
  if (!parallel)
    return forEach(sizes, body);
  SmallVector<Value> begins(sizes.size(), index(0));
  SmallVector<Value> steps(sizes.size(), index(1));
  scf::ParallelOp::create(
      builder, loc, begins, sizes, steps,
      [&](OpBuilder &, Location, ValueRange positions) { body(positions); });
}

void LoopEmitter::forEachTask(ValueRange sizes,
                              function_ref<void(ValueRange)> body) {
  if (parallel)
    return forEachInParallel(sizes, body);
  auto tasks =
      scf::ForallOp::create(builder, loc, ArrayRef<OpFoldResult>{sizes.front()},
                            /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tasks.getBody());
  forEach(sizes.drop_front(), [&](ValueRange inner) {
    SmallVector<Value> position{tasks.getInductionVar(0)};
    llvm::append_range(position, inner);
    body(position);
  });
}

SmallVector<Value>
LoopEmitter::carry(Value size, ValueRange initial,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      builder, loc, index(0), size, index(1), initial,
      [&](OpBuilder &, Location, Value position, ValueRange carried) {
        scf::YieldOp::create(builder, loc, body(position, carried));
      });
  return loop.getResults();
}

Value LoopEmitter::skipWhile(Value first,
                             function_ref<Value(Value)> condition) {
  auto search = scf::WhileOp::create(
      builder, loc, first.getType(), first,
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::ConditionOp::create(builder, loc, condition(carried.front()),
                                 carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::YieldOp::create(builder, loc, add(carried.front(), 1));
      });
  return search.getResult(0);
}

Value LoopEmitter::reduce(Value size, Value initial,
                          function_ref<Value(Value, Value)> body) {
  return carry(size, initial,
               [&](Value position, ValueRange carried) -> SmallVector<Value> {
                 return {body(position, carried.front())};
               })
      .front();
}

Value LoopEmitter::addElements(Value a, Value b) {
  if (a.getType().isInteger())
    return arith::AddIOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, a, b);
}

Value LoopEmitter::sum(Value size, Type type,
                       function_ref<Value(Value, Value)> body) {
  // An unknown size may be a long one.
  constexpr int64_t kLong =
      ::nm::kChainRows * ::nm::kChainRows * ::nm::kChainRows;
  int64_t most = getConstantIntValue(size).value_or(kLong);
  return sumRange(index(0), size, most, type, body);
}

/// The terms from `first` to `end`, which are at most `most`.
Value LoopEmitter::sumRange(Value first, Value end, int64_t most, Type type,
                            function_ref<Value(Value, Value)> body) {
  int64_t part = isa<FloatType>(type) ? ::nm::itemsPerPart(most, 1) : 0;
  auto loop = scf::ForOp::create(
      builder, loc, first, end, index(part == 0 ? 1 : part), zero(type),
      [&](OpBuilder &, Location, Value position, ValueRange carried) {
        Value before = carried.front();
        auto addPart = [&] {
          Value partEnd = builder.createOrFold<arith::MinUIOp>(
              loc, end, add(position, part));
          return addElements(before,
                             sumRange(position, partEnd, part, type, body));
        };
        scf::YieldOp::create(builder, loc,
                             part == 0 ? body(position, before) : addPart());
      });
  return loop.getResult(0);
}

void LoopEmitter::onlyIf(Value condition, function_ref<void()> body) {
  scf::IfOp::create(builder, loc, condition, [&](OpBuilder &, Location) {
    body();
    scf::YieldOp::create(builder, loc);
  });
}

Value LoopEmitter::choose(Value condition, function_ref<Value()> then,
                          function_ref<Value()> otherwise) {
  auto branch = [&](function_ref<Value()> body) {
    return [&, body](OpBuilder &, Location) {
      scf::YieldOp::create(builder, loc, body());
    };
  };
  return scf::IfOp::create(builder, loc, condition, branch(then),
                           branch(otherwise))
      .getResult(0);
}
