//===- SparseOperands.cpp - What mma.sp and wgmma.sp multiply -------------===//

#include "SparseOperands.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// `index`, or the last one of dimension `dim` of `memref`.
static Value clampTo(ThreadEmitter &emitter, Value memref, int64_t dim,
                     Value index) {
  OpBuilder &builder = emitter.builder;
  Value size = builder.createOrFold<memref::DimOp>(emitter.loc, memref, dim);
  Value last =
      builder.createOrFold<arith::SubIOp>(emitter.loc, size, emitter.index(1));
  return emitter.least(emitter.toIndex(index), last);
}

Value mlir::nm::loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                             Value step, Value byte) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  constexpr int64_t kBytes = 4;
  Value bytes = vector::LoadOp::create(
      builder, loc, VectorType::get(kBytes, builder.getI8Type()), indices,
      ValueRange{clampTo(emitter, indices, 0, block),
                 clampTo(emitter, indices, 1, step), emitter.toIndex(byte)},
      /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  return emitter.words(bytes).front();
}

Value mlir::nm::flattenBuffer(ThreadEmitter &emitter, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto flat =
      MemRefType::get({type.getNumElements()}, type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  return AliasOp::create(emitter.builder, emitter.loc, flat, buffer);
}

SquareWords mlir::nm::loadMatrices(ThreadEmitter &emitter, Value elements,
                                   Value place, bool transpose) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SquareWords words;
  auto type =
      VectorType::get({int64_t(words.size()), 2},
                      cast<MemRefType>(elements.getType()).getElementType());
  Value loaded = nvgpu::LdMatrixOp::create(builder, loc, type, elements,
                                           ValueRange{place}, transpose,
                                           /*numTiles=*/uint32_t(words.size()));
  for (auto [i, word] : llvm::enumerate(words))
    word = LLVM::BitcastOp::create(
        builder, loc, builder.getI32Type(),
        vector::ExtractOp::create(builder, loc, loaded, int64_t(i)));
  return words;
}

SmallVector<Value> mlir::nm::toFragment(ThreadEmitter &emitter, Type type,
                                        ArrayRef<Value> words) {
  // The op takes words of f16 as pairs, and those of bf16 as bits.
  if (!type.isF16())
    return SmallVector<Value>(words);
  return llvm::map_to_vector(words, [&](Value word) -> Value {
    return LLVM::BitcastOp::create(emitter.builder, emitter.loc,
                                   VectorType::get(2, type), word);
  });
}
