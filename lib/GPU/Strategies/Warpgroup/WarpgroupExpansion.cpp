//===- WarpgroupExpansion.cpp - Tiles that warpgroups multiply ------------===//

#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "GPU/Strategies/Warpgroup/BufferedStores.h"
#include "GPU/Sums/CompleteSums.h"
#include "GPU/Sums/TileStores.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;
using ::nm::MmaShape;

/// Registers of a thread that hold no sums.
static constexpr int64_t kOtherRegisters = 40;
/// Bytes of the widest store.
static constexpr int64_t kStoreBytes = 16;
/// Words between rows of sums in shared memory: of single sums, and of pairs.
static constexpr int64_t kPadding = 4, kPaddingOfPairs = 8;

LogicalResult WarpgroupExpansion::verifySums(SpMMOp op, const GpuTile &tile,
                                             ArrayRef<int64_t> part,
                                             int64_t sumsOfElement,
                                             std::optional<int64_t> rows) {
  int64_t elements = part[0] + (sumsOfElement - 1) * rows.value_or(part[0]);
  int64_t sums = elements * part[1] / ::nm::kWarpgroupThreads;
  int64_t most =
      std::min(::nm::kMaxRegisters, ::nm::kRegisters / tile.threads());
  if (auto role = op->getParentOfType<WarpsOp>()) {
    most = role.getRegisters().value_or(most);
    if (role.getOrdered() && sumsOfElement == 1)
      return role.emitOpError()
             << "expected promoted sums for 'ordered', but its "
                "products are not waited for";
  }
  if (sums + kOtherRegisters <= most)
    return success();
  return op.emitOpError() << "expected at most " << most - kOtherRegisters
                          << " sums of a thread of " << tile.threads()
                          << ", but a warpgroup's tile of " << part[0] << " x "
                          << part[1] << " has " << sums;
}

/// What all lanes of a warp have, in a form that shows it: wgmma takes its
/// descriptors from registers that a warp shares.
static Value makeUniform(ThreadEmitter &emitter, Value value) {
  Value word = emitter.toI32(value);
  Value first = NVVM::ShflOp::create(
      emitter.builder, emitter.loc, word.getType(), emitter.i32(-1), word,
      emitter.i32(0), emitter.i32(MmaShape::kLanes - 1), NVVM::ShflKind::idx,
      /*return_value_and_is_valid=*/UnitAttr());
  return emitter.toIndex(first);
}

SmallVector<Value> WarpgroupExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  Value inBlock = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  thread = inBlock;
  Value group =
      makeUniform(emitter, emitter.div(inBlock, ::nm::kWarpgroupThreads));
  int64_t groupsM = tile.m / warpgroupM;
  groupM = emitter.rem(group, groupsM);
  groupN = emitter.div(group, groupsM);
  turns = ProductOrder(builder, loc, group);
  if (isPromoted)
    return SmallVector<Value>(blocksOfColumns() * sumsPerBlock(),
                              emitter.zero(sum));
  Value zeros = LLVM::ZeroOp::create(builder, loc, getSumsType());
  return SmallVector<Value>(blocksOfColumns(), zeros);
}

LLVM::LLVMStructType WarpgroupExpansion::getSumsType() const {
  return LLVM::LLVMStructType::getLiteral(
      sum.getContext(), SmallVector<Type>(sumsPerBlock(), sum));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value mlir::nm::getMatrixDescriptor(ThreadEmitter &emitter, Value buffer,
                                    Value offset,
                                    const MatrixDescriptor &layout) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto flat = MemRefType::get(
      {type.getNumElements()}, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      type.getMemorySpace());
  Value view = AliasOp::create(builder, loc, flat, buffer);
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, view);
  Value inView =
      memref::ExtractStridedMetadataOp::create(builder, loc, view).getOffset();
  Value address = emitter.add(start, emitter.mul(inView, bytes));
  address = emitter.add(address, offset);
  // Of the descriptor, the address in units of 16 bytes comes first.
  Value word = emitter.mask(
      emitter.toI32(emitter.div(address, MatrixDescriptor::kChunk)), 0x3fff);
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word);
  Value constant = arith::ConstantIntOp::create(
      builder, loc, static_cast<int64_t>(layout.encode()), 64);
  return arith::OrIOp::create(builder, loc, constant, wide);
}

