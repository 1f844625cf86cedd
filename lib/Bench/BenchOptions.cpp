//===- BenchOptions.cpp - The command line of nm-bench --------------------===//

#include "BenchOptions.h"

#include "Ablation.h"
#include "KernelFolder.h"
#include "Presets.h"
#include "nm/Support/OptionTable.h"
#include "nm/Tables/ScheduleTable.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <regex.h>

using namespace nm;

namespace {
/// The options as they are given, before cases are made of them.
struct Given {
  BenchOptions options;
  std::vector<BenchCase> presets;
  std::vector<ProductShape> shapes;
  std::vector<Pattern> patterns;
  std::vector<ElementType> types;
  std::vector<std::string> schedules;
  /// In place of the sizes that cases of presets have.
  std::optional<int64_t> m, n, k;
  std::string filter;
  std::string arithmetic;
  bool ablates = false;
  bool tunes = false;
  std::optional<double> budget;
  std::optional<int64_t> candidates, draws;
  std::vector<BenchCase> cases;
  bool isMMajor = false;
  bool hasFastAccum = false;
  std::optional<ElementType> result;
  std::optional<int64_t> device;
  std::optional<double> seconds;
};
} // namespace

/// Appends `parsed` to `list`, or gives its error.
template <typename T>
static Status append(std::vector<T> &list, Result<T> parsed) {
  if (!parsed)
    return parsed.error();
  list.push_back(*parsed);
  return Status::success();
}

