//===- GpuStrategy.h - What selection asks of a strategy --------*- C++ -*-===//

#ifndef NM_LIB_GPU_SELECT_GPUSTRATEGY_H
#define NM_LIB_GPU_SELECT_GPUSTRATEGY_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Select/GpuSchedule.h"
#include "nm/Support/Error.h"

namespace mlir::nm {

/// What a strategy is to have a schedule for.
struct ScheduleRequest {
  SparseProductOpInterface op;
  ::nm::GpuProduct product;
  const ::nm::GpuChip &chip;
  /// What an option says of the strategy's schedule, in part or all; null where
  /// it says nothing.
  ScheduleAttrInterface given;
  /// Whether weights may be packed before the product: not those that are dense
  /// and come with each call.
  bool packs = true;
};

/// A schedule, and the estimate that it was chosen by.
struct ScheduleChoice : ::nm::ScheduleEstimate {
  /// With all fields; those that are given are as given. Null where they lead
  /// to a schedule that cannot be, of which an error was emitted.
  ScheduleAttrInterface schedule;
  /// Whether it is what the cost model chose, so that the estimates hold.
  bool isByModel = true;
  /// The clause of the reason that names the table of measured schedules, where
  /// one answered.
  std::string measured = {};
};

/// A strategy of GPU kernels: one object for each line of GpuStrategies.def.
class GpuStrategy {
public:
  virtual ~GpuStrategy() = default;

  /// The best schedule by estimate, with what is given in place of what the
  /// cost model chose, or why there is none.
  virtual ::nm::Result<ScheduleChoice>
  choose(const ScheduleRequest &request) const = 0;

  /// Whether the estimates tell an m-major A from a row-major one as they were
  /// measured. Those of other strategies are no reason to change a layout.
  virtual bool tellsLayoutsApart() const { return false; }

  /// Whether other strategies come first, whatever the estimates.
  virtual bool isLastResort(const ::nm::GpuProduct &product) const {
    return false;
  }

  /// Whether threads read the image themselves where A [k x m] are patches of
  /// one, see findReadableImage; for others a kernel writes A.
  virtual bool readsImages() const { return false; }

  /// Whether these include images whose channels are last, of which neighbours
  /// along m are apart.
  virtual bool readsChannelsLast() const { return false; }

  /// Whether there are schedules whose tensor copies take A [m x k] from the
  /// image that it is patches of, see findPixels; for others a kernel writes A.
  virtual bool hasPixelCopies() const { return false; }

  /// Whether those of `schedule`, one of this strategy, do.
  virtual bool copiesPixels(ScheduleAttrInterface schedule) const {
    return false;
  }

  /// Whether threads convert quantized weights in their registers. Others have
  /// no product of them.
  virtual bool convertsWeights() const { return false; }

  /// How many columns of each of two products stand in turns in a block of
  /// `fields` that combines them before it stores them: half of the block's,
  /// where threads find sums of each other in shared memory, or one, where a
  /// thread has sums of neighbours. 0 where no block does.
  virtual int64_t countColumnsInTurn(const ::nm::ScheduleFields &fields) const {
    return 0;
  }

  /// Whether threads have 64 m of a column of C side by side, so that they can
  /// store the splits of its elements in place of these.
  virtual bool storesSplitsOfC() const { return false; }

  /// Whether kernels of `schedule`, one of this strategy, skip the zeros of the
  /// weights of `product`, wherever they are.
  virtual bool skipsZeros(ScheduleAttrInterface schedule,
                          const ::nm::GpuProduct &product) const {
    return schedule.skipsZeros();
  }

  /// Whether floats are multiplied as f32, whatever their type.
  virtual bool multipliesInF32() const { return false; }

  /// Bytes that contiguous rows of A start at multiples of for the copies of
  /// `schedule`, one of this strategy; 1 where A may lie in any way.
  virtual int64_t getLeastRowBytes(ScheduleAttrInterface schedule,
                                   bool isMMajor) const {
    return 1;
  }

  /// The schedule of `fields`; null, and an error at `op`, for one that does
  /// not verify.
  virtual ScheduleAttrInterface
  make(SparseProductOpInterface op,
       const ::nm::ScheduleFields &fields) const = 0;

  /// The schedule `request.given`, which an op came with, with what follows
  /// from the op where it is left out: the registers of warps' roles, and
  /// whether tiles of C overlap.
  virtual ScheduleAttrInterface
  completeGiven(const ScheduleRequest &request) const = 0;

  /// Copies the operand tiles of `op`, on memrefs, to where the expansion reads
  /// them; nm-stage-shared-memory calls this. By default they stay.
  virtual LogicalResult stage(OpBuilder &builder, SpMMOp op) const {
    return success();
  }
};

#define NM_GPU_STRATEGY(Name, name) const GpuStrategy &get##Name##Strategy();
#include "nm/GPU/GpuStrategies.def"

/// The strategy of a schedule; null where it is no GPU kernel's.
const GpuStrategy *findGpuStrategy(ScheduleAttrInterface schedule);

/// Whether kernels of `schedule`, which may be null, skip zeros so.
inline bool skipsZeros(ScheduleAttrInterface schedule,
                       const ::nm::GpuProduct &product) {
  const GpuStrategy *strategy = schedule ? findGpuStrategy(schedule) : nullptr;
  return strategy && strategy->skipsZeros(schedule, product);
}

/// The fastest schedule by estimate, of the strategy that `request.given` is
/// of, or of all. The error says why each of them cannot take the product.
::nm::Result<ScheduleChoice> chooseGpuSchedule(const ScheduleRequest &request);

} // namespace mlir::nm

#endif // NM_LIB_GPU_SELECT_GPUSTRATEGY_H
