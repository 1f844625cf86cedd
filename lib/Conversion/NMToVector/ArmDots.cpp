//===- ArmDots.cpp - Products of words by NEON ----------------------------===//

#include "ArmDots.h"
#include "AmxTables.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Bytes of a register, registers of the words of 16 rows of m, and words of a
/// column in a register.
static constexpr int64_t kBytes = 16, kRegisters = 4, kWords = 4;

namespace {
class ArmDots {
public:
  ArmDots(VectorEmitter &e, const ArmOperands &operands)
      : e(e), operands(operands),
        element(cast<MemRefType>(operands.rows.getType()).getElementType()),
        values(VectorType::get(
            {kBytes * 8 / int64_t(element.getIntOrFloatBitWidth())}, element)),
        sumsType(VectorType::get({kWords}, e.accumulator)) {}

  SmallVector<Value> sum();

private:
  SmallVector<Value> loadWeights(Value group);
  SmallVector<Value> loadRows(Value word);
  void addWords(ArrayRef<Value> weights, Value group,
                MutableArrayRef<Value> sums);
  void addMatrices(ArrayRef<Value> weights, Value group,
                   MutableArrayRef<Value> sums);
  Value multiply(StringRef name, Value sum, Value left, Value right);
  SmallVector<Value> separate(ArrayRef<Value> sums);
  Value castTo(Value vector, VectorType type) {
    return e.b.createOrFold<vector::BitCastOp>(type, vector);
  }
  Value shuffle(Value first, Value second, ArrayRef<int64_t> mask) {
    return vector::ShuffleOp::create(e.b, first, second, mask);
  }

  VectorEmitter &e;
  const ArmOperands &operands;
  Type element;
  /// A register of operands, and one of sums.
  VectorType values, sumsType;
};
} // namespace

/// kWords words of each column.
SmallVector<Value> ArmDots::loadWeights(Value group) {
  int64_t perGroup = values.getNumElements(), groups = kAmxStep / perGroup;
  Value step = e.floorDiv(group, groups);
  Value first = e.mul(e.sub(group, e.mul(step, groups)), perGroup);
  SmallVector<Value> weights;
  for (int64_t i = 0; i < kArmColumns; ++i) {
    Value column = e.mul(e.add(operands.firstColumn, i), kAmxStep);
    weights.push_back(vector::LoadOp::create(
        e.b, values, operands.weights,
        ValueRange{operands.panel, e.add(operands.firstStep, step),
                   e.add(column, first)}));
  }
  return weights;
}

SmallVector<Value> ArmDots::loadRows(Value word) {
  SmallVector<Value> rows;
  for (int64_t i = 0; i < kRegisters; ++i)
    rows.push_back(vector::LoadOp::create(
        e.b, values, operands.rows,
        ValueRange{operands.matrix, word,
                   e.index(i * values.getNumElements())}));
  return rows;
}

Value ArmDots::multiply(StringRef name, Value sum, Value left, Value right) {
  return LLVM::CallIntrinsicOp::create(
             e.b, sumsType, e.b.getStringAttr("llvm.aarch64.neon." + name),
             ValueRange{sum, left, right})
      .getResult(0);
}

/// sums[column][register] += rows[register] * word of the column.
void ArmDots::addWords(ArrayRef<Value> weights, Value group,
                       MutableArrayRef<Value> sums) {
  auto words = VectorType::get({kWords}, e.b.getI32Type());
  for (int64_t word = 0; word < kWords; ++word) {
    SmallVector<Value> rows = loadRows(e.add(e.mul(group, kWords), word));
    SmallVector<int64_t> lane(kWords, word);
    for (int64_t column = 0; column < kArmColumns; ++column) {
      Value lanes = castTo(weights[column], words);
      Value right = castTo(shuffle(lanes, lanes, lane), values);
      for (int64_t i = 0; i < kRegisters; ++i) {
        Value &sum = sums[column * kRegisters + i];
        sum = multiply("sdot.v4i32.v16i8", sum, rows[i], right);
      }
    }
  }
}