/// The layout of rows of 128 bytes, eight of which are swizzled together.
static MatrixDescriptor getSwizzledRows(int64_t leading) {
  MatrixDescriptor layout;
  layout.leading = static_cast<int>(leading);
  layout.stride = static_cast<int>(MatrixDescriptor::kRows * kPanelRowBytes);
  layout.swizzle = ::nm::MatrixSwizzle::Bytes128;
  return layout;
}

Value mlir::nm::getPanelDescriptor(ThreadEmitter &emitter, Value buffer,
                                   Value panel, int64_t rows, int64_t apart) {
  int64_t bytes = rows * kPanelRowBytes;
  return getMatrixDescriptor(emitter, buffer, emitter.mul(panel, bytes),
                             getSwizzledRows(/*leading=*/apart * bytes));
}

Value mlir::nm::getKMajorDescriptor(ThreadEmitter &emitter, Value buffer,
                                    Value row) {
  // An instruction's k is within a row.
  return getMatrixDescriptor(emitter, buffer, emitter.mul(row, kPanelRowBytes),
                             getSwizzledRows(/*leading=*/0));
}

Value mlir::nm::getChunkDescriptor(ThreadEmitter &emitter, Value buffer,
                                   Value offset) {
  MatrixDescriptor layout;
  layout.leading =
      static_cast<int>(::nm::kWarpgroupM * MatrixDescriptor::kChunk);
  layout.stride =
      static_cast<int>(MatrixDescriptor::kRows * MatrixDescriptor::kChunk);
  return getMatrixDescriptor(emitter, buffer, offset, layout);
}

Value mlir::nm::emitWgmma(ThreadEmitter &emitter, Type element, int64_t m,
                          Value weights, Value activations, Value sums,
                          SumsUse use) {
  OpBuilder &builder = emitter.builder;
  MLIRContext *context = builder.getContext();
  auto types = NVVM::WGMMATypesAttr::get(context, element.isF16()
                                                      ? NVVM::WGMMATypes::f16
                                                      : NVVM::WGMMATypes::bf16);
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto ofWeights =
      use == SumsUse::Subtract
          ? NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::neg)
          : one;
  auto ofSums = use == SumsUse::Make ? NVVM::WGMMAScaleOut::zero
                                     : NVVM::WGMMAScaleOut::one;
  // Neither operand is contiguous along k.
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, emitter.loc, sums.getType(), sums, weights, activations,
      NVVM::MMAShapeAttr::get(context, ::nm::kWarpgroupM, static_cast<int>(m),
                              kWgmmaK),
      types, types, NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, ofSums), ofWeights, one,
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::col),
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

Value mlir::nm::advanceDescriptor(ThreadEmitter &emitter, Value descriptor,
                                  int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value step = arith::ConstantIntOp::create(
      emitter.builder, emitter.loc, bytes / MatrixDescriptor::kChunk, 64);
  return arith::AddIOp::create(emitter.builder, emitter.loc, descriptor, step);
}

void WarpgroupExpansion::commitProducts(OpBuilder &builder, SpMMOp op) {
  bool isReleased = isa_and_present<ReleaseOp>(op->getNextNode());
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, op.getLoc());
  NVVM::WgmmaWaitGroupSyncOp::create(builder, op.getLoc(), isReleased ? 0 : 1);
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Puts a thread's sums, pairs along m, to their places in C's tile.
void WarpgroupExpansion::share(ThreadEmitter &emitter, SpMMOp op,
                               ArrayRef<Value> sums, SharedSums &shared) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value inGroup = emitter.rem(thread, ::nm::kWarpgroupThreads);
  Value lane = emitter.rem(inGroup, MmaShape::kLanes),
        warp = emitter.div(inGroup, MmaShape::kLanes);
  // Of the thread's first sum.
  Value n = emitter.add(emitter.add(emitter.mul(groupN, warpgroupN),
                                    emitter.mul(warp, MmaShape::kM)),
                        emitter.div(lane, 4));
  Value m = emitter.add(emitter.mul(groupM, warpgroupM),
                        emitter.mul(emitter.rem(lane, 4), 2));
  int64_t perLine = op.getTransposeC() ? 2 : 1;
  auto type = VectorType::get(perLine, sum);
  for (int64_t i = 0; i < int64_t(sums.size()); i += perLine) {
    int64_t block = i / sumsPerBlock(), inBlock = i % sumsPerBlock();
    // As far from the first as in the first thread.
    ::nm::FragmentOffset place =
        ::nm::getWarpgroupSumOffset(/*thread=*/0, static_cast<int>(inBlock));
    Value row = emitter.add(n, block * ::nm::kWarpgroupM + place.row),
          column = emitter.add(m, place.column);
    Value line = vector::FromElementsOp::create(builder, loc, type,
                                                sums.slice(i, perLine));
    if (op.getTransposeC())
      shared.put(row, column, line);
    else
      shared.put(column, row, line);
  }
}