static void addAll(std::vector<BenchCase> &cases,
                   const std::vector<BenchCase> &more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

static Status storeSize(std::optional<int64_t> &size, const std::string &text) {
  return store(size, parseInteger(text, 1, ProductShape::kMaxSide));
}

static Status setTarget(Given &given, const std::string &text) {
  Result<Target> target = Target::parse(text);
  if (!target)
    return target.error();
  if (target->kind == Target::Kind::Sim)
    return Error{"expected cpu or cuda[:sm_XX], but got '" + text +
                 "': what is simulated takes no time of a GPU"};
  given.options.target = *target;
  return Status::success();
}

static constexpr int64_t kMaxThreads = 4096;
static constexpr int64_t kMaxDevice = 1023;

static const OptionEntry<Given> kOptions[] = {
    {{"preset", Takes::Value, "NAME",
      "Measure a named list of cases; may be given several times. The names\n"
      "are listed below"},
     [](Given &g, const std::string &v) {
       Result<std::vector<BenchCase>> cases = presetCases(v);
       if (!cases)
         return Status(cases.error());
       addAll(g.presets, *cases);
       return Status::success();
     }},
    {{"m", Takes::Value, "N",
      "The rows that all cases of presets have, in place of their own"},
     [](Given &g, const std::string &v) { return storeSize(g.m, v); }},
    {{"n", Takes::Value, "N", "Their columns, in place of their own"},
     [](Given &g, const std::string &v) { return storeSize(g.n, v); }},
    {{"k", Takes::Value, "N", "Their k, in place of their own"},
     [](Given &g, const std::string &v) { return storeSize(g.k, v); }},
    {{"shape", Takes::Value, "MxNxK",
      "Measure products A[m x k] * B[k x n]; may be given several times. Each\n"
      "shape is taken with every --pattern (default 2:4) and --type (default\n"
      "f32), and so is each case of a preset in place of its own"},
     [](Given &g, const std::string &v) {
       return append(g.shapes, ProductShape::parse(v));
     }},
    {{"pattern", Takes::Value, "PATTERN",
      "N:M, N kept of every M, with a block where it is not one weight:\n"
      "\"8:32, block = 1x32\""},
     [](Given &g, const std::string &v) {
       return append(g.patterns, Pattern::parse(v));
     }},
    {{"type", Takes::Value, "TYPE", "f32, f16, bf16, f8E4M3FN, f8E5M2 or i8"},
     [](Given &g, const std::string &v) {
       return append(g.types, parseBenchType(v));
     }},
    {{"m-major", Takes::Nothing, "",
      "Measure our products on a GPU with A as [k x m], the m of one k side\n"
      "by side",
      /*formerName=*/"k-major"},
     [](Given &g, const std::string &) {
       g.isMMajor = true;
       return Status::success();
     }},
    {{"fast-accum", Takes::Nothing, "",
      "Let sums of 8-bit floats stay as the tensor cores make them, in our\n"
      "products (arithmetic fast_accum) and cuBLASLt's"},
     [](Given &g, const std::string &) {
       g.hasFastAccum = true;
       return Status::success();
     }},
    {{"result-type", Takes::Value, "TYPE",
      "f32, f16 or bf16, which C has where A has fewer bits than 32 (default\n"
      "f32)"},
     [](Given &g, const std::string &v) {
       return store(g.result, parseBenchType(v));
     }},
    {{"schedule", Takes::Value, "TEXT",
      "Measure every case with this schedule, whole or in part, such as\n"
      "\"simt<block = [128, 128, 32], stages = 2>\"; may be given several\n"
      "times. An empty one is that of the cost model"},
     [](Given &g, const std::string &v) {
       g.schedules.push_back(v);
       return Status::success();
     }},
    {{"ablate", Takes::Nothing, "",
      "Measure what each part of a schedule brings, on a GPU: of every case,\n"
      "or, where none is given, of 4096 cubed in VW32 from 0 to 90.6 %"},
     [](Given &g, const std::string &) {
       g.ablates = true;
       return Status::success();
     }},
    {{"case", Takes::Value, "TEXT",
      "Measure one product, as --list prints it: \"256x4096x4096 8:32, block "
      "=\n"
      "1x32 f16 to f16\", with \"x i4/128\" behind f16 where weights are of 4\n"
      "bits with a scale for 128 of k, and \"+ bias + gelu + residual\" at "
      "the\n"
      "end, of which each may be left out; may be given several times"},
     [](Given &g, const std::string &v) {
       return append(g.cases, BenchCase::parse(v));
     }},
    {{"tune", Takes::Nothing, "",
      "Measure candidates for the schedules of the cases, and write the "
      "fastest\n"
      "of each to a table, in which the compiler looks them up. Goes on where "
      "an\n"
      "earlier run with the same --csv was ended"},
     [](Given &g, const std::string &) {
       g.tunes = true;
       return Status::success();
     }},
    {{"table", Takes::Value, "FILE",
      "The table that --tune writes, or adds to (default the user's, which\n"
      "compilations look in: schedules.yaml in NM_CACHE_DIR or ~/.cache/nm). "
      "Its\n"
      "measurements are in a file beside it, unless --csv names one"},
     [](Given &g, const std::string &v) {
       g.options.table = v;
       return Status::success();
     }},
    {{"merge", Takes::Value, "FILE",
      "Add the schedules of another table, such as that of another machine, "
      "and\n"
      "measure nothing; of one product the last file's stays; may be given\n"
      "several times"},
     [](Given &g, const std::string &v) {
       g.options.merged.push_back(v);
       return Status::success();
     }},
    {{"budget", Takes::Value, "S",
      "How many seconds --tune may take in all (default 300)"},
     [](Given &g, const std::string &v) {
       return store(g.budget, parsePositive(v));
     }},
    {{"candidates", Takes::Value, "N",
      "How many neighbours of the fastest schedule --tune draws at a time for "
      "a\n"
      "product (default 12)"},
     [](Given &g, const std::string &v) {
       return store(g.candidates, parseInteger(v, 0, 1000));
     }},
    {{"draws", Takes::Value, "N",
      "How many schedules --tune draws at random for a product, far from "
      "those\n"
      "that the cost model chooses (default 0)"},
     [](Given &g, const std::string &v) {
       return store(g.draws, parseInteger(v, 0, 1000));
     }},
    {{"summary", Takes::Value, "FILE",
      "Write what --tune found of each product there, as comma-separated "
      "values"},
     [](Given &g, const std::string &v) {
       g.options.summary = v;
       return Status::success();
     }},
    {{"arithmetic", Takes::Value, "NAME",
      "What products may be computed by, as nm-compile's option: ieee keeps\n"
      "f32 on CUDA cores"},
     [](Given &g, const std::string &v) {
       g.arithmetic = v;
       return Status::success();
     }},
    {{"filter", Takes::Value, "REGEX",
      "Leave out the cases that --list prints without a match of this\n"
      "extended regular expression"},
     [](Given &g, const std::string &v) {
       g.filter = v;
       return Status::success();
     }},
    {{"target", Takes::Value, "TARGET",
      "cpu (the default) or cuda[:sm_XX[,sm_YY...]]"},
     setTarget},
    {{"device", Takes::Value, "N", "The CUDA device to measure on (default 0)"},
     [](Given &g, const std::string &v) {
       return store(g.device, parseInteger(v, 0, kMaxDevice));
     }},
    {{"kernels", Takes::Value, "DIR",
      "Measure what --compile-only left in this folder, all of it where no\n"
      "cases are given; needs no compiler"},
     [](Given &g, const std::string &v) {
       g.options.kernels = v;
       return Status::success();
     }},
    {{"compile-only", Takes::Nothing, "",
      "Compile the cases into the folder of --kernels, --threads at a time,\n"
      "and measure nothing; needs no GPU"},
     [](Given &g, const std::string &) {
       g.options.compileOnly = true;
       return Status::success();
     }},
    {{"seconds", Takes::Value, "S",
      "How long to time each case (default 2 on the CPU, 0.02 on a GPU), both\n"
      "sides together"},
     [](Given &g, const std::string &v) {
       return store(g.seconds, parsePositive(v));
     }},
    {{"threads", Takes::Value, "N",
      "How many threads both sides use on the CPU (default NM_NUM_THREADS, or\n"
      "all processors)"},
     [](Given &g, const std::string &v) {
       return store(g.options.threads, parseInteger(v, 1, kMaxThreads));
     }},
    {{"blas", Takes::Value, "PATH",
      "OpenBLAS (default libopenblas.so.0) or cuBLAS (default\n"
      "NM_CUBLAS_LIBRARY, libcublas.so.13 or libcublas.so.12); none leaves it\n"
      "out"},
     [](Given &g, const std::string &v) {
       g.options.blas = v;
       return Status::success();
     }},
    {{"sparse-blas", Takes::Value, "PATH",
      "cuSPARSELt, timed beside where weights keep at most two of each four\n"
      "(default NM_CUSPARSELT_LIBRARY or libcusparseLt.so.0, where it is\n"
      "there); f32, for which it has TensorFloat-32, only where PATH is "
      "given;\n"
      "none leaves it out"},
     [](Given &g, const std::string &v) {
       g.options.sparseBlas = v;
       return Status::success();
     }},
    {{"cusparse", Takes::Value, "PATH",
      "cuSPARSE, timed beside with the weights as CSR, or as BSR where blocks\n"
      "are square; auto is NM_CUSPARSE_LIBRARY or libcusparse.so.12"},
     [](Given &g, const std::string &v) {
       g.options.csrBlas = v;
       return Status::success();
     }},
    {{"tolerance", Takes::Value, "X",
      "The relative error that a result may have beside float64 (default by\n"
      "type of the result: f32 1e-5, integers 0)"},
     [](Given &g, const std::string &v) {
       return store(g.options.tolerance, parsePositive(v));
     }},
    {{"seed", Takes::Value, "N", "The seed of the random data (default 0)"},
     [](Given &g, const std::string &v) {
       return store(g.options.seed, parseInteger(v, 0, INT64_MAX));
     }},
    {{"compile-options", Takes::Value, "TEXT",
      "Options of nm-compile without their dashes, separated by spaces"},
     [](Given &g, const std::string &v) {
       g.options.compileOptions = v;
       return Status::success();
     }},
    {{"csv", Takes::Value, "FILE",
      "Write the results there too, as comma-separated values"},
     [](Given &g, const std::string &v) {
       g.options.csv = v;
       return Status::success();
     }},
    {{"resume", Takes::Nothing, "",
      "Leave out the cases that the file of --csv has, and write the others\n"
      "behind them: to go on, with the same options, where a run was ended"},
     [](Given &g, const std::string &) {
       g.options.resume = true;
       return Status::success();
     }},
    {{"list", Takes::Nothing, "", "Print the cases and measure nothing"},
     [](Given &g, const std::string &) {
       g.options.list = true;
       return Status::success();
     }},
    {{"help", Takes::Nothing, "", "Print this text"},
     [](Given &g, const std::string &) {
       g.options.help = true;
       return Status::success();
     }},
    {{"version", Takes::Nothing, "", "Print the version"},
     [](Given &g, const std::string &) {
       g.options.version = true;
       return Status::success();
     }},
};

static const OptionTable<Given> &optionTable() {
  static const OptionTable<Given> table(kOptions);
  return table;
}

static Status refusePlain(Given &, const std::string &arg) {
  return Error{"expected options only, but got '" + arg + "'"};
}

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

/// Completes what --tune takes.
static Status setTuning(Given &given) {
  BenchOptions &options = given.options;
  bool hasOther = !options.table.empty() || given.budget || given.candidates ||
                  given.draws || !options.merged.empty() ||
                  !options.summary.empty();
  if (!given.tunes && hasOther)
    return Error{"expected --tune beside --table, --merge, --budget, "
                 "--candidates, --draws and --summary"};
  if (!given.tunes)
    return Status::success();
  if (given.ablates || !given.schedules.empty())
    return Error{"expected --tune to choose schedules, but got --schedule or "
                 "--ablate"};
  if (options.table.empty())
    options.table = userTable();
  if (options.table.empty())
    return Error{"expected --table=FILE, for there is no home folder"};
  if (options.csv.empty())
    options.csv =
        std::filesystem::path(options.table).replace_extension(".csv").string();
  std::error_code ignored;
  if (auto folder = std::filesystem::path(options.table).parent_path();
      !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  constexpr double kBudget = 300;
  constexpr int64_t kCandidates = 12;
  options.budget = given.budget.value_or(kBudget);
  options.candidates = given.candidates.value_or(kCandidates);
  options.draws = given.draws.value_or(0);
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

Result<BenchOptions>
nm::parseBenchOptions(const std::vector<std::string> &args) {
  Given given;
  if (Status status = optionTable().parse(args, given, refusePlain); !status)
    return status.error();
  BenchOptions &options = given.options;
  if (options.help || options.version)
    return options;
  if (given.tunes && !options.merged.empty()) {
    if (Status status = setTuning(given); !status)
      return status.error();
    return options;
  }
  for (auto *add : {addCases, addKernels, setDevice, setLayout, setFastAccum,
                    setResultType, checkQuantized, setTuning})
    if (Status status = add(given); !status)
      return status.error();
  if (options.cases.empty())
    return Error{"expected a --preset, a --shape, a --case or --ablate"};
  if (options.resume && (given.tunes || options.csv.empty()))
    return Error{given.tunes ? "expected no --resume beside --tune, which goes "
                               "on where its --csv ends"
                             : "expected --csv=FILE beside --resume"};
  crossSchedules(given);
  if (Status status = filterCases(given); !status)
    return status.error();
  constexpr double kCpuSeconds = 2, kGpuSeconds = 0.02, kOfCandidate = 0.5;
  bool onCpu = options.target.kind == Target::Kind::Cpu;
  double usual = !onCpu        ? kGpuSeconds
                 : given.tunes ? kOfCandidate
                               : kCpuSeconds;
  options.seconds = given.seconds.value_or(usual);
  return options;
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

std::string nm::benchHelp() {
  std::string text =
      "OVERVIEW: nm-bench times compiled N:M products beside a dense BLAS\n\n"
      "USAGE: nm-bench --preset=NAME|--shape=MxNxK [options]\n\n"
      "Each case is compiled with its weights as arguments and run on random\n"
      "data in turns with OpenBLAS sgemm (sgemv for one row), on the same\n"
      "number of threads, or with cuBLAS in the same type. Medians are "
      "compared.\n"
      "With up to 64 rows every call takes weights that no cache holds. "
      "Errors\n"
      "are relative to a product in float64. Shares of the roofline are of "
      "the\n"
      "arithmetic and the memory reads that this host was measured to reach, "
      "or\n"
      "that the clocks of the GPU allow.\n"
      "Exit code: 0, 1 where a case failed or is not accurate, 2 where the\n"
      "command line is wrong.\n\nOPTIONS:\n";
  text += optionTable().help();
  text += "\nPRESETS:\n";
  for (const Preset &preset : presets())
    text += helpLine(preset.name, preset.help);
  return text;
}
