//===- RowKernel.cpp - The kernel of a group of ops -----------------------===//
//
// Which rows and columns a thread has, and how it accesses memory.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/RowKernel.h"

#include "GPU/Copies/ClusterBuffer.h"
#include "GPU/Rows/RowPasses.h"
#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void RowKernel::countSizes() {
  const RowSpace &space = group.space;
  rows = e.index(1);
  for (unsigned loop = 0; loop <= space.getColumnLoop(); ++loop) {
    unsigned dim = *space.map.getResultPosition(
        getAffineDimExpr(loop, builder.getContext()));
    sizes.push_back(
        builder.createOrFold<memref::DimOp>(loc, space.memref, dim));
    if (loop != space.getColumnLoop())
      rows = builder.createOrFold<arith::MulIOp>(loc, rows, sizes.back());
  }
}

/// The indices of row `number`, the last of which runs fastest.
void RowKernel::splitRow(Value number) {
  row.resize(group.space.rows.size());
  for (size_t loop = row.size(); loop-- > 0;) {
    Value index = number;
    if (loop != 0) {
      Value size =
          number.getType().isIndex() ? sizes[loop] : e.toI32(sizes[loop]);
      index = builder.createOrFold<arith::RemUIOp>(loc, number, size);
      number = builder.createOrFold<arith::DivUIOp>(loc, number, size);
    }
    row[loop] = group.space.rows[loop] == 1 ? e.index(0) : e.toIndex(index);
  }
}

/// The access of a thread that has one alone.
void RowKernel::placeElement(Value block, Value thread) {
  Value first = e.mul(block, kElementThreads);
  Value number = e.add(first, thread),
        accesses = e.div(sizes.back(), shape.width);
  Value total = builder.createOrFold<arith::MulIOp>(loc, rows, accesses);
  auto exists = scf::IfOp::create(builder, loc, e.less(number, total));
  builder.setInsertionPointToStart(exists.thenBlock());
  if (hasFewElements(group.space)) {
    number = e.toI32(number);
    accesses = e.toI32(accesses);
  }
  Value column = builder.createOrFold<arith::RemUIOp>(loc, number, accesses);
  splitRow(builder.createOrFold<arith::DivUIOp>(loc, number, accesses));
  lane = e.toIndex(column);
  chunks.push_back({e.mul(lane, shape.width), Value(), {}});
}

/// Sets the lane; returns the number of the thread's row, or of its first one.
Value RowKernel::placeRow(Value block, Value thread) {
  Value number = block;
  lane = thread;
  if (shape.cluster > 1) {
    auto [quotient, rank] = e.split(block, shape.cluster);
    number = quotient;
    lane = e.add(thread, e.mul(rank, shape.lanes));
  }
  if (shape.rowsOfBlock > 1) {
    std::tie(slot, lane) = e.split(thread, shape.lanes);
    firstRow = e.mul(block, shape.rowsOfBlock);
    number = e.add(firstRow, slot);
    // Threads of a row that there is not do as those of the last one, but
    // store nothing: all lanes of a warp take part in shuffles.
    rowExists = e.less(number, rows);
    number = e.least(number, e.sub(rows, e.index(1)));
  }
  return number;
}

/// The thread's access `number` of a row whose length is known.
Chunk RowKernel::makeChunk(int64_t number) {
  int64_t step = shape.step();
  Chunk chunk;
  chunk.column = e.add(e.mul(lane, shape.width), number * step);
  if ((number + 1) * step > group.space.columns) {
    chunk.exists = e.less(chunk.column, sizes.back());
    // What it loads instead, it does not use.
    chunk.column = e.orZero(chunk.column, chunk.exists);
  }
  return chunk;
}

/// The accesses of a thread that keeps its elements.
void RowKernel::makeChunks() {
  for (int64_t i = 0; i < shape.chunks; ++i)
    chunks.push_back(makeChunk(i));
}

int64_t RowKernel::countResults() const {
  int64_t count = 0;
  for (const RowOp &op : group.ops)
    count += op.combiners.size();
  return count;
}

void RowKernel::makeSums() {
  sums.emplace(builder, loc, shape.lanes, shape.rowsOfBlock, shape.cluster,
               thread, countResults());
}

/// Copies access `chunk` of the operands of `ahead`, if there is row `number`.
void RowKernel::copyRow(RowsAhead &ahead, Value number, int64_t chunk) {
  SmallVector<Value> current = row;
  splitRow(e.toI32(number));
  auto places =
      llvm::map_to_vector(ahead.getOperands(), [&](const RowOperand &operand) {
        return getIndices(operand, chunks[chunk].column);
      });
  ahead.copy(chunk, places, e.both(chunks[chunk].exists, e.less(number, rows)));
  row = current;
}

