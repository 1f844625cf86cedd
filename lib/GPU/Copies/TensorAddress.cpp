//===- TensorAddress.cpp - A tile's place in its tensor -------------------===//

#include "GPU/Copies/TensorAddress.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::getElementAddress(ThreadEmitter &emitter, Value view) {
  Location loc = emitter.loc;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(emitter.builder,
                                                              loc, view);
  Value offset =
      memref::ExtractStridedMetadataOp::create(emitter.builder, loc, view)
          .getOffset();
  int64_t bytes = cast<MemRefType>(view.getType()).getElementTypeBitWidth() / 8;
  return emitter.add(base, emitter.mul(offset, bytes));
}

Value mlir::nm::getRowBytes(ThreadEmitter &emitter, Value view) {
  auto type = cast<MemRefType>(view.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8,
          stride = type.getStridesAndOffset().first.front();
  if (!ShapedType::isDynamic(stride))
    return emitter.index(stride * bytes);
  return emitter.mul(memref::ExtractStridedMetadataOp::create(emitter.builder,
                                                              emitter.loc, view)
                         .getStrides()[0],
                     bytes);
}

Value mlir::nm::toPointer(ThreadEmitter &emitter, Value address,
                          NVVM::NVVMMemorySpace space) {
  OpBuilder &builder = emitter.builder;
  if (address.getType().isIndex())
    address = arith::IndexCastUIOp::create(builder, emitter.loc,
                                           builder.getI64Type(), address);
  auto type = LLVM::LLVMPointerType::get(builder.getContext(),
                                         static_cast<unsigned>(space));
  return LLVM::IntToPtrOp::create(builder, emitter.loc, type, address);
}

bool TensorAddress::moveBy(ThreadEmitter &emitter, memref::SubViewOp view) {
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<int64_t> kept;
  for (auto [i, offset, stride] :
       llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides())) {
    if (getConstantIntValue(stride) != 1)
      return false;
    Value &place = at[dims[i]];
    place = emitter.add(place, getValueOrCreateConstantIndexOp(
                                   emitter.builder, emitter.loc, offset));
    if (!dropped.test(i))
      kept.push_back(dims[i]);
  }
  dims = kept;
  return true;
}

bool TensorAddress::isFound(Value tile, scf::ForallOp blocks) {
  while (blocks.getRegion().isAncestor(tile.getParentRegion())) {
    Operation *op = tile.getDefiningOp();
    auto view = dyn_cast_if_present<memref::SubViewOp>(op);
    if (!view && !isa_and_present<memref::CastOp>(op))
      return false;
    if (view && !view.hasUnitStride())
      return false;
    tile = op->getOperand(0);
  }
  return true;
}

std::optional<TensorAddress>
TensorAddress::find(ThreadEmitter &emitter, Value tile, scf::ForallOp blocks) {
  if (!blocks.getRegion().isAncestor(tile.getParentRegion())) {
    TensorAddress place;
    place.tensor = tile;
    int64_t rank = cast<MemRefType>(tile.getType()).getRank();
    place.at.assign(rank, emitter.index(0));
    place.dims = llvm::to_vector(llvm::seq<int64_t>(rank));
    return place;
  }
  Operation *op = tile.getDefiningOp();
  if (!isa_and_present<memref::CastOp, memref::SubViewOp>(op))
    return std::nullopt;
  std::optional<TensorAddress> place = find(emitter, op->getOperand(0), blocks);
  auto view = dyn_cast<memref::SubViewOp>(op);
  if (place && view && !place->moveBy(emitter, view))
    return std::nullopt;
  return place;
}

Value mlir::nm::splitDim(ThreadEmitter &emitter, Value tensor, int64_t dim,
                         const SplitDim &parts) {
  OpBuilder &builder = emitter.builder;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, emitter.loc, tensor);
  SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes(),
                            strides = metadata.getConstifiedMixedStrides();
  Value stride =
      getValueOrCreateConstantIndexOp(builder, emitter.loc, strides[dim]);
  auto stepOf = [&](int64_t step) {
    return getAsOpFoldResult(emitter.mul(stride, step));
  };
  sizes[dim] = builder.getIndexAttr(parts.innerSize);
  strides[dim] = stepOf(parts.innerStep);
  sizes.insert(sizes.begin() + dim, builder.getIndexAttr(parts.outerSize));
  strides.insert(strides.begin() + dim, stepOf(parts.outerStep));
  OpFoldResult offset = metadata.getConstifiedMixedOffset();
  auto source = cast<MemRefType>(tensor.getType());
  SmallVector<int64_t> shape, ofType;
  SmallVector<Value> values;
  dispatchIndexOpFoldResults(sizes, values, shape);
  dispatchIndexOpFoldResults(strides, values, ofType);
  auto layout = StridedLayoutAttr::get(
      builder.getContext(),
      getConstantIntValue(offset).value_or(ShapedType::kDynamic), ofType);
  return memref::ReinterpretCastOp::create(
      builder, emitter.loc,
      MemRefType::get(shape, source.getElementType(), layout,
                      source.getMemorySpace()),
      tensor, offset, sizes, strides);
}
