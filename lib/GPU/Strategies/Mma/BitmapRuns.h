//===- BitmapRuns.h - What a lane reads of condensed weights ----*- C++ -*-===//
//
// A lane has the bits of its runs (see nm/Format/Bitmap.h) in registers, and
// reads a run's values from shared memory in the order of their rows. Rows that
// are not kept become zeros.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_BITMAPRUNS_H
#define NM_LIB_GPU_STRATEGIES_MMA_BITMAPRUNS_H

#include "GPU/Expand/ThreadEmitter.h"

#include "nm/Format/Bitmap.h"

#include <array>
#include <memory>

namespace mlir::nm {

/// Where a lane finds a run of a column.
struct RunPlace {
  /// The run's bits.
  SmallVector<Value> bits;
  /// The address, an i32, of the lane's values of the step.
  Value values;
  /// The first of the lane's columns, or the second.
  int64_t column;
  /// The steps of blocks whose values follow in memory, at least.
  int64_t stepsBehind;
  /// Whether the warp has no other run of the column.
  bool isAlone;
};

/// The words that a lane loads of a column for one mma, and the selectors of
/// prmt, which places weights by them.
using LoadedRows = SmallVector<Value>;

/// The rows of one run, which are read in their order.
class BitmapRun {
public:
  virtual ~BitmapRun() = default;

  /// Loads what the rows of instruction `number` of the run are made of.
  virtual LoadedRows load(ThreadEmitter &emitter, int64_t number) = 0;
  /// Word `number` of the two that the instruction has of the column.
  virtual Value makeWord(ThreadEmitter &emitter, const LoadedRows &loaded,
                         int64_t number) const = 0;

  static std::unique_ptr<BitmapRun>
  get(ThreadEmitter &emitter, const ::nm::BitmapForm &form, RunPlace place);
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_BITMAPRUNS_H
