//===- Compilation.cpp - Compiling to memory from C -----------------------===//

#include "nm-c/Compiler.h"

#include "nm/Compiler/Compiler.h"
#include "nm/Compiler/OutputFile.h"
#include "nm/Support/TemporaryPath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdio>
#include <cstring>
#include <optional>

using namespace mlir;
using namespace mlir::nm;
using ::nm::Result;
using ::nm::Status;

struct NmCompilation {
  explicit NmCompilation(std::function<void(StringRef)> onStep)
      : diagnostics({}, std::move(onStep)) {}

  Diagnostics diagnostics;
  bool isDone = false;
  /// Null where the artifact is a file of the caller's.
  std::unique_ptr<llvm::MemoryBuffer> artifact;
};

namespace {
/// The module: `size` bytes at `text`, or the file `name` where `text` is null.
struct Source {
  const char *text;
  size_t size;
  const char *name;
};
} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Sets --target and --emit, which are not in the table, or an option that is.
static Status setAnyOption(CompileOptions &options, StringRef name,
                           std::optional<StringRef> value) {
  if (name == "target") {
    options.target = value.value_or("").str();
    return Status::success();
  }
  if (name != "emit")
    return setOption(options, name, value);
  Result<Emit> emit = parseEmit(value.value_or(""));
  if (!emit)
    return emit.error();
  options.emit = *emit;
  return Status::success();
}

static Status readOptions(const NmCompileOption *given, int64_t count,
                          CompileOptions &options) {
  for (int64_t i = 0; i < count; ++i) {
    if (!given[i].name)
      return ::nm::Error{"expected the name of option " + std::to_string(i) +
                         ", but got NULL"};
    std::optional<StringRef> value;
    if (given[i].value)
      value = given[i].value;
    if (Status status = setAnyOption(options, given[i].name, value); !status)
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static LogicalResult compileToFile(const Source &source, StringRef path,
                                   const CompileOptions &options,
                                   Diagnostics &diagnostics) {
  if (!source.text)
    return compileFile(source.name, path, options, diagnostics);
  return compileBuffer({StringRef(source.text, source.size),
                        source.name ? source.name : "<text>"},
                       path, options, diagnostics);
}

/// The linker writes files, so the artifact is one for a moment.
static LogicalResult compileToMemory(const Source &source,
                                     const CompileOptions &options,
                                     NmCompilation &compilation) {
  Diagnostics &diagnostics = compilation.diagnostics;
  Result<::nm::TemporaryPath> file = ::nm::TemporaryPath::file(
      ::nm::inTemporaryFolder("nm-compile-"), ".out", 0600);
  if (!file)
    return diagnostics.fail("cannot write a temporary file: " +
                            file.error().message);
  std::string path = file->str();
  if (failed(compileToFile(source, path, options, diagnostics)))
    return failure();
  auto artifact = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false,
                                              /*IsVolatile=*/true);
  if (!artifact)
    return diagnostics.fail("cannot read '" + path +
                            "': " + artifact.getError().message());
  compilation.artifact = std::move(*artifact);
  return success();
}

static LogicalResult compile(const Source &source, const char *output,
                             const NmCompileOption *given, int64_t numOptions,
                             NmCompilation &compilation) {
  if (!source.text && !source.name)
    return compilation.diagnostics.fail(
        "expected a text or the name of a file, but got NULL");
  if (numOptions < 0 || (numOptions > 0 && !given))
    return compilation.diagnostics.fail(
        "expected " + std::to_string(numOptions) + " options, but got " +
        (given ? "a count below 0" : "NULL"));
  CompileOptions options;
  if (Status status = readOptions(given, numOptions, options); !status)
    return compilation.diagnostics.fail(status.error().message);
  if (output)
    return compileToFile(source, output, options, compilation.diagnostics);
  return compileToMemory(source, options, compilation);
}

static NmSeverity toSeverity(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return NM_ERROR;
  case DiagnosticSeverity::Warning:
    return NM_WARNING;
  case DiagnosticSeverity::Remark:
    return NM_REMARK;
  case DiagnosticSeverity::Note:
    return NM_NOTE;
  }
  return NM_ERROR;
}

//===----------------------------------------------------------------------===//
// The C symbols
//===----------------------------------------------------------------------===//

#define NM_COMPILER_API __attribute__((visibility("default")))

extern "C" {

NM_COMPILER_API int64_t nmGetNumCompileOptions(void) {
  return int64_t(getOptionInfos().size());
}

NM_COMPILER_API int nmGetCompileOption(int64_t index,
                                       NmCompileOptionInfo *info) {
  if (!info || index < 0 || index >= nmGetNumCompileOptions())
    return 1;
  // The table holds string literals, which end with a NUL.
  const OptionInfo &option = getOptionInfos()[index];
  *info = {option.name.data(), option.value.empty() ? "" : option.value.data(),
           option.help.data()};
  return 0;
}

NM_COMPILER_API NmCompilation *nmCompile(const char *text, size_t size,
                                         const char *name,
                                         const NmCompileOption *options,
                                         int64_t numOptions) {
  return nmCompileTo(nullptr, text, size, name, options, numOptions, nullptr,
                     nullptr);
}

NM_COMPILER_API NmCompilation *
nmCompileTo(const char *output, const char *text, size_t size, const char *name,
            const NmCompileOption *options, int64_t numOptions,
            NmStepCallback onStep, void *context) {
  auto *compilation = new NmCompilation([=](StringRef step) {
    if (onStep)
      onStep(step.str().c_str(), context);
  });
  compilation->isDone = succeeded(
      compile({text, size, name}, output, options, numOptions, *compilation));
  return compilation;
}

NM_COMPILER_API void nmCompilationFree(NmCompilation *compilation) {
  delete compilation;
}

NM_COMPILER_API int nmCompilationFailed(const NmCompilation *compilation) {
  return !compilation || !compilation->isDone;
}

NM_COMPILER_API const void *
nmCompilationGetArtifact(const NmCompilation *compilation, size_t *size) {
  bool isThere = compilation && compilation->artifact;
  if (size)
    *size = isThere ? compilation->artifact->getBufferSize() : 0;
  return isThere ? compilation->artifact->getBufferStart() : nullptr;
}

NM_COMPILER_API char *nmCompilationWrite(const NmCompilation *compilation,
                                         const char *path) {
  if (!compilation || !path)
    return strdup("expected a compilation and a path, but got NULL");
  if (!compilation->isDone)
    return strdup("expected an artifact, but the compilation failed");
  if (!compilation->artifact)
    return strdup("expected an artifact in memory, but it is in a file");
  Status status = writeOutput(path, compilation->artifact->getBuffer());
  return status ? nullptr : strdup(status.error().message.c_str());
}

NM_COMPILER_API int64_t
nmCompilationGetNumDiagnostics(const NmCompilation *compilation) {
  return compilation ? int64_t(compilation->diagnostics.getEntries().size())
                     : -1;
}

NM_COMPILER_API int nmCompilationGetDiagnostic(const NmCompilation *compilation,
                                               int64_t index,
                                               NmDiagnostic *diagnostic) {
  if (!compilation || !diagnostic)
    return 1;
  const auto &entries = compilation->diagnostics.getEntries();
  if (index < 0 || index >= int64_t(entries.size()))
    return 1;
  const Diagnostics::Entry &entry = entries[index];
  *diagnostic = {toSeverity(entry.severity), entry.place.c_str(),
                 entry.message.c_str()};
  return 0;
}
}
