//===- RunOptions.cpp - The command line of nm-run ------------------------===//

#include "RunOptions.h"

#include "nm/Support/OptionTable.h"

using namespace nm;

static constexpr int64_t kMaxThreads = 4096;
static constexpr int64_t kMaxSize = int64_t(1) << 40;
static constexpr int64_t kMaxRuns = 1'000'000;
static constexpr int64_t kMaxDevice = 1023;
static constexpr int64_t kMaxSeed = INT64_MAX;

static const OptionEntry<RunOptions> kOptions[] = {
    {{"function", Takes::Value, "NAME",
      "The function to run; needed where the module has several"},
     [](RunOptions &o, const std::string &v) {
       o.function = v.substr(v.rfind('@') == 0 ? 1 : 0);
       return Status::success();
     }},
    {{"input", Takes::Value, "FILE",
      "An argument as an .npy file, once per argument, in order. An encoded\n"
      "argument takes the dense array with its zeros, which is checked "
      "against\n"
      "the pattern and compressed, or VALUES.npy,INDICES.npy"},
     [](RunOptions &o, const std::string &v) {
       o.inputs.push_back(v);
       return Status::success();
     }},
    {{"output", Takes::Value, "FILE",
      "Where a result is written as .npy, once per result, in order, and "
      "then,\n"
      "if wanted, once per argument that the function updates; without any, a\n"
      "summary of each result is printed"},
     [](RunOptions &o, const std::string &v) {
       o.outputs.push_back(v);
       return Status::success();
     }},
    {{"random", Takes::Nothing, "",
      "Draw the arguments after those that --input gives: numbers in [-1, 1),\n"
      "integers in [-8, 8), encoded arguments with a random pattern"},
     [](RunOptions &o, const std::string &) {
       o.random = true;
       return Status::success();
     }},
    {{"random-seed", Takes::Value, "N", "The seed of --random (default 0)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.randomSeed, parseInteger(v, 0, kMaxSeed));
     }},
    {{"dynamic-size", Takes::Value, "N",
      "The size of dynamic dimensions of --random (default 128)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.dynamicSize, parseInteger(v, 0, kMaxSize));
     }},
    {{"check", Takes::Nothing, "",
      "Compare the results with the function in float64 on dense weights; "
      "needs\n"
      "an .mlir file, or a module made by nm-compile --with-reference"},
     [](RunOptions &o, const std::string &) {
       o.check = true;
       return Status::success();
     }},
    {{"tolerance", Takes::Value, "X",
      "The relative error that --check allows (default by type of the result:\n"
      "f64 1e-12, f32 1e-5, f16 2e-3, bf16 1e-2, f8E4M3FN 6e-2,\n"
      "f8E5M2 1.2e-1, integers 0)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.tolerance, parsePositive(v));
     }},
    {{"bench", Takes::OptionalValue, "SECONDS",
      "Time the function for so long (default 1): median, spread, bytes/s,\n"
      "flop/s and the share of the roofline, whose ceilings are measured "
      "first\n"
      "in up to 1 GiB of memory, or are those of a CUDA device's clocks"},
     [](RunOptions &o, const std::string &v) {
       return store(o.bench, parsePositive(v.empty() ? "1" : v));
     }},
    {{"profile", Takes::OptionalValue, "RUNS",
      "Print the time of each step of the function, the median of so many "
      "runs\n"
      "(default 20), with its place in the source, the bytes a second of its\n"
      "operands, and its share of the roofline; needs an .mlir file, or a "
      "module\n"
      "made by nm-compile --profile"},
     [](RunOptions &o, const std::string &v) {
       return store(o.profile, parseInteger(v.empty() ? "20" : v, 1, kMaxRuns));
     }},
    {{"threads", Takes::Value, "N",
      "How many threads to use (default NM_NUM_THREADS, or all processors)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.threads, parseInteger(v, 1, kMaxThreads));
     }},
    {{"target", Takes::Value, "TARGET",
      "cpu, cuda[:sm_XX] or sim[:sm_XX] (default: that of the module, or cpu)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.target, Target::parse(v));
     }},
    {{"device", Takes::Value, "N",
      "The CUDA device that a module for CUDA runs on (default 0)"},
     [](RunOptions &o, const std::string &v) {
       return store(o.device, parseInteger(v, 0, kMaxDevice));
     }},
    {{"compile-options", Takes::Value, "TEXT",
      "For an .mlir file: options of nm-compile without their dashes, "
      "separated\n"
      "by spaces"},
     [](RunOptions &o, const std::string &v) {
       o.compileOptions = v;
       return Status::success();
     }},
    {{"list", Takes::Nothing, "",
      "Print the functions of the module and how their operations were "
      "compiled"},
     [](RunOptions &o, const std::string &) {
       o.list = true;
       return Status::success();
     }},
    {{"help", Takes::Nothing, "", "Print this text"},
     [](RunOptions &o, const std::string &) {
       o.help = true;
       return Status::success();
     }},
    {{"version", Takes::Nothing, "", "Print the version"},
     [](RunOptions &o, const std::string &) {
       o.version = true;
       return Status::success();
     }},
};

/// Stores the module's path.
static Status setModel(RunOptions &options, const std::string &arg) {
  if (!options.model.empty())
    return Error{"expected one module, but got '" + options.model + "' and '" +
                 arg + "'"};
  options.model = arg;
  return Status::success();
}

static const OptionTable<RunOptions> &optionTable() {
  static const OptionTable<RunOptions> table(kOptions);
  return table;
}

Result<RunOptions> nm::parseRunOptions(const std::vector<std::string> &args) {
  RunOptions options;
  if (Status status = optionTable().parse(args, options, setModel); !status)
    return status.error();
  if (options.help || options.version)
    return options;
  if (options.model.empty())
    return Error{"expected a module (.so) or an MLIR file (.mlir)"};
  if (options.list &&
      (!options.inputs.empty() || !options.outputs.empty() || options.random))
    return Error{"expected --list without --input, --output and --random"};
  return options;
}

std::string nm::runHelp() {
  return "OVERVIEW: nm-run runs a function of a compiled module on .npy "
         "files\n\n"
         "USAGE: nm-run [options] model.so|model.mlir\n\n"
         "An .mlir file is compiled first, by the compiler beside this "
         "program.\n"
         "Exit code: 0, 1 where the run or its check failed, 2 where the "
         "command\nline is wrong.\n\nOPTIONS:\n" +
         optionTable().help();
}
