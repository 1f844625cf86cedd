//===- Tune.cpp - Measuring candidates for a table ------------------------===//

#include "Tune.h"

#include "Candidates.h"
#include "CompileAll.h"
#include "Measurements.h"
#include "nm/Support/Counted.h"
#include "nm/Support/TemporaryPath.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include <unistd.h>

using namespace nm;
using Clock = std::chrono::steady_clock;

std::string TuneDevice::name() const {
  return onCpu ? device.name + " x " + std::to_string(device.units)
               : device.name;
}

//===----------------------------------------------------------------------===//
// The budget
//===----------------------------------------------------------------------===//

static volatile std::sig_atomic_t interrupted = 0;
static void interrupt(int) { interrupted = 1; }

namespace {
/// While it lives, an interrupt ends the measuring, not the program.
class KeepOnInterrupt {
public:
  KeepOnInterrupt() {
    struct sigaction action = {};
    action.sa_handler = interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, &before);
  }
  ~KeepOnInterrupt() { sigaction(SIGINT, &before, nullptr); }

private:
  struct sigaction before = {};
};

/// The seconds that tuning may take.
class Budget {
public:
  explicit Budget(double seconds)
      : end(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(seconds))) {}

  double left() const {
    return std::chrono::duration<double>(end - Clock::now()).count();
  }
  bool isOver() const { return interrupted || left() <= 0; }

private:
  Clock::time_point end;
};
} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Schedules that are measured to begin with, and again at the end.
static constexpr size_t kBases = 2, kFinalists = 3;
/// Candidates that a processor compiles before they are measured.
static constexpr size_t kCasesOfJob = 4;

namespace {
/// Measures candidates that are in a folder.
class CandidateRunner : public CaseRunner {
public:
  CandidateRunner(TuneDevice::Bench bench, const KernelFolder &folder,
                  const TuneDevice &device, const BenchOptions &options,
                  const Budget &budget, std::set<std::string> known,
                  bool repeats)
      : bench(std::move(bench)), folder(folder), device(device),
        options(options), budget(budget), known(std::move(known)),
        repeats(repeats) {}

  std::string describe() const override { return bench.description; }
  bool isUsable() const override { return bench.isUsable(); }
  bool isDone() const override { return budget.isOver(); }
  Result<CaseResult> run(const BenchCase &which) override;

private:
  TuneDevice::Bench bench;
  const KernelFolder &folder;
  const TuneDevice &device;
  const BenchOptions &options;
  const Budget &budget;
  /// Products with the schedules that were measured of them.
  std::set<std::string> known;
  bool repeats;
};
} // namespace

/// Whether the module computes the product itself by one kernel of nm's.
static bool isAsIs(const BenchCase &bench, const CompiledCase &compiled,
                   bool onCpu) {
  const std::vector<OpInfo> &ops = compiled.module.info(compiled.function).ops;
  // Where A is a matrix on a GPU, another layout of it may be made before.
  bool mayTranspose = !onCpu && bench.shape.m > 1 && !isAsItComes(bench, onCpu);
  if (ops.size() != 1 || mayTranspose)
    return false;
  const OpInfo &op = ops.front();
  // A kernel before it may make floats of the integers, for the schedule of a
  // product of floats.
  if (bench.quantization && !ScheduleText::parse(op.schedule).has("bits"))
    return false;
  return !op.fallsBack && op.strategy != "cublas" && op.strategy != "loops" &&
         op.pattern == bench.pattern.str() &&
         op.dtype == elementName(bench.type) && op.n == bench.shape.n &&
         op.k == bench.shape.k;
}

static std::string keyOf(const BenchCase &bench, bool isAsIs,
                         const std::string &schedule) {
  BenchCase product = bench;
  product.schedule.clear();
  return product.str() + (isAsIs ? " as is " : " ") + schedule;
}

