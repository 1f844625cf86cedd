//===- ChipModule.h - A module lowered for one GPU --------------*- C++ -*-===//
//
// Schedules differ by chip, and with them the form that weights are packed in
// and the sizes of launches. So where there are several chips, the whole of a
// function is compiled for each: its kernels, the host code that launches them
// and that packs its weights. The runtime takes the one that fits the device,
// by the manifest's `variants`.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_COMPILER_CHIPMODULE_H
#define NM_LIB_COMPILER_CHIPMODULE_H

#include "WriteManifest.h"

#include "nm/Compiler/Diagnostics.h"
#include "nm/Compiler/Options.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::nm {

class ChipModule {
public:
  /// `module` is on nm ops; `records` are of its functions. Where `isVariant`,
  /// they get names of their own. Kernels become host code where `isSimulated`.
  ChipModule(std::string chip, OwningOpRef<ModuleOp> module,
             std::vector<FunctionRecord> records, bool isVariant,
             bool isSimulated);

  /// Lowers it to what `options.emit` asks for. `device` names whose
  /// measurements are looked up; empty for those that the chip's model is of.
  LogicalResult lower(const CompileOptions &options, const std::string &device,
                      Diagnostics &diagnostics);

  /// Assembles the kernels, with `ptxas` where it is not empty, and embeds them
  /// in what the module will be; with PTX beside the cubin where `keepPtx`.
  LogicalResult embedKernels(llvm::StringRef ptxas, bool keepPtx,
                             const CompileOptions &options,
                             Diagnostics &diagnostics);

  /// The kernels; empty where the module has none.
  std::string getPtx() const;
  FailureOr<std::string> makeCubin(llvm::StringRef ptxas,
                                   const CompileOptions &options,
                                   Diagnostics &diagnostics);

  const std::string &getChip() const { return chip; }
  ModuleOp getModule() const { return *module; }
  const std::vector<FunctionRecord> &getRecords() const { return records; }
  /// What it carries kernels for: `sm_90a`, `sm_90a+ptx`.
  const std::vector<std::string> &getObjects() const { return objects; }

private:
  std::string chip;
  bool isSimulated;
  OwningOpRef<ModuleOp> module;
  std::vector<FunctionRecord> records;
  std::vector<std::string> objects;
};

/// Bytes of the module's constants, once it is in the LLVM dialect.
int64_t countConstantBytes(ModuleOp module);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_CHIPMODULE_H
