//===- RowPasses.cpp - The passes of a kernel over a row ------------------===//
//
// The ops of a group become passes over a row: one for each reduction, which
// also computes and stores what the ops before it make of the row, and a last
// one. Where a thread keeps its elements, passes are unrolled, and an element
// is loaded or computed once. Otherwise a pass is a loop, in which elements
// that an earlier pass has stored are loaded, and others are computed once
// more.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/RowPasses.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a thread that are loaded before they are needed.
static constexpr int64_t kMaxAhead = 16;
/// Accesses of a thread that reads its row in a loop that are under way at
/// once.
static constexpr int64_t kTogether = 4;

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Runs `pass` on all of the thread's chunks; it takes and returns what one
/// hands to the next.
RowKernel::Carried RowKernel::overRow(Carried carried, Pass pass) {
  if (shape.chunks != 0) {
    for (Chunk &chunk : chunks)
      carried = pass(chunk, carried);
    return carried;
  }
  Value first = e.mul(lane, shape.width);
  int64_t columns = group.space.columns, step = shape.step();
  if (ShapedType::isDynamic(columns))
    return overColumns(first, sizes.back(), step, /*together=*/1, carried,
                       pass);
  // Accesses that each thread has.
  int64_t all = columns / step, inLoop = all / kTogether * kTogether;
  if (inLoop != 0)
    carried = overColumns(first, e.index(inLoop * step), step, kTogether,
                          carried, pass);
  for (int64_t i = inLoop; i * step < columns; ++i) {
    Chunk chunk = makeChunk(i);
    carried = pass(chunk, carried);
  }
  return carried;
}