SmallVector<Value> WarpgroupExpansion::complete(OpBuilder &builder,
                                                Location loc,
                                                ArrayRef<Value> carried) {
  if (isPromoted)
    return SmallVector<Value>(carried);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  return extractSums(builder, loc, carried);
}

/// Whatever uses them stays behind the wait before, which does not say that it
/// makes them.
SmallVector<Value> mlir::nm::extractSums(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> blocks) {
  SmallVector<Value> sums;
  for (Value block : blocks) {
    auto type = cast<LLVM::LLVMStructType>(block.getType());
    for (int64_t i = 0; i < int64_t(type.getBody().size()); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(builder, loc, block,
                                                  ArrayRef<int64_t>{i}));
  }
  return completeSums(builder, loc, sums);
}

void WarpgroupExpansion::end(OpBuilder &builder,
                             SparseProductOpInterface product,
                             ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  if (op.getScheduleAttr().getTiling().producerWarps == 0)
    return storeShared(emitter, op, complete(builder, op.getLoc(), sums),
                       initial);
  // Other roles have the memory of the tiles, and the sums are complete.
  WgmmaSums fragment = getFragment(emitter, sums);
  Value c = epilogue ? epilogue->getC() : getC(op);
  if (StageStoresOp staged = findStagedStores(c))
    storeThroughBuffers(emitter, op, fragment, staged, initial, epilogue, tile);
  else
    storeWgmmaSums(emitter, op, fragment, c, initial, epilogue, tile);
}

WgmmaSums WarpgroupExpansion::getFragment(ThreadEmitter &emitter,
                                          ArrayRef<Value> sums) const {
  WgmmaSums fragment;
  fragment.sums = sums;
  fragment.warpgroupM = warpgroupM;
  fragment.group =
      emitter.add(emitter.mul(groupN, tile.m / warpgroupM), groupM);
  fragment.thread = emitter.rem(thread, ::nm::kWarpgroupThreads);
  fragment.warp = emitter.div(fragment.thread, MmaShape::kLanes);
  fragment.lane = emitter.rem(fragment.thread, MmaShape::kLanes);
  fragment.m = emitter.mul(groupM, warpgroupM);
  fragment.groupN = emitter.mul(groupN, warpgroupN);
  fragment.n =
      emitter.add(fragment.groupN, emitter.mul(fragment.warp, MmaShape::kM));
  return fragment;
}

void WarpgroupExpansion::storeShared(ThreadEmitter &emitter, SpMMOp op,
                                     ArrayRef<Value> sums, Value initial) {
  OpBuilder &builder = emitter.builder;
  Value c = getC(op);
  bool isTransposed = op.getTransposeC();
  // Stores of a fragment meet no bank twice: lanes that differ by 4 have
  // neighbouring n, and neighbours have m two apart.
  SharedSums shared(
      emitter, isTransposed ? tile.n : tile.m, isTransposed ? tile.m : tile.n,
      isTransposed ? kPaddingOfPairs : kPadding, sum, tile.clusterK);
  share(emitter, op, sums, shared);
  shared.meet();
  Type stored =
      cast<MemRefType>(epilogue ? epilogue->getC().getType() : c.getType())
          .getElementType();
  int64_t perLine = kStoreBytes * 8 / stored.getIntOrFloatBitWidth();
  TileStores stores(builder, op, c, initial, epilogue, perLine);
  shared.storeTo(stores, tile, thread, perLine);
}
