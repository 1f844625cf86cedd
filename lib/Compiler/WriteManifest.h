//===- WriteManifest.h - Writing what a module says of itself ---*- C++ -*-===//
//
// The text is described in nm/Runtime/Manifest.h, which reads it.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_COMPILER_WRITEMANIFEST_H
#define NM_LIB_COMPILER_WRITEMANIFEST_H

#include "Signature.h"

#include "nm/Dialect/NM/IR/ProductRecord.h"
#include "nm/Schedule/KernelProfile.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::nm {

/// Where one weight's packed form goes.
struct PackedWeight {
  int64_t arg;
  TensorInfo values;
  TensorInfo indices;
  std::optional<TensorInfo> lists;
  /// How it was packed; empty where no text says it.
  std::string layout;
};

/// A kernel's name, and the threads of a block of it.
struct KernelOfProduct {
  std::string name;
  int64_t threads = 0;
};

/// How one product was compiled.
struct OpRecord {
  /// nm.spmm or nm.spmv, its sizes, -1 where dynamic, and the elements of A.
  std::string op;
  int64_t m = 0, n = 0, k = 0;
  std::string dtype;
  /// The product as nm-bench takes it; empty where tables have none such.
  std::string tuneCase;
  std::string strategy;
  /// The attribute, as text and by parameter.
  std::string schedule;
  llvm::json::Value parameters = nullptr;
  std::string place;
  std::string remark;
  ProductRecord choice;
  ::nm::KernelProfile profile;
  /// The kernels that were made of it alone.
  std::vector<KernelOfProduct> kernels;
};

/// A step: the work of a function between two times that it takes.
struct StepRecord {
  /// The ops that it computes.
  std::string name;
  /// Empty for what is no launch.
  std::string kernel;
  std::string place;
  /// Bytes of the step's operands, each counted once; -1 where not known.
  int64_t bytes = -1;
};

/// Operations of a call: `fixed`, and `perRow` for each of the first dynamic
/// size among the arguments.
struct Flops {
  int64_t fixed = 0;
  int64_t perRow = 0;
};

/// One function as it was compiled for one chip.
struct VariantRecord {
  /// The function's symbol in the module.
  std::string symbol;
  /// `sm_90a`, `sm_90a+ptx`.
  std::vector<std::string> chips;
  std::vector<PackedWeight> packed;
};

struct FunctionRecord {
  Signature signature;
  /// Where it was compiled for several chips.
  std::vector<VariantRecord> variants;
  std::vector<PackedWeight> packed;
  std::vector<OpRecord> ops;
  /// Where times are taken.
  std::vector<StepRecord> steps;
  /// Bytes of the temporaries; absent where their sizes are dynamic.
  std::optional<int64_t> temporaryBytes;
  Flops flops;
  bool hasReference = false;
};

struct ModuleRecord {
  std::string target;
  std::vector<std::string> processorFeatures;
  std::vector<std::string> chips;
  std::vector<FunctionRecord> functions;
  int64_t constantBytes = 0;
};

std::string writeManifest(const ModuleRecord &module);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_WRITEMANIFEST_H
