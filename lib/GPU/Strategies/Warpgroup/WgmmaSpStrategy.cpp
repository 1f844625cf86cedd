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
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/GPU/Strategies/Mma/SparseOperandTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::SparseOperand;

static constexpr int64_t kStepRows = SparseOperand::kStepRows;

namespace {
class SparseOperandSource : public OperandSource {
public:
  SparseOperandSource(SpMMOp op, const GpuTile &tile)
      : OperandSource(op, tile, SparseTypes(op).sum, getKept(op),
                      countSplits(op)),
        isMMajor(op.getTransposeA()), types(op), form(getSparseForm(op)) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  void open(ThreadEmitter &emitter, SpMMOp op) override;
  int64_t countSteps() const override {
    return stepsOfTile() * form.instructions();
  }
  void multiply(ThreadEmitter &emitter, const SumsPart &part, int64_t number,
                SplitPair pair, MutableArrayRef<Value> sums,
                SumsUse use) override;
  /// The products of the tile before may be in flight, whose registers of
  /// metadata must be others.
  int64_t countTurnsAtOnce() const override {
    return kept == SumsKept::InPlace ? 2 : 1;
  }

private:
  static SumsKept getKept(SpMMOp op) {
    if (countSplits(op) > 1)
      return getKeptOfSplits(getSchedule(op).compensated);
    return getSchedule(op).promote ? SumsKept::Promoted : SumsKept::InPlace;
  }
  int64_t stepsOfTile() const { return tile.k / kStepRows; }
  /// The bytes of the values of 64 columns and a step, or of a split of each.
  int64_t stepBytes() const { return ::nm::kWarpgroupM * form.bytesOfColumn(); }
  Value loadWord(ThreadEmitter &emitter, SpMMOp op, int64_t block,
                 int64_t step);
  Value emitInstruction(ThreadEmitter &emitter, Value ofWeights, Value ofA,
                        Value metadata, int64_t selector, Value sums,
                        SumsUse use);
  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value advanceActivations(ThreadEmitter &emitter, Value descriptor,
                           int64_t step, int64_t half, int64_t split) const;

  /// Whether A's tile is [k x m].
  bool isMMajor;
  SparseTypes types;
  SparseOperand form;
  /// The descriptors of the warpgroup's operands, and metadata, for each step a
  /// word for each 64 columns.
  Value a, weights;
  SmallVector<SmallVector<Value>> words;
};
} // namespace

LogicalResult SparseOperandSource::verify(SpMMOp op, const GpuTile &tile) {
  if (failed(verifySparseProduct(op)) ||
      failed(verifyStagedActivations(op, tile)))
    return failure();
  for (Value weights : {op.getValues(), op.getIndices()})
    if (auto type = cast<MemRefType>(weights.getType());
        !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
      return op.emitOpError() << "expected weights in workgroup memory, where "
                                 "nm-stage-shared-memory copies them, but got "
                              << type;
  Type element = getElementTypeOrSelf(op.getA());
  if (isFloat8(element) && op.getArithmetic() != Arithmetic::FastAccum &&
      !getSchedule(op).promote)
    return op.emitOpError()
           << "expected 'promote = true' for sums of " << element
           << ", as selection states it, but got " << op.getScheduleAttr();
  return verifySums(op, tile, getKept(op) == SumsKept::InPlace ? 1 : 2);
}

/// The thread's metadata of 64 columns and a step.
Value SparseOperandSource::loadWord(ThreadEmitter &emitter, SpMMOp op,
                                    int64_t block, int64_t step) {
  Value inGroup = emitter.rem(thread, ::nm::kWarpgroupThreads);
  return loadStagedMetadata(emitter, op.getIndices(),
                            {emitter.add(firstBlock(emitter), block),
                             emitter.index(step), emitter.mul(inGroup, 4)});
}

/// The first rows of k of the warpgroup's rows of A.
Value SparseOperandSource::getActivations(ThreadEmitter &emitter, SpMMOp op) {
  return isMMajor ? getPanelDescriptor(emitter, op.getA(),
                                       emitter.mul(firstPanel(emitter), splits),
                                       tile.k, /*apart=*/splits)
                  : getKMajorDescriptor(emitter, op.getA(),
                                        emitter.mul(groupM, warpgroupM));
}

/// Those of an instruction.
Value SparseOperandSource::advanceActivations(ThreadEmitter &emitter,
                                              Value descriptor, int64_t step,
                                              int64_t half,
                                              int64_t split) const {
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

Value SparseOperandSource::emitInstruction(ThreadEmitter &emitter,
                                           Value ofWeights, Value ofA,
                                           Value metadata, int64_t selector,
                                           Value sums, SumsUse use) {
  SmallVector<Value> single;
  auto type = cast<LLVM::LLVMStructType>(sums.getType());
  auto count = int64_t(type.getBody().size());
  for (int64_t i = 0; i < count; ++i)
    single.push_back(LLVM::ExtractValueOp::create(emitter.builder, emitter.loc,
                                                  sums, ArrayRef<int64_t>{i}));
  std::string operands;
  llvm::raw_string_ostream(operands)
      << "$" << 2 * count << ", $" << 2 * count + 1 << ", $" << 2 * count + 2
      << ", " << selector;
  // The weights are contiguous along k.
  std::string layouts =
      types.bits() == 16 ? ", 0, " + std::to_string(int(isMMajor)) : "";
  WgmmaText text{
      types,    /*isSparse=*/true, warpgroupM, form.instructionRows(),
      operands, layouts,           "l,l,r"};
  return emitWgmmaText(emitter, text, single, {ofWeights, ofA, metadata}, use);
}

void SparseOperandSource::multiply(ThreadEmitter &emitter, const SumsPart &,
                                   int64_t number, SplitPair pair,
                                   MutableArrayRef<Value> sums, SumsUse use) {
  int64_t step = number / form.instructions(),
          part = number % form.instructions(),
          bytes = stepBytes() / form.instructions();
  Value ofA = advanceActivations(emitter, a, step, part, pair.ofA);
  for (auto [block, ofBlock] : llvm::enumerate(sums)) {
    int64_t ofStep = (int64_t(block) * stepsOfTile() + step) * splits;
    Value ofWeights = advanceDescriptor(emitter, weights,
                                        (ofStep + pair.ofWeight) * stepBytes() +
                                            part * bytes);
    ofBlock = emitInstruction(emitter, ofWeights, ofA, words[step][block], part,
                              ofBlock, use);
  }
}

/// Metadata is loaded before the first instruction, so that none waits for the
/// loads of its step.
void SparseOperandSource::open(ThreadEmitter &emitter, SpMMOp op) {
  a = getActivations(emitter, op);
  weights = getChunkDescriptor(
      emitter, op.getValues(),
      emitter.mul(firstBlock(emitter), stepsOfTile() * splits * stepBytes()));
  words.assign(stepsOfTile(), {});
  for (auto [step, ofStep] : llvm::enumerate(words))
    for (int64_t block = 0; block < blocksOfColumns(); ++block)
      ofStep.push_back(loadWord(emitter, op, block, int64_t(step)));
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaSpExpansion(SparseProductOpInterface product,
                                 const GpuTile &tile) {
  return WarpgroupExpansion::create<SparseOperandSource>(product, tile);
}
