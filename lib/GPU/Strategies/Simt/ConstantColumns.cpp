//===- ConstantColumns.cpp - Constant weights as code of simt_columns -----===//
//
// The code of a warp has a multiply-add for each weight of its columns that is
// not zero, with the weight in the instruction, and a load for each row of A
// that one of them has a weight in, which all of them share. Warps of other
// columns, and of other parts of k, have other code.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SimtColumnsTile.h"
#include "GPU/Tile/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of A that are loaded ahead of those that are multiplied.
static constexpr int64_t kElementsAhead = 16;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// A row of k, and the weights that a warp's columns have in it: column and
/// value of each.
struct ConstantRow {
  int64_t k;
  SmallVector<std::pair<int64_t, float>> weights;
};
} // namespace

std::optional<ConstantArray> mlir::nm::findConstant(Value buffer) {
  while (auto view = buffer.getDefiningOp<memref::SubViewOp>())
    buffer = view.getSource();
  auto global = buffer.getDefiningOp<memref::GetGlobalOp>();
  if (!global)
    return std::nullopt;
  auto symbol = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      global, global.getNameAttr());
  if (!symbol || !symbol.getConstant() || !symbol.getInitialValue())
    return std::nullopt;
  return ConstantArray::get(*symbol.getInitialValue());
}

/// The first column of the block's tile of the values.
static Value getFirstColumn(ThreadEmitter &emitter, Value values) {
  Value first = emitter.index(0);
  while (auto view = values.getDefiningOp<memref::SubViewOp>()) {
    first = emitter.add(
        first, getValueOrCreateConstantIndexOp(emitter.builder, emitter.loc,
                                               view.getMixedOffsets()[1]));
    values = view.getSource();
  }
  return first;
}

/// Whether `values` are cut along columns alone.
static bool hasAllRows(Value values) {
  while (auto view = values.getDefiningOp<memref::SubViewOp>()) {
    if (view.getMixedOffsets().size() != 2 ||
        getConstantIntValue(view.getMixedOffsets()[0]) != 0)
      return false;
    values = view.getSource();
  }
  return true;
}

std::optional<StringRef>
mlir::nm::whyNoConstantColumns(SparseProductOpInterface op) {
  Value values = op.getValues();
  if (!(op.getPattern() == ::nm::Pattern()) || !findConstant(values))
    return StringRef("expected constant weights of pattern 1:1, or such that "
                     "are packed as #nm.columns, for strategy simt_columns");
  if (!hasAllRows(values))
    return StringRef("expected weights of all of k for strategy simt_columns");
  return std::nullopt;
}

/// The rows of k that have weights in `columns` columns from `first` on.
static SmallVector<ConstantRow> listRows(const ::nm::DenseView &dense,
                                         int64_t first, int64_t columns) {
  SmallVector<ConstantRow> rows;
  for (int64_t k = 0; k < dense.k; ++k) {
    ConstantRow row{k, {}};
    for (int64_t i = 0; i < columns && first + i < dense.n; ++i)
      if (double weight = ::nm::loadAsDouble(dense.data, dense.type,
                                             k * dense.strideK +
                                                 (first + i) * dense.strideN);
          weight != 0)
        row.weights.emplace_back(i, float(weight));
    if (!row.weights.empty())
      rows.push_back(row);
  }
  return rows;
}

/// Part `slice` of `parts` of the rows, which have about as many instructions
/// each.
static ArrayRef<ConstantRow> takePart(ArrayRef<ConstantRow> rows, int64_t slice,
                                      int64_t parts) {
  int64_t all = 0;
  for (const ConstantRow &row : rows)
    all += 1 + int64_t(row.weights.size());
  auto boundary = [&](int64_t part) {
    int64_t before = 0;
    size_t i = 0;
    for (; i < rows.size() && before * parts < all * part; ++i)
      before += 1 + int64_t(rows[i].weights.size());
    return i;
  };
  size_t begin = boundary(slice);
  return rows.slice(begin, boundary(slice + 1) - begin);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
class ConstantColumnsExpansion : public SimtColumnsTile {
public:
  using SimtColumnsTile::SimtColumnsTile;

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;

private:
  SmallVector<Value> addRows(ThreadEmitter &emitter,
                             ArrayRef<ConstantRow> constants,
                             ArrayRef<Value> sums);
};
} // namespace

