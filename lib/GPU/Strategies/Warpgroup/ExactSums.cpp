//===- ExactSums.cpp - Sums of splits that are made again -----------------===//
//
// A split that is NaN says that the value is huge, infinite or NaN. It makes
// the sum NaN, which is then made again of the values themselves, by
// multiply-adds of f32 in the order of k.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/ExactSums.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitFloats.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// The weights of one packed form. A column is named by its block of 64 and the
/// instruction's row that it is.
class ExactWeights {
public:
  virtual ~ExactWeights() = default;
  static std::unique_ptr<ExactWeights> get(ThreadEmitter &emitter,
                                           RecomputeFromOp op);

  /// Rows that are stored of a column.
  virtual Value rows() = 0;
  /// The row of A that stored row `row` is multiplied with; past all of them
  /// where it is no weight.
  virtual Value kOf(Value row, Value block, Value column) = 0;
  virtual Value value(Value row, Value block, Value column) = 0;

protected:
  ExactWeights(ThreadEmitter &emitter, RecomputeFromOp op)
      : emitter(emitter), builder(emitter.builder), loc(emitter.loc), op(op) {}

  Value load(Value memref, ValueRange place) {
    return memref::LoadOp::create(builder, loc, memref, place);
  }
  Value sizeOf(Value memref, int64_t dim) {
    return builder.createOrFold<memref::DimOp>(loc, memref, dim);
  }

  ThreadEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  RecomputeFromOp op;
};

/// Weights in `#nm.packing`, with all columns in one panel.
class PanelWeights : public ExactWeights {
public:
  PanelWeights(ThreadEmitter &emitter, RecomputeFromOp op)
      : ExactWeights(emitter, op), pattern(op.getPattern().getPattern()),
        packing(cast<PackingAttr>(op.getPacking()).getPacking()) {}

  Value rows() override {
    return emitter.mul(sizeOf(op.getIndices(), 1), pattern.bk);
  }
  Value kOf(Value row, Value block, Value column) override;
  Value value(Value row, Value block, Value column) override;

private:
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
};

/// Weights in `#nm.sparse_operand`.
class SparseWeights : public ExactWeights {
public:
  SparseWeights(ThreadEmitter &emitter, RecomputeFromOp op)
      : ExactWeights(emitter, op) {
    operand.order = SparseOperand::Order::Wgmma;
    operand.splits = op.getPacking().countSplits();
  }

  Value rows() override {
    return emitter.mul(sizeOf(op.getValues(), 1), SparseOperand::kStepValues);
  }
  Value kOf(Value row, Value block, Value column) override;
  Value value(Value row, Value block, Value column) override {
    return emitJoinFloats(builder, loc, loadSplits(row, block, column));
  }

private:
  SmallVector<Value> loadSplits(Value row, Value block, Value column);
  /// `block`, or the last one for columns past the end, whose sums are not
  /// stored.
  Value within(Value block) {
    return emitter.least(block, emitter.add(sizeOf(op.getValues(), 0), -1));
  }

  /// Columns are named by the instruction's rows, whatever their order is.
  SparseOperand operand;
};
} // namespace

std::unique_ptr<ExactWeights> ExactWeights::get(ThreadEmitter &emitter,
                                                RecomputeFromOp op) {
  if (isa<SparseOperandAttr>(op.getPacking()))
    return std::make_unique<SparseWeights>(emitter, op);
  return std::make_unique<PanelWeights>(emitter, op);
}

/// As PanelPacking::positionInTiles, but by the place among the columns as they
/// are stored, which is the instruction's row.
Value PanelWeights::value(Value row, Value block, Value column) {
  constexpr int64_t kChunk = ::nm::PanelPacking::kTileChunk,
                    kPanel = ::nm::PanelPacking::kTilePanel;
  auto [number, inTile] = emitter.split(row, packing.tileRows);
  auto [chunk, inChunk] = emitter.split(column, kChunk);
  Value swizzled =
      builder.createOrFold<arith::XOrIOp>(loc, chunk, emitter.rem(inTile, 8));
  Value line =
      emitter.add(emitter.mul(block, packing.filledTileRows()), inTile);
  Value place =
      emitter.add(emitter.mul(line, kPanel),
                  emitter.add(emitter.mul(swizzled, kChunk), inChunk));
  auto [inRows, inPanel] = emitter.split(place, packing.panel);
  Value first =
      emitter.add(emitter.mul(number, packing.storedTileRows()), inRows);
  SmallVector<Value> loaded;
  for (int64_t split = 0; split < packing.splits; ++split)
    loaded.push_back(
        load(op.getValues(),
             {emitter.index(0),
              emitter.add(first, split * packing.filledTileRows()), inPanel}));
  return emitJoinFloats(builder, loc, loaded);
}

