//===- Options.cpp - The command line of nm-run ---------------------------===//

#include "Options.h"

#include "Target.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace nm;

namespace {
enum class Takes { Nothing, Value, OptionalValue };

/// Stores a value, which is empty where the option takes none.
using Setter = Status (*)(RunOptions &options, const std::string &value);

struct Option {
  const char *name;
  Takes takes;
  const char *valueName;
  const char *help;
  Setter set;
};
} // namespace

static Status setInteger(int64_t &target, const std::string &value, int64_t min,
                         int64_t max) {
  char *end = nullptr;
  errno = 0;
  int64_t parsed = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end || errno || parsed < min || parsed > max)
    return Error{"expected a whole number from " + std::to_string(min) +
                 " to " + std::to_string(max) + ", but got '" + value + "'"};
  target = parsed;
  return Status::success();
}

static Status setPositive(std::optional<double> &target,
                          const std::string &value) {
  char *end = nullptr;
  double parsed = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(parsed) || parsed <= 0)
    return Error{"expected a positive number, but got '" + value + "'"};
  target = parsed;
  return Status::success();
}

static constexpr int64_t kMaxThreads = 4096;
static constexpr int64_t kMaxSize = int64_t(1) << 40;
static constexpr int64_t kMaxDevice = 1023;
static constexpr int64_t kMaxSeed = INT64_MAX;

static const Option kOptions[] = {
    {"function", Takes::Value, "NAME",
     "The function to run; needed where the module has several",
     [](RunOptions &o, const std::string &v) {
       o.function = v.substr(v.rfind('@') == 0 ? 1 : 0);
       return Status::success();
     }},
    {"input", Takes::Value, "FILE",
     "An argument as an .npy file, once per argument, in order. An encoded\n"
     "argument takes the dense array with its zeros, which is checked against\n"
     "the pattern and compressed, or VALUES.npy,INDICES.npy",
     [](RunOptions &o, const std::string &v) {
       o.inputs.push_back(v);
       return Status::success();
     }},
    {"output", Takes::Value, "FILE",
     "Where a result is written as .npy, once per result, in order; without\n"
     "any, a summary of each result is printed",
     [](RunOptions &o, const std::string &v) {
       o.outputs.push_back(v);
       return Status::success();
     }},
    {"random", Takes::Nothing, "",
     "Draw the arguments after those that --input gives: numbers in [-1, 1),\n"
     "integers in [-8, 8), encoded arguments with a random pattern",
     [](RunOptions &o, const std::string &) {
       o.random = true;
       return Status::success();
     }},
    {"random-seed", Takes::Value, "N", "The seed of --random (default 0)",
     [](RunOptions &o, const std::string &v) {
       return setInteger(o.randomSeed, v, 0, kMaxSeed);
     }},
    {"dynamic-size", Takes::Value, "N",
     "The size of dynamic dimensions of --random (default 128)",
     [](RunOptions &o, const std::string &v) {
       return setInteger(o.dynamicSize, v, 0, kMaxSize);
     }},
    {"check", Takes::Nothing, "",
     "Compare the results with the function in float64 on dense weights; "
     "needs\n"
     "an .mlir file, or a module made by nm-compile --with-reference",
     [](RunOptions &o, const std::string &) {
       o.check = true;
       return Status::success();
     }},
    {"tolerance", Takes::Value, "X",
     "The relative error that --check allows (default by type of the result:\n"
     "f64 1e-12, f32 1e-5, f16 2e-3, bf16 1e-2, f8E4M3FN 6e-2, integers 0)",
     [](RunOptions &o, const std::string &v) {
       return setPositive(o.tolerance, v);
     }},
    {"bench", Takes::OptionalValue, "SECONDS",
     "Time the function for so long (default 1): median, spread, bytes/s,\n"
     "flop/s and the share of the roofline, whose ceilings are measured first\n"
     "in up to 1 GiB of memory, or are those of a CUDA device's clocks",
     [](RunOptions &o, const std::string &v) {
       return setPositive(o.bench, v.empty() ? "1" : v);
     }},
    {"threads", Takes::Value, "N",
     "How many threads to use (default NM_NUM_THREADS, or all processors)",
     [](RunOptions &o, const std::string &v) {
       return setInteger(o.threads, v, 1, kMaxThreads);
     }},
    {"target", Takes::Value, "TARGET",
     "cpu, cuda[:sm_XX] or sim[:sm_XX] (default: that of the module, or cpu)",
     [](RunOptions &o, const std::string &v) {
       o.target = v;
       return checkTargetName(v);
     }},
    {"device", Takes::Value, "N",
     "The CUDA device that a module for CUDA runs on (default 0)",
     [](RunOptions &o, const std::string &v) {
       return setInteger(o.device, v, 0, kMaxDevice);
     }},
    {"compile-options", Takes::Value, "TEXT",
     "For an .mlir file: options of nm-compile without their dashes, "
     "separated\n"
     "by spaces",
     [](RunOptions &o, const std::string &v) {
       o.compileOptions = v;
       return Status::success();
     }},
    {"list", Takes::Nothing, "",
     "Print the functions of the module and how their operations were compiled",
     [](RunOptions &o, const std::string &) {
       o.list = true;
       return Status::success();
     }},
    {"help", Takes::Nothing, "", "Print this text",
     [](RunOptions &o, const std::string &) {
       o.help = true;
       return Status::success();
     }},
    {"version", Takes::Nothing, "", "Print the version",
     [](RunOptions &o, const std::string &) {
       o.version = true;
       return Status::success();
     }},
};

