//===- CompleteOptions.cpp - The cases of nm-bench's options --------------===//

#include "GivenOptions.h"

#include "Ablation.h"
#include "KernelFolder.h"
#include "nm/Tables/ScheduleTable.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <regex.h>

using namespace nm;

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

/// The cases of presets, with the sizes, patterns and types that were given in
/// place of their own; of those that are then equal, one.
static std::vector<BenchCase> presetsAsGiven(const Given &given) {
  std::vector<BenchCase> cases;
  std::set<std::string> known;
  for (BenchCase bench : given.presets) {
    bench.takeShape({given.m.value_or(bench.shape.m),
                     given.n.value_or(bench.shape.n),
                     given.k.value_or(bench.shape.k)});
    const std::vector<Pattern> own{bench.pattern};
    const std::vector<ElementType> ownType{bench.type};
    for (ElementType type : given.types.empty() ? ownType : given.types)
      for (const Pattern &pattern :
           given.patterns.empty() ? own : given.patterns) {
        bench.type = type;
        bench.pattern = pattern;
        if (known.insert(bench.str()).second)
          cases.push_back(bench);
      }
  }
  return cases;
}

static std::vector<BenchCase> shapesAsGiven(const Given &given) {
  return crossCases(
      given.shapes,
      given.patterns.empty() ? std::vector<Pattern>{{2, 4}} : given.patterns,
      given.types.empty() ? std::vector<ElementType>{ElementType::F32}
                          : given.types);
}

/// Adds the cases of --preset, --shape and --ablate.
static Status addCases(Given &given) {
  bool hasSizes = given.m || given.n || given.k;
  if (given.ablates && given.presets.empty() && given.shapes.empty())
    given.presets = ablationProducts();
  if (hasSizes && given.presets.empty())
    return Error{"expected --preset beside --m, --n and --k"};
  if (given.presets.empty() && given.shapes.empty() &&
      !(given.patterns.empty() && given.types.empty()))
    return Error{"expected --preset, --shape or --ablate beside --pattern and "
                 "--type"};
  std::vector<BenchCase> &cases = given.options.cases;
  cases = presetsAsGiven(given);
  addAll(cases, shapesAsGiven(given));
  addAll(cases, given.cases);
  for (const BenchCase &bench : cases)
    if (bench.pattern.bk > bench.shape.k || bench.pattern.bn > bench.shape.n)
      return Error{"expected blocks to fit in k x n, but got the pattern " +
                   bench.pattern.str() + " for the shape " + bench.shape.str()};
  if (given.ablates)
    cases = ablate(cases);
  if (!given.arithmetic.empty()) {
    std::string &options = given.options.compileOptions;
    given.options.arithmetic = given.arithmetic;
    options = "arithmetic=" + given.arithmetic +
              (options.empty() ? "" : " " + options);
  }
  return Status::success();
}

/// Takes the cases, and the target, of the folder where none are given.
static Status addKernels(Given &given) {
  BenchOptions &options = given.options;
  if (options.kernels.empty()) {
    if (options.compileOnly)
      return Error{"expected --kernels=DIR beside --compile-only"};
    return Status::success();
  }
  if (options.compileOnly)
    return Status::success();
  Result<KernelFolder> folder = KernelFolder::open(options.kernels);
  if (!folder)
    return folder.error();
  Result<Target> target = Target::parse(folder->target());
  if (!target)
    return Error{options.kernels + ": " + target.error().message};
  options.target = *target;
  if (options.cases.empty())
    options.cases = folder->cases();
  return Status::success();
}

/// Sets the number of the GPU, where the cases are measured on one.
static Status setDevice(Given &given) {
  bool onCpu = given.options.target.kind == Target::Kind::Cpu;
  if (onCpu && given.device)
    return Error{"expected --device beside a target of cuda, but the target "
                 "is cpu"};
  given.options.device = given.device.value_or(0);
  return Status::success();
}

/// Lets A be m-major in all cases, where it is to be.
static Status setLayout(Given &given) {
  if (!given.isMMajor)
    return Status::success();
  if (given.options.target.kind == Target::Kind::Cpu)
    return Error{"expected --m-major beside a target of cuda, but the target "
                 "is cpu"};
  for (BenchCase &bench : given.options.cases) {
    if (bench.shape.m == 1)
      return Error{"expected more rows than one for --m-major, but got " +
                   bench.str()};
    bench.isMMajor = true;
  }
  return Status::success();
}

/// Lets the weights of all cases be constant, where they are to be; of those
/// that are then equal one is left.
static Status setConstant(Given &given) {
  std::vector<BenchCase> &cases = given.options.cases;
  if (given.isConstant)
    for (BenchCase &bench : cases)
      bench.isConstant = true;
  std::set<std::string> known;
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [&](const BenchCase &bench) {
                               return given.isConstant &&
                                      !known.insert(bench.str()).second;
                             }),
              cases.end());
  for (const BenchCase &bench : cases)
    if (bench.isConstant && (bench.quantization || given.tunes))
      return Error{std::string("expected ") +
                   (given.tunes ? "no --tune"
                                : "floats or integers as they "
                                  "are multiplied") +
                   " for constant weights, but got " + bench.str()};
  return Status::success();
}

