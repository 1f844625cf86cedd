//===- CompiledCase.cpp - Compiling one case ------------------------------===//

#include "CompiledCase.h"

#include "BenchReport.h"
#include "Compile.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace nm;

const OpInfo *CompiledCase::product() const {
  const std::vector<OpInfo> &ops = module.info(function).ops;
  return ops.empty() ? nullptr : &ops.front();
}

std::string CompiledCase::strategy() const {
  const OpInfo *op = product();
  if (!op)
    return "";
  bool dense = op->fallsBack && op->strategy != "cublas";
  return op->strategy + (dense ? " dense" : "");
}

/// Compiles a case in a new folder whose name starts with `prefix`; gives the
/// seconds it took, too.
static Result<std::pair<CompiledFile, double>>
compileIn(const BenchCase &bench, const CompileSettings &settings,
          const std::string &prefix) {
  Result<TemporaryPath> source = TemporaryPath::file(prefix, ".mlir", 0600);
  if (!source)
    return Error{"cannot write the temporary file " + prefix +
                 "...mlir: " + source.error().message +
                 "; set TMPDIR to a folder that can be written"};
  Result<std::string> text = bench.moduleText();
  if (!text)
    return text.error();
  std::ofstream stream(source->str(), std::ios::binary);
  stream << *text;
  stream.close();
  if (!stream)
    return Error{source->str() + ": cannot write: " + std::strerror(errno)};
  std::string options = settings.options;
  if (!bench.schedule.empty())
    options += (options.empty() ? "schedule=" : " schedule=") + bench.schedule;
  auto begin = std::chrono::steady_clock::now();
  Result<CompiledFile> compiled =
      compileInChild(source->str(), settings.target, options, prefix);
  std::chrono::duration<double> spent =
      std::chrono::steady_clock::now() - begin;
  if (!compiled)
    return compiled.error();
  return std::pair(std::move(*compiled), spent.count());
}

Result<double> nm::compileToFile(const BenchCase &bench,
                                 const CompileSettings &settings,
                                 const std::string &path) {
  // Beside the module, so that a rename can move it.
  auto compiled = compileIn(bench, settings, path + ".tmp.");
  if (!compiled)
    return compiled.error();
  auto &[file, seconds] = *compiled;
  if (std::rename(file.path.c_str(), path.c_str()) != 0)
    return Error{path + ": cannot write: " + std::strerror(errno)};
  return seconds;
}

Result<CompiledCase> nm::compileCase(const BenchCase &bench,
                                     const CompileSettings &settings) {
  auto compiled = compileIn(bench, settings, inTemporaryFolder("nm-bench-"));
  if (!compiled)
    return compiled.error();
  return loadCase(compiled->first.path, compiled->second);
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

void nm::recordKernel(const CompiledCase &compiled, CaseResult &result) {
  result.compileSeconds = compiled.seconds;
  result.strategy = compiled.strategy();
  if (const OpInfo *product = compiled.product()) {
    result.remark = product->remark;
    result.mappedBy = product->schedule;
    result.product = *product;
  }
}
