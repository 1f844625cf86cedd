//===- BenchOptions.cpp - The command line of nm-bench --------------------===//

#include "BenchOptions.h"

#include "nm/Support/OptionTable.h"

using namespace nm;

namespace {
/// The options as they are given, before cases are made of them.
struct Given {
  BenchOptions options;
  std::vector<ProductShape> shapes;
  std::vector<Pattern> patterns;
  std::vector<ElementType> types;
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

static const OptionEntry<Given> kOptions[] = {
    {{"preset", Takes::Value, "NAME",
      "Measure a named list of cases; may be given several times. The names "
      "are\n"
      "listed below"},
     [](Given &g, const std::string &v) {
       Result<std::vector<BenchCase>> cases = presetCases(v);
       if (!cases)
         return Status(cases.error());
       g.options.cases.insert(g.options.cases.end(), cases->begin(),
                              cases->end());
       return Status::success();
     }},
    {{"shape", Takes::Value, "MxNxK",
      "Measure products A[m x k] * B[k x n]; may be given several times. Each\n"
      "shape is taken with every --pattern (default 2:4) and --type (default "
      "f32)"},
     [](Given &g, const std::string &v) {
       return append(g.shapes, ProductShape::parse(v));
     }},
    {{"pattern", Takes::Value, "PATTERN",
      "N:M, N kept of every M, with a block where it is not one weight:\n"
      "\"8:32, block = 1x32\""},
     addPattern},
    {{"type", Takes::Value, "TYPE", "f32, f16, bf16 or i8"}, addType},
    {{"seconds", Takes::Value, "S",
      "How long to time each case (default 2), both sides together"},
     [](Given &g, const std::string &v) {
       return store(g.options.seconds, parsePositive(v));
     }},
    {{"threads", Takes::Value, "N",
      "How many threads both sides use (default NM_NUM_THREADS, or all\n"
      "processors)"},
     [](Given &g, const std::string &v) {
       return store(g.options.threads, parseInteger(v, 1, kMaxThreads));
     }},
    {{"blas", Takes::Value, "PATH",
      "OpenBLAS (default libopenblas.so.0); none leaves it out"},
     [](Given &g, const std::string &v) {
       g.options.blas = v == "none" ? "" : v;
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
  if (Status status = optionTable().parse(args, given, refusePlain); !status)
    return status.error();
  if (given.options.help || given.options.version)
    return given.options;
  if (Status status = addCases(given); !status)
    return status.error();
  return given.options;
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
      "number of threads. Medians are compared. With up to 16 rows every call\n"
      "takes weights that no cache holds. Errors are relative to a product in\n"
      "float64, over all rows or 256 spread over m. Shares of the roofline "
      "are\n"
      "of the arithmetic and the memory reads that this host was measured to\n"
      "reach.\n"
      "Exit code: 0, 1 where a case failed or is not accurate, 2 where the\n"
      "command line is wrong.\n\nOPTIONS:\n";
  text += optionTable().help();
  text += "\nPRESETS:\n";
  for (const Preset &preset : presets())
    text += helpLine(preset.name, preset.help);
  return text;
}
