//===- SharedSums.cpp - Sums that change threads before they leave --------===//

#include "GPU/Sums/SharedSums.h"

#include "GPU/Tile/SharedMemory.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Lines of a thread whose loads do not wait for stores of those before.
static constexpr int64_t kLinesAtOnce = 4;

SharedSums::SharedSums(ThreadEmitter given, int64_t rows, int64_t columns,
                       int64_t padding, Type sum, int64_t blocks,
                       int64_t slices)
    : emitter(given), rows(rows), columns(columns), stride(columns + padding),
      blocks(blocks), slices(slices), type(sum) {
  OpBuilder &builder = emitter.builder;
  auto layout =
      StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, {stride, 1});
  buffer = allocOverTiles(builder, emitter.loc, {slices * rows, columns}, type,
                          layout);
  // Others may still read the last tile.
  gpu::BarrierOp::create(builder, emitter.loc);
}

void SharedSums::put(Value row, Value column, Value sums, Value slice) {
  if (slice)
    row = emitter.add(emitter.mul(emitter.toIndex(slice), rows), row);
  int64_t count = cast<VectorType>(sums.getType()).getNumElements();
  vector::StoreOp::create(emitter.builder, emitter.loc, sums, buffer,
                          ValueRange{row, column}, /*nontemporal=*/false,
                          llvm::MaybeAlign(count * sizeof(float)));
}

void SharedSums::meet() {
  ClusterBuffer::meet(emitter.builder, emitter.loc, blocks);
  cluster.emplace(emitter.builder, emitter.loc, buffer, blocks);
}

/// Some sums of this block, and what the cluster's others add to them.
Value SharedSums::loadPart(Value row, Value column, int64_t width) {
  OpBuilder &builder = emitter.builder;
  auto line = VectorType::get(width, type);
  int64_t bytes = width * int64_t(sizeof(float));
  SmallVector<Value> parts;
  for (int64_t slice = 0; slice < slices; ++slice)
    parts.push_back(vector::LoadOp::create(
        builder, emitter.loc, line, buffer,
        ValueRange{emitter.add(row, slice * rows), column},
        /*nontemporal=*/false, llvm::MaybeAlign(bytes)));
  Value place = emitter.add(emitter.mul(row, stride), column);
  for (int64_t slice = 0; slice < slices; ++slice)
    llvm::append_range(
        parts, cluster->loadOthers(
                   line,
                   emitter.mul(emitter.add(place, slice * rows * stride),
                               sizeof(float)),
                   bytes));
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    sum = addSums(builder, emitter.loc, sum, part);
  return sum;
}

Value SharedSums::loadLine(Value row, Value column, int64_t perLine) {
  int64_t width = std::min(perLine, ::nm::kAccessWords);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < perLine; i += width) {
    Value part = loadPart(row, emitter.add(column, i), width);
    for (int64_t j = 0; j < width; ++j)
      elements.push_back(emitter.extract(part, j));
  }
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc, VectorType::get(perLine, type), elements);
}

TileLine SharedSums::load(Value number, int64_t perLine, bool combinesHalves) {
  int64_t stored = combinesHalves ? columns / 2 : columns,
          linesOfRow = stored / perLine;
  Value row = emitter.div(number, linesOfRow),
        column = emitter.mul(emitter.rem(number, linesOfRow), perLine);
  TileLine line{row, column, loadLine(row, column, perLine)};
  if (combinesHalves)
    line.second = loadLine(row, emitter.add(column, stored), perLine);
  return line;
}

void SharedSums::storeTo(TileStores &stores, const GpuTile &tile, Value thread,
                         int64_t perLine) {
  OpBuilder &builder = emitter.builder;
  int64_t threads = tile.threads;
  if (Value rank = cluster->getRank()) {
    thread = emitter.add(emitter.mul(rank, threads), thread);
    threads *= blocks;
  }
  bool combinesHalves = stores.combinesHalves();
  int64_t count = rows * columns / perLine / (combinesHalves ? 2 : 1);
  int64_t atOnce =
      count % threads == 0 ? std::gcd(count / threads, kLinesAtOnce) : 1;
  auto loop = scf::ForOp::create(builder, emitter.loc, emitter.index(0),
                                 emitter.index(llvm::alignTo(count, threads)),
                                 emitter.index(atOnce * threads));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(loop);
  if (blocks > 1)
    ClusterBuffer::meet(builder, emitter.loc, blocks);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = emitter.add(loop.getInductionVar(), thread);
  // Of threads past the last line there are some where one takes one at a time.
  Value isThere;
  if (count % threads != 0)
    isThere = emitter.less(first, emitter.index(count));
  emitter.onlyIf(isThere, [&] {
    SmallVector<TileLine> lines;
    for (int64_t i = 0; i < atOnce; ++i)
      lines.push_back(
          load(emitter.add(first, i * threads), perLine, combinesHalves));
    stores.store(lines, tile);
  });
}
