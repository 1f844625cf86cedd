//===- LargestOfRow.cpp - Ops that find largest elements ------------------===//

#include "GPU/Rows/LargestOfRow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static bool isConstant(Value value, const APInt &expected) {
  APInt known;
  return matchPattern(value, m_ConstantInt(&known)) && known == expected;
}

/// The operand of commutative `op` that `find` finds something in, and what;
/// `other` is the other one.
template <typename T>
static std::optional<T>
findOperand(Operation *op, Value &other,
            llvm::function_ref<std::optional<T>(Value)> find) {
  for (unsigned i : {0, 1})
    if (std::optional<T> found = find(op->getOperand(i))) {
      other = op->getOperand(1 - i);
      return found;
    }
  return std::nullopt;
}

/// The column as an integer, of loop `loop`.
static bool isColumn(Value value, unsigned loop) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  auto index =
      cast ? cast.getIn().getDefiningOp<linalg::IndexOp>() : linalg::IndexOp();
  return index && index.getDim() == loop;
}

/// The operand of the body's argument `value`; null if it is none.
static const RowOperand *getOperandOf(const RowOp &row, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &row.getBody())
    return nullptr;
  unsigned number = argument.getArgNumber();
  return number < row.inputs.size() ? &row.inputs[number]
                                    : &row.outputs[number - row.inputs.size()];
}

namespace {
/// Two ops of a group, and where they stand.
struct OpPair {
  const RowGroup &group;
  size_t first, second;

  /// Whether `a`, of the body of the first, is what `b` is of the second.
  bool isSame(Value a, Value b) const;
};
} // namespace

bool OpPair::isSame(Value a, Value b) const {
  if (a == b)
    return true;
  const RowOperand *ofFirst = getOperandOf(group.ops[first], a),
                   *ofSecond = getOperandOf(group.ops[second], b);
  if (ofFirst || ofSecond)
    return ofFirst && ofSecond && ofFirst->value == ofSecond->value &&
           ofFirst->map == ofSecond->map &&
           group.findWriter(first, ofFirst->value) ==
               group.findWriter(second, ofFirst->value);
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  return opA && opB && opA->getName() == opB->getName() &&
         opA->getNumResults() == 1 && opA->getNumRegions() == 0 &&
         a.getType() == b.getType() &&
         opA->getAttrDictionary() == opB->getAttrDictionary() &&
         opA->getNumOperands() == opB->getNumOperands() &&
         llvm::all_of_zip(opA->getOperands(), opB->getOperands(),
                          [&](Value x, Value y) { return isSame(x, y); });
}

/// The value that `row`, a reduction to one result, combines with the result by
/// an op of type `OpTy`; null where `row` is another op.
template <typename... OpTy>
static Value getReduced(const RowOp &row) {
  if (row.kind != RowOp::Reduction || row.combiners.size() != 1 ||
      !isa<OpTy...>(row.combiners.front()))
    return Value();
  Value running = row.getBody().getArgument(row.inputs.size());
  Operation *combiner = row.combiners.front();
  return combiner->getOperand(combiner->getOperand(0) == running ? 1 : 0);
}

/// What op `index` starts from, if an op of the group fills it with a constant.
static Attribute findStart(const RowGroup &group, size_t index) {
  auto writer = group.findWriter(index, group.ops[index].outputs.front().value);
  auto fill = writer ? dyn_cast<linalg::FillOp>(group.ops[*writer].op)
                     : linalg::FillOp();
  Attribute start;
  if (fill)
    matchPattern(fill.value(), m_Constant(&start));
  return start;
}

