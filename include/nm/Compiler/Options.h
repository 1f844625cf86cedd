//===- Options.h - What nm-compile can be told ------------------*- C++ -*-===//

#ifndef NM_COMPILER_OPTIONS_H
#define NM_COMPILER_OPTIONS_H

#include "nm/Support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nm {

/// How far a module is compiled, and so what comes out.
enum class Emit {
  NM,
  Schedule,
  GPU,
  NVVM,
  PTX,
  Cubin,
  LLVM,
  Object,
  SharedObject
};

struct CompileOptions {
  /// As nm/Schedule/Target.h reads it.
  std::string target = "cpu";
  Emit emit = Emit::SharedObject;
  bool withReference = false;
  /// Whether functions tell the runtime when each of their steps is over.
  bool profile = false;
  bool detectWeights = true;
  /// What products of f32 may be computed by that do not say it.
  std::string arithmetic = "f32";
  /// LLVM's names; `native` is the host's processor with all it has.
  std::string cpu = "native";
  std::string features;
  /// The schedule of every product that has none, whole or in part; see
  /// parseSchedule. Empty leaves the choice to the cost model.
  std::string schedule;
  /// Files of measured schedules, which answer before the cost model; `none`
  /// for no table at all, and none for those of NM_SCHEDULE_TABLE.
  std::vector<std::string> scheduleTables;
  /// The device whose measurements are looked up; empty for the one that is
  /// here, or that the chip's model is of.
  std::string device;
  /// Whether the order of a row's sums must not depend on how many rows there
  /// are.
  bool batchInvariant = false;
  /// Whether a GPU's kernel starts while the one before it ends.
  bool overlapKernels = true;
  /// Whether activations between a GPU's products take the layouts that cost
  /// least.
  bool propagateLayouts = true;
  /// Whether products fall back to dense weights where those are estimated to
  /// be faster.
  bool denseFallback = true;
  /// Files of safetensors with the bytes of constants that the module has not.
  std::vector<std::string> resources;
  int64_t threads = 0;
  unsigned optLevel = 3;
  /// The folder of the CUDA toolkit; empty takes the one that is found.
  std::string toolkit;
  /// Where a pass that fails leaves the IR it was given.
  std::string reproducer;
};

/// An option as it is written on nm-compile's command line (--name=value) and
/// in the C API's text (name=value). All but --target, --emit and -o are here.
struct OptionInfo {
  llvm::StringRef name;
  /// Stands for the value in help texts; empty for a flag.
  llvm::StringRef value;
  llvm::StringRef help;
  ::nm::Status (*set)(CompileOptions &options, llvm::StringRef value);
};

llvm::ArrayRef<OptionInfo> getOptionInfos();

/// Sets the option of the table that is called `name`; only a flag may be given
/// without a value.
::nm::Status setOption(CompileOptions &options, llvm::StringRef name,
                       std::optional<llvm::StringRef> value);

/// Parses `with-reference schedule=simt<stages = 3> opt-level=2`: spaces in
/// brackets separate no options.
::nm::Status parseOptions(llvm::StringRef text, CompileOptions &options);

::nm::Result<Emit> parseEmit(llvm::StringRef name);

} // namespace mlir::nm

#endif // NM_COMPILER_OPTIONS_H