Value PanelWeights::kOf(Value row, Value, Value) {
  auto [unit, inUnit] = emitter.split(row, pattern.bk);
  Value zero = emitter.index(0);
  Value position =
      emitter.toIndex(load(op.getIndices(), ValueRange{zero, unit, zero}));
  Value window = emitter.div(unit, pattern.n);
  Value k = emitter.add(emitter.mul(window, pattern.windowRows()),
                        emitter.mul(position, pattern.bk));
  return emitter.add(k, inUnit);
}

SmallVector<Value> SparseWeights::loadSplits(Value row, Value block,
                                             Value column) {
  auto [step, inStep] = emitter.split(row, SparseOperand::kStepValues);
  EmittedIndex ofColumn{&emitter, column}, ofValue{&emitter, inStep};
  Value position = operand.positionOf<EmittedIndex>({ofColumn, ofValue}).value;
  SmallVector<Value> loaded;
  for (int64_t split = 0; split < operand.splits; ++split)
    loaded.push_back(
        load(op.getValues(),
             {within(block), step,
              emitter.add(position, split * operand.valuesOfStep())}));
  return loaded;
}

Value SparseWeights::kOf(Value row, Value block, Value column) {
  auto [step, inStep] = emitter.split(row, SparseOperand::kStepValues);
  auto [group, number] = emitter.split(inStep, 2);
  EmittedIndex ofColumn{&emitter, column}, ofGroup{&emitter, group};
  auto bits = operand.bitsOf<EmittedIndex>({ofColumn, ofGroup});
  Value byte = emitter.toIndex(
      load(op.getIndices(), {within(block), step, bits.byte.value}));
  // Two bits for the first of a group, the next two for the second.
  Value shift = emitter.add(bits.shift.value, emitter.mul(number, 2));
  Value position =
      emitter.rem(builder.createOrFold<arith::ShRUIOp>(loc, byte, shift),
                  SparseOperand::kGroupRows);
  Value k = emitter.add(
      emitter.mul(step, SparseOperand::kStepRows),
      emitter.add(emitter.mul(group, SparseOperand::kGroupRows), position));
  Value isFilled = emitIsFilled(
      builder, loc, ArrayRef(loadSplits(row, block, column)).take_front(2));
  return arith::SelectOp::create(builder, loc, isFilled,
                                 emitter.index(::nm::kMaxSize), k);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
/// Makes single sums again, of what they are sums of.
class ExactSums {
public:
  ExactSums(ThreadEmitter &emitter, RecomputeFromOp op)
      : emitter(emitter), builder(emitter.builder), loc(emitter.loc), op(op),
        splits(op.getPacking().countSplits()),
        weights(ExactWeights::get(emitter, op)) {}

  /// Whether A has row `m` of C.
  Value hasRow(Value m);
  /// The sum of row `m` of C and of the column that is the instruction's row
  /// `column`, of 64, in block `block`.
  Value sum(Value m, Value block, Value column);

private:
  Value loadA(Value k, Value m);

  ThreadEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  RecomputeFromOp op;
  int64_t splits;
  std::unique_ptr<ExactWeights> weights;
};
} // namespace

Value ExactSums::hasRow(Value m) {
  int64_t group = ::nm::kSplitColumns * splits;
  Value columns = builder.createOrFold<memref::DimOp>(
      loc, op.getA(), cast<MemRefType>(op.getA().getType()).getRank() - 1);
  return emitter.less(
      m, emitter.mul(emitter.div(columns, group), ::nm::kSplitColumns));
}

