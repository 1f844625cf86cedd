//===- GemvActivations.cpp - Rows of A in strategy gemv -------------------===//

#include "GemvActivations.h"

#include "ElementWords.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

GemvActivations::GemvActivations(ThreadEmitter &emitter, Type element,
                                 int64_t rows, int64_t kRows)
    : element(element), rows(rows), kRows(kRows),
      perWord(rowsPerWord(element, rows)) {
  OpBuilder &builder = emitter.builder;
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({planes() * kRows}, wordType(element, rows),
                              MemRefLayoutAttrInterface(), space);
  buffer = memref::AllocOp::create(builder, emitter.loc, type);
}

/// A[row, k], or zero where A has no such row or k.
Value GemvActivations::loadElement(ThreadEmitter &emitter,
                                   SparseProductOpInterface op, Value row,
                                   Value k) const {
  auto type = cast<MemRefType>(op.getA().getType());
  SmallVector<Value> at(type.getRank());
  Value inside;
  auto place = [&](int64_t dim, Value position, int64_t positions) {
    at[dim] = position;
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) >= positions)
      return;
    Value size = emitter.builder.createOrFold<memref::DimOp>(emitter.loc,
                                                             op.getA(), dim);
    inside = emitter.both(inside, emitter.less(position, size));
  };
  if (std::optional<int64_t> dim = op.getMDimOfA())
    place(*dim, row, planes() * perWord);
  place(op.getKDimOfA(), k, kRows);
  auto load = [&]() -> SmallVector<Value> {
    return {
        memref::LoadOp::create(emitter.builder, emitter.loc, op.getA(), at)};
  };
  Value zero = emitter.zero(element);
  return emitter.choose(inside, load, zero).front();
}

void GemvActivations::stage(ThreadEmitter &emitter, SparseProductOpInterface op,
                            Value thread, int64_t threads) const {
  OpBuilder &builder = emitter.builder;
  scf::ForOp::create(
      builder, emitter.loc, thread, emitter.index(planes() * kRows),
      emitter.index(threads), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value word, ValueRange) {
        ThreadEmitter body{inner, loc};
        Value plane = planes() == 1 ? body.index(0) : body.div(word, kRows);
        Value k = planes() == 1 ? word : body.rem(word, kRows);
        SmallVector<Value> elements;
        for (int64_t i = 0; i < perWord; ++i)
          elements.push_back(
              loadElement(body, op, body.add(body.mul(plane, perWord), i), k));
        memref::StoreOp::create(inner, loc, packWord(body, elements), buffer,
                                word);
        scf::YieldOp::create(inner, loc);
      });
}

SmallVector<Value> GemvActivations::load(ThreadEmitter &emitter, Value k,
                                         int64_t offset) const {
  SmallVector<Value> result;
  Value first = emitter.toIndex(k);
  for (int64_t plane = 0; plane < planes(); ++plane) {
    Value at = emitter.add(first, plane * kRows + offset);
    Value word =
        memref::LoadOp::create(emitter.builder, emitter.loc, buffer, at);
    llvm::append_range(result, unpackWord(emitter, word, element, perWord));
  }
  result.resize(rows);
  return result;
}
