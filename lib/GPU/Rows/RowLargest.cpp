//===- RowLargest.cpp - The largest elements of a kernel's rows -----------===//
//
// A thread looks through its elements once for the largest one, by its order,
// an i32, and its column. Only where that is found does it look for its next
// one.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/LaneLargest.h"
#include "GPU/Rows/RowPasses.h"

#include "nm/Support/Warp.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

/// `type`, or a vector of it as long as `like`, if that is one.
static Type getTypeLike(Type type, Value like) {
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? vector.clone(type) : type;
}

static Value makeConstant(ThreadEmitter &e, Type type, int64_t number) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr value = IntegerAttr::get(
      element, APInt(element.getWidth(), number, /*isSigned=*/true));
  if (auto vector = dyn_cast<VectorType>(type))
    value = SplatElementsAttr::get(vector, value);
  return arith::ConstantOp::create(e.builder, e.loc, value);
}

static Value extend(ThreadEmitter &e, Type element, Value value) {
  Type type = getTypeLike(element, value);
  if (value.getType() == type)
    return value;
  return arith::ExtSIOp::create(e.builder, e.loc, type, value);
}

/// The bits of a float in the order of integers, and back: those below the sign
/// of a negative number are turned around.
static Value turn(ThreadEmitter &e, Value bits) {
  Type type = bits.getType();
  Value sign =
      arith::ShRSIOp::create(e.builder, e.loc, bits, makeConstant(e, type, 31));
  return arith::XOrIOp::create(
      e.builder, e.loc, bits,
      arith::AndIOp::create(e.builder, e.loc, sign,
                            makeConstant(e, type, 0x7fffffff)));
}

/// `x`, a number or a vector of them, such that larger ones are less; twice, it
/// is `x`.
static Value turnAround(ThreadEmitter &e, Value x) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::NegFOp::create(e.builder, e.loc, x);
  return arith::XOrIOp::create(e.builder, e.loc, x,
                               makeConstant(e, x.getType(), -1));
}

/// `x`, a number or a vector of them, with 0 for -0: -0 + 0 is 0.
static Value withoutNegativeZero(ThreadEmitter &e, Value x) {
  Type type = x.getType();
  if (!isa<FloatType>(getElementTypeOrSelf(type)))
    return x;
  return arith::AddFOp::create(e.builder, e.loc, x, e.zero(type));
}

