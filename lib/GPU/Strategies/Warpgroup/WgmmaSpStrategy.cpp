//===- WgmmaSpStrategy.cpp - Products by wgmma.sp -------------------------===//
//
// A warpgroup makes a part of C^T by wgmma.sp m64nN, of k32 in 16-bit types and
// of k64 in 8-bit ones: the weights of 64 columns are the sparse operand, N
// rows of A the other. Both are in shared memory, packed weights as they are,
// where 16-byte words of a column's values stand 1024 bytes apart, and A in
// swizzled panels with rows of 128 bytes, of k or of m as it comes. A thread
// has a word of metadata for 64 rows of k, which instructions read until they
// end: it is loaded to another register while they are in flight.
//
// Sums of f8, which are cut off after 13 bits of mantissa or so, are promoted.
// So have those of bf16 split floats, several products of which make up for
// one, with the same metadata.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/SparseOperands.h"
#include "GPU/Strategies/Warpgroup/ExactSums.h"
#include "GPU/Strategies/Warpgroup/SplitFloatExpansion.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

static constexpr int64_t kStepRows = SparseOperand::kStepRows;
/// The metadata of positions 0 and 1 of each group, the least there is.
static constexpr int64_t kFirstPairs = 0x44444444;

namespace {
/// The warpgroup's operands of a tile: descriptors, and metadata, for each step
/// a word for each 64 columns.
struct TileOperands {
  Value a, weights;
  SmallVector<SmallVector<Value>> words;
};

class WgmmaSpExpansion : public WarpgroupExpansion {
public:
  WgmmaSpExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(),
                           SparseTypes(op).sum, mlir::nm::isPromoted(op)),
        isMMajor(op.getTransposeA()), types(op),
        form(types.form(SparseOperand::Order::Wgmma)), splits(countSplits(op)) {
  }

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  /// The products of the tile before may be in flight, whose registers of
  /// metadata must be others.
  int64_t countTurnsAtOnce() const override { return isPromoted ? 1 : 2; }
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;

private:
  static WgmmaSpScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaSpScheduleAttr>(op.getScheduleAttr());
  }
  static int64_t countSplits(SpMMOp op) {
    return cast<SparseProductOpInterface>(*op).countSplits();
  }
  int64_t steps() const { return tile.k / kStepRows; }
  /// The bytes of the values of 64 columns and a step, or of a split of each.
  int64_t stepBytes() const { return ::nm::kWarpgroupM * form.bytesOfColumn(); }
  Value loadWord(ThreadEmitter &emitter, SpMMOp op, int64_t block,
                 int64_t step);
  /// The metadata of a tile: for each step, a word for each 64 columns.
  SmallVector<SmallVector<Value>> loadTile(ThreadEmitter &emitter, SpMMOp op);
  Value getWeights(ThreadEmitter &emitter, SpMMOp op);
  Value multiply(ThreadEmitter &emitter, Value weights, Value activations,
                 Value metadata, int64_t selector, Value sums, SumsUse use);
  int64_t instructions() const { return steps() * form.instructions(); }
  /// One instruction along k for each 64 columns.
  void multiplyRows(ThreadEmitter &emitter, const TileOperands &operands,
                    int64_t instruction, MutableArrayRef<Value> sums,
                    SumsUse use = SumsUse::Add, SplitPair pair = {0, 0});
  TileOperands getOperands(ThreadEmitter &emitter, SpMMOp op);
  SmallVector<Value> addToPromoted(ThreadEmitter &emitter,
                                   const TileOperands &operands,
                                   ArrayRef<Value> promoted);
  SmallVector<Value> promoteSplitFloats(ThreadEmitter &emitter, SpMMOp op,
                                        const TileOperands &operands,
                                        ArrayRef<Value> promoted);

  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value advanceActivations(ThreadEmitter &emitter, Value descriptor,
                           int64_t step, int64_t half, int64_t split) const;

  /// Whether A's tile is [k x m].
  bool isMMajor;
  SparseTypes types;
  SparseOperand form;
  /// The number of splits of each element.
  int64_t splits;
};
} // namespace

