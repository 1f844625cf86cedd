//===- Compile.cpp - Compiling an .mlir file before it runs ---------------===//

#include "Compile.h"

#include "ChildProcess.h"
#include "nm-c/Compiler.h"
#include "nm-c/Runtime.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Support/Progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

using namespace nm;

namespace {
struct Compiler {
  decltype(&nmCompileFile) compileFile;
  decltype(&nmFree) free;
};
} // namespace

static constexpr const char *kCompilerLibrary = "libnm_compiler.so";

/// Looks beside the runtime first, then where the system looks.
static void *openCompilerLibrary() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&nmParallelFor), &info) &&
      info.dli_fname) {
    std::filesystem::path beside = std::filesystem::path(info.dli_fname)
                                       .replace_filename(kCompilerLibrary);
    std::error_code ignored;
    if (std::filesystem::exists(beside, ignored))
      return dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  return dlopen(kCompilerLibrary, RTLD_NOW | RTLD_LOCAL);
}

static Result<Compiler> openCompiler() {
  void *library = openCompilerLibrary();
  if (!library)
    return Error{std::string("cannot load the compiler, which an .mlir file "
                             "needs: ") +
                 dlerror()};
  Compiler compiler;
  compiler.compileFile = reinterpret_cast<decltype(&nmCompileFile)>(
      dlsym(library, "nmCompileFile"));
  compiler.free = reinterpret_cast<decltype(&nmFree)>(dlsym(library, "nmFree"));
  if (!compiler.compileFile || !compiler.free)
    return Error{std::string("expected nmCompileFile and nmFree in ") +
                 kCompilerLibrary + ", but at least one is missing"};
  return compiler;
}

/// The target to compile for: with `cuda` alone, the chip of the device that
/// will run it.
static Result<std::string> completeTarget(const RunOptions &options) {
  if (!options.target)
    return std::string("cpu");
  if (options.target->kind != Target::Kind::Cuda ||
      !options.target->chips.empty())
    return options.target->str();
  Result<CudaDeviceInfo> info =
      cudaDeviceInfo(std::max<int>(int(options.device), 0));
  if (!info)
    return Error{"--target=cuda compiles for the device that is there: " +
                 info.error().message};
  return "cuda:" + info->chip();
}

/// What `compile` returns where there is no compiler.
static constexpr int kNoCompiler = 2;

/// Compiles `model` to `output` and leaves what there is to say in `text`.
/// Returns 0 on success.
static int compile(const std::string &model, const std::string &target,
                   const std::string &compileOptions, const std::string &output,
                   std::string &text) {
  Result<Compiler> compiler = openCompiler();
  if (!compiler) {
    text = compiler.error().message;
    return kNoCompiler;
  }
  char *diagnostics = nullptr;
  int failed = compiler->compileFile(model.c_str(), target.c_str(),
                                     compileOptions.c_str(), output.c_str(),
                                     &diagnostics);
  text = diagnostics ? diagnostics : "";
  compiler->free(diagnostics);
  return failed ? 1 : 0;
}

/// What the compiler leaves there when it is ended goes with the folder.
static Result<ChildOutcome> compileIn(const std::string &folder,
                                      const std::string &model,
                                      const std::string &target,
                                      const std::string &compileOptions,
                                      const std::string &output) {
  return runInChild([&](std::string &text) {
    setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
    return compile(model, target, compileOptions, output, text);
  });
}

Result<CompiledFile> nm::compileInChild(const std::string &model,
                                        const std::string &target,
                                        const std::string &compileOptions,
                                        const std::string &prefix) {
  Result<TemporaryPath> folder = TemporaryPath::folder(prefix);
  if (!folder)
    return Error{"cannot make the temporary folder " + prefix +
                 "...: " + folder.error().message +
                 "; set TMPDIR to a folder that can be written"};
  std::string output = folder->str() + "/model.so";
  Result<ChildOutcome> compiled =
      compileIn(folder->str(), model, target, compileOptions, output);
  if (!compiled)
    return Error{"cannot compile " + model + ": " + compiled.error().message};
  std::string &text = compiled->text;
  if (compiled->exitCode == kNoCompiler)
    return Error{text};
  if (compiled->exitCode != 0)
    return Error{"cannot compile " + model +
                 (text.empty() ? "" : ":\n" + text)};
  return CompiledFile{std::move(*folder), std::move(output), std::move(text)};
}

static Result<Module> compileAndLoad(const RunOptions &options) {
  std::string compileOptions = options.compileOptions;
  if (options.check)
    compileOptions +=
        compileOptions.empty() ? "with-reference" : " with-reference";
  if (options.profile)
    compileOptions += compileOptions.empty() ? "profile" : " profile";
  Result<std::string> target = completeTarget(options);
  if (!target)
    return target.error();
  Result<CompiledFile> compiled = [&] {
    Progress progress("compiling " + options.model);
    return compileInChild(options.model, *target, compileOptions,
                          inTemporaryFolder("nm-run-"));
  }();
  if (!compiled)
    return compiled.error();
  const std::string &warnings = compiled->warnings;
  if (!warnings.empty())
    std::fprintf(stderr, "%s%s", warnings.c_str(),
                 warnings.back() == '\n' ? "" : "\n");
  return Module::load(compiled->path);
}

/// Whether the name is that of MLIR, as text or bytecode.
static bool isMlir(const std::string &path) {
  std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".mlir" || extension == ".mlirbc";
}

Result<Module> nm::loadModule(const RunOptions &options) {
  std::error_code error;
  if (!std::filesystem::exists(options.model, error))
    return Error{options.model + ": no such file"};
  if (isMlir(options.model))
    return compileAndLoad(options);
  if (!options.compileOptions.empty())
    return Error{options.model +
                 ": expected an .mlir file with --compile-options, but got a "
                 "compiled module"};
  Result<Module> module = Module::load(options.model);
  if (!module)
    return module;
  const std::string &compiledFor = module->manifest().target;
  if (options.target && options.target->kindName() != compiledFor)
    return Error{options.model + ": expected a module for the target " +
                 options.target->kindName() + ", but got one for " +
                 compiledFor};
  return module;
}
