//===- SharedSums.cpp - Sums that change threads before they leave --------===//

#include "SharedSums.h"

#include "LaunchBlocks.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Lines of a thread whose loads do not wait for stores of those before.
static constexpr int64_t kLinesAtOnce = 4;

SharedSums::SharedSums(ThreadEmitter given, int64_t rows, int64_t columns,
                       int64_t padding)
    : emitter(given), rows(rows), columns(columns) {
  OpBuilder &builder = emitter.builder;
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto layout = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0,
                                       {columns + padding, 1});
  auto alloc = memref::AllocOp::create(
      builder, emitter.loc,
      MemRefType::get({rows, columns}, builder.getF32Type(), layout, space));
  alloc->setAttr(kOverlaysTiles, builder.getUnitAttr());
  buffer = alloc;
  // Others may still read the last tile.
  gpu::BarrierOp::create(builder, emitter.loc);
}

void SharedSums::put(Value row, Value column, Value sums) {
  int64_t count = cast<VectorType>(sums.getType()).getNumElements();
  vector::StoreOp::create(emitter.builder, emitter.loc, sums, buffer,
                          ValueRange{row, column}, /*nontemporal=*/false,
                          llvm::MaybeAlign(count * sizeof(float)));
}

void SharedSums::meet() {
  gpu::BarrierOp::create(emitter.builder, emitter.loc);
}

SharedSums::Line SharedSums::load(Value number, int64_t perLine) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t linesOfRow = columns / perLine,
          width = std::min(perLine, ::nm::kAccessWords);
  Value row = emitter.div(number, linesOfRow),
        column = emitter.mul(emitter.rem(number, linesOfRow), perLine);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < perLine; i += width) {
    Value part = vector::LoadOp::create(
        builder, loc, VectorType::get(width, builder.getF32Type()), buffer,
        ValueRange{row, emitter.add(column, i)}, /*nontemporal=*/false,
        llvm::MaybeAlign(width * sizeof(float)));
    for (int64_t j = 0; j < width; ++j)
      elements.push_back(emitter.extract(part, j));
  }
  Value line = vector::FromElementsOp::create(
      builder, loc, VectorType::get(perLine, builder.getF32Type()), elements);
  return {row, column, line};
}

void SharedSums::forEachLines(Value thread, int64_t threads, int64_t perLine,
                              llvm::function_ref<void(ArrayRef<Line>)> take) {
  int64_t ofThread = rows * columns / perLine / threads;
  int64_t atOnce = std::min(ofThread, kLinesAtOnce);
  OpBuilder &builder = emitter.builder;
  auto loop = scf::ForOp::create(builder, emitter.loc, emitter.index(0),
                                 emitter.index(ofThread * threads),
                                 emitter.index(atOnce * threads));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = emitter.add(loop.getInductionVar(), thread);
  SmallVector<Line> lines;
  for (int64_t i = 0; i < atOnce; ++i)
    lines.push_back(load(emitter.add(first, i * threads), perLine));
  take(lines);
}
