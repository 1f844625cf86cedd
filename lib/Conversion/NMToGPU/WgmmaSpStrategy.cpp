//===- WgmmaSpStrategy.cpp - Products by wgmma.sp -------------------------===//
//
// A warpgroup makes a part of C^T by wgmma.sp m64nNk32: the weights of 64
// columns are the sparse operand, N rows of A the other. Both are in shared
// memory, packed weights as they are, where 16-byte words of a column's values
// stand 1024 bytes apart, and A in swizzled panels, of 64 k or of 64 m as it
// comes. A thread has a word of
// metadata for two instructions, which they read until they end: it is loaded
// to another register while they are under way.
//
//===----------------------------------------------------------------------===//

#include "SparseOperands.h"
#include "WarpgroupExpansion.h"

#include "nm/Dialect/NM/GPUTransforms/SparseOperandTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;
using ::nm::SparseOperand;

/// Rows of k of an instruction, and instructions of a step of packed weights.
static constexpr int64_t kInstructionK = 32, kHalves = 2;
static constexpr int64_t kStepRows = SparseOperand::kStepRows;
/// Bytes of the values of a step, and from a column's word to its next.
static constexpr int64_t kStepBytes =
                             ::nm::kWarpgroupM * SparseOperand::kStepValues * 2,
                         kWordStride = kStepBytes / 4;
/// The metadata of positions 0 and 1 of each group, the least there is.
static constexpr int64_t kFirstPairs = 0x44444444;

namespace {
class WgmmaSpExpansion : public WarpgroupExpansion {
public:
  WgmmaSpExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getWarpgroup(op)),
        isKMajor(op.getTransposeA()),
        element(op.getValuesType().getElementType()) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  /// The step before, whose registers of metadata must be others, may be the
  /// last of the tile before.
  int64_t countTurnsAtOnce() const override { return steps() == 1 ? 2 : 1; }

private:
  static ArrayRef<int64_t> getWarpgroup(SpMMOp op) {
    return cast<WgmmaSpScheduleAttr>(op.getScheduleAttr()).getWarpgroup();
  }
  int64_t steps() const { return tile.k / kStepRows; }
  Value loadWord(ThreadEmitter &emitter, SpMMOp op, int64_t block,
                 int64_t step);
  Value multiply(ThreadEmitter &emitter, Value weights, Value activations,
                 Value metadata, int64_t selector, Value sums);

  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value advanceActivations(ThreadEmitter &emitter, Value descriptor,
                           int64_t step, int64_t half) const;

  /// Whether A's tile is [k x m].
  bool isKMajor;
  Type element;
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
  return verifySums(op, tile, getWarpgroup(op));
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
  return isKMajor ? getPanelDescriptor(emitter, op.getA(), firstPanel(emitter),
                                       tile.k)
                  : getKMajorDescriptor(emitter, op.getA(),
                                        emitter.mul(groupM, warpgroupM));
}

/// Those of an instruction.
Value WgmmaSpExpansion::advanceActivations(ThreadEmitter &emitter,
                                           Value descriptor, int64_t step,
                                           int64_t half) const {
  if (isKMajor)
    return advanceDescriptor(emitter, descriptor,
                             (step * kStepRows + half * kInstructionK) *
                                 kPanelRowBytes);
  // A panel has a step.
  return advanceDescriptor(emitter, descriptor,
                           step * tile.m * kPanelRowBytes +
                               half * kPanelRowBytes / kHalves);
}

/// The text of the instruction on `sums` registers: results, then what they
/// begin with, descriptors, and metadata.
static std::string getText(int64_t sums, int64_t columns, StringRef type,
                           int64_t selector, bool isTransposed) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{ .reg .pred p; setp.ne.b32 p, 1, 0; "
         << "wgmma.mma_async.sp.sync.aligned.m" << ::nm::kWarpgroupM << "n"
         << columns << "k" << kInstructionK << ".f32." << type << "." << type
         << " {";
  for (int64_t i = 0; i < sums; ++i)
    stream << (i == 0 ? "$" : ", $") << i;
  // Both are multiplied by 1, and the weights are contiguous along k.
  stream << "}, $" << 2 * sums << ", $" << 2 * sums + 1 << ", $" << 2 * sums + 2
         << ", " << selector << ", p, 1, 1, 0, " << int(isTransposed) << "; }";
  return text;
}

static std::string getConstraints(int64_t sums) {
  std::string constraints;
  for (int64_t i = 0; i < sums; ++i)
    constraints += "=f,";
  for (int64_t i = 0; i < sums; ++i)
    constraints += std::to_string(i) + ",";
  return constraints + "l,l,r";
}

/// The NVVM dialect has the dense instruction alone.
Value WgmmaSpExpansion::multiply(ThreadEmitter &emitter, Value weights,
                                 Value activations, Value metadata,
                                 int64_t selector, Value sums) {
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
             getText(count, warpgroupM, element.isF16() ? "f16" : "bf16",
                     selector, /*isTransposed=*/isKMajor),
             getConstraints(count), /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getResult(0);
}

SmallVector<Value> WgmmaSpExpansion::expand(OpBuilder &builder,
                                            SparseProductOpInterface product,
                                            ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  Value a = getActivations(emitter, op);
  MatrixDescriptor layout;
  layout.leading = static_cast<int>(kWordStride);
  layout.stride =
      static_cast<int>(MatrixDescriptor::kRows * MatrixDescriptor::kChunk);
  Value values = getMatrixDescriptor(
      emitter, op.getValues(),
      emitter.mul(firstBlock(emitter), steps() * kStepBytes), layout);
  // Operands that are released at once must have been read.
  bool isReleased = isa_and_present<ReleaseOp>(op->getNextNode());
  SmallVector<Value> result(sums);
  for (int64_t step = 0; step < steps(); ++step) {
    SmallVector<Value> words;
    for (int64_t block = 0; block < blocksOfColumns(); ++block)
      words.push_back(loadWord(emitter, op, block, step));
    NVVM::WgmmaFenceAlignedOp::create(builder, op.getLoc());
    for (int64_t half = 0; half < kHalves; ++half) {
      Value activations = advanceActivations(emitter, a, step, half);
      for (auto [block, sum] : llvm::enumerate(result)) {
        int64_t ofStep = (int64_t(block) * steps() + step) * kStepBytes;
        Value weights = advanceDescriptor(emitter, values,
                                          ofStep + half * kStepBytes / kHalves);
        sum = multiply(emitter, weights, activations, words[block], half, sum);
      }
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(builder, op.getLoc());
    bool isLast = step + 1 == steps();
    NVVM::WgmmaWaitGroupSyncOp::create(builder, op.getLoc(),
                                       isLast && isReleased ? 0 : 1);
  }
  return result;
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