/// An i32 that is larger where `x`, a number or a vector of them, is: NaN is
/// larger than numbers, and 0 than -0.
static Value orderOf(ThreadEmitter &e, Value x) {
  Type i32 = getTypeLike(e.builder.getI32Type(), x);
  Type f32 = getTypeLike(e.builder.getF32Type(), x);
  if (!isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return extend(e, e.builder.getI32Type(), x);
  Value wide = x;
  if (x.getType() != f32)
    wide = arith::ExtFOp::create(e.builder, e.loc, f32, x);
  Value isNaN =
      arith::CmpFOp::create(e.builder, e.loc, arith::CmpFPredicate::UNE, x, x);
  return arith::SelectOp::create(e.builder, e.loc, isNaN,
                                 makeConstant(e, i32, 0x7fffffff),
                                 turn(e, e.bitcast(i32, wide)));
}

/// The number of type `type` that has the order `order`.
static Value numberOf(ThreadEmitter &e, Value order, Type type) {
  if (!isa<FloatType>(type)) {
    bool isWhole = type == order.getType();
    return isWhole ? order
                   : arith::TruncIOp::create(e.builder, e.loc, type, order);
  }
  Value wide = e.bitcast(e.builder.getF32Type(), turn(e, order));
  bool isWhole = type == wide.getType();
  return isWhole ? wide : arith::TruncFOp::create(e.builder, e.loc, type, wide);
}

/// The largest of a vector's elements, half by half; a scalar as it is.
static Value largestOf(ThreadEmitter &e, Value x) {
  auto larger = [&](Value a, Value b) -> Value {
    if (isa<FloatType>(getElementTypeOrSelf(a.getType())))
      return arith::MaximumFOp::create(e.builder, e.loc, a, b);
    return arith::MaxSIOp::create(e.builder, e.loc, a, b);
  };
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return x;
  for (int64_t half = type.getNumElements() / 2; half > 1; half /= 2) {
    auto part = [&](int64_t from) {
      auto slots = llvm::to_vector(llvm::seq<int64_t>(from, from + half));
      return vector::ShuffleOp::create(e.builder, e.loc, x, x, slots);
    };
    x = larger(part(0), part(half));
  }
  return larger(e.extract(x, 0), e.extract(x, 1));
}

/// The key of an order and a column, i32 both.
static Value makeKey(ThreadEmitter &e, Value order, Value column) {
  Type i64 = e.builder.getI64Type();
  Value high = arith::ShLIOp::create(
      e.builder, e.loc, arith::ExtSIOp::create(e.builder, e.loc, i64, order),
      makeConstant(e, i64, 32));
  Value place = arith::XOrIOp::create(e.builder, e.loc, column, e.i32(-1));
  return arith::OrIOp::create(
      e.builder, e.loc, high,
      arith::ExtUIOp::create(e.builder, e.loc, i64, place));
}

/// The order and the column of a key.
static std::pair<Value, Value> splitKey(ThreadEmitter &e, Value key) {
  Type i32 = e.builder.getI32Type();
  Value high = arith::ShRUIOp::create(e.builder, e.loc, key,
                                      makeConstant(e, key.getType(), 32));
  Value low = arith::TruncIOp::create(e.builder, e.loc, i32, key);
  return {arith::TruncIOp::create(e.builder, e.loc, i32, high),
          arith::XOrIOp::create(e.builder, e.loc, low, e.i32(-1))};
}

static Value compare(ThreadEmitter &e, arith::CmpIPredicate predicate, Value a,
                     Value b) {
  return arith::CmpIOp::create(e.builder, e.loc, predicate, a, b);
}

/// Element `i` of `x`, which is one where that is no vector.
static Value getSlot(ThreadEmitter &e, Value x, int64_t i) {
  return isa<VectorType>(x.getType()) ? e.extract(x, i) : x;
}

/// `elements` as what a thread keeps of them: words of 32 bits, if they fill
/// some.
static SmallVector<Value> toWords(ThreadEmitter &e, Value elements) {
  auto type = dyn_cast<VectorType>(elements.getType());
  if (!type || type.getNumElements() * type.getElementTypeBitWidth() % 32 != 0)
    return {elements};
  return e.words(elements);
}

static Value fromWords(ThreadEmitter &e, ValueRange words, Type type) {
  if (words.front().getType() == type)
    return words.front();
  auto bits = VectorType::get(words.size(), e.builder.getI32Type());
  return vector::BitCastOp::create(
      e.builder, e.loc, cast<VectorType>(type),
      vector::FromElementsOp::create(e.builder, e.loc, bits, words));
}

/// What `found` compares, of an access.
Value RowKernel::getCompared(const LargestOfRow &found, Chunk &chunk) {
  size_t first = found.ops.front();
  Value elements =
      inlineRowBody(builder, group.ops[first], getArguments(first, &chunk),
                    getPlace(&chunk), found.element)
          .front();
  elements = widen(builder, loc, elements, shape.width);
  if (found.isLeast)
    elements = turnAround(e, elements);
  // The zeros are equal where a column is found.
  return found.findsColumn ? withoutNegativeZero(e, elements) : elements;
}

/// The larger one of `key` and the largest of `chunk` that is less than
/// `taken`.
Value RowKernel::findBelow(const LargestOfRow &found, Value taken, Chunk &chunk,
                           Value key) {
  using Predicate = arith::CmpIPredicate;
  Value orders = orderOf(e, getCompared(found, chunk));
  auto [order, column] = splitKey(e, taken);
  Value first = e.toI32(chunk.column);
  SmallVector<Value> isLeft, left;
  for (int64_t i = 0; i < shape.width; ++i) {
    Value own = getSlot(e, orders, i);
    Value isBehind =
        e.both(compare(e, Predicate::eq, own, order),
               compare(e, Predicate::ugt, e.add(first, i), column));
    isLeft.push_back(
        e.both(chunk.exists,
               e.either(compare(e, Predicate::slt, own, order), isBehind)));
    left.push_back(
        arith::SelectOp::create(builder, loc, isLeft.back(), own,
                                e.i32(std::numeric_limits<int32_t>::min())));
  }
  Value most = left.front();
  for (Value own : ArrayRef(left).drop_front())
    most = arith::MaxSIOp::create(builder, loc, most, own);
  Value slot = e.i32(0), isAny;
  for (int64_t i = shape.width; i-- > 0;) {
    Value isIt = e.both(isLeft[i], compare(e, Predicate::eq, left[i], most));
    slot = arith::SelectOp::create(builder, loc, isIt, e.i32(i), slot);
    isAny = isAny ? e.either(isAny, isIt) : isIt;
  }
  Value next = arith::SelectOp::create(
      builder, loc, isAny, makeKey(e, most, e.add(first, slot)), noKey(e));
  return largerKey(e, key, next);
}

/// The thread's largest key, by the first access that has it.
Value RowKernel::findHead(const LargestOfRow &found) {
  using Predicate = arith::CmpIPredicate;
  size_t first = found.ops.front();
  // Outside of the loops.
  (void)getArguments(first, nullptr);
  if (found.isBounded) {
    Value bound = getScalar(first, *findBound(group.ops[first]));
    Carried keys = overRow({noKey(e)}, [&](Chunk &chunk, Carried keys) {
      computePending(chunk);
      return Carried{findBelow(found, bound, chunk, keys.front())};
    });
    finishPending();
    return keys.front();
  }
  // The largest order, the column and the elements of its access.
  Type type = found.element.getType();
  if (shape.width != 1)
    type = VectorType::get(shape.width, type);
  Carried best = {e.i32(std::numeric_limits<int32_t>::min()), e.i32(-1)};
  best.append(toWords(e, e.zero(type)));
  best = overRow(best, [&](Chunk &chunk, Carried best) {
    computePending(chunk);
    Value elements = getCompared(found, chunk);
    Carried other = {orderOf(e, largestOf(e, elements)), e.toI32(chunk.column)};
    other.append(toWords(e, elements));
    Value isMore =
        e.both(compare(e, Predicate::sgt, other[0], best[0]), chunk.exists);
    for (auto [mine, its] : llvm::zip(best, other))
      mine = arith::SelectOp::create(builder, loc, isMore, its, mine);
    return best;
  });
  finishPending();
  Value orders = orderOf(e, fromWords(e, ArrayRef(best).drop_front(2), type));
  Value slot = e.i32(shape.width - 1);
  for (int64_t i = shape.width - 1; i-- > 0;)
    slot = arith::SelectOp::create(
        builder, loc, compare(e, Predicate::eq, getSlot(e, orders, i), best[0]),
        e.i32(i), slot);
  Value key = makeKey(e, best[0], e.add(best[1], slot));
  // Where none is more than the least order, the first column has that, if the
  // thread has any.
  Value column = e.mul(lane, shape.width);
  Value least = makeKey(e, best[0], e.toI32(column));
  Value otherwise = arith::SelectOp::create(
      builder, loc, e.less(column, sizes.back()), least, noKey(e));
  Value isNone = compare(e, Predicate::eq, best[1], e.i32(-1));
  return arith::SelectOp::create(builder, loc, isNone, otherwise, key);
}

/// The next key of the thread that has `taken`, whose accesses the lanes of its
/// warp read again, one each.
Value RowKernel::findNextByWarp(const LargestOfRow &found, Value taken,
                                Value head) {
  // The least i64, which stands for no key, has none below it, wherever its
  // column is.
  Value place = e.toIndex(splitKey(e, taken).second);
  int64_t threads = shape.cluster * shape.lanes, step = shape.step();
  Value first = e.mul(e.rem(e.div(place, shape.width), threads), shape.width);
  Value own = e.add(first, e.mul(e.rem(lane, kWarpSize), step));
  Value next =
      overColumns(own, sizes.back(), kWarpSize * step, /*together=*/1,
                  {noKey(e)},
                  [&](Chunk &chunk, Carried keys) {
                    return Carried{findBelow(found, taken, chunk, keys[0])};
                  })
          .front();
  next = findLargestOfWarp(e, next);
  return arith::SelectOp::create(
      builder, loc, compare(e, arith::CmpIPredicate::eq, head, taken), next,
      head);
}

/// The thread's largest key after `taken` was found in its warp.
Value RowKernel::findNext(const LargestOfRow &found, Value taken, Value head) {
  if (shape.chunks == 0)
    return findNextByWarp(found, taken, head);
  return e
      .choose(
          compare(e, arith::CmpIPredicate::eq, head, taken),
          [&] {
            Value key = noKey(e);
            for (Chunk &chunk : chunks)
              key = findBelow(found, taken, chunk, key);
            return SmallVector<Value>{key};
          },
          head)
      .front();
}

void RowKernel::runLargest(const LargestOfRow &found, int64_t firstByte) {
  // Ops that fill a result may stand behind the first of them.
  if (!found.findsColumn)
    for (size_t index : found.ops) {
      const RowOperand &output = group.ops[index].outputs.front();
      Value &start =
          scalars[getVersion(output, group.findWriter(index, output.value))];
      if (!start)
        start = noKey(e);
    }
  Value head = findHead(found);
  SmallVector<Value> keys;
  auto larger = [&](Value a, Value b) { return largerKey(e, a, b); };
  if (found.count() == 1)
    keys.push_back(sums->add(larger, head));
  else
    keys = LaneLargest(builder, loc, shape.lanes, shape.cluster, thread,
                       found.count(), firstByte)
               .find(head, [&](Value taken, Value head) {
                 return findNext(found, taken, head);
               });
  if (!found.findsColumn) {
    for (auto [index, key] : llvm::zip(found.ops, keys))
      storeScalar(index, group.ops[index].outputs.front(), key);
    return;
  }
  storeFound(found, keys.front());
}

/// Stores the element and the column that `key` has.
void RowKernel::storeFound(const LargestOfRow &found, Value key) {
  auto [order, column] = splitKey(e, key);
  Value number = numberOf(e, order, found.element.getType());
  if (found.isLeast)
    number = withoutNegativeZero(e, turnAround(e, number));
  auto outputOf = [&](size_t index) -> const RowOperand & {
    return group.ops[index].outputs.front();
  };
  storeScalar(found.ops.front(), outputOf(found.ops.front()), number);
  const RowOperand &output = outputOf(found.ops.back());
  Type place = cast<MemRefType>(output.value.getType()).getElementType();
  storeScalar(
      found.ops.back(), output,
      arith::IndexCastOp::create(builder, loc, place, e.toIndex(column)));
}

/// Takes the ops that find largest elements, which have shared memory from byte
/// `firstByte` on; returns where that memory ends.
int64_t RowKernel::addLargest(int64_t firstByte) {
  if (shape.lanes > kWarpSize && shape.rowsOfBlock > 1)
    return firstByte;
  for (const LargestOfRow &found : listLargest(group)) {
    largest.push_back({found, firstByte});
    if (found.count() > 1)
      firstByte +=
          LaneLargest::getBytes(shape.lanes, shape.cluster, found.count());
  }
  return firstByte;
}

/// Whether reduction `index` is one of those that find largest elements. They
/// run where the first of them stands.
bool RowKernel::runsLargest(size_t index) {
  for (auto &[found, firstByte] : largest) {
    if (!llvm::is_contained(found.ops, index))
      continue;
    if (index == found.ops.front())
      runLargest(found, firstByte);
    return true;
  }
  return false;
}