/// Whether no op between `first` and `index` accesses what op `index` writes,
/// but to fill it.
static bool mayMove(const RowGroup &group, size_t first, size_t index) {
  Value written = group.ops[index].outputs.front().value;
  for (size_t i = first + 1; i < index; ++i)
    if (!isa<linalg::FillOp>(group.ops[i].op) &&
        llvm::is_contained(group.ops[i].op->getOperands(), written))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

namespace {
/// A reduction to the largest key.
struct KeyReduction {
  Value key, element;
  /// The body's argument that keys are less than, or null.
  Value bound;
};
} // namespace

/// The element of `key`, an i64 with the complement of the column in its lower
/// half; null of others.
static Value findElement(Value key, unsigned columnLoop) {
  auto both = key.getDefiningOp<arith::OrIOp>();
  if (!both)
    return Value();
  Value place;
  auto element =
      findOperand<Value>(both, place, [](Value half) -> std::optional<Value> {
        auto shifted = half.getDefiningOp<arith::ShLIOp>();
        if (!shifted || !isConstant(shifted.getRhs(), APInt(64, 32)))
          return std::nullopt;
        auto extended = shifted.getLhs().getDefiningOp<arith::ExtSIOp>();
        if (!extended ||
            extended.getIn().getType().getIntOrFloatBitWidth() > 32)
          return std::nullopt;
        return extended.getIn();
      });
  auto complement =
      element ? place.getDefiningOp<arith::XOrIOp>() : arith::XOrIOp();
  if (!complement)
    return Value();
  Value column;
  auto low = findOperand<bool>(
      complement, column, [](Value value) -> std::optional<bool> {
        if (isConstant(value, APInt(64, std::numeric_limits<uint32_t>::max())))
          return true;
        return std::nullopt;
      });
  return low && isColumn(column, columnLoop) ? *element : Value();
}

/// The float whose bits `order` has in the order of integers, NaN above all
/// numbers; null of others.
static Value findFloat(Value order) {
  const APInt most = APInt::getSignedMaxValue(32);
  auto select = order.getDefiningOp<arith::SelectOp>();
  auto isNaN = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                      : arith::CmpFOp();
  if (!isNaN || isNaN.getPredicate() != arith::CmpFPredicate::UNE ||
      isNaN.getLhs() != isNaN.getRhs() ||
      !isConstant(select.getTrueValue(), most))
    return Value();
  Value x = isNaN.getLhs();
  auto isBits = [&](Value value) {
    auto bits = value.getDefiningOp<arith::BitcastOp>();
    if (!bits || !bits.getIn().getType().isF32())
      return false;
    auto wide = bits.getIn().getDefiningOp<arith::ExtFOp>();
    return bits.getIn() == x || (wide && wide.getIn() == x);
  };
  auto turned = select.getFalseValue().getDefiningOp<arith::XOrIOp>();
  for (unsigned i : {0, 1}) {
    auto below = turned
                     ? turned->getOperand(1 - i).getDefiningOp<arith::AndIOp>()
                     : arith::AndIOp();
    if (!below || !isBits(turned->getOperand(i)))
      continue;
    for (unsigned j : {0, 1}) {
      auto sign = below->getOperand(j).getDefiningOp<arith::ShRSIOp>();
      if (sign && sign.getLhs() == turned->getOperand(i) &&
          isConstant(sign.getRhs(), APInt(32, 31)) &&
          isConstant(below->getOperand(1 - j), most))
        return x;
    }
  }
  return Value();
}

static std::optional<KeyReduction> getKeyReduction(const RowOp &row,
                                                   unsigned columnLoop) {
  Value reduced = getReduced<arith::MaxSIOp>(row);
  if (!reduced || !reduced.getType().isInteger(64))
    return std::nullopt;
  KeyReduction found{reduced, Value(), Value()};
  if (auto select = reduced.getDefiningOp<arith::SelectOp>()) {
    auto less = select.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!less || less.getPredicate() != arith::CmpIPredicate::slt ||
        less.getLhs() != select.getTrueValue() ||
        !isConstant(select.getFalseValue(), APInt::getSignedMinValue(64)))
      return std::nullopt;
    const RowOperand *bound = getOperandOf(row, less.getRhs());
    if (!bound || bound->hasColumns || !bound->isMemref())
      return std::nullopt;
    found.key = less.getLhs();
    found.bound = less.getRhs();
  }
  found.element = findElement(found.key, columnLoop);
  return found.element ? std::optional(found) : std::nullopt;
}

