//===- OperandSource.h - What warpgroups multiply ---------------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_WARPGROUP_OPERANDSOURCE_H
#define NM_LIB_GPU_STRATEGIES_WARPGROUP_OPERANDSOURCE_H

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Strategies/Warpgroup/ProductOrder.h"
#include "GPU/Strategies/Warpgroup/WgmmaInstructions.h"
#include "GPU/Strategies/Warpgroup/WgmmaStores.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Format/MmaFragments.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"

namespace mlir::nm {

/// How a warpgroup keeps its sums along k.
///
/// The tensor cores cut sums of 8-bit floats and of splits off. With promotion,
/// the sums of each tile start at zero, are waited for, and are added, rounded,
/// to f32 values, which the loop over k carries.
enum class SumsKept {
  /// Instructions add to the sums that the loop carries.
  InPlace,
  /// Promoted: sums of each tile are added.
  Promoted,
  /// Promoted: sums of products of splits, for which a scale makes up.
  SplitFloats,
  /// The same with error compensation: sums of 16 rows, and what was cut off.
  Compensated
};

/// Splits of a weight and of an activation that are multiplied.
struct SplitPair {
  int64_t ofWeight = 0, ofA = 0;
};

/// The rows and the blocks of 64 columns of a warpgroup's tile of C whose sums
/// are made at a time.
struct SumsPart {
  int64_t firstRow, rows, firstBlock, blocks;

  /// The sums that a thread has of 64 columns.
  int64_t sumsPerBlock() const {
    return rows * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  }
};

/// A warpgroup's part [m, n] of a block's tile of C, with sums of type `sum`,
/// f32 or i32.
struct WarpgroupTile {
  GpuTile tile;
  int64_t warpgroupM, warpgroupN;
  Type sum;
  /// The thread of the block, and its warpgroup's place in the tile.
  Value thread, groupM, groupN;

  WarpgroupTile(const GpuTile &tile, const ::nm::ScheduleFields &schedule,
                Type sum)
      : tile(tile), warpgroupM(schedule.warpgroupM),
        warpgroupN(schedule.warpgroupN), sum(sum) {}
  /// Finds the thread's place; the number of its warpgroup.
  Value begin(OpBuilder &builder, Location loc);

  SumsPart whole() const { return {0, warpgroupM, 0, blocksOfColumns()}; }
  /// Products of 64 columns that a warpgroup makes side by side.
  int64_t blocksOfColumns() const { return warpgroupN / ::nm::kWarpgroupM; }
  /// The warpgroup's first panel of 64 rows of A, and its first 64 columns.
  Value firstPanel(ThreadEmitter &emitter) const {
    return emitter.mul(groupM, warpgroupM / ::nm::kWarpgroupM);
  }
  Value firstBlock(ThreadEmitter &emitter) const {
    return emitter.mul(groupN, blocksOfColumns());
  }
  /// The fragment of a thread, of which `sums` are the sums.
  WgmmaSums getFragment(ThreadEmitter &emitter, ArrayRef<Value> sums) const;
};

/// The operands of a warpgroup's tile, and the instructions that multiply them:
/// the weights of 64 columns, transposed, are an instruction's first operand,
/// and up to 256 rows of A its second, so that a thread's sums are a fragment
/// of C^T, a struct for each 64 columns. A source may have others.
///
/// A new one derives from this, in a file of its own; WarpgroupExpansion does
/// the rest.
class OperandSource : public WarpgroupTile {
public:
  virtual ~OperandSource() = default;

  /// Finds the tile that `op` multiplies. Called once for each, before all of
  /// its instructions.
  virtual void open(ThreadEmitter &emitter, SpMMOp op) = 0;
  /// Instructions along k of a tile.
  virtual int64_t countSteps() const = 0;
  /// Emits the instructions of one step along k, on the sums of `part`, which
  /// have the types that typesOf says.
  virtual void multiply(ThreadEmitter &emitter, const SumsPart &part,
                        int64_t step, SplitPair pair,
                        MutableArrayRef<Value> sums, SumsUse use) = 0;

  /// How instructions have the sums of `part`: a struct for each 64 columns.
  virtual SmallVector<Type> typesOf(const SumsPart &part) const;
  /// What registers have room for at a time beside promoted sums.
  virtual SumsPart partAtOnce() const { return whole(); }
  /// Whether an operand is in registers, which `prepare` fills for a step: the
  /// products of each tile are awaited then, those of so many steps at a time.
  virtual bool readsRegisters() const { return false; }
  virtual int64_t stepsAtOnce(const SumsPart &part) const {
    return countSteps();
  }
  virtual void prepare(ThreadEmitter &emitter, const SumsPart &part,
                       int64_t step) {}
  /// Turns of the loop over k that are made one.
  virtual int64_t countTurnsAtOnce() const { return 1; }
  /// Stores a fragment that is none of C^T; false where it is.
  virtual bool store(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                     Value c, Value initial,
                     const std::optional<TileEpilogue> &epilogue) {
    return false;
  }

  SumsKept kept;
  /// The number of splits of each element.
  int64_t splits;

protected:
  OperandSource(SpMMOp op, const GpuTile &tile, Type sum, SumsKept kept,
                int64_t splits = 1)
      : WarpgroupTile(tile, getSchedule(op), sum), kept(kept), splits(splits) {}

  static ::nm::ScheduleFields getSchedule(SpMMOp op) {
    return getFields(op.getScheduleAttr());
  }
  static int64_t countSplits(SpMMOp op) {
    return cast<SparseProductOpInterface>(*op).countSplits();
  }

  /// Checks that a thread has registers for the sums of a warpgroup's part
  /// [m, n]: `sumsOfElement` of each element of C, 2 with promotion. The
  /// promoted sums are of all m rows, and the sums of a tile of `rows` of them
  /// at a time, all if null.
  static LogicalResult verifySums(SpMMOp op, const GpuTile &tile,
                                  int64_t sumsOfElement,
                                  std::optional<int64_t> rows = {});
};

/// How sums of splits are kept.
inline SumsKept getKeptOfSplits(bool isCompensated) {
  return isCompensated ? SumsKept::Compensated : SumsKept::SplitFloats;
}

/// Operands of 8 bits of strategy wgmma; emits an error where `op` has others.
FailureOr<std::unique_ptr<OperandSource>> createByteUnits(SpMMOp op,
                                                          const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_WARPGROUP_OPERANDSOURCE_H
