//===- BenchMain.cpp - The program nm-bench -------------------------------===//

#include "nm/Bench/BenchMain.h"

#include "Ablation.h"
#include "BenchOptions.h"
#include "ChildProcess.h"
#include "CompileAll.h"
#include "CpuBench.h"
#include "GpuBench.h"
#include "Measure.h"
#include "Probe.h"
#include "Program.h"
#include "Tune.h"
#include "nm-c/Runtime.h"
#include "nm/Schedule/NamedRates.h"
#include "nm/Support/Progress.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

using namespace nm;

static constexpr Program kProgram{"nm-bench"};

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static CompileSettings compileSettings(const BenchOptions &options) {
  CompileSettings settings{options.target.str(), options.compileOptions};
  // Before what was given, which may say otherwise.
  if (options.target.kind == Target::Kind::Cpu) {
    std::string threads = "threads=" + std::to_string(nmGetNumThreads());
    settings.options =
        threads + (settings.options.empty() ? "" : " " + settings.options);
  }
  return settings;
}

static int compileCases(const BenchOptions &options) {
  CompileSettings settings = compileSettings(options);
  Result<KernelFolder> folder =
      KernelFolder::create(options.kernels, settings.target);
  if (!folder)
    return kProgram.fail(folder.error());
  size_t jobs = options.threads > 0 ? size_t(options.threads)
                                    : std::thread::hardware_concurrency();
  Result<size_t> failed = compileAll(options.cases, settings, *folder, jobs);
  if (!failed)
    return kProgram.fail(failed.error());
  return *failed == 0 ? kSuccess : kFailure;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Takes a case's module from `folder`, where there is one, or compiles it.
static Result<CompiledCase> compileOrLoad(const BenchCase &bench,
                                          const BenchOptions &options,
                                          const KernelFolder *folder) {
  if (folder)
    return folder->load(bench);
  Progress progress("compiling " + bench.str());
  return compileCase(bench, compileSettings(options));
}

namespace {
/// Cases on a CpuBench or a GpuBench.
template <typename Bench>
class BenchRunner : public CaseRunner {
public:
  BenchRunner(const BenchOptions &options, const KernelFolder *folder,
              Bench bench)
      : options(options), folder(folder), bench(std::move(bench)) {}

  std::string describe() const override { return bench.describe(); }
  bool isUsable() const override { return bench.isUsable(); }
  Result<CaseResult> run(const BenchCase &which) override;

private:
  const BenchOptions &options;
  const KernelFolder *folder;
  Bench bench;
  StepSchedules measured;
};
} // namespace

/// A step that the compiler refuses for the product, in its words.
static CaseResult withoutStep(const BenchCase &which, const Error &error) {
  CaseResult result;
  result.bench = which;
  result.whyNoStep = whyRefused(error.message);
  return result;
}

template <typename Bench>
Result<CaseResult> BenchRunner<Bench>::run(const BenchCase &which) {
  Result<CompiledCase> compiled = compileOrLoad(which, options, folder);
  if (!compiled && !which.step.empty())
    return withoutStep(which, compiled.error());
  if (!compiled)
    return compiled.error();
  const OpInfo *product = compiled->product();
  std::string schedule = product ? product->schedule : "";
  if (std::string step = measured.find(which, schedule); !step.empty()) {
    CaseResult same;
    same.bench = which;
    same.sameAs = step;
    return same;
  }
  Result<CaseResult> result = bench.measure(which, *compiled);
  if (!result)
    return result;
  measured.add(which, schedule);
  recordKernel(*compiled, *result);
  return result;
}

template <typename Bench>
static int runCases(const BenchOptions &options, Isolation isolation) {
  std::optional<KernelFolder> folder;
  if (!options.kernels.empty()) {
    Result<KernelFolder> opened = KernelFolder::open(options.kernels);
    if (!opened)
      return kProgram.fail(opened.error());
    folder = std::move(*opened);
  }
  auto makeRunner = [&]() -> Result<std::unique_ptr<CaseRunner>> {
    Result<Bench> bench = Bench::create(options);
    if (!bench)
      return bench.error();
    return std::unique_ptr<CaseRunner>(new BenchRunner<Bench>(
        options, folder ? &*folder : nullptr, std::move(*bench)));
  };
  Result<bool> passed =
      measureCases(options.cases, options.csv, makeRunner, isolation,
                   options.resume ? Reporting::Continued : Reporting::Whole);
  if (!passed)
    return kProgram.fail(passed.error());
  return *passed ? kSuccess : kFailure;
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

/// A bench that lives as long as what measures on it.
template <typename Bench>
static Result<TuneDevice::Bench> openBench(const BenchOptions &options) {
  Result<Bench> created = Bench::create(options);
  if (!created)
    return created.error();
  auto bench = std::make_shared<Bench>(std::move(*created));
  return TuneDevice::Bench{
      [bench](const BenchCase &which, CompiledCase &compiled) {
        return bench->measure(which, compiled);
      },
      [bench] { return bench->isUsable(); }, bench->describe()};
}

static Result<TuneDevice> tuneDevice(const BenchOptions &options) {
  TuneDevice device;
  if (options.target.kind == Target::Kind::Cpu) {
    device.device = {hostProcessor(), "cpu", nmGetNumThreads()};
    device.onCpu = true;
    device.open = [&] { return openBench<CpuBench>(options); };
    return device;
  }
  // In a process of its own, which leaves the device for those that measure.
  Result<ChildOutcome> facts = runInChild([&](std::string &text) {
    Result<TableDevice> found = GpuBench::facts(options);
    text = found ? writeTables({{kTableVersion, kKernelVersion, *found}})
                 : found.error().message;
    return found ? 0 : 1;
  });
  if (!facts)
    return facts.error();
  if (facts->exitCode != 0)
    return Error{facts->text};
  Result<std::vector<ScheduleTable>> table = readTables(facts->text, "device");
  if (!table)
    return table.error();
  device.device = table->front().device;
  device.isolation = Isolation::Child;
  device.open = [&] { return openBench<GpuBench>(options); };
  return device;
}

static int tuneCases(const BenchOptions &options) {
  if (!options.merged.empty()) {
    Status merged = mergeIntoTable(options);
    return merged ? kSuccess : kProgram.fail(merged.error());
  }
  Result<TuneDevice> device = tuneDevice(options);
  if (!device)
    return kProgram.fail(device.error());
  Result<bool> passed = tune(options, compileSettings(options), *device);
  if (!passed)
    return kProgram.fail(passed.error());
  return *passed ? kSuccess : kFailure;
}

static int compileForTuning(const BenchOptions &options) {
  Result<bool> done = compileCandidates(options, compileSettings(options));
  if (!done)
    return kProgram.fail(done.error());
  return *done ? kSuccess : kFailure;
}

//===----------------------------------------------------------------------===//
// Probing
//===----------------------------------------------------------------------===//

/// Each rate beside that of the chip's own model, where there is one.
static void printRates(const TableDevice &device, const GpuRates &rates) {
  Result<GpuChip> known = GpuChip::get(device.chip);
  std::printf("%-16s %10s %10s\n", "rate", "measured", "by model");
  for (const NamedRate &named : kNamedRates)
    std::printf("%-16s %10.4g %10.4g\n", named.name, rates.*named.rate,
                known ? known->rates.*named.rate : 0);
}

static int probeDevice(const BenchOptions &options) {
  Result<TableDevice> facts = GpuBench::facts(options);
  if (!facts)
    return kProgram.fail(facts.error());
  Result<GpuRates> rates =
      probeRates(Device::cuda(int(options.device)), *facts);
  if (!rates)
    return kProgram.fail(rates.error());
  Status written = addToTableFile(
      options.table, {{kTableVersion, kKernelVersion, *facts, *rates}});
  if (!written)
    return kProgram.fail(written.error());
  printRates(*facts, *rates);
  std::printf("%s: rates of %s\n", options.table.c_str(), facts->name.c_str());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static int runWhole(const BenchOptions &options) {
  if (options.help) {
    std::printf("%s", benchHelp().c_str());
    return kSuccess;
  }
  if (options.version) {
    std::printf("nm-bench %s\n", NM_VERSION);
    return kSuccess;
  }
  if (options.list) {
    for (const BenchCase &bench : options.cases)
      std::printf("%s\n", bench.str().c_str());
    return kSuccess;
  }
  if (options.probe)
    return probeDevice(options);
  if (options.threads > 0)
    nmSetNumThreads(int32_t(options.threads));
  if (!options.table.empty())
    return options.compileOnly ? compileForTuning(options) : tuneCases(options);
  if (options.compileOnly)
    return compileCases(options);
  if (options.target.kind == Target::Kind::Cuda)
    return runCases<GpuBench>(options, Isolation::Child);
  return runCases<CpuBench>(options, Isolation::None);
}

static int run(const BenchOptions &options) {
  if (!options.resume)
    return runWhole(options);
  Result<std::vector<BenchCase>> left = casesNotIn(options.csv, options.cases);
  if (!left)
    return kProgram.fail(left.error());
  size_t known = options.cases.size() - left->size();
  if (!options.list)
    std::printf("%s has %zu of %zu cases\n", options.csv.c_str(), known,
                options.cases.size());
  BenchOptions rest = options;
  rest.cases = std::move(*left);
  return rest.cases.empty() ? kSuccess : runWhole(rest);
}

int nm::benchMain(int argc, char **argv) {
  return kProgram.main(argc, argv, parseBenchOptions, run);
}
