//===- CompilerCApi.cpp - The compiler's C entry points -------------------===//

#include "nm-c/Compiler.h"

#include "nm/Compiler/Compiler.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::nm;

/// Notes belong to the entry before them.
static std::string joinEntries(const Diagnostics &diagnostics,
                               DiagnosticSeverity severity) {
  std::string text;
  bool taken = false;
  for (const Diagnostics::Entry &entry : diagnostics.getEntries()) {
    if (entry.severity != DiagnosticSeverity::Note)
      taken = entry.severity == severity;
    if (taken)
      text += entry.str() + "\n";
  }
  return text;
}

/// Memory that nmFree gives back; NULL for no text.
static char *copyText(const std::string &text) {
  if (text.empty())
    return nullptr;
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (copy)
    std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

static LogicalResult compile(const char *input, const char *target,
                             const char *optionsText, const char *outputSo,
                             Diagnostics &diagnostics) {
  if (!input || !outputSo)
    return diagnostics.fail("expected an input and an output, but got NULL");
  CompileOptions options;
  if (target)
    options.target = target;
  if (optionsText)
    if (::nm::Status status = parseOptions(optionsText, options); !status)
      return diagnostics.fail(status.error().message);
  return compileFile(input, outputSo, options, diagnostics);
}

extern "C" __attribute__((visibility("default"))) int
nmCompileFile(const char *input, const char *target, const char *optionsText,
              const char *outputSo, char **diagnosticsText) {
  Diagnostics diagnostics;
  LogicalResult result =
      compile(input, target, optionsText, outputSo, diagnostics);
  if (diagnosticsText)
    *diagnosticsText = copyText(
        joinEntries(diagnostics, failed(result) ? DiagnosticSeverity::Error
                                                : DiagnosticSeverity::Warning));
  return failed(result);
}

extern "C" __attribute__((visibility("default"))) void nmFree(char *text) {
  std::free(text);
}