LogicalResult WgmmaSpExpansion::verify(SpMMOp op, const GpuTile &tile) {
  if (failed(verifySparseProduct(op)) ||
      failed(verifyStagedActivations(op, tile)))
    return failure();
  for (Value weights : {op.getValues(), op.getIndices()})
    if (auto type = cast<MemRefType>(weights.getType());
        !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
      return op.emitOpError() << "expected weights in workgroup memory, where "
                                 "nm-stage-shared-memory copies them, but got "
                              << type;
  return verifySums(op, tile, getSchedule(op).getWarpgroup(),
                    mlir::nm::isPromoted(op) ? 2 : 1);
}

/// The thread's metadata of 64 columns and a step.
Value WgmmaSpExpansion::loadWord(ThreadEmitter &emitter, SpMMOp op,
                                 int64_t block, int64_t step) {
  Value inGroup = emitter.rem(thread, ::nm::kWarpgroupThreads);
  Value word = loadMetadataWord(emitter, op.getIndices(),
                                {emitter.add(firstBlock(emitter), block),
                                 emitter.index(step), emitter.mul(inGroup, 4)});
  // Copies fill up with zeros, which is no metadata, what there is no more of.
  return arith::MaxUIOp::create(emitter.builder, emitter.loc, word,
                                emitter.i32(kFirstPairs));
}

/// The first rows of k of the warpgroup's rows of A.
Value WgmmaSpExpansion::getActivations(ThreadEmitter &emitter, SpMMOp op) {
  return isMMajor ? getPanelDescriptor(emitter, op.getA(),
                                       emitter.mul(firstPanel(emitter), splits),
                                       tile.k, /*apart=*/splits)
                  : getKMajorDescriptor(emitter, op.getA(),
                                        emitter.mul(groupM, warpgroupM));
}

/// Those of an instruction.
Value WgmmaSpExpansion::advanceActivations(ThreadEmitter &emitter,
                                           Value descriptor, int64_t step,
                                           int64_t half, int64_t split) const {
  int64_t k = step * kStepRows + half * form.instructionRows();
  // Each panel of 64 rows of A has one for each of their splits.
  if (isMMajor)
    return advanceDescriptor(emitter, descriptor,
                             (split * tile.k + k) * kPanelRowBytes);
  // Each panel has as much of k as fits in its rows.
  int64_t bytes = k * types.bits() / 8;
  return advanceDescriptor(emitter, descriptor,
                           bytes / kPanelRowBytes * tile.m * kPanelRowBytes +
                               bytes % kPanelRowBytes);
}

/// The text of the instruction on `sums` registers: results, then what they
/// begin with, descriptors, and metadata.
static std::string getText(int64_t sums, int64_t columns,
                           const SparseTypes &types, int64_t instructionK,
                           int64_t selector, bool isTransposed, SumsUse use) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{ .reg .pred p; setp.ne.b32 p, " << int(use != SumsUse::Make)
         << ", 0; "
         << "wgmma.mma_async.sp.sync.aligned.m" << ::nm::kWarpgroupM << "n"
         << columns << "k" << instructionK
         << (types.sum.isInteger() ? ".s32." : ".f32.") << types.name() << "."
         << types.name() << " {";
  for (int64_t i = 0; i < sums; ++i)
    stream << (i == 0 ? "$" : ", $") << i;
  stream << "}, $" << 2 * sums << ", $" << 2 * sums + 1 << ", $" << 2 * sums + 2
         << ", " << selector << ", p";
  // What the operands are multiplied by; the weights are contiguous along k.
  if (types.sum.isF32())
    stream << (use == SumsUse::Subtract ? ", -1" : ", 1") << ", 1";
  if (types.bits() == 16)
    stream << ", 0, " << int(isTransposed);
  stream << "; }";
  return text;
}

static std::string getConstraints(int64_t sums, bool areIntegers) {
  std::string constraints;
  for (int64_t i = 0; i < sums; ++i)
    constraints += areIntegers ? "=r," : "=f,";
  for (int64_t i = 0; i < sums; ++i)
    constraints += std::to_string(i) + ",";
  return constraints + "l,l,r";
}

/// The NVVM dialect has the dense instruction alone.
Value WgmmaSpExpansion::multiply(ThreadEmitter &emitter, Value weights,
                                 Value activations, Value metadata,
                                 int64_t selector, Value sums, SumsUse use) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t count = sumsPerBlock();
  SmallVector<Value> operands;
  for (int64_t i = 0; i < count; ++i)
    operands.push_back(
        LLVM::ExtractValueOp::create(builder, loc, sums, ArrayRef<int64_t>{i}));
  operands.append({weights, activations, metadata});
  return LLVM::InlineAsmOp::create(
             builder, loc, sums.getType(), operands,
             getText(count, warpgroupM, types, form.instructionRows(), selector,
                     /*isTransposed=*/isMMajor, use),
             getConstraints(count, sum.isInteger()), /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

/// The first of the warpgroup's weights.
Value WgmmaSpExpansion::getWeights(ThreadEmitter &emitter, SpMMOp op) {
  return getChunkDescriptor(
      emitter, op.getValues(),
      emitter.mul(firstBlock(emitter), steps() * splits * stepBytes()));
}

void WgmmaSpExpansion::multiplyRows(ThreadEmitter &emitter,
                                    const TileOperands &operands,
                                    int64_t instruction,
                                    MutableArrayRef<Value> sums, SumsUse use,
                                    SplitPair pair) {
  int64_t step = instruction / form.instructions(),
          part = instruction % form.instructions(),
          bytes = stepBytes() / form.instructions();
  Value ofA = advanceActivations(emitter, operands.a, step, part, pair.ofA);
  for (auto [block, ofBlock] : llvm::enumerate(sums)) {
    int64_t ofStep = (int64_t(block) * steps() + step) * splits;
    Value ofWeights = advanceDescriptor(emitter, operands.weights,
                                        (ofStep + pair.ofWeight) * stepBytes() +
                                            part * bytes);
    ofBlock = multiply(emitter, ofWeights, ofA, operands.words[step][block],
                       part, ofBlock, use);
  }
}

SmallVector<SmallVector<Value>>
WgmmaSpExpansion::loadTile(ThreadEmitter &emitter, SpMMOp op) {
  SmallVector<SmallVector<Value>> words(steps());
  for (int64_t step = 0; step < steps(); ++step)
    for (int64_t block = 0; block < blocksOfColumns(); ++block)
      words[step].push_back(loadWord(emitter, op, block, step));
  return words;
}

TileOperands WgmmaSpExpansion::getOperands(ThreadEmitter &emitter, SpMMOp op) {
  Value a = getActivations(emitter, op), weights = getWeights(emitter, op);
  // Before the first instruction, so that none waits for the loads of its step.
  return {a, weights, loadTile(emitter, op)};
}

SmallVector<Value> WgmmaSpExpansion::addToPromoted(ThreadEmitter &emitter,
                                                   const TileOperands &operands,
                                                   ArrayRef<Value> promoted) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Undefined: the first product does not add to sums, but makes them.
  Value none = LLVM::UndefOp::create(builder, loc, getSumsType());
  SmallVector<Value> blocks(blocksOfColumns(), none);
  turns.start(builder, loc);
  for (int64_t i = 0; i < instructions(); ++i)
    multiplyRows(emitter, operands, i, blocks,
                 i == 0 ? SumsUse::Make : SumsUse::Add);
  turns.await(builder, loc);
  SmallVector<Value> result;
  for (auto [part, total] :
       llvm::zip_equal(extractSums(builder, loc, blocks), promoted))
    result.push_back(addSums(builder, loc, total, part));
  return result;
}

SmallVector<Value>
WgmmaSpExpansion::promoteSplitFloats(ThreadEmitter &emitter, SpMMOp op,
                                     const TileOperands &operands,
                                     ArrayRef<Value> promoted) {
  auto multiply = [&](SplitPair pair, int64_t step,
                      MutableArrayRef<Value> blocks, SumsUse use) {
    multiplyRows(emitter, operands, step, blocks, use, pair);
  };
  Value none =
      LLVM::UndefOp::create(emitter.builder, emitter.loc, getSumsType());
  SmallVector<Value> blocks(blocksOfColumns(), none);
  return addSplitProducts(emitter.builder, emitter.loc,
                          {splits, instructions(),
                           getSchedule(op).isCompensated(), turns, multiply},
                          blocks, promoted);
}

SmallVector<Value> WgmmaSpExpansion::expand(OpBuilder &builder,
                                            SparseProductOpInterface product,
                                            ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  TileOperands operands = getOperands(emitter, op);
  if (splits > 1)
    return promoteSplitFloats(emitter, op, operands, sums);
  if (isPromoted)
    return addToPromoted(emitter, operands, sums);
  SmallVector<Value> result(sums);
  NVVM::WgmmaFenceAlignedOp::create(builder, op.getLoc());
  for (int64_t i = 0; i < instructions(); ++i)
    multiplyRows(emitter, operands, i, result);
  commitProducts(builder, op);
  return result;
}

SmallVector<Value> WgmmaSpExpansion::recompute(OpBuilder &builder,
                                               RecomputeFromOp op,
                                               ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  return remakeSums(emitter, op, getFragment(emitter, {}), sums);
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaSpExpansion(SparseProductOpInterface product,
                                 const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError()
           << "expected nm.spmm for strategy wgmma_sp, but got a vector";
  if (failed(WgmmaSpExpansion::verify(op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<WgmmaSpExpansion>(op, tile));
}