/// Runs all ops on row `first`, and on each row of the cluster behind it.
void RowKernel::runRows(Value first) {
  makeSums();
  sums->stay();
  StayingBytes bytes = countStayingBytes(group, shape);
  RowsAhead ofRows(e, listCopied(group, shape.width, /*isOfRows=*/true),
                   shape.width, shape.lanes, shape.chunks);
  ofRows.begin(bytes.sums, thread);
  kept.emplace(e, bytes.kept, shape.width, shape.lanes, shape.chunks);
  kept->begin(bytes.sums + bytes.rows, thread);
  for (int64_t i = 0; i < shape.chunks; ++i)
    copyRow(*kept, first, i);
  for (int64_t i = 0; i < shape.chunks; ++i)
    copyRow(ofRows, first, i);
  auto loop = scf::ForOp::create(builder, loc, first, rows, groups);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), next = e.add(number, groups);
  for (auto [i, chunk] : llvm::enumerate(chunks)) {
    ofRows.wait(shape.chunks - 1);
    for (auto [operand, elements] :
         llvm::zip_equal(ofRows.getOperands(), ofRows.load(i, chunk.exists)))
      chunk.elements[getVersion(operand, std::nullopt)] = elements;
    copyRow(ofRows, next, i);
  }
  splitRow(e.toI32(number));
  sums->beginRow(e.div(number, groups));
  runOps();
}

void RowKernel::launch() {
  OpBuilder::InsertionGuard guard(builder);
  countSizes();
  Value blocks;
  int64_t sharedBytes = 0;
  if (shape.lanes == 0) {
    Value accesses = e.div(sizes.back(), shape.width);
    Value total = builder.createOrFold<arith::MulIOp>(loc, rows, accesses);
    blocks = e.ceilDiv(total, kElementThreads);
  } else {
    groups = shape.staying != 0 ? e.least(rows, e.index(shape.staying))
                                : e.ceilDiv(rows, shape.rowMultiple);
    blocks =
        e.mul(groups, shape.rowMultiple / shape.rowsOfBlock * shape.cluster);
    sharedBytes = shape.staying != 0 ? countStayingBytes(group, shape).count()
                                     : addTiles(addLargest(LaneSums::getBytes(
                                           shape.lanes, countResults())));
  }
  gpu::LaunchOp launch = createLaunch(builder, loc, blocks, shape.threads(),
                                      sharedBytes, shape.cluster);
  Value block = launch.getBlockIds().x;
  thread = launch.getThreadIds().x;
  for (auto &[output, tile] : tiles)
    tile.first.begin(tile.second);
  if (shape.lanes == 0) {
    placeElement(block, thread);
    runOps();
  } else {
    Value number = placeRow(block, thread);
    makeChunks();
    if (shape.staying != 0) {
      runRows(number);
    } else {
      splitRow(e.toI32(number));
      makeSums();
      runOps();
    }
  }
  if (!tiles.empty())
    gpu::BarrierOp::create(builder, loc);
  for (auto &[output, tile] : tiles)
    tile.first.write(thread, shape.threads(), firstRow, rows);
  if (sums && shape.staying == 0)
    sums->finish();
}

/// Has a tile for each output that is stored transposed, from byte `firstByte`
/// of shared memory on; returns where the last one ends.
int64_t RowKernel::addTiles(int64_t firstByte) {
  for (auto [index, op] : llvm::enumerate(group.ops))
    for (const RowOperand &output : op.outputs)
      if (output.isTransposed && group.isStored(index, output.value)) {
        TransposedTile tile(e, output, shape.rowsOfBlock);
        tiles.insert({output.value, {tile, firstByte}});
        firstByte += TransposedTile::getBytes(output, shape.rowsOfBlock);
      }
  return firstByte;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SmallVector<Value> RowKernel::getIndices(const RowOperand &operand,
                                         Value column) {
  return llvm::map_to_vector(operand.map.getResults(), [&](AffineExpr expr) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return e.index(0);
    return loop.getPosition() < row.size() ? row[loop.getPosition()] : column;
  });
}

static llvm::MaybeAlign getAlignment(Type element, int64_t width) {
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  return llvm::MaybeAlign(std::min(bytes, kMaxAccessBytes));
}

/// Whether the kernel writes the memory of `operand`.
bool RowKernel::isWritten(const RowOperand &operand) const {
  return group.findWriter(group.ops.size(), operand.value).has_value();
}

/// The value of `type` that `make` loads from `operand`, or zeros: threads of a
/// row or column that does not exist must not read what another thread may
/// write.
Value RowKernel::loadIf(Value exists, const RowOperand &operand, Type type,
                        llvm::function_ref<Value()> make) {
  if (!exists || !isWritten(operand))
    return make();
  return e
      .choose(
          exists, [&] { return SmallVector<Value>{make()}; }, e.zero(type))
      .front();
}

/// Has the threads of a row read what `output` holds before one of them writes
/// it.
void RowKernel::orderStores(const RowOperand &output) {
  bool isLoaded = llvm::any_of(scalars, [&](const auto &known) {
    return std::get<0>(known.first) == output.value.getAsOpaquePointer() &&
           std::get<1>(known.first) == 0;
  });
  if (!isLoaded || shape.lanes == 1)
    return;
  if (shape.lanes > kWarpSize)
    ClusterBuffer::meet(builder, loc, shape.cluster);
  else
    syncWarp(builder, loc);
}

