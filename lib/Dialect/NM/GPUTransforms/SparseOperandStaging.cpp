//===- SparseOperandStaging.cpp - Operands of mma_sp and wgmma_sp ---------===//

#include "SparseOperandStaging.h"

#include "StagedOperands.h"

#include "nm/Dialect/NM/GPUTransforms/AccessWidth.h"
#include "nm/Dialect/NM/GPUTransforms/SparseOperandTile.h"
#include "nm/Dialect/NM/IR/Chip.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging {
public:
  Staging(OpBuilder &builder, SpMMOp op, const GpuTile &tile,
          const SparseOperandStaging &options)
      : builder(builder), loc(op.getLoc()), op(op), tile(tile),
        options(options) {}

  /// Bytes of all stages.
  uint64_t countBytes() const;
  void emit();

private:
  MemRefType typeOfA() const { return getActivationBuffer(op, tile); }
  MemRefType typeOfValues() const {
    return getBuffer(getWeightShape(op, tile).values,
                     op.getValuesType().getElementType());
  }
  MemRefType typeOfMetadata() const {
    return getBuffer(getWeightShape(op, tile).indices, builder.getI8Type());
  }
  MemRefType getBuffer(ArrayRef<int64_t> shape, Type element) const {
    auto layout = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0,
                                         computeStrides(shape));
    return getWorkgroupType(shape, layout, element);
  }
  Value copy(Value source, MemRefType type);

  OpBuilder &builder;
  Location loc;
  mutable SpMMOp op;
  const GpuTile &tile;
  const SparseOperandStaging &options;

  /// Of copies that are awaited with the tile.
  SmallVector<Value> tokens;
  /// What is in registers, and where it goes.
  SmallVector<std::pair<Value, Value>> fragments;
};
} // namespace

uint64_t Staging::countBytes() const {
  int64_t bytes =
      getWorkgroupBytes(typeOfA()) + getWorkgroupBytes(typeOfValues());
  if (options.hasMetadata)
    bytes += getWorkgroupBytes(typeOfMetadata());
  return llvm::SaturatingMultiply<uint64_t>(bytes, tile.stages);
}

/// Copies asynchronously, or by elements where those that are contiguous are
/// too few for that.
Value Staging::copy(Value source, MemRefType type) {
  Value buffer = memref::AllocOp::create(builder, loc, type);
  int64_t width = getAccessWidth(source, type.getShape());
  if (width * type.getElementTypeBitWidth() / 8 >= kMinAsyncBytes)
    tokens.push_back(
        CopyOp::create(builder, loc, CopyWay::Direct, source, buffer)
            .getToken());
  else
    fragments.push_back({LoadTileOp::create(builder, loc, CopyWay::Elements,
                                            source, /*transpose=*/false, type),
                         buffer});
  return buffer;
}

void Staging::emit() {
  builder.setInsertionPoint(op);
  Value a = copy(op.getA(), typeOfA());
  Value values = copy(op.getValues(), typeOfValues());
  Value indices = options.hasMetadata ? copy(op.getIndices(), typeOfMetadata())
                                      : op.getIndices();
  SmallVector<Value> operands = {a, values, indices,
                                 castOutput(builder, op, tile)};
  Value group = GroupOp::create(builder, loc, tokens);
  for (auto [loaded, buffer] : fragments)
    StoreTileOp::create(builder, loc, loaded, buffer);
  AwaitOp::create(builder, loc, SyncScope::Block, group);
  clone(builder, op, /*newResultTypes=*/TypeRange(), operands);
  // The next tile is copied over this one.
  if (isa<scf::ForOp>(op->getParentOp()))
    ReleaseOp::create(
        builder, loc, SyncScope::Block,
        ArrayRef(operands).take_front(options.hasMetadata ? 3 : 2));
  op.erase();
}

LogicalResult SparseOperandStaging::stage(OpBuilder &builder, SpMMOp op) const {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(tile) || failed(chip) || failed(verifySparseProduct(op)))
    return failure();
  Staging staging(builder, op, *tile, *this);
  uint64_t bytes = staging.countBytes(), maxBytes = chip->sharedPerBlock;
  if (bytes > maxBytes)
    return op.emitOpError() << "expected tiles of at most " << maxBytes
                            << " bytes of shared memory, but " << tile->stages
                            << " stages of a " << tile->m << " x " << tile->k
                            << " tile of A with its weights take " << bytes;
  staging.emit();
  return success();
}
