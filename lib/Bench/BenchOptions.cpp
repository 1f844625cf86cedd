//===- BenchOptions.cpp - The command line of nm-bench --------------------===//

#include "BenchOptions.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace nm;

namespace {
/// The options as they are given, before cases are made of them.
struct Given {
  BenchOptions options;
  std::vector<ProductShape> shapes;
  std::vector<Pattern> patterns;
  std::vector<ElementType> types;
};

/// Stores a value, which is empty where the option takes none.
using Setter = Status (*)(Given &given, const std::string &value);

struct Option {
  const char *name;
  /// What it takes; null for nothing.
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

static Result<double> parsePositive(const std::string &value) {
  char *end = nullptr;
  double parsed = std::strtod(value.c_str(), &end);
  if (value.empty() || *end || !std::isfinite(parsed) || parsed <= 0)
    return Error{"expected a positive number, but got '" + value + "'"};
  return parsed;
}

/// Appends `parsed` to `list`, or gives its error.
template <typename T>
static Status append(std::vector<T> &list, Result<T> parsed) {
  if (!parsed)
    return parsed.error();
  list.push_back(*parsed);
  return Status::success();
}

static Status addPattern(Given &given, const std::string &text) {
  Result<Pattern> pattern = Pattern::parse(text);
  if (pattern)
    if (Status status = pattern->verify(); !status)
      return status;
  return append(given.patterns, std::move(pattern));
}

static Status addType(Given &given, const std::string &text) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I8})
    if (text == elementName(type)) {
      given.types.push_back(type);
      return Status::success();
    }
  return Error{"expected f32, f16, bf16 or i8, but got '" + text + "'"};
}

static constexpr int64_t kMaxThreads = 4096;