static bool startsFromLeastKey(const RowGroup &group, size_t index) {
  auto start = dyn_cast_or_null<IntegerAttr>(findStart(group, index));
  return start && start.getValue().isMinSignedValue();
}

static std::optional<LargestOfRow> findKeys(const RowGroup &group,
                                            size_t first) {
  unsigned loop = group.space.getColumnLoop();
  auto start = getKeyReduction(group.ops[first], loop);
  if (!start || !startsFromLeastKey(group, first))
    return std::nullopt;
  LargestOfRow found{{first}, start->element};
  if (Value number = findFloat(start->element))
    found.element = number;
  found.isBounded = start->bound != nullptr;
  for (size_t i = first + 1; i < group.ops.size(); ++i) {
    auto next = getKeyReduction(group.ops[i], loop);
    if (!next || !next->bound)
      continue;
    size_t last = found.ops.back();
    Value bound = getOperandOf(group.ops[i], next->bound)->value;
    if (bound == group.ops[last].outputs.front().value &&
        group.findWriter(i, bound) == last && startsFromLeastKey(group, i) &&
        mayMove(group, first, i) &&
        OpPair{group, first, i}.isSame(start->key, next->key))
      found.ops.push_back(i);
  }
  return found;
}

const RowOperand *mlir::nm::findBound(const RowOp &op) {
  auto found =
      getKeyReduction(op, cast<linalg::LinalgOp>(op.op).getNumLoops() - 1);
  return found && found->bound ? getOperandOf(op, found->bound) : nullptr;
}

//===----------------------------------------------------------------------===//
// The column of the largest element
//===----------------------------------------------------------------------===//

/// Whether `start` is the least number of its type, or the largest one.
static bool isExtreme(Attribute start, bool isLeast) {
  if (auto number = dyn_cast_or_null<FloatAttr>(start))
    return number.getValue().isInfinity() &&
           number.getValue().isNegative() == isLeast;
  auto integer = dyn_cast_or_null<IntegerAttr>(start);
  if (!integer)
    return false;
  const APInt value = integer.getValue();
  return isLeast ? value.isMinSignedValue() : value.isMaxSignedValue();
}

/// Whether `value` holds where `element` is `most`, or is a NaN.
static bool isMostOrNaN(Value value, Value element, Value most) {
  auto isPair = [](Operation *op, Value a, Value b) {
    return (op->getOperand(0) == a && op->getOperand(1) == b) ||
           (op->getOperand(0) == b && op->getOperand(1) == a);
  };
  if (auto equal = value.getDefiningOp<arith::CmpIOp>())
    return equal.getPredicate() == arith::CmpIPredicate::eq &&
           isPair(equal, element, most);
  auto either = value.getDefiningOp<arith::OrIOp>();
  if (!either)
    return false;
  auto is = [&](Value half, arith::CmpFPredicate predicate, Value other) {
    auto compared = half.getDefiningOp<arith::CmpFOp>();
    return compared && compared.getPredicate() == predicate &&
           isPair(compared, element, other);
  };
  for (unsigned i : {0, 1})
    if (is(either->getOperand(i), arith::CmpFPredicate::OEQ, most) &&
        is(either->getOperand(1 - i), arith::CmpFPredicate::UNE, element))
      return true;
  return false;
}

