//===- Diagnostics.h - What a compilation has to say ------------*- C++ -*-===//

#ifndef NM_COMPILER_DIAGNOSTICS_H
#define NM_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir::nm {

/// Collects errors, warnings and remarks in order.
class Diagnostics {
public:
  struct Entry {
    DiagnosticSeverity severity;
    /// `file:line:column`, or empty.
    std::string place;
    std::string message;

    /// `file:line:column: error: message`.
    std::string str() const;
  };

  /// `onEntry`, if any, sees each entry at once, and `onStep` each step as it
  /// begins.
  explicit Diagnostics(std::function<void(const Entry &)> onEntry = {},
                       std::function<void(llvm::StringRef)> onStep = {})
      : onEntry(std::move(onEntry)), onStep(std::move(onStep)) {}

  void add(Entry entry);
  /// Adds an MLIR diagnostic and its notes.
  void add(Diagnostic &diagnostic);
  /// Adds an error, and fails.
  LogicalResult fail(const llvm::Twine &message);

  /// `name` is the step that begins, a pass by its flag or `the linker`; an
  /// error after a crash names the step.
  void setStep(llvm::StringRef name) {
    step = name.str();
    if (onStep)
      onStep(step);
  }
  llvm::StringRef getStep() const { return step; }

  bool hasErrors() const;
  const std::vector<Entry> &getEntries() const { return entries; }

private:
  std::string step;
  std::vector<Entry> entries;
  std::function<void(const Entry &)> onEntry;
  std::function<void(llvm::StringRef)> onStep;
};

} // namespace mlir::nm

#endif // NM_COMPILER_DIAGNOSTICS_H
