//===- CompiledCase.cpp - Compiling one case ------------------------------===//

#include "CompiledCase.h"

#include "Compile.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace nm;

namespace {
/// A file that is gone when this is.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &suffix) {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) /
                        ("nm-bench-XXXXXX" + suffix))
                           .string();
    int file = error ? -1 : mkstemps(name.data(), int(suffix.size()));
    if (file < 0)
      return;
    close(file);
    path = name;
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  ~TemporaryFile() {
    if (!path.empty())
      unlink(path.c_str());
  }

  bool write(const std::string &text) const {
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    return bool(stream.flush());
  }

  /// Empty where it could not be made.
  std::string path;
};
} // namespace

static Error noTemporaryFile() {
  return Error{"cannot write a temporary file; set TMPDIR to a folder that "
               "can be written"};
}

const OpInfo *CompiledCase::product() const {
  const std::vector<OpInfo> &ops = module.info(function).ops;
  return ops.empty() ? nullptr : &ops.front();
}

std::string CompiledCase::strategy() const {
  const OpInfo *op = product();
  if (!op)
    return "";
  bool dense = op->remark.find("falls back to dense") != std::string::npos;
  return op->strategy + (dense ? " dense" : "");
}

Result<double> nm::compileToFile(const BenchCase &bench,
                                 const CompileSettings &settings,
                                 const std::string &path) {
  TemporaryFile source(".mlir");
  if (source.path.empty() || !source.write(bench.moduleText()))
    return noTemporaryFile();
  std::string options = settings.options;
  if (!bench.schedule.empty())
    options += (options.empty() ? "" : " ") + bench.schedule;
  auto begin = std::chrono::steady_clock::now();
  Result<std::string> warnings =
      compileInChild(source.path, settings.target, options, path);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  if (!warnings)
    return warnings.error();
  return spent.count();
}

Result<CompiledCase> nm::compileCase(const BenchCase &bench,
                                     const CompileSettings &settings) {
  TemporaryFile file(".so");
  if (file.path.empty())
    return noTemporaryFile();
  Result<double> seconds = compileToFile(bench, settings, file.path);
  if (!seconds)
    return seconds.error();
  return loadCase(file.path, *seconds);
}

Result<CompiledCase> nm::loadCase(const std::string &path, double seconds) {
  Result<Module> module = Module::load(path);
  if (!module)
    return module.error();
  Result<Function> function = module->function("product");
  if (!function)
    return function.error();
  return CompiledCase{std::move(*module), std::move(*function), seconds};
}