/// Whether op `second` finds the first column of what op `first`, whose body
/// reduces `element`, found.
static bool findsColumnOf(const RowGroup &group, size_t first, size_t second,
                          Value element) {
  const RowOp &row = group.ops[second];
  Value reduced = getReduced<arith::MinSIOp>(row);
  auto select =
      reduced ? reduced.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
  APInt end;
  if (!select ||
      !isColumn(select.getTrueValue(), group.space.getColumnLoop()) ||
      !matchPattern(select.getFalseValue(), m_ConstantInt(&end)) ||
      !end.isMaxSignedValue())
    return false;
  Value most = group.ops[first].outputs.front().value;
  for (auto [number, input] : llvm::enumerate(row.inputs)) {
    if (input.value != most || input.hasColumns ||
        group.findWriter(second, most) != first)
      continue;
    Value argument = row.getBody().getArgument(number);
    for (Operation &inner : row.getBody().without_terminator())
      for (Value operand : inner.getOperands())
        if (operand.getType() == element.getType() &&
            isMostOrNaN(select.getCondition(), operand, argument) &&
            OpPair{group, first, second}.isSame(element, operand))
          return true;
  }
  return false;
}

/// The op behind op `first` that finds the first column of what op `first`,
/// whose body reduces `element`, found, if it may run where op `first` stands.
static std::optional<size_t> findColumnOp(const RowGroup &group, size_t first,
                                          Value element) {
  for (size_t i = first + 1; i < group.ops.size(); ++i)
    if (findsColumnOf(group, first, i, element) &&
        isExtreme(findStart(group, i), /*isLeast=*/false) &&
        mayMove(group, first, i))
      return i;
  return std::nullopt;
}

/// Whether ops but op `second` make something of each column and of what op
/// `first` found: a pass over a row that is kept in registers follows anyway,
/// in which a column is found for next to nothing. A softmax beside the argmax
/// of 512 x 4096 elements in f16 takes an H200 5.15 us so, and 5.47 with one
/// search.
static bool isReadByColumns(const RowGroup &group, size_t first,
                            size_t second) {
  Value most = group.ops[first].outputs.front().value;
  for (size_t i = first + 1; i < group.ops.size(); ++i) {
    const RowOp &row = group.ops[i];
    bool hasColumns =
        row.kind == RowOp::Elementwise || row.kind == RowOp::Reduction;
    if (i != second && hasColumns &&
        llvm::is_contained(row.op->getOperands(), most))
      return true;
  }
  return false;
}

static std::optional<LargestOfRow> findColumn(const RowGroup &group,
                                              size_t first) {
  const RowOp &row = group.ops[first];
  Value most = getReduced<arith::MaximumFOp, arith::MaxSIOp>(row),
        least = getReduced<arith::MinimumFOp, arith::MinSIOp>(row);
  Value element = most ? most : least;
  if (!element || element.getType().getIntOrFloatBitWidth() > 32 ||
      !isExtreme(findStart(group, first), /*isLeast=*/most != nullptr) ||
      ShapedType::isDynamic(group.space.columns) ||
      group.space.columns > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  std::optional<size_t> second = findColumnOp(group, first, element);
  if (!second || (group.keepsRows && isReadByColumns(group, first, *second)))
    return std::nullopt;
  LargestOfRow found{{first, *second}, element};
  found.findsColumn = true;
  found.isLeast = least != nullptr;
  return found;
}

/// The reductions from op `first` on that find largest elements, if it starts
/// some.
static std::optional<LargestOfRow> findLargest(const RowGroup &group,
                                               size_t first) {
  if (group.ops[first].kind != RowOp::Reduction)
    return std::nullopt;
  if (auto keys = findKeys(group, first))
    return keys;
  return findColumn(group, first);
}

SmallVector<LargestOfRow> mlir::nm::listLargest(const RowGroup &group) {
  SmallVector<LargestOfRow> list;
  SmallVector<size_t> taken;
  for (size_t index = 0; index < group.ops.size(); ++index)
    if (!llvm::is_contained(taken, index))
      if (auto found = findLargest(group, index)) {
        taken.append(found->ops);
        list.push_back(*found);
      }
  return list;
}
