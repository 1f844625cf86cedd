//===- RunMain.cpp - The program nm-run -----------------------------------===//

#include "nm/Run/RunMain.h"

#include "Bench.h"
#include "Check.h"
#include "Compile.h"
#include "Inputs.h"
#include "ProfileTable.h"
#include "Program.h"
#include "Results.h"
#include "RunOptions.h"
#include "nm-c/Runtime.h"
#include "nm/Sim/Report.h"
#include "nm/Support/Counted.h"
#include "nm/Support/Progress.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

using namespace nm;

static constexpr Program kProgram{"nm-run"};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void summarise(size_t i, const Function &function,
                      const Tensor &tensor) {
  double sum = 0, squares = 0;
  int64_t count = tensor.elements(), notFinite = 0;
  for (int64_t e = 0; e < count; ++e) {
    double value = loadAsDouble(tensor.data, tensor.type, e);
    if (!std::isfinite(value)) {
      ++notFinite;
      continue;
    }
    sum += value;
    squares += value * value;
  }
  std::printf("result %zu of @%s: %s", i, function.name().c_str(),
              tensor.str().c_str());
  if (count > notFinite)
    std::printf(", mean %.6g, root mean square %.6g",
                sum / double(count - notFinite),
                std::sqrt(squares / double(count - notFinite)));
  if (notFinite > 0)
    std::printf(", %" PRId64 " elements are not finite", notFinite);
  std::printf("\n");
}

