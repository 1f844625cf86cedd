//===- AttentionPlace.cpp - Where a kernel's attention lies ---------------===//

#include "GPU/Attention/AttentionPlace.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

AttentionPlace::AttentionPlace(ThreadEmitter &emitter, AttentionOp op)
    : AttentionOperands(op), e(emitter) {
  heads = product(loops.batches);
  groups = product(ArrayRef(loops.rows).drop_back());
  rows = sizeOf(loops.rows.back());
  allRows = e.builder.createOrFold<arith::MulIOp>(e.loc, groups, rows);
  keys = sizeOf(loops.keys);
}

Value AttentionPlace::sizeOf(unsigned loop) {
  auto [operand, dim] = findSize(loop);
  return e.builder.createOrFold<memref::DimOp>(e.loc, operand, dim);
}

Value AttentionPlace::product(ArrayRef<unsigned> over) {
  Value count = e.index(1);
  for (unsigned loop : over)
    count = e.builder.createOrFold<arith::MulIOp>(e.loc, count, sizeOf(loop));
  return count;
}

int64_t AttentionPlace::getAlignment(Operand operand, unsigned loop) {
  Value value = valueOf(operand);
  bool areRows =
      findDim(operand, loop) == cast<MemRefType>(value.getType()).getRank() - 1;
  return areRows ? getRowAlignment(value) : 1;
}

Value AttentionPlace::split(Place &place, Value number,
                            ArrayRef<unsigned> over) {
  for (unsigned loop : llvm::reverse(over)) {
    if (getStaticSize(loop) == 1) {
      place[loop] = e.index(0);
      continue;
    }
    // Division of i32 takes a fourth of the time of i64's.
    Value size = e.toI32(sizeOf(loop));
    place[loop] =
        e.toIndex(e.builder.createOrFold<arith::RemUIOp>(e.loc, number, size));
    number = e.builder.createOrFold<arith::DivUIOp>(e.loc, number, size);
  }
  return number;
}

void AttentionPlace::putHead(Place &place, Value head) {
  split(place, e.toI32(head), loops.batches);
}

Value AttentionPlace::putRow(Place &place, Value row) {
  Value number = split(place, e.toI32(row), ArrayRef(loops.rows).drop_back());
  place[loops.rows.back()] = e.toIndex(number);
  return number;
}

Value AttentionPlace::countKeys(const Place &ofHead) {
  if (!op.getLengths())
    return e.toI32(keys);
  return e.toI32(e.least(loadLength(e.builder, e.loc, ofHead), keys));
}
