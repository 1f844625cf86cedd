//===- JitModule.h - IR text to callable functions --------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_JITMODULE_H
#define NM_TEST_INTEGRATION_CPU_JITMODULE_H

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace nm::test {

/// Functions on memrefs, lowered and compiled for this machine.
class JitModule {
public:
  /// Parses `source`, runs the textual pass pipeline `strategy` and the
  /// compiler's lowering to LLVM, and compiles; null after printing what
  /// failed.
  static std::unique_ptr<JitModule> compile(const std::string &source,
                                            const std::string &strategy);
  ~JitModule();

  /// Calls function `name` with memref descriptors; whether it exists.
  bool call(const std::string &name, const std::vector<void *> &descriptors);

private:
  explicit JitModule(std::unique_ptr<mlir::ExecutionEngine> engine);

  std::unique_ptr<mlir::ExecutionEngine> engine;
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_JITMODULE_H
