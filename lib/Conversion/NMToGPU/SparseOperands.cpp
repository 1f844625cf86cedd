//===- SparseOperands.cpp - What mma.sp and wgmma.sp multiply -------------===//

#include "SparseOperands.h"

#include "MmaFragments.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::loadMetadata(ThreadEmitter &emitter, Value indices, Value block,
                             Value step, Value byte) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  constexpr int64_t kBytes = 4;
  Value bytes = vector::LoadOp::create(
      builder, loc, VectorType::get(kBytes, builder.getI8Type()), indices,
      ValueRange{clampToDim(emitter, indices, 0, emitter.toIndex(block)),
                 clampToDim(emitter, indices, 1, emitter.toIndex(step)),
                 emitter.toIndex(byte)},
      /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  return emitter.words(bytes).front();
}