/// The elements of `operand` at `chunk`, from shared memory where the block
/// keeps the operand there; null where it does not.
Value RowKernel::loadKept(const RowOperand &operand, Chunk &chunk) {
  if (!kept)
    return Value();
  size_t number = &chunk - chunks.begin();
  for (auto [i, other] : llvm::enumerate(kept->getOperands()))
    if (other.value == operand.value && other.map == operand.map)
      return kept->load(number, chunk.exists)[i];
  return Value();
}

Value RowKernel::load(const RowOperand &operand, Chunk &chunk) {
  if (Value elements = loadKept(operand, chunk))
    return elements;
  Type type = operand.getElementType();
  if (shape.width != 1)
    type = VectorType::get(shape.width, type);
  return loadIf(e.both(chunk.exists, rowExists), operand, type,
                [&] { return loadElements(operand, chunk); });
}

Value RowKernel::loadElements(const RowOperand &operand, Chunk &chunk) {
  Type element = operand.getElementType();
  auto loadOne = [&](int64_t i) -> Value {
    return memref::LoadOp::create(builder, loc, operand.value,
                                  getIndices(operand, e.add(chunk.column, i)));
  };
  if (shape.width == 1)
    return loadOne(0);
  auto type = VectorType::get(shape.width, element);
  // A vector of bits would be packed.
  if (element.getIntOrFloatBitWidth() < 8)
    return vector::FromElementsOp::create(
        builder, loc, type,
        llvm::map_to_vector(llvm::seq<int64_t>(shape.width), loadOne));
  return vector::LoadOp::create(
      builder, loc, type, operand.value, getIndices(operand, chunk.column),
      /*nontemporal=*/false, getAlignment(element, shape.width));
}

void RowKernel::store(const RowOperand &operand, Value elements, Value column) {
  if (auto *tile = tiles.find(operand.value); tile != tiles.end())
    return tile->second.first.put(widen(builder, loc, elements, shape.width),
                                  slot, column, rowExists);
  Type element = operand.getElementType();
  if (shape.width == 1) {
    memref::StoreOp::create(builder, loc, elements, operand.value,
                            getIndices(operand, column));
    return;
  }
  elements = widen(builder, loc, elements, shape.width);
  if (element.getIntOrFloatBitWidth() >= 8) {
    vector::StoreOp::create(
        builder, loc, elements, operand.value, getIndices(operand, column),
        /*nontemporal=*/false, getAlignment(element, shape.width));
    return;
  }
  for (int64_t i = 0; i < shape.width; ++i)
    memref::StoreOp::create(builder, loc, e.extract(elements, i), operand.value,
                            getIndices(operand, e.add(column, i)));
}

/// What op `index` reads of an operand that is the same for the whole row.
Value RowKernel::getScalar(size_t index, const RowOperand &operand) {
  if (!operand.isMemref())
    return operand.value;
  auto writer = group.findWriter(index, operand.value);
  Value &known = scalars[getVersion(operand, writer)];
  if (!known)
    known =
        loadIf(rowExists, operand, operand.getElementType(), [&]() -> Value {
          return memref::LoadOp::create(builder, loc, operand.value,
                                        getIndices(operand, Value()));
        });
  return known;
}

/// What op `index` reads of an operand in `chunk`.
Value RowKernel::getElements(size_t index, const RowOperand &operand,
                             Chunk &chunk) {
  auto writer = group.findWriter(index, operand.value);
  Version version = getVersion(operand, writer);
  if (auto known = chunk.elements.find(version); known != chunk.elements.end())
    return known->second;
  bool isInMemory =
      !writer || (isDone[*writer] && group.isStored(*writer, operand.value));
  if (isInMemory)
    return chunk.elements[version] = load(operand, chunk);
  compute(*writer, chunk);
  return chunk.elements[version];
}

/// What the body of op `index` gets; null where it does not use it. Without a
/// chunk, nothing of columns.
SmallVector<Value> RowKernel::getArguments(size_t index, Chunk *chunk) {
  const RowOp &op = group.ops[index];
  SmallVector<Value> arguments;
  for (const SmallVector<RowOperand> &operands : {op.inputs, op.outputs})
    for (const RowOperand &operand : operands) {
      if (!operand.isRead || (operand.hasColumns && !chunk))
        arguments.push_back(Value());
      else
        arguments.push_back(operand.hasColumns
                                ? getElements(index, operand, *chunk)
                                : getScalar(index, operand));
    }
  return arguments;
}

RowPlace RowKernel::getPlace(Chunk *chunk) {
  RowPlace place{row, chunk ? shape.width : 1};
  place.indices.push_back(chunk ? chunk->column : Value());
  return place;
}

void mlir::nm::launchRowKernel(OpBuilder &builder, Location loc,
                               const RowGroup &group, const RowShape &shape) {
  RowKernel(builder, loc, group, shape).launch();
}
