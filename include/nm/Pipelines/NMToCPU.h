//===- NMToCPU.h - From linalg with N:M weights to the CPU ------*- C++ -*-===//

#ifndef NM_PIPELINES_NMTOCPU_H
#define NM_PIPELINES_NMTOCPU_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

struct NMToCPUOptions : PassPipelineOptions<NMToCPUOptions> {
  Option<bool> detectWeights{
      *this, "detect-weights",
      llvm::cl::desc("find constants that obey an N:M pattern"),
      llvm::cl::init(true)};
  Option<std::string> arithmetic{
      *this, "arithmetic",
      llvm::cl::desc("what products may be computed by that do not say it: of "
                     "f32, f32, ieee, bf16x3 or tf32; of 8-bit floats, "
                     "fast_accum"),
      llvm::cl::init("f32")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("the schedule of every product that has none; the cost "
                     "model chooses what is left out"),
      llvm::cl::init("")};
  ListOption<std::string> scheduleTables{
      *this, "schedule-table",
      llvm::cl::desc("files of measured schedules, which answer before the "
                     "cost model; 'ships' are those that nm has")};
  Option<std::string> device{
      *this, "device",
      llvm::cl::desc("the device whose measurements are looked up"),
      llvm::cl::init("")};
  Option<bool> batchInvariant{
      *this, "batch-invariant",
      llvm::cl::desc("let a row's sums not depend on how many rows there are"),
      llvm::cl::init(false)};
  Option<bool> denseFallback{
      *this, "dense-fallback",
      llvm::cl::desc("use dense weights where they are estimated to be faster"),
      llvm::cl::init(true)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("threads to schedule for; 0 takes the host's"),
      llvm::cl::init(0)};
  Option<std::string> features{
      *this, "features",
      llvm::cl::desc("processor features to compile for, as LLVM names them; "
                     "empty takes the host's"),
      llvm::cl::init("")};
  Option<bool> profile{
      *this, "profile",
      llvm::cl::desc("let functions say when each of their steps is over"),
      llvm::cl::init(false)};
  Option<int64_t> minTaskElements{
      *this, "min-task-elements",
      llvm::cl::desc("elements of a task that linalg ops beside the products "
                     "are cut into; 0 leaves them whole"),
      llvm::cl::init(16384)};
};

// After buildConvertToNM of SharedPhases.h, in this order:

/// Products get a schedule for the CPU (`--emit=schedule`).
void buildScheduleForCPU(OpPassManager &pm, const NMToCPUOptions &options);
/// Everything becomes the LLVM dialect.
void buildLowerToCPU(OpPassManager &pm, const NMToCPUOptions &options);

/// `nm-to-cpu`: all three.
void buildNMToCPUPipeline(OpPassManager &pm, const NMToCPUOptions &options);
void registerNMToCPUPipeline();

} // namespace mlir::nm

#endif // NM_PIPELINES_NMTOCPU_H