static const Option *findOption(const std::string &name) {
  for (const Option &option : kOptions)
    if (name == option.name)
      return &option;
  return nullptr;
}

static Error unknownOption(const std::string &arg) {
  std::string known;
  for (const Option &option : kOptions)
    known += (known.empty() ? "--" : ", --") + std::string(option.name);
  return Error{"unknown option '" + arg + "'; expected one of " + known};
}

/// Parses `arg`, an option, which may take its value from `next`; sets `used`
/// where it does.
static Status parseOption(RunOptions &options, const std::string &arg,
                          const std::string *next, bool &used) {
  size_t dashes = arg.compare(0, 2, "--") == 0 ? 2 : 1;
  size_t equals = arg.find('=');
  std::string name = arg.substr(dashes, equals - dashes);
  if (arg == "-h")
    name = "help";
  const Option *option = findOption(name);
  if (!option)
    return unknownOption(arg);
  std::string value;
  if (equals != std::string::npos) {
    value = arg.substr(equals + 1);
    if (option->takes == Takes::Nothing)
      return Error{"expected no value for --" + name + ", but got '" + value +
                   "'"};
  } else if (option->takes == Takes::Value) {
    if (!next)
      return Error{"expected --" + name + "=" + option->valueName};
    value = *next;
    used = true;
  }
  if (Status status = option->set(options, value); !status)
    return Error{"--" + name + ": " + status.error().message};
  return Status::success();
}

Result<RunOptions> nm::parseRunOptions(const std::vector<std::string> &args) {
  RunOptions options;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string &arg = args[i];
    if (arg.size() < 2 || arg[0] != '-') {
      if (!options.model.empty())
        return Error{"expected one module, but got '" + options.model +
                     "' and '" + arg + "'"};
      options.model = arg;
      continue;
    }
    bool used = false;
    const std::string *next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    if (Status status = parseOption(options, arg, next, used); !status)
      return status.error();
    i += used;
  }
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
  std::string text =
      "OVERVIEW: nm-run runs a function of a compiled module on .npy files\n\n"
      "USAGE: nm-run [options] model.so|model.mlir\n\n"
      "An .mlir file is compiled first, by the compiler beside this program.\n"
      "Exit code: 0, 1 where the run or its check failed, 2 where the command\n"
      "line is wrong.\n\nOPTIONS:\n";
  for (const Option &option : kOptions) {
    std::string spelling = "  --" + std::string(option.name);
    if (option.takes == Takes::Value)
      spelling += "=" + std::string(option.valueName);
    else if (option.takes == Takes::OptionalValue)
      spelling += "[=" + std::string(option.valueName) + "]";
    constexpr size_t kHelpColumn = 26;
    std::string indent(kHelpColumn, ' ');
    text += spelling + (spelling.size() + 1 < kHelpColumn
                            ? std::string(kHelpColumn - spelling.size(), ' ')
                            : "\n" + indent);
    for (const char *c = option.help; *c; ++c)
      text += *c == '\n' ? "\n" + indent : std::string(1, *c);
    text += "\n";
  }
  return text;
}