static const Option kOptions[] = {
    {"preset", "NAME",
     "Measure a named list of cases; may be given several times. The names "
     "are\n"
     "listed below",
     [](Given &g, const std::string &v) {
       Result<std::vector<BenchCase>> cases = presetCases(v);
       if (!cases)
         return Status(cases.error());
       g.options.cases.insert(g.options.cases.end(), cases->begin(),
                              cases->end());
       return Status::success();
     }},
    {"shape", "MxNxK",
     "Measure products A[m x k] * B[k x n]; may be given several times. Each\n"
     "shape is taken with every --pattern (default 2:4) and --type (default "
     "f32)",
     [](Given &g, const std::string &v) {
       return append(g.shapes, ProductShape::parse(v));
     }},
    {"pattern", "PATTERN",
     "N:M, N kept of every M, with a block where it is not one weight:\n"
     "\"8:32, block = 1x32\"",
     addPattern},
    {"type", "TYPE", "f32, f16, bf16 or i8", addType},
    {"seconds", "S",
     "How long to time each case (default 2), both sides together",
     [](Given &g, const std::string &v) {
       Result<double> seconds = parsePositive(v);
       if (!seconds)
         return Status(seconds.error());
       g.options.seconds = *seconds;
       return Status::success();
     }},
    {"threads", "N",
     "How many threads both sides use (default NM_NUM_THREADS, or all\n"
     "processors)",
     [](Given &g, const std::string &v) {
       return setInteger(g.options.threads, v, 1, kMaxThreads);
     }},
    {"blas", "PATH", "OpenBLAS (default libopenblas.so.0); none leaves it out",
     [](Given &g, const std::string &v) {
       g.options.blas = v == "none" ? "" : v;
       return Status::success();
     }},
    {"tolerance", "X",
     "The relative error that a result may have beside float64 (default by\n"
     "type of the result: f32 1e-5, integers 0)",
     [](Given &g, const std::string &v) {
       Result<double> tolerance = parsePositive(v);
       if (!tolerance)
         return Status(tolerance.error());
       g.options.tolerance = *tolerance;
       return Status::success();
     }},
    {"seed", "N", "The seed of the random data (default 0)",
     [](Given &g, const std::string &v) {
       return setInteger(g.options.seed, v, 0, INT64_MAX);
     }},
    {"compile-options", "TEXT",
     "Options of nm-compile without their dashes, separated by spaces",
     [](Given &g, const std::string &v) {
       g.options.compileOptions = v;
       return Status::success();
     }},
    {"csv", "FILE", "Write the results there too, as comma-separated values",
     [](Given &g, const std::string &v) {
       g.options.csv = v;
       return Status::success();
     }},
    {"list", nullptr, "Print the cases and measure nothing",
     [](Given &g, const std::string &) {
       g.options.list = true;
       return Status::success();
     }},
    {"help", nullptr, "Print this text",
     [](Given &g, const std::string &) {
       g.options.help = true;
       return Status::success();
     }},
    {"version", nullptr, "Print the version",
     [](Given &g, const std::string &) {
       g.options.version = true;
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

/// Parses `arg`, which may take its value from `next`; sets `used` where it
/// does.
static Status parseOption(Given &given, const std::string &arg,
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
    if (!option->valueName)
      return Error{"expected no value for --" + name + ", but got '" + value +
                   "'"};
  } else if (option->valueName) {
    if (!next)
      return Error{"expected --" + name + "=" + option->valueName};
    value = *next;
    used = true;
  }
  if (Status status = option->set(given, value); !status)
    return Error{"--" + name + ": " + status.error().message};
  return Status::success();
}

/// Adds the cases of --shape, and checks that there are some.
static Status addCases(Given &given) {
  if (given.shapes.empty()) {
    if (!given.patterns.empty() || !given.types.empty())
      return Error{"expected --shape beside --pattern and --type"};
    if (given.options.cases.empty())
      return Error{"expected a --preset or a --shape"};
    return Status::success();
  }
  if (given.patterns.empty())
    given.patterns.push_back({2, 4});
  if (given.types.empty())
    given.types.push_back(ElementType::F32);
  for (const ProductShape &shape : given.shapes)
    for (const Pattern &pattern : given.patterns)
      if (pattern.bk > shape.k || pattern.bn > shape.n)
        return Error{"expected blocks to fit in k x n, but got the pattern " +
                     pattern.str() + " for the shape " + shape.str()};
  for (const BenchCase &bench :
       crossCases(given.shapes, given.patterns, given.types))
    given.options.cases.push_back(bench);
  return Status::success();
}

Result<BenchOptions>
nm::parseBenchOptions(const std::vector<std::string> &args) {
  Given given;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string &arg = args[i];
    if (arg.size() < 2 || arg[0] != '-')
      return Error{"expected options only, but got '" + arg + "'"};
    bool used = false;
    const std::string *next = i + 1 < args.size() ? &args[i + 1] : nullptr;
    if (Status status = parseOption(given, arg, next, used); !status)
      return status.error();
    i += used;
  }
  if (given.options.help || given.options.version)
    return given.options;
  if (Status status = addCases(given); !status)
    return status.error();
  return given.options;
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// `spelling` and `help` in two columns; the help may have several lines.
static std::string helpLine(const std::string &spelling,
                            const std::string &help) {
  constexpr size_t kHelpColumn = 26;
  std::string indent(kHelpColumn, ' ');
  std::string text = "  " + spelling;
  text += text.size() + 1 < kHelpColumn
              ? std::string(kHelpColumn - text.size(), ' ')
              : "\n" + indent;
  for (char c : help)
    text += c == '\n' ? "\n" + indent : std::string(1, c);
  return text + "\n";
}

std::string nm::benchHelp() {
  std::string text =
      "OVERVIEW: nm-bench times compiled N:M products beside a dense BLAS\n\n"
      "USAGE: nm-bench --preset=NAME|--shape=MxNxK [options]\n\n"
      "Each case is compiled with its weights as arguments and run on random\n"
      "data in turns with OpenBLAS sgemm (sgemv for one row), on the same\n"
      "number of threads. Medians are compared. With up to 16 rows every call\n"
      "takes weights that no cache holds. Errors are relative to a product in\n"
      "float64, over all rows or 256 spread over m. Shares of the roofline "
      "are\n"
      "of the arithmetic and the memory reads that this host was measured to\n"
      "reach.\n"
      "Exit code: 0, 1 where a case failed or is not accurate, 2 where the\n"
      "command line is wrong.\n\nOPTIONS:\n";
  for (const Option &option : kOptions)
    text += helpLine(
        "--" + std::string(option.name) +
            (option.valueName ? "=" + std::string(option.valueName) : ""),
        option.help);
  text += "\nPRESETS:\n";
  for (const Preset &preset : presets())
    text += helpLine(preset.name, preset.help);
  return text;
}
