//===- BenchOptions.cpp - The command line of nm-bench --------------------===//

#include "BenchOptions.h"

#include "GivenOptions.h"
#include "Presets.h"
#include "nm/Support/OptionTable.h"

#include <algorithm>

using namespace nm;

/// Appends `parsed` to `list`, or gives its error.
template <typename T>
static Status append(std::vector<T> &list, Result<T> parsed) {
  if (!parsed)
    return parsed.error();
  list.push_back(*parsed);
  return Status::success();
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

/// Adds a type, but none twice.
static Status addReducedType(Given &given, const std::string &text) {
  ReducedType type = text == "tf32" ? ReducedType::TF32 : ReducedType::F16;
  if (text != "tf32" && text != "f16")
    return Error{"expected tf32 or f16, but got '" + text + "'"};
  std::vector<ReducedType> &types = given.options.reducedTypes;
  if (std::find(types.begin(), types.end(), type) == types.end())
    types.push_back(type);
  return Status::success();
}

static constexpr int64_t kMaxThreads = 4096;
static constexpr int64_t kMaxDevice = 1023;

static const OptionEntry<Given> kOptions[] = {
    {{"preset", Takes::Value, "NAME",
      "Measure a named list of cases; may be given several times. The names\n"
      "are listed below"},
     [](Given &g, const std::string &v) {
       Result<const Preset *> preset = findPreset(v);
       if (!preset)
         return Status(preset.error());
       addAll(g.presets, (*preset)->cases());
       if ((*preset)->comparesReduced)
         g.options.reducedTypes = {ReducedType::TF32, ReducedType::F16};
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
    {{"constant", Takes::Nothing, "",
      "Measure products whose weights are constants of the module, which may\n"
      "become code, in place of arguments. The weights are the same for each\n"
      "--seed, and stay in caches, as do those of the libraries beside"},
     [](Given &g, const std::string &) {
       g.isConstant = true;
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
    {{"probe", Takes::Nothing, "",
      "Measure the rates that cost models go by on the GPU that is here, in "
      "some\n"
      "seconds, and write them to --table, from which compilations take them"},
     [](Given &g, const std::string &) {
       g.options.probe = true;
       return Status::success();
     }},
    {{"table", Takes::Value, "FILE",
      "The table that --tune and --probe write, or add to (default the "
      "user's,\n"
      "which compilations read: schedules.yaml in NM_CACHE_DIR or "
      "~/.cache/nm).\n"
      "Measurements are in a file beside it, unless --csv names one"},
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
    {{"rounds", Takes::Value, "N",
      "How many times --tune measures the fastest schedules of a product and "
      "the\n"
      "model's again at the end, in turns (default 2); more where the machine "
      "has\n"
      "other work"},
     [](Given &g, const std::string &v) {
       return store(g.rounds, parseInteger(v, 0, 100));
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
    {{"dense-type", Takes::Value, "TYPE",
      "tf32 or f16: time cuBLAS' products of f32 in TensorFloat-32 besides, "
      "or\n"
      "with operands and C in f16; may be given twice"},
     addReducedType},
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

Result<BenchOptions>
nm::parseBenchOptions(const std::vector<std::string> &args) {
  Given given;
  if (Status status = optionTable().parse(args, given, refusePlain); !status)
    return status.error();
  BenchOptions &options = given.options;
  if (options.help || options.version)
    return options;
  if (options.probe) {
    if (Status status = setProbe(given); !status)
      return status.error();
    return options;
  }
  if (given.tunes && !options.merged.empty()) {
    if (Status status = setTuning(given); !status)
      return status.error();
    return options;
  }
  if (Status status = completeOptions(given); !status)
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
