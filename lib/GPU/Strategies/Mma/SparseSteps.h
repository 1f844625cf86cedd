//===- SparseSteps.h - Weights that mma.sp multiplies -----------*- C++ -*-===//
//
// What a lane loads of weights in the order of mma.sp's fragments, whether
// warps multiply them one by one or four together.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_SPARSESTEPS_H
#define NM_LIB_GPU_STRATEGIES_MMA_SPARSESTEPS_H

#include "GPU/Strategies/Mma/SteppedExpansion.h"

namespace mlir::nm {

class SparseSteps : public SteppedExpansion {
public:
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return steps() * ::nm::SparseOperand::kStepValues;
  }

protected:
  SparseSteps(SpMMOp op, const GpuTile &tile);

  /// One instruction's rows of k: half a step of 16-bit elements, a whole one
  /// of 8-bit ones.
  struct Half {
    int64_t step, number;
  };
  SmallVector<Half> listHalves() const;
  /// The first row of k of a half in the slice.
  int64_t rowOf(const Half &half) const {
    return half.step * ::nm::SparseOperand::kStepRows +
           half.number * form.instructionRows();
  }
  /// The scales that the rows of a slice have, and the number of a half's.
  int64_t scalesOfSlice() const {
    return llvm::divideCeil(steps() * ::nm::SparseOperand::kStepRows,
                            quantization.getGroup());
  }
  int64_t scaleOf(const Half &half) const {
    return rowOf(half) / quantization.getGroup();
  }

  /// The lane's word of metadata of 16 columns and a step.
  Value loadMetadata(ThreadEmitter &emitter, Value indices, int64_t block,
                     int64_t step) const;
  /// The scales of both columns that the lane has of block `block`. Columns
  /// past the end, and rows of k there, have those of the last.
  Value loadScales(ThreadEmitter &emitter, Value scales, int64_t block,
                   int64_t number) const;
  /// The lane's weights of 16 columns, as they are stored: 16 bytes, or fewer
  /// of quantized ones.
  SmallVector<Value> loadStored(ThreadEmitter &emitter, SpMMOp op,
                                const Half &half, int64_t block) const;

  /// Whether metadata and scales are copied to workgroup memory.
  static bool isStaged(Value indices);

  ::nm::SparseOperand form;
  /// How weights are stored; null for themselves.
  QuantizationAttr quantization;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_SPARSESTEPS_H
