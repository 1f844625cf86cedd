//===- Codegen.h - The LLVM dialect to machine code -------------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_CODEGEN_H
#define NM_LIB_COMPILER_CODEGEN_H

#include "nm/Compiler/Options.h"
#include "nm/Support/Error.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class raw_pwrite_stream;
class TargetMachine;
} // namespace llvm

namespace mlir::nm {

/// The processor that code is made for.
class HostTarget {
public:
  ~HostTarget();
  HostTarget(HostTarget &&);

  /// Checks that LLVM knows the processor that `options` name. `architecture`
  /// is that of nm/Schedule/Target.h. The processor `native` is this machine's,
  /// or the least of another architecture.
  static ::nm::Result<HostTarget> create(const CompileOptions &options,
                                         llvm::StringRef architecture);

  /// All features, as `+avx,+avx2`.
  std::string getFeatureText() const;
  /// The same, with those that other libraries' code has on the processor and
  /// this compiler's never: estimates of their products go by them.
  std::string getModelFeatureText() const;
  /// Those of the features that are instructions and that code of `module` may
  /// have; the runtime checks for them when it loads.
  std::vector<std::string> getCheckedFeatures(const llvm::Module &module) const;
  bool has(llvm::StringRef feature) const;

  llvm::TargetMachine &getMachine() const { return *machine; }

private:
  HostTarget();

  std::unique_ptr<llvm::TargetMachine> machine;
  /// `,+avx512bf16`.
  std::string othersFeatures;
};

/// Translates a module in the LLVM dialect; null after an error there.
std::unique_ptr<llvm::Module> translateToLLVM(ModuleOp module,
                                              llvm::LLVMContext &context,
                                              const HostTarget &target);

/// Refuses f16 on a processor without it: compiler-rt would be called.
::nm::Status checkHalf(const llvm::Module &module, const HostTarget &target);

/// Bytes of the constants that code of the module reads.
int64_t countConstantBytes(const llvm::Module &module);

/// Adds the exported `nm_manifest`.
void addManifest(llvm::Module &module, llvm::StringRef text);

/// Makes all but the C interface and the manifest internal.
void hideAllButInterface(llvm::Module &module);

void optimize(llvm::Module &module, const HostTarget &target,
              unsigned optLevel);

::nm::Status emitObject(llvm::Module &module, const HostTarget &target,
                        llvm::raw_pwrite_stream &stream);

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_CODEGEN_H
