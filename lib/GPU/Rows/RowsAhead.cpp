//===- RowsAhead.cpp - Rows that are copied before they are read ----------===//
//
// A thread reads only what it has copied itself, so that no barrier is needed.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/RowsAhead.h"

#include "GPU/Tile/SharedMemory.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

static int64_t getElementBytes(const RowOperand &operand) {
  return operand.getElementType().getIntOrFloatBitWidth() / 8;
}

static bool mayCopy(const RowGroup &group, const RowOperand &operand,
                    int64_t width) {
  return operand.isRead && operand.isMemref() && operand.hasColumns &&
         !operand.isTransposed &&
         !group.findWriter(group.ops.size(), operand.value) &&
         llvm::is_contained({4, 8, 16}, width * getElementBytes(operand));
}

SmallVector<RowOperand> mlir::nm::listCopied(const RowGroup &group,
                                             int64_t width, bool isOfRows) {
  SmallVector<RowOperand> list;
  for (const RowOp &op : group.ops)
    for (const RowOperand &input : op.inputs)
      if (input.isOfRows == isOfRows && mayCopy(group, input, width) &&
          llvm::none_of(list, [&](const RowOperand &other) {
            return other.value == input.value && other.map == input.map;
          }))
        list.push_back(input);
  return list;
}

RowsAhead::RowsAhead(ThreadEmitter emitter, ArrayRef<RowOperand> operands,
                     int64_t width, int64_t lanes, int64_t chunks)
    : e(emitter), operands(operands), width(width), lanes(lanes),
      chunks(chunks) {}

int64_t RowsAhead::getBytes(ArrayRef<RowOperand> operands, int64_t width,
                            int64_t lanes, int64_t chunks) {
  int64_t bytes = 0;
  for (const RowOperand &operand : operands)
    bytes += chunks * lanes * width * getElementBytes(operand);
  return bytes;
}

void RowsAhead::begin(int64_t offset, Value thread) {
  this->thread = thread;
  Value memory = getLaunchMemory(e.builder, e.loc);
  for (const RowOperand &operand : operands) {
    buffers.push_back(viewLaunchMemory(e.builder, e.loc, memory, offset,
                                       {chunks, lanes, width},
                                       operand.getElementType()));
    offset += getBytes(operand, width, lanes, chunks);
  }
}

SmallVector<Value> RowsAhead::getPlace(int64_t chunk) {
  return {e.index(chunk), thread, e.index(0)};
}

void RowsAhead::copy(int64_t chunk, ArrayRef<SmallVector<Value>> places,
                     Value exists) {
  e.onlyIf(exists, [&] {
    for (auto [operand, place, buffer] :
         llvm::zip_equal(operands, places, buffers))
      copyAsync(e.builder, e.loc, operand.value, place, buffer, getPlace(chunk),
                width);
  });
  // A group without a copy is committed, too, because a wait counts groups.
  NVVM::CpAsyncCommitGroupOp::create(e.builder, e.loc);
}

SmallVector<Value> RowsAhead::load(int64_t chunk, Value exists) {
  auto loadAll = [&] {
    SmallVector<Value> elements;
    for (auto [operand, buffer] : llvm::zip_equal(operands, buffers)) {
      auto type = VectorType::get(width, operand.getElementType());
      elements.push_back(vector::LoadOp::create(
          e.builder, e.loc, type, buffer, getPlace(chunk),
          /*nontemporal=*/false,
          llvm::MaybeAlign(width * getElementBytes(operand))));
    }
    return elements;
  };
  SmallVector<Value> zeros;
  if (exists)
    for (const RowOperand &operand : operands)
      zeros.push_back(e.zero(VectorType::get(width, operand.getElementType())));
  return e.choose(exists, loadAll, zeros);
}

void RowsAhead::wait(int64_t left) {
  NVVM::CpAsyncWaitGroupOp::create(e.builder, e.loc, int32_t(left));
}
