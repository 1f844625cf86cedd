//===- NMToNVVM.h - From linalg with N:M weights to NVIDIA GPUs -*- C++ -*-===//

#ifndef NM_PIPELINES_NMTONVVM_H
#define NM_PIPELINES_NMTONVVM_H

#include "nm/Pipelines/SharedPhases.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::nm {

struct NMToNVVMOptions : PassPipelineOptions<NMToNVVMOptions> {
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
  Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("the chip to compile for, as ptxas names it"),
      llvm::cl::init("sm_90a")};
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
      llvm::cl::desc("fall back to dense weights and cuBLAS where that is "
                     "estimated to be faster"),
      llvm::cl::init(true)};
  Option<bool> propagateLayouts{
      *this, "propagate-layouts",
      llvm::cl::desc("give activations between products the layouts that cost "
                     "least; without, they stay as they are"),
      llvm::cl::init(true)};
  Option<bool> cublas{
      *this, "cublas",
      llvm::cl::desc("call cuBLAS, where it can be loaded, for dense products; "
                     "without, they are kernels of our own"),
      llvm::cl::init(true)};
  Option<bool> overlapKernels{
      *this, "overlap-kernels",
      llvm::cl::desc(
          "let a kernel start while the one before it ends, on sm_90 "
          "and newer"),
      llvm::cl::init(true)};
  Option<bool> profile{
      *this, "profile",
      llvm::cl::desc("let functions say when each of their steps is over"),
      llvm::cl::init(false)};
  Option<int64_t> ptxVersion{
      *this, "ptx-version",
      llvm::cl::desc("the PTX version of kernels, 87 for 8.7; 0 takes the "
                     "oldest that has the chip"),
      llvm::cl::init(0)};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc(
          "what kernels become: isa (PTX), bin (a cubin), fatbin, or "
          "llvm"),
      llvm::cl::init("bin")};
  Option<int> optLevel{*this, "opt-level",
                       llvm::cl::desc("optimization level of kernels, 0 to 3"),
                       llvm::cl::init(3)};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("folder of the CUDA toolkit, for ptxas; empty takes "
                     "CUDA_ROOT, CUDA_HOME or PATH"),
      llvm::cl::init("")};
};

/// Whether tensor copies of sparse products on `chip` read images whose
/// channels are last; not of a chip that is not known.
bool copiesPixels(StringRef chip);
ConvertToNMOptions getConvertOptions(const NMToNVVMOptions &options);

// After buildConvertToNM of SharedPhases.h, in this order:

/// Products get a schedule for the chip (`--emit=schedule`). Simulated kernels
/// work on memory of the host, which cuBLAS cannot take the place of.
void buildScheduleForGPU(OpPassManager &pm, const NMToNVVMOptions &options,
                         bool isSimulated = false);
/// All that a function computes becomes gpu.launch (`--emit=gpu`).
void buildLaunches(OpPassManager &pm, const NMToNVVMOptions &options);
/// Kernels become functions of gpu.module @kernels in NVVM (`--emit=nvvm`).
void buildKernels(OpPassManager &pm, const NMToNVVMOptions &options);
/// Launches are queued on the caller's stream, and temporaries and constants
/// are on its device (`--emit=nvvm` too).
void buildDeviceMemory(OpPassManager &pm, const NMToNVVMOptions &options);
/// Kernels become a binary of the format that `options` say.
void buildKernelBinary(OpPassManager &pm, const NMToNVVMOptions &options);
/// The host side, which launches kernels and packs weights, becomes LLVM. Last:
/// launches name their kernels until those are binaries.
void buildKernelHost(OpPassManager &pm);

/// `nm-to-nvvm`: all of them.
void buildNMToNVVMPipeline(OpPassManager &pm, const NMToNVVMOptions &options);
void registerNMToNVVMPipeline();

} // namespace mlir::nm

#endif // NM_PIPELINES_NMTONVVM_H