/// Lets all cases have fast accumulation, if that was asked for.
static Status setFastAccum(Given &given) {
  if (!given.hasFastAccum)
    return Status::success();
  for (BenchCase &bench : given.options.cases) {
    if (!isFloat8(bench.type))
      return Error{"expected products of f8E4M3FN or f8E5M2 for --fast-accum, "
                   "but got " +
                   bench.str()};
    bench.hasFastAccum = true;
  }
  return Status::success();
}

/// Lets C have the type that was given in all cases.
static Status setResultType(Given &given) {
  if (!given.result)
    return Status::success();
  for (BenchCase &bench : given.options.cases) {
    if (!bench.canResultIn(*given.result))
      return Error{"expected --result-type f32, f16 or bf16 for products of "
                   "f16, bf16, f8E4M3FN or f8E5M2, but got " +
                   std::string(elementName(*given.result)) + " for " +
                   bench.str()};
    bench.givenResult = given.result;
  }
  return Status::success();
}

/// Refuses what a CPU makes floats of at each call: no schedule is of it.
static Status checkQuantized(Given &given) {
  if (given.options.target.kind != Target::Kind::Cpu)
    return Status::success();
  for (const BenchCase &bench : given.options.cases)
    if (bench.quantization)
      return Error{"expected --target=cuda for quantized weights, but got cpu "
                   "for " +
                   bench.str()};
  return Status::success();
}

/// Makes the folder of a file that is to be written, if it can.
static void makeFolderOf(const std::string &path) {
  std::error_code ignored;
  if (auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
}

/// Lets the table be the user's where none is given.
static Status setTable(BenchOptions &options) {
  if (options.table.empty())
    options.table = userTable();
  if (options.table.empty())
    return Error{"expected --table=FILE, for there is no home folder"};
  makeFolderOf(options.table);
  return Status::success();
}

Status nm::setProbe(Given &given) {
  BenchOptions &options = given.options;
  bool hasCases = !given.presets.empty() || !given.shapes.empty() ||
                  !given.cases.empty() || given.ablates || given.tunes;
  if (hasCases)
    return Error{"expected --probe without products to measure or to tune"};
  if (options.target.kind != Target::Kind::Cuda)
    return Error{"expected --target=cuda beside --probe: the models of a CPU "
                 "take no rates"};
  options.device = given.device.value_or(0);
  return setTable(options);
}

Status nm::setTuning(Given &given) {
  BenchOptions &options = given.options;
  bool hasOther = !options.table.empty() || given.budget || given.candidates ||
                  given.draws || given.rounds || !options.merged.empty() ||
                  !options.summary.empty();
  if (!given.tunes && hasOther)
    return Error{"expected --tune beside --table, --merge, --budget, "
                 "--candidates, --draws, --rounds and --summary"};
  if (!given.tunes)
    return Status::success();
  if (given.ablates || !given.schedules.empty())
    return Error{"expected --tune to choose schedules, but got --schedule or "
                 "--ablate"};
  if (Status status = setTable(options); !status)
    return status;
  if (options.csv.empty())
    options.csv =
        std::filesystem::path(options.table).replace_extension(".csv").string();
  constexpr double kBudget = 300;
  constexpr int64_t kCandidates = 12;
  options.budget = given.budget.value_or(kBudget);
  options.candidates = given.candidates.value_or(kCandidates);
  options.draws = given.draws.value_or(0);
  options.rounds = given.rounds.value_or(options.rounds);
  return Status::success();
}

static void crossSchedules(Given &given) {
  if (given.schedules.empty())
    return;
  std::vector<BenchCase> cases;
  for (const BenchCase &bench : given.options.cases)
    for (const std::string &schedule : given.schedules) {
      cases.push_back(bench);
      cases.back().schedule = schedule;
    }
  given.options.cases = std::move(cases);
}

static Status filterCases(Given &given) {
  if (given.filter.empty())
    return Status::success();
  regex_t expression;
  if (int code = regcomp(&expression, given.filter.c_str(),
                         REG_EXTENDED | REG_NOSUB)) {
    char reason[256];
    regerror(code, &expression, reason, sizeof reason);
    return Error{"--filter: expected an extended regular expression, but got "
                 "'" +
                 given.filter + "': " + reason};
  }
  std::vector<BenchCase> &cases = given.options.cases;
  cases.erase(std::remove_if(cases.begin(), cases.end(),
                             [&](const BenchCase &bench) {
                               return regexec(&expression, bench.str().c_str(),
                                              0, nullptr, 0) != 0;
                             }),
              cases.end());
  regfree(&expression);
  if (cases.empty())
    return Error{"--filter: no case matches '" + given.filter + "'"};
  return Status::success();
}

Status nm::completeOptions(Given &given) {
  for (auto *add : {addCases, addKernels, setDevice, setLayout, setConstant,
                    setFastAccum, setResultType, checkQuantized, setTuning})
    if (Status status = add(given); !status)
      return status;
  if (given.options.cases.empty())
    return Error{"expected a --preset, a --shape, a --case or --ablate"};
  if (given.options.resume && (given.tunes || given.options.csv.empty()))
    return Error{given.tunes ? "expected no --resume beside --tune, which goes "
                               "on where its --csv ends"
                             : "expected --csv=FILE beside --resume"};
  crossSchedules(given);
  return filterCases(given);
}
