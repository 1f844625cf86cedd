//===- WgmmaStrategy.cpp - Gathered products on the tensor cores ----------===//
//
// A warpgroup multiplies the transposed weights of 64 columns by rows of A:
// wgmma's first operand is the weights, its second the rows of A that they
// keep, and both are contiguous along the dimension that is not k. The sums of
// a thread are a fragment of C^T. An instruction is under way while the next
// tile's are issued, which must not touch its operands.
//
//===----------------------------------------------------------------------===//

#include "CompleteSums.h"
#include "SharedSums.h"
#include "ThreadEmitter.h"
#include "TileExpansion.h"
#include "TileStores.h"

#include "nm/Format/MatrixDescriptor.h"
#include "nm/Format/MmaFragments.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;
using ::nm::MmaShape;

/// The k of an instruction on elements of 16 bits.
static constexpr int64_t kInstructionK = 16;
/// Bytes of a row of an operand.
static constexpr int64_t kRowBytes = 128;
/// Registers of a multiprocessor, and those of a thread that hold no sums.
static constexpr int64_t kRegisters = 65536, kOtherRegisters = 40;
/// Bytes of the widest store.
static constexpr int64_t kStoreBytes = 16;
/// Words between rows of sums in shared memory: of single sums, and of pairs.
static constexpr int64_t kPadding = 4, kPaddingOfPairs = 8;

namespace {
/// An operand in shared memory: panels of 64 columns, with rows of 128 bytes.
struct PanelledOperand {
  /// The descriptor of the first 16 rows of the warpgroup's first panel.
  Value descriptor;
  int64_t rows;

  int64_t panelBytes() const { return rows * kRowBytes; }
};

class WgmmaExpansion : public TileExpansion {
public:
  WgmmaExpansion(SpMMOp op, const GpuTile &tile)
      : tile(tile), warpgroupM(getSchedule(op).getWarpgroup()[0]),
        warpgroupN(getSchedule(op).getWarpgroup()[1]),
        element(op.getValuesType().getElementType()) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

private:
  static WgmmaScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaScheduleAttr>(op.getScheduleAttr());
  }
  /// Products of 64 columns that a warpgroup makes side by side.
  int64_t blocksOfColumns() const { return warpgroupN / ::nm::kWarpgroupM; }
  int64_t sumsPerBlock() const {
    return warpgroupM * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  }
  PanelledOperand getOperand(ThreadEmitter &emitter, Value buffer, Value panel,
                             int64_t rows);
  Value multiply(ThreadEmitter &emitter, Value weights, Value activations,
                 Value sums);
  void share(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
             SharedSums &shared);

  GpuTile tile;
  int64_t warpgroupM, warpgroupN;
  Type element;
  /// The thread of the block, and its warpgroup's place in the tile.
  Value thread, groupM, groupN;
};
} // namespace

LogicalResult WgmmaExpansion::verify(SpMMOp op, const GpuTile &tile) {
  auto a = cast<MemRefType>(op.getA().getType()),
       values = cast<MemRefType>(op.getValues().getType());
  if (!isa<TileLayoutAttr>(a.getLayout()) ||
      !isa<TileLayoutAttr>(values.getLayout()) ||
      op.getPattern().getPattern().m != 1)
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << a << " and " << values;
  ArrayRef<int64_t> warpgroup = getSchedule(op).getWarpgroup();
  int64_t sums = warpgroup[0] * warpgroup[1] / ::nm::kWarpgroupThreads;
  int64_t most = std::min<int64_t>(255, kRegisters / tile.threads());
  if (sums + kOtherRegisters <= most)
    return success();
  return op.emitOpError() << "expected at most " << most - kOtherRegisters
                          << " sums of a thread of " << tile.threads()
                          << ", but a warpgroup's tile of " << warpgroup[0]
                          << " x " << warpgroup[1] << " has " << sums;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

SmallVector<Value> WgmmaExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  Value inBlock = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  thread = inBlock;
  Value group =
      makeUniform(emitter, emitter.div(inBlock, ::nm::kWarpgroupThreads));
  int64_t groupsM = tile.m / warpgroupM;
  groupM = emitter.rem(group, groupsM);
  groupN = emitter.div(group, groupsM);
  SmallVector<Type> elements(sumsPerBlock(), builder.getF32Type());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), elements);
  Value zeros = LLVM::ZeroOp::create(builder, loc, type);
  return SmallVector<Value>(blocksOfColumns(), zeros);
}

/// `rows` rows of `buffer` from its panel `panel` on.
PanelledOperand WgmmaExpansion::getOperand(ThreadEmitter &emitter, Value buffer,
                                           Value panel, int64_t rows) {
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
  Value offset =
      memref::ExtractStridedMetadataOp::create(builder, loc, view).getOffset();
  Value address = emitter.add(start, emitter.mul(offset, bytes));
  address = emitter.add(address, emitter.mul(panel, rows * kRowBytes));
  // Of the descriptor, the address in units of 16 bytes comes first.
  MatrixDescriptor layout;
  layout.leading = static_cast<int>(rows * kRowBytes);
  layout.stride = static_cast<int>(MatrixDescriptor::kRows * kRowBytes);
  layout.swizzle = ::nm::MatrixSwizzle::Bytes128;
  Value word = emitter.mask(
      emitter.toI32(emitter.div(address, MatrixDescriptor::kChunk)), 0x3fff);
  Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), word);
  Value constant = arith::ConstantIntOp::create(
      builder, loc, static_cast<int64_t>(layout.encode()), 64);
  return {arith::OrIOp::create(builder, loc, constant, wide), rows};
}