/// Adds the products of the rows to `sums`. The elements of A of some rows are
/// loaded before those of the rows in front are multiplied.
SmallVector<Value>
ConstantColumnsExpansion::addRows(ThreadEmitter &emitter,
                                  ArrayRef<ConstantRow> constants,
                                  ArrayRef<Value> sums) {
  SmallVector<Value> result(sums);
  SmallVector<SmallVector<Value>> current, next;
  int64_t atOnce = kElementsAhead / tile.threadM;
  auto load = [&](ArrayRef<ConstantRow> some) {
    SmallVector<SmallVector<Value>> loaded;
    for (const ConstantRow &row : some)
      loaded.push_back(
          rows->load(emitter, rows->place(emitter, emitter.i32(row.k))));
    syncWarp(emitter.builder, emitter.loc);
    return loaded;
  };
  current = load(constants.take_front(atOnce));
  while (!constants.empty()) {
    ArrayRef<ConstantRow> rest = constants.drop_front(
        std::min<size_t>(constants.size(), size_t(atOnce)));
    if (!rest.empty())
      next = load(rest.take_front(atOnce));
    for (auto [row, a] :
         llvm::zip(constants.take_front(current.size()), current))
      for (auto [column, weight] : row.weights) {
        Value factor = arith::ConstantFloatOp::create(
            emitter.builder, emitter.loc, emitter.builder.getF32Type(),
            APFloat(weight));
        for (int64_t i = 0; i < tile.threadM; ++i) {
          Value &sum = result[column * tile.threadM + i];
          sum = LLVM::FMAOp::create(emitter.builder, emitter.loc, a[i], factor,
                                    sum);
        }
      }
    constants = rest;
    current = std::move(next);
    next.clear();
  }
  return result;
}

SmallVector<Value> ConstantColumnsExpansion::expand(OpBuilder &builder,
                                                    SparseProductOpInterface op,
                                                    ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  takeRows(emitter, op.getA());
  std::optional<ConstantArray> constant = findConstant(op.getValues());
  ::nm::DenseView dense = constant->getDenseView(/*kDim=*/0);
  // Which columns, and which part of k.
  Value first = getFirstColumn(emitter, op.getValues());
  Value group = emitter.div(emitter.add(first, column), tile.warpN);
  Value number = emitter.add(emitter.mul(group, tile.sliceK), slice);
  int64_t groups = llvm::divideCeil(dense.n, tile.warpN);
  SmallVector<int64_t> cases;
  for (int64_t i = 0; i < groups * tile.sliceK; ++i)
    cases.push_back(i);
  SmallVector<Type> types(sums.size(), builder.getF32Type());
  auto select = scf::IndexSwitchOp::create(builder, loc, types, number, cases,
                                           cases.size());
  OpBuilder::InsertionGuard guard(builder);
  for (int64_t i : cases) {
    builder.createBlock(&select.getCaseRegions()[i]);
    SmallVector<ConstantRow> all =
        listRows(dense, i / tile.sliceK * tile.warpN, tile.warpN);
    scf::YieldOp::create(
        builder, loc,
        addRows(emitter, takePart(all, i % tile.sliceK, tile.sliceK), sums));
  }
  // Warps behind the last column.
  builder.createBlock(&select.getDefaultRegion());
  scf::YieldOp::create(builder, loc, sums);
  return SmallVector<Value>(select.getResults());
}

std::unique_ptr<TileExpansion>
mlir::nm::createConstantColumnsExpansion(const GpuTile &tile) {
  return std::make_unique<ConstantColumnsExpansion>(tile);
}