/// Runs `pass` in a loop on accesses from column `first` on and before `end`,
/// each `step` columns behind the one before, and `together` in an iteration.
RowKernel::Carried RowKernel::overColumns(Value first, Value end, int64_t step,
                                          int64_t together, Carried carried,
                                          Pass pass) {
  auto loop = scf::ForOp::create(builder, loc, first, end,
                                 e.index(together * step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Carried next(loop.getRegionIterArgs());
  for (int64_t i = 0; i < together; ++i) {
    Chunk chunk{e.add(loop.getInductionVar(), i * step), Value(), {}};
    next = pass(chunk, next);
  }
  // Of none, the loop has been made with its terminator.
  if (!carried.empty())
    scf::YieldOp::create(builder, loc, next);
  return Carried(loop.getResults());
}

/// Makes the elements of op `index` in `chunk`.
void RowKernel::compute(size_t index, Chunk &chunk) {
  const RowOp &op = group.ops[index];
  if (chunk.elements.count(getVersion(op.outputs.front(), index)))
    return;
  SmallVector<Value> results =
      inlineRowBody(builder, op, getArguments(index, &chunk), getPlace(&chunk));
  for (auto [output, result] : llvm::zip(op.outputs, results))
    chunk.elements[getVersion(output, index)] = result;
}

/// Stores what op `index` made, to tiles or to memory, where `exists` holds. A
/// tile has something in rows, too, that there are not.
void RowKernel::storeAll(size_t index, Chunk &chunk, bool toTiles,
                         Value exists) {
  SmallVector<const RowOperand *> outputs;
  for (const RowOperand &output : group.ops[index].outputs)
    if (output.isTransposed == toTiles && group.isStored(index, output.value))
      outputs.push_back(&output);
  if (outputs.empty())
    return;
  e.onlyIf(exists, [&] {
    for (const RowOperand *output : outputs)
      store(*output, chunk.elements[getVersion(*output, index)], chunk.column);
  });
}

/// Makes and stores the elements of the ops that wait for a pass.
void RowKernel::computePending(Chunk &chunk) {
  for (size_t index : pending) {
    bool isStored =
        llvm::any_of(group.ops[index].outputs, [&](const RowOperand &output) {
          return group.isStored(index, output.value);
        });
    // Memory may be written before what is kept of it is read.
    if (isStored || shape.chunks != 0)
      compute(index, chunk);
    if (!isStored)
      continue;
    storeAll(index, chunk, /*toTiles=*/true, chunk.exists);
    storeAll(index, chunk, /*toTiles=*/false, e.both(chunk.exists, rowExists));
  }
}

void RowKernel::finishPending() {
  for (size_t index : pending)
    isDone[index] = true;
  pending.clear();
}

void RowKernel::storeScalar(size_t index, const RowOperand &output,
                            Value value) {
  scalars[getVersion(output, index)] = value;
  if (!group.isStored(index, output.value))
    return;
  orderStores(output);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        lane, e.index(0));
  e.onlyIf(e.both(isFirst, rowExists), [&] {
    memref::StoreOp::create(builder, loc, value, output.value,
                            getIndices(output, Value()));
  });
}

void RowKernel::runScalar(size_t index) {
  const RowOp &op = group.ops[index];
  SmallVector<Value> results = inlineRowBody(
      builder, op, getArguments(index, nullptr), getPlace(nullptr));
  for (auto [output, result] : llvm::zip(op.outputs, results))
    storeScalar(index, output, result);
}

/// Has each of a row's first threads make an element of a Short op, or a few.
void RowKernel::runShort(size_t index) {
  const RowOp &op = group.ops[index];
  SmallVector<Value> arguments = getArguments(index, nullptr);
  int64_t count = op.countShort(), threads = shape.cluster * shape.lanes;
  for (int64_t i = 0; i < count; i += threads) {
    Value column = e.add(lane, i);
    Value exists =
        i + threads > count ? e.less(column, e.index(count)) : Value();
    e.onlyIf(e.both(exists, rowExists), [&] {
      RowPlace place{row, 1};
      place.indices.push_back(column);
      SmallVector<Value> made = inlineRowBody(builder, op, arguments, place);
      for (auto [output, value] : llvm::zip(op.outputs, made))
        memref::StoreOp::create(builder, loc, value, output.value,
                                getIndices(output, column));
    });
  }
}

void RowKernel::runReduction(size_t index) {
  const RowOp &op = group.ops[index];
  // Outside of the loops.
  SmallVector<Value> arguments = getArguments(index, nullptr);
  Carried neutral;
  for (Operation *combiner : op.combiners) {
    Value value = arith::ConstantOp::create(
        builder, loc, *arith::getNeutralElement(combiner));
    neutral.push_back(widen(builder, loc, value, shape.width));
  }
  Carried parts = overRow(neutral, [&](Chunk &chunk, Carried carried) {
    computePending(chunk);
    SmallVector<Value> elements = inlineRowBody(
        builder, op, getArguments(index, &chunk), getPlace(&chunk));
    for (auto [i, element] : llvm::enumerate(elements)) {
      element = widen(builder, loc, element, shape.width);
      if (chunk.exists)
        element = arith::SelectOp::create(builder, loc, chunk.exists, element,
                                          neutral[i]);
      carried[i] = combine(builder, loc, op.combiners[i], carried[i], element);
    }
    return carried;
  });
  finishPending();
  for (auto [i, output] : llvm::enumerate(op.outputs)) {
    Operation *combiner = op.combiners[i];
    Value total =
        sums->add(combiner, combineElements(builder, loc, combiner, parts[i]));
    Value initial = arguments[op.inputs.size() + i];
    storeScalar(index, output, combine(builder, loc, combiner, initial, total));
  }
}

/// Has the loads of what no op writes under way before the first barrier.
void RowKernel::loadAhead() {
  for (auto [index, op] : llvm::enumerate(group.ops))
    for (const RowOperand &operand : op.inputs) {
      if (!operand.isRead || !operand.isMemref() ||
          group.findWriter(group.ops.size(), operand.value))
        continue;
      if (!operand.hasColumns)
        (void)getScalar(index, operand);
      for (Chunk &chunk : chunks)
        if (operand.hasColumns)
          (void)getElements(index, operand, chunk);
    }
}

void RowKernel::runOps() {
  isDone.assign(group.ops.size(), false);
  // Of no more than a thread has registers for.
  if (shape.chunks * shape.width <= kMaxAhead)
    loadAhead();
  auto runPending = [&] {
    if (pending.empty())
      return;
    overRow({}, [&](Chunk &chunk, Carried carried) {
      computePending(chunk);
      return carried;
    });
    finishPending();
  };
  for (auto [index, op] : llvm::enumerate(group.ops)) {
    if (op.kind == RowOp::Elementwise) {
      // Scalars outside of the loops.
      (void)getArguments(index, nullptr);
      pending.push_back(index);
      if (shape.chunks != 0)
        runPending();
    } else if (op.kind == RowOp::Reduction) {
      if (!runsLargest(index))
        runReduction(index);
    } else if (op.kind == RowOp::Short) {
      runShort(index);
    } else {
      runScalar(index);
    }
  }
  runPending();
}