/// The same matrix `bytes` further on.
static Value advance(ThreadEmitter &emitter, Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value step = arith::ConstantIntOp::create(
      emitter.builder, emitter.loc, bytes / MatrixDescriptor::kChunk, 64);
  return arith::AddIOp::create(emitter.builder, emitter.loc, descriptor, step);
}

Value WgmmaExpansion::multiply(ThreadEmitter &emitter, Value weights,
                               Value activations, Value sums) {
  OpBuilder &builder = emitter.builder;
  MLIRContext *context = builder.getContext();
  auto types = NVVM::WGMMATypesAttr::get(context, element.isF16()
                                                      ? NVVM::WGMMATypes::f16
                                                      : NVVM::WGMMATypes::bf16);
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  // Neither operand is contiguous along k.
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, emitter.loc, sums.getType(), sums, weights, activations,
      NVVM::MMAShapeAttr::get(context, ::nm::kWarpgroupM,
                              static_cast<int>(warpgroupM), kInstructionK),
      types, types, NVVM::WGMMATypesAttr::get(context, NVVM::WGMMATypes::f32),
      NVVM::WGMMAScaleOutAttr::get(context, NVVM::WGMMAScaleOut::one), one, one,
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::col),
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

SmallVector<Value> WgmmaExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  int64_t rows = cast<MemRefType>(op.getA().getType()).getDimSize(0);
  int64_t perPanel = ::nm::kWarpgroupM;
  PanelledOperand a = getOperand(emitter, op.getA(),
                                 emitter.mul(groupM, warpgroupM / perPanel),
                                 rows),
                  values =
                      getOperand(emitter, op.getValues(),
                                 emitter.mul(groupN, blocksOfColumns()), rows);
  SmallVector<Value> result(sums);
  NVVM::WgmmaFenceAlignedOp::create(builder, op.getLoc());
  for (int64_t row = 0; row < rows; row += kInstructionK)
    for (auto [block, sum] : llvm::enumerate(result)) {
      int64_t ofRow = row * kRowBytes;
      Value weights = advance(emitter, values.descriptor,
                              ofRow + int64_t(block) * values.panelBytes());
      sum = multiply(emitter, weights, advance(emitter, a.descriptor, ofRow),
                     sum);
    }
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, op.getLoc());
  // Operands that are released at once must have been read.
  bool isReleased = isa_and_present<ReleaseOp>(op->getNextNode());
  NVVM::WgmmaWaitGroupSyncOp::create(builder, op.getLoc(), isReleased ? 0 : 1);
  return result;
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Puts a thread's sums, pairs along m, to their places in C's tile.
void WgmmaExpansion::share(ThreadEmitter &emitter, SpMMOp op,
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
  auto type = VectorType::get(perLine, builder.getF32Type());
  for (int64_t i = 0; i < int64_t(sums.size()); i += perLine) {
    int64_t block = i / sumsPerBlock(), inBlock = i % sumsPerBlock();
    // As far from the first as in the first thread.
    ::nm::MmaPlace place =
        ::nm::getWarpgroupSumPlace(/*thread=*/0, static_cast<int>(inBlock));
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

void WgmmaExpansion::end(OpBuilder &builder, SparseProductOpInterface product,
                         ArrayRef<Value> carried, Value initial) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  NVVM::WgmmaWaitGroupSyncOp::create(builder, op.getLoc(), 0);
  SmallVector<Value> sums;
  for (Value block : carried)
    for (int64_t i = 0; i < sumsPerBlock(); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(builder, op.getLoc(), block,
                                                  ArrayRef<int64_t>{i}));
  // Whatever uses them stays behind the wait, which does not say that it makes
  // them.
  sums = completeSums(builder, op.getLoc(), sums);
  Value c = sharedC ? sharedC : Value(op.getC());
  bool isTransposed = op.getTransposeC();
  // Stores of a fragment meet no bank twice: lanes that differ by 4 have
  // neighbouring n, and neighbours have m two apart.
  SharedSums shared(emitter, isTransposed ? tile.n : tile.m,
                    isTransposed ? tile.m : tile.n,
                    isTransposed ? kPaddingOfPairs : kPadding);
  share(emitter, op, sums, shared);
  shared.meet();
  Type stored =
      cast<MemRefType>(epilogue ? epilogue->getC().getType() : c.getType())
          .getElementType();
  int64_t perLine = kStoreBytes * 8 / stored.getIntOrFloatBitWidth();
  TileStores stores(builder, op, c, initial, epilogue, perLine);
  shared.forEachLines(
      thread, tile.threads(), perLine, [&](ArrayRef<SharedSums::Line> lines) {
        stores.store(llvm::map_to_vector(
                         lines,
                         [](const SharedSums::Line &line) {
                           return TileLine{line.row, line.column, line.sums};
                         }),
                     tile);
      });
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaExpansion(SparseProductOpInterface product,
                               const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError()
           << "expected nm.spmm for strategy wgmma, but got a vector";
  if (failed(WgmmaExpansion::verify(op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<WgmmaExpansion>(op, tile));
}