/// sums[pair of columns][pair of rows] += rows * columns, of two words each.
void ArmDots::addMatrices(ArrayRef<Value> weights, Value group,
                          MutableArrayRef<Value> sums) {
  auto pairs = VectorType::get({kWords / 2}, e.b.getI64Type());
  StringRef name = element.isBF16() ? "bfmmla" : "smmla.v4i32.v16i8";
  for (int64_t pair = 0; pair < kWords / 2; ++pair) {
    Value word = e.add(e.mul(group, kWords), 2 * pair);
    SmallVector<Value> rows = loadRows(word);
    rows.append(loadRows(e.add(word, 1)));
    for (int64_t column = 0; column < kArmColumns; column += 2) {
      Value right = shuffle(castTo(weights[column], pairs),
                            castTo(weights[column + 1], pairs),
                            {pair, kWords / 2 + pair});
      right = castTo(right, values);
      for (auto [i, left] : llvm::enumerate(rows)) {
        Value &sum = sums[column * kRegisters + static_cast<int64_t>(i)];
        sum = multiply(name, sum, left, right);
      }
    }
  }
}

/// The sums of each column, of which matrices have two columns side by side.
SmallVector<Value> ArmDots::separate(ArrayRef<Value> sums) {
  SmallVector<Value> columns;
  for (int64_t column = 0; column < kArmColumns; ++column) {
    SmallVector<Value> parts(sums.slice(column * kRegisters, kRegisters));
    if (operands.areMatrices) {
      ArrayRef<Value> both =
          sums.slice(column / 2 * 2 * kRegisters, 2 * kRegisters);
      int64_t of = column % 2;
      for (int64_t i = 0; i < kRegisters; ++i)
        parts[i] =
            shuffle(both[2 * i], both[2 * i + 1], {of, of + 2, of + 4, of + 6});
    }
    for (int64_t size = kWords; size < kAmxRows; size *= 2) {
      auto mask = llvm::to_vector(llvm::seq<int64_t>(0, 2 * size));
      for (size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = shuffle(parts[2 * i], parts[2 * i + 1], mask);
      parts.truncate(parts.size() / 2);
    }
    columns.push_back(parts.front());
  }
  return columns;
}

SmallVector<Value> ArmDots::sum() {
  Value zero = arith::ConstantOp::create(
      e.b, mlir::cast<TypedAttr>(e.b.getZeroAttr(sumsType)));
  SmallVector<Value> sums(kArmColumns * kRegisters, zero);
  int64_t groups = operands.steps * kAmxStep / values.getNumElements();
  sums = e.loop(e.index(0), e.index(groups), 1, sums,
                [&](Value group, ArrayRef<Value> before) {
                  SmallVector<Value> after(before);
                  SmallVector<Value> weights = loadWeights(group);
                  if (operands.areMatrices)
                    addMatrices(weights, group, after);
                  else
                    addWords(weights, group, after);
                  return after;
                });
  return separate(sums);
}

SmallVector<Value> mlir::nm::sumArmDots(VectorEmitter &emitter,
                                        const ArmOperands &operands) {
  return ArmDots(emitter, operands).sum();
}

void mlir::nm::pairWords(VectorEmitter &e, Value matrices, Value first,
                         Value end, int64_t words) {
  auto memory = cast<MemRefType>(matrices.getType());
  auto values =
      VectorType::get({memory.getShape().back()}, memory.getElementType());
  auto ofWords = VectorType::get({kAmxRows}, e.b.getI32Type());
  // The masks of the first eight rows of m, and of the other eight.
  SmallVector<int64_t> masks[2];
  for (int64_t row = 0; row < kAmxRows; ++row)
    masks[row / (kAmxRows / 2)].append({row, kAmxRows + row});
  e.loop(first, end, 1, [&](Value matrix) {
    e.loop(e.index(0), e.index(words), 2, [&](Value word) {
      SmallVector<Value> places[] = {{matrix, word, e.index(0)},
                                     {matrix, e.add(word, 1), e.index(0)}};
      SmallVector<Value> loaded;
      for (ArrayRef<Value> place : places)
        loaded.push_back(e.b.createOrFold<vector::BitCastOp>(
            ofWords, vector::LoadOp::create(e.b, values, matrices, place)));
      for (auto [place, mask] : llvm::zip(places, masks)) {
        Value pairs =
            vector::ShuffleOp::create(e.b, loaded[0], loaded[1], mask);
        e.store(e.b.createOrFold<vector::BitCastOp>(values, pairs), matrices,
                place);
      }
    });
  });
}