Value ExactSums::loadA(Value k, Value m) {
  auto [group, column] = emitter.split(m, ::nm::kSplitColumns);
  Value first =
      emitter.add(emitter.mul(group, splits * ::nm::kSplitColumns), column);
  int64_t rank = cast<MemRefType>(op.getA().getType()).getRank();
  // A block has one of each batch dimension.
  SmallVector<Value> position(rank, emitter.index(0));
  position[rank - 2] = k;
  SmallVector<Value> loaded;
  for (int64_t split = 0; split < splits; ++split) {
    position[rank - 1] = emitter.add(first, split * ::nm::kSplitColumns);
    loaded.push_back(memref::LoadOp::create(builder, loc, op.getA(), position));
  }
  return emitJoinFloats(builder, loc, loaded);
}

Value ExactSums::sum(Value m, Value block, Value column) {
  auto type = cast<MemRefType>(op.getA().getType());
  Value size =
      builder.createOrFold<memref::DimOp>(loc, op.getA(), type.getRank() - 2);
  Value rows = weights->rows();
  Value zero = emitter.zero(builder.getF32Type());
  auto loop = scf::ForOp::create(
      builder, loc, emitter.index(0), rows, emitter.index(1), zero,
      [&](OpBuilder &, Location, Value row, ValueRange sums) {
        Value k = weights->kOf(row, block, column);
        // The last window may be ragged.
        auto add = [&]() -> SmallVector<Value> {
          Value a = loadA(k, m), weight = weights->value(row, block, column);
          return {LLVM::FMAOp::create(builder, loc, a, weight, sums[0])};
        };
        scf::YieldOp::create(builder, loc,
                             emitter.choose(emitter.less(k, size), add, sums));
      });
  return loop.getResult(0);
}

/// Whether `value` is infinite or NaN.
static Value isNotFinite(OpBuilder &builder, Location loc, Value value) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value product = arith::MulFOp::create(builder, loc, value, zero);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, product,
                               product);
}

/// A loop takes the first sum and puts it last, so that each sum is at one time
/// the first, in the same register.
SmallVector<Value> mlir::nm::remakeSums(ThreadEmitter &emitter,
                                        RecomputeFromOp op,
                                        const WgmmaSums &fragment,
                                        ArrayRef<Value> sums) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t sumsPerBlock =
      fragment.warpgroupM * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  Value zero = emitter.zero(builder.getF32Type());
  Value check = zero;
  for (Value sum : sums)
    check = LLVM::FMAOp::create(builder, loc, sum, zero, check);
  auto make = [&]() -> SmallVector<Value> {
    auto loop = scf::ForOp::create(
        builder, loc, emitter.index(0), emitter.index(int64_t(sums.size())),
        emitter.index(1), sums,
        [&](OpBuilder &, Location, Value i, ValueRange rotated) {
          ExactSums exact(emitter, op);
          auto [block, inBlock] = emitter.split(i, sumsPerBlock);
          // The thread's i-th of the instruction's sums, see
          // getWarpgroupSumOffset.
          auto [step, inStep] = emitter.split(inBlock, 4);
          auto [lower, odd] = emitter.split(inStep, 2);
          auto [row, quad] = emitter.split(fragment.lane, 4);
          Value m = emitter.add(emitter.add(fragment.m, emitter.mul(step, 8)),
                                emitter.add(emitter.mul(quad, 2), odd));
          Value n =
              emitter.add(emitter.add(fragment.n, row), emitter.mul(lower, 8));
          n = emitter.add(n, emitter.mul(block, ::nm::kWarpgroupM));
          Value ofTile = emitter.div(n, ::nm::kWarpgroupM),
                column = emitter.rem(n, ::nm::kWarpgroupM);
          Value isWrong = emitter.both(
              isNotFinite(builder, loc, rotated.front()), exact.hasRow(m));
          SmallVector<Value> next(rotated.drop_front());
          auto remake = [&]() -> SmallVector<Value> {
            return {exact.sum(m, ofTile, column)};
          };
          next.push_back(
              emitter.choose(isWrong, remake, rotated.front()).front());
          scf::YieldOp::create(builder, loc, next);
        });
    return SmallVector<Value>(loop.getResults());
  };
  return emitter.choose(isNotFinite(builder, loc, check), make, sums);
}