static CaseResult skipped(const BenchCase &which, const std::string &reason) {
  CaseResult result;
  result.bench = which;
  result.whyNoStep = reason;
  return result;
}

Result<CaseResult> CandidateRunner::run(const BenchCase &which) {
  Result<CompiledCase> compiled = folder.load(which);
  if (!compiled)
    return skipped(which, "the product cannot have it");
  const OpInfo *product = compiled->product();
  bool asIs = isAsIs(which, *compiled, device.onCpu);
  std::string schedule = product ? product->schedule : "";
  bool isNew = known.insert(keyOf(which, asIs, schedule)).second;
  if (!isNew && !repeats)
    return skipped(which, "measured already: " + schedule);
  Result<CaseResult> result = bench.measure(which, *compiled);
  if (!result)
    return result;
  result->device = device.name();
  result->isAsIs = asIs;
  result->arithmetic = options.arithmetic;
  recordKernel(*compiled, *result);
  return result;
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

/// The products of cases, each once and by no schedule.
static std::vector<BenchCase> productsOf(const std::vector<BenchCase> &cases) {
  std::vector<BenchCase> products;
  std::set<std::string> known;
  for (BenchCase product : cases) {
    product.schedule.clear();
    product.step.clear();
    if (known.insert(product.str()).second)
      products.push_back(product);
  }
  return products;
}

namespace {
class Tuning {
public:
  Tuning(const BenchOptions &options, CompileSettings settings,
         const TuneDevice &device, const Budget &budget, KernelFolder folder,
         bool compiles)
      : options(options), settings(std::move(settings)), device(device),
        budget(budget), folder(std::move(folder)), compiles(compiles) {}

  Result<bool> run(const std::vector<BenchCase> &products);

private:
  /// Measures those of `candidates` that are not yet.
  Status round(const std::string &name, std::vector<BenchCase> candidates,
               bool repeats = false);
  /// Compiles the candidates by `jobs` threads, but those that are there, and
  /// measures them.
  Status measure(const std::vector<BenchCase> &candidates, size_t jobs,
                 bool repeats);
  Status readAll();
  std::vector<CandidateTime> ranked(const BenchCase &product) const {
    return rank(all, tableProductOf(product, options.arithmetic), device.name(),
                /*asIsOnly=*/true);
  }
  std::vector<BenchCase> nextTo(const BenchCase &product) const;
  std::vector<BenchCase> combined(const BenchCase &product) const;
  std::vector<BenchCase> drawn(const BenchCase &product) const;
  std::vector<BenchCase> finalists(const BenchCase &product) const;
  Status writeTable();
  Status writeSummary() const;

  const BenchOptions &options;
  CompileSettings settings;
  const TuneDevice &device;
  const Budget &budget;
  KernelFolder folder;
  bool compiles;
  std::vector<Measurement> all;
  std::set<std::string> tried;
  bool allPassed = true;
};
} // namespace

Status Tuning::readAll() {
  Result<std::vector<Measurement>> read = readMeasurements(options.csv);
  if (!read)
    return read.error();
  all = std::move(*read);
  return Status::success();
}

/// Whether `all` has a line for the candidate.
static bool isKnown(const std::vector<Measurement> &all,
                    const BenchCase &candidate, const TableProduct &product,
                    const std::string &device) {
  return std::any_of(all.begin(), all.end(), [&](const Measurement &measured) {
    return measured.product == product && measured.device == device &&
           measured.kernels == kKernelVersion &&
           measured.candidate == candidate.schedule;
  });
}

Status Tuning::round(const std::string &name, std::vector<BenchCase> candidates,
                     bool repeats) {
  std::vector<BenchCase> left;
  for (const BenchCase &candidate : candidates)
    if (repeats ||
        (!isKnown(all, candidate, tableProductOf(candidate, options.arithmetic),
                  device.name()) &&
         tried.insert(candidate.str()).second))
      left.push_back(candidate);
  if (left.empty() || budget.isOver())
    return Status::success();
  std::fprintf(stderr, "nm-bench: %s: %s, %.0f s left\n", name.c_str(),
               counted(left.size(), "candidate").c_str(), budget.left());
  // A few candidates are compiled and measured before the next ones: a budget
  // that compiles some has times of them, and the same command goes on there.
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  bool inParts = compiles && !repeats;
  size_t together = inParts ? kCasesOfJob * jobs : left.size();
  for (size_t at = 0; at < left.size() && !budget.isOver(); at += together) {
    auto begin = left.begin() + at,
         end = left.begin() + std::min(at + together, left.size());
    if (Status status = measure({begin, end}, jobs, repeats); !status)
      return status;
  }
  return Status::success();
}

Status Tuning::measure(const std::vector<BenchCase> &candidates, size_t jobs,
                       bool repeats) {
  // The folder has no kernels of candidates that an earlier run measured.
  std::vector<BenchCase> missing;
  for (const BenchCase &candidate : candidates)
    if (compiles && !folder.has(candidate))
      missing.push_back(candidate);
  if (!missing.empty()) {
    Result<size_t> failed = compileAll(missing, settings, folder, jobs,
                                       [&] { return budget.isOver(); });
    if (!failed)
      return failed.error();
  }
  std::set<std::string> known;
  for (const BenchCase &product : options.cases)
    for (const CandidateTime &time : ranked(product))
      known.insert(keyOf(product, /*isAsIs=*/true, time.measured.schedule));
  auto makeRunner = [&]() -> Result<std::unique_ptr<CaseRunner>> {
    Result<TuneDevice::Bench> bench = device.open();
    if (!bench)
      return bench.error();
    return std::unique_ptr<CaseRunner>(new CandidateRunner(
        std::move(*bench), folder, device, options, budget, known, repeats));
  };
  Result<bool> passed = measureCases(candidates, options.csv, makeRunner,
                                     device.isolation, Reporting::Continued);
  if (!passed)
    return passed.error();
  allPassed &= *passed;
  if (Status status = readAll(); !status)
    return status;
  return writeTable();
}

/// Adds the first `count` neighbours of a schedule.
static void addNeighbours(const BenchCase &product, const std::string &schedule,
                          size_t count, bool onCpu,
                          std::vector<BenchCase> &cases) {
  for (const BenchCase &next : neighbours(product, schedule, onCpu))
    if (count > 0) {
      cases.push_back(next);
      --count;
    }
}

std::vector<BenchCase> Tuning::nextTo(const BenchCase &product) const {
  std::vector<BenchCase> cases;
  std::vector<CandidateTime> times = ranked(product);
  for (size_t i = 0; i < std::min(kBases, times.size()); ++i)
    addNeighbours(product, times[i].measured.schedule,
                  size_t(options.candidates) >> i, device.onCpu, cases);
  return cases;
}

/// A candidate with the changes of both of the two fastest neighbours of the
/// fastest schedule.
std::vector<BenchCase> Tuning::combined(const BenchCase &product) const {
  constexpr size_t kPairs = 4;
  std::vector<BenchCase> cases;
  std::vector<CandidateTime> times = ranked(product);
  for (size_t i = 1; i < std::min(kPairs, times.size()); ++i)
    for (size_t j = i + 1; j < std::min(kPairs, times.size()); ++j) {
      std::string both =
          combine(times[0].measured.schedule, times[i].measured.schedule,
                  times[j].measured.schedule);
      if (!both.empty())
        cases.push_back(makeCandidate(product, both, "combined", device.onCpu));
    }
  // The fastest may be a neighbour itself, whose neighbours are not known.
  if (!times.empty())
    addNeighbours(product, times[0].measured.schedule,
                  size_t(options.candidates), device.onCpu, cases);
  return cases;
}

/// Draws candidates, random steps away from the model's choices of each
/// strategy. Each run draws the same for a product, so that a run goes on where
/// an earlier one has ended.
std::vector<BenchCase> Tuning::drawn(const BenchCase &product) const {
  std::set<std::string> ofModel;
  for (const CandidateTime &time : ranked(product))
    if (time.measured.candidate.find('<') == std::string::npos)
      ofModel.insert(time.measured.schedule);
  std::vector<std::string> bases(ofModel.begin(), ofModel.end());
  std::vector<BenchCase> cases;
  std::mt19937_64 random(uint64_t(options.seed) + product.shape.m +
                         3 * product.shape.n + 7 * product.shape.k);
  for (int64_t i = 0; i < options.draws && !bases.empty(); ++i) {
    std::string schedule =
        drawSchedule(bases[random() % bases.size()], device.onCpu, random);
    if (!schedule.empty())
      cases.push_back(makeCandidate(product, schedule, "drawn", device.onCpu));
  }
  return cases;
}

std::vector<BenchCase> Tuning::finalists(const BenchCase &product) const {
  std::vector<BenchCase> cases;
  std::vector<CandidateTime> times = ranked(product);
  if (times.size() < 2)
    return cases;
  for (size_t i = 0; i < times.size(); ++i) {
    const Measurement &measured = times[i].measured;
    if (i >= kFinalists && !isModelsChoice(measured.candidate))
      continue;
    BenchCase again = product;
    again.schedule = measured.candidate;
    again.step = "again";
    if (int64_t(times[i].times) <= options.rounds)
      cases.push_back(again);
  }
  return cases;
}

Status Tuning::writeTable() {
  ScheduleTable table{kTableVersion, kKernelVersion, device.device};
  table.entries = makeEntries(all, device.name());
  return addToTableFile(options.table, {table});
}

Status nm::mergeIntoTable(const BenchOptions &options) {
  for (const std::string &file : options.merged) {
    Result<std::vector<ScheduleTable>> more = readTableFile(file);
    if (!more)
      return more.error();
    if (Status status = addToTableFile(options.table, *more); !status)
      return status;
  }
  return Status::success();
}

Status Tuning::writeSummary() const {
  if (options.summary.empty())
    return Status::success();
  std::ofstream file(options.summary);
  file << kSummaryHeader;
  for (const BenchCase &product : productsOf(options.cases))
    file << summarize(all, product, options.arithmetic, device.name());
  file.close();
  return file ? Status::success()
              : Error{options.summary + ": cannot be written"};
}

Result<bool> Tuning::run(const std::vector<BenchCase> &products) {
  if (Status status = readAll(); !status)
    return status.error();
  using Next = std::function<std::vector<BenchCase>(const BenchCase &)>;
  auto each = [&](const std::string &name, const Next &next,
                  bool repeats = false) -> Status {
    std::vector<BenchCase> cases;
    for (const BenchCase &product : products)
      for (const BenchCase &candidate : next(product))
        cases.push_back(candidate);
    return round(name, cases, repeats);
  };
  auto first = [&](const BenchCase &product) {
    return firstCandidates(product, device.onCpu);
  };
  auto near = [&](const BenchCase &product) { return nextTo(product); };
  auto both = [&](const BenchCase &product) { return combined(product); };
  auto random = [&](const BenchCase &product) { return drawn(product); };
  auto last = [&](const BenchCase &product) { return finalists(product); };
  if (!compiles) {
    if (Status status = round("what was compiled", folder.cases()); !status)
      return status.error();
  } else {
    for (const auto &[name, next] :
         {std::pair<const char *, Next>{"strategies", first},
          {"neighbours of the fastest", near},
          {"combined", both},
          {"drawn", random}})
      if (Status status = each(name, next); !status)
        return status.error();
  }
  for (int64_t i = 0; i < options.rounds; ++i)
    if (Status status = each("the fastest again", last, /*repeats=*/true);
        !status)
      return status.error();
  if (Status status = writeTable(); !status)
    return status.error();
  if (Status status = writeSummary(); !status)
    return status.error();
  std::printf(
      "%s: schedules of %s, by %s in %s%s\n", options.table.c_str(),
      counted(makeEntries(all, device.name()).size(), "product").c_str(),
      counted(all.size(), "measurement").c_str(), options.csv.c_str(),
      interrupted       ? "; interrupted, the same command goes on"
      : budget.isOver() ? "; no time is left, the same command goes on"
                        : "");
  return allPassed;
}

/// No table answers for the model that is measured.
static void useNoTables(CompileSettings &settings) {
  settings.options += (settings.options.empty() ? "" : " ") +
                      std::string("schedule-table=none");
}

Result<bool> nm::tune(const BenchOptions &options, CompileSettings settings,
                      const TuneDevice &device) {
  Budget budget(options.budget);
  KeepOnInterrupt keep;
  useNoTables(settings);
  std::vector<BenchCase> products = productsOf(options.cases);
  if (!options.kernels.empty()) {
    Result<KernelFolder> folder = KernelFolder::open(options.kernels);
    if (!folder)
      return folder.error();
    return Tuning(options, settings, device, budget, std::move(*folder),
                  /*compiles=*/false)
        .run(products);
  }
  Result<TemporaryPath> path =
      TemporaryPath::folder(inTemporaryFolder("nm-tune-"));
  if (!path)
    return path.error();
  Result<KernelFolder> folder =
      KernelFolder::create(path->str(), settings.target);
  if (!folder)
    return folder.error();
  return Tuning(options, settings, device, budget, std::move(*folder),
                /*compiles=*/true)
      .run(products);
}

//===----------------------------------------------------------------------===//
// Compiling for another machine
//===----------------------------------------------------------------------===//

/// The schedules of the product itself that the model estimates to be the
/// fastest.
static std::vector<std::string>
fastestByEstimate(const KernelFolder &folder,
                  const std::vector<BenchCase> &candidates, bool onCpu) {
  std::vector<std::pair<double, std::string>> estimated;
  for (const BenchCase &candidate : candidates) {
    Result<CompiledCase> compiled = folder.load(candidate);
    if (!compiled || !isAsIs(candidate, *compiled, onCpu))
      continue;
    const OpInfo *op = compiled->product();
    estimated.emplace_back(op->estimate.value_or(1e9), op->schedule);
  }
  std::sort(estimated.begin(), estimated.end());
  std::vector<std::string> schedules;
  for (const auto &[time, schedule] : estimated)
    if (schedules.size() < kBases &&
        std::find(schedules.begin(), schedules.end(), schedule) ==
            schedules.end())
      schedules.push_back(schedule);
  return schedules;
}

Result<bool> nm::compileCandidates(const BenchOptions &options,
                                   CompileSettings settings) {
  useNoTables(settings);
  bool onCpu = options.target.kind == Target::Kind::Cpu;
  Result<KernelFolder> folder =
      KernelFolder::create(options.kernels, settings.target);
  if (!folder)
    return folder.error();
  size_t jobs = options.threads > 0
                    ? size_t(options.threads)
                    : std::max(1u, std::thread::hardware_concurrency());
  size_t failures = 0;
  for (const BenchCase &product : productsOf(options.cases)) {
    std::vector<BenchCase> first = firstCandidates(product, onCpu), more;
    Result<size_t> failed = compileAll(first, settings, *folder, jobs);
    if (!failed)
      return failed.error();
    size_t count = size_t(options.candidates);
    for (const std::string &schedule :
         fastestByEstimate(*folder, first, onCpu)) {
      addNeighbours(product, schedule, count, onCpu, more);
      count /= 2;
    }
    Result<size_t> alsoFailed = compileAll(more, settings, *folder, jobs);
    if (!alsoFailed)
      return alsoFailed.error();
    failures += *failed + *alsoFailed;
  }
  return failures == 0;
}