/// Summaries of the results, or files of these and then of what was updated.
static Status giveResults(const Function &function, const RunOptions &options,
                          std::vector<Tensor> results, Inputs &inputs) {
  if (options.outputs.empty())
    for (size_t i = 0; i < results.size(); ++i)
      summarise(i, function, results[i]);
  if (options.outputs.size() > results.size()) {
    Result<std::vector<Tensor>> updated = inputs.updated(function);
    if (!updated)
      return updated.error();
    results.insert(results.end(), updated->begin(), updated->end());
  }
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    Progress progress("writing " + options.outputs[i]);
    if (Status status = writeNpy(options.outputs[i], results[i]); !status)
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

/// Whether there are as many files as arguments and results.
static Status checkCounts(const Function &function, const RunOptions &options) {
  size_t args = function.args().size(), given = options.inputs.size();
  if (given > args || (given < args && !options.random))
    return Error{"@" + function.name() + " has " + counted(args, "argument") +
                 ", but got " + counted(given, "--input") +
                 (given < args ? "; give one for each, or --random" : "")};
  size_t results = function.results().size(), outputs = options.outputs.size();
  size_t updated = size_t(
      std::count_if(function.args().begin(), function.args().end(),
                    [](const TensorType &type) { return type.isUpdated; }));
  if (outputs != 0 && outputs != results && outputs != results + updated)
    return Error{
        "@" + function.name() + " has " + counted(results, "result") +
        (updated ? " and updates " + counted(updated, "argument") : "") +
        ", but got " + counted(outputs, "--output")};
  return Status::success();
}

/// The size that `flops_per_row` counts by.
static double firstDynamicSize(const Function &function,
                               const std::vector<Argument> &args) {
  for (size_t i = 0; i < args.size(); ++i)
    for (int64_t d = 0; d < function.args()[i].rank(); ++d)
      if (function.args()[i].shape[d] == kDynamicSize)
        return double(args[i].tensor.shape[d]);
  return 0;
}

static Work workOf(const FunctionInfo &info, const Function &function,
                   const Inputs &inputs, const std::vector<Argument> &args,
                   const std::vector<Tensor> &results) {
  Work work;
  work.bytes = double(inputs.bytes()) + info.constantBytes;
  for (const Tensor &result : results)
    work.bytes += double(result.bytes());
  work.flops = info.flops + info.flopsPerRow * firstDynamicSize(function, args);
  return work;
}

static Result<Ceilings> measureIfTiming(const Function &function,
                                        const RunOptions &options) {
  if (!options.bench && !options.profile)
    return Ceilings();
  if (!function.device().isCpu())
    return cudaCeilings(function.device());
  // Before the inputs are there, so that the memory is not needed twice.
  Progress progress("measuring the ceilings");
  return measureCeilings();
}

/// Whether the module has what the options ask for.
static Status checkModule(const Module &module, const Function &function,
                          const RunOptions &options) {
  if (options.bench && module.manifest().target == "sim")
    return Error{"expected no --bench for the target sim, whose times say "
                 "nothing of a GPU's"};
  if (options.check)
    if (Result<Function> reference = module.reference(function); !reference)
      return reference.error();
  return Status::success();
}

static int runFunction(const Module &module, const Function &function,
                       const RunOptions &options) {
  if (Status status = checkModule(module, function, options); !status)
    return kProgram.fail(status.error());
  Result<Ceilings> ceilings = measureIfTiming(function, options);
  if (!ceilings)
    return kProgram.fail(ceilings.error());
  Result<Inputs> inputs = Inputs::load(function, options, options.check);
  if (!inputs)
    return kProgram.fail(inputs.error());
  std::vector<Argument> args = inputs->arguments();
  Result<Results> results = Results::allocate(function, args);
  if (!results)
    return kProgram.fail(results.error());
  Status called = [&] {
    Progress progress("running @" + function.name());
    return function.call(args, results->tensors());
  }();
  // Those of what went wrong tell why, too.
  for (const sim::LaunchReport &report : sim::takeReports())
    std::printf("%s", report.str().c_str());
  if (!called)
    return kProgram.fail(called.error());
  Result<std::vector<Tensor>> onHost = results->onHost();
  if (!onHost)
    return kProgram.fail(
        Error{"@" + function.name() + ": " + onHost.error().message});
  if (Status status = giveResults(function, options, *onHost, *inputs); !status)
    return kProgram.fail(status.error());

  bool passed = true;
  if (options.check) {
    Result<bool> checked =
        checkResults(module, function, *inputs, *onHost, options.tolerance);
    if (!checked)
      return kProgram.fail(checked.error());
    passed = *checked;
  }
  if (options.bench) {
    Work work = workOf(module.info(function), function, *inputs, args,
                       results->tensors());
    Status timed = benchFunction(function, args, results->tensors(), work,
                                 *ceilings, *options.bench);
    if (!timed)
      return kProgram.fail(timed.error());
  }
  if (options.profile)
    if (Status profiled =
            profileFunction(function, module.info(function), args,
                            results->tensors(), *ceilings, *options.profile);
        !profiled)
      return kProgram.fail(profiled.error());
  return passed ? kSuccess : kFailure;
}

static void listFunctions(const Module &module) {
  std::string chips;
  for (const std::string &chip : module.manifest().chips)
    chips += (chips.empty() ? ", kernels for " : ", ") + chip;
  std::printf("target %s%s\n", module.manifest().target.c_str(), chips.c_str());
  for (const FunctionInfo &function : module.manifest().functions) {
    std::string args, results;
    for (const TensorType &arg : function.args)
      args += (args.empty() ? "" : ", ") + arg.str();
    for (const TensorType &result : function.results)
      results += (results.empty() ? "" : ", ") + result.str();
    std::printf("@%s(%s) -> (%s)%s\n", function.name.c_str(), args.c_str(),
                results.c_str(),
                function.reference ? ", with a reference" : "");
    for (const OpInfo &op : function.ops)
      std::printf("  %s: %s: %s\n", op.loc.c_str(), op.strategy.c_str(),
                  op.remark.c_str());
    if (function.temporaryBytes > 0)
      std::printf(
          "  temporaries: %" PRId64 " bytes%s\n", function.temporaryBytes,
          module.manifest().target == "cuda" ? " of the device's memory" : "");
    for (const StepInfo &step : function.steps)
      std::printf("  step: %s: %s%s%s\n", step.loc.c_str(), step.name.c_str(),
                  step.kernel.empty() ? "" : " by ", step.kernel.c_str());
  }
}

static int run(const RunOptions &options) {
  if (options.help) {
    std::printf("%s", runHelp().c_str());
    return kSuccess;
  }
  if (options.version) {
    std::printf("nm-run %s\n", NM_VERSION);
    return kSuccess;
  }
  if (options.threads > 0)
    nmSetNumThreads(int32_t(options.threads));
  Result<Module> module = loadModule(options);
  if (!module)
    return kProgram.fail(module.error());
  if (options.list) {
    listFunctions(*module);
    return kSuccess;
  }
  Result<Function> function = module->function(options.function);
  if (!function)
    return kProgram.fail(function.error(), kUsage);
  if (options.device >= 0)
    if (Status status = function->setDevice(Device::cuda(int(options.device)));
        !status)
      return kProgram.fail(status.error(), kUsage);
  if (Status status = checkCounts(*function, options); !status)
    return kProgram.fail(status.error(), kUsage);
  return runFunction(*module, *function, options);
}

int nm::runMain(int argc, char **argv) {
  return kProgram.main(argc, argv, parseRunOptions, run);
}
