//===- CompileOptions.cpp - What nm-compile can be told -------------------===//

#include "nm/Compiler/Options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using mlir::nm::CompileOptions;
using mlir::nm::Emit;
using mlir::nm::OptionInfo;
using ::nm::Result;
using ::nm::Status;

static ::nm::Error expected(const Twine &what, StringRef got) {
  return ::nm::Error{("expected " + what + ", but got '" + got + "'").str()};
}

static Status setBool(bool &option, StringRef name, StringRef value) {
  if (value != "true" && value != "false" && !value.empty())
    return expected(name + " to be true or false", value);
  option = value != "false";
  return Status::success();
}

static Status setThreads(CompileOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.threads) || options.threads < 0 ||
      options.threads > 4096)
    return expected("threads between 0 and 4096", value);
  return Status::success();
}

static Status setOptLevel(CompileOptions &options, StringRef value) {
  if (value.getAsInteger(10, options.optLevel) || options.optLevel > 3)
    return expected("opt-level between 0 and 3", value);
  return Status::success();
}

static Status setArithmetic(CompileOptions &options, StringRef value) {
  static constexpr StringLiteral kArithmetics[] = {"f32", "ieee", "bf16x3",
                                                   "tf32", "fast_accum"};
  if (!is_contained(kArithmetics, value))
    return expected("arithmetic f32, ieee, bf16x3, tf32 or fast_accum", value);
  options.arithmetic = value.str();
  return Status::success();
}

static Status setResources(CompileOptions &options, StringRef value) {
  SmallVector<StringRef> files;
  value.split(files, ',', -1, /*KeepEmpty=*/false);
  if (files.empty())
    return expected("resources to be files, separated by commas", value);
  for (StringRef file : files)
    options.resources.push_back(file.str());
  return Status::success();
}

static Status setScheduleTables(CompileOptions &options, StringRef value) {
  SmallVector<StringRef> files;
  value.split(files, ',', -1, /*KeepEmpty=*/false);
  if (files.empty())
    return expected("schedule-table to be files, separated by commas, or none",
                    value);
  for (StringRef file : files)
    options.scheduleTables.push_back(file.str());
  return Status::success();
}

static Status setReproducer(CompileOptions &options, StringRef value) {
  if (value.empty())
    return expected("reproducer to be a file", value);
  options.reproducer = value.str();
  return Status::success();
}

static const OptionInfo kOptions[] = {
    {"with-reference", "",
     "also compile each function in float64 on dense weights, which nm-run "
     "--check compares with",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.withReference, "with-reference", value);
     }},
    {"profile", "",
     "have each function say when each of its steps is over, which nm-run "
     "--profile times",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.profile, "profile", value);
     }},
    {"detect-weights", "true|false",
     "find dense constants that obey an N:M pattern (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.detectWeights, "detect-weights", value);
     }},
    {"resources", "files",
     "files of safetensors, separated by commas, with the dense_resource "
     "constants that the module names and has no bytes of",
     setResources},
    {"arithmetic", "name",
     "what products may be computed by that do not say it: of f32, f32 (as "
     "accurate as f32, the default), ieee (multiply-adds in f32), bf16x3 or "
     "tf32; of 8-bit floats, fast_accum (sums as the tensor cores make them)",
     setArithmetic},
    {"schedule", "attribute",
     "how every product without a schedule is expanded, in place of the cost "
     "model's choice: vector or loops on the cpu, simt, gemv, cublas or loops "
     "on a GPU, with parameters as in 'simt<block = [128, 128, 32], stages = "
     "3>'; the cost model chooses those that are left out",
     [](CompileOptions &options, StringRef value) {
       options.schedule = value.str();
       return Status::success();
     }},
    {"schedule-table", "files",
     "tables of measured schedules, separated by commas, in which products are "
     "looked up before the user's own and those that nm has (default "
     "NM_SCHEDULE_TABLE); none leaves all to the cost model",
     setScheduleTables},
    {"device", "name",
     "the device whose measurements are looked up, as its driver or LLVM names "
     "it (default: the one that is here, or that the cost model is of)",
     [](CompileOptions &options, StringRef value) {
       options.device = value.str();
       return Status::success();
     }},
    {"batch-invariant", "true|false",
     "choose schedules by which the sums of a row do not depend on how many "
     "rows there are; slower (default false)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.batchInvariant, "batch-invariant", value);
     }},
    {"overlap-kernels", "true|false",
     "let a GPU's kernel start while the one before it ends, on sm_90 and "
     "newer (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.overlapKernels, "overlap-kernels", value);
     }},
    {"propagate-layouts", "true|false",
     "let activations between a GPU's products be m-major where that costs "
     "less (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.propagateLayouts, "propagate-layouts", value);
     }},
    {"dense-fallback", "true|false",
     "use dense weights where they are estimated to be faster (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.denseFallback, "dense-fallback", value);
     }},
    {"threads", "count",
     "threads to schedule for (default 0: as many as this process may run)",
     setThreads},
    {"mcpu", "name",
     "processor to compile for, as LLVM names it (default native: this one, or "
     "the least of another target)",
     [](CompileOptions &options, StringRef value) {
       options.cpu = value.empty() ? "native" : value.str();
       return Status::success();
     }},
    {"mattr", "features",
     "processor features to add or remove, separated by commas, as in "
     "+avx2,-avx512f",
     [](CompileOptions &options, StringRef value) {
       options.features = value.str();
       return Status::success();
     }},
    {"opt-level", "0..3", "how much LLVM and ptxas optimize (default 3)",
     setOptLevel},
    {"toolkit", "folder",
     "the CUDA toolkit whose bin has ptxas (default: that of CUDA_ROOT, "
     "CUDA_HOME or PATH)",
     [](CompileOptions &options, StringRef value) {
       options.toolkit = value.str();
       return Status::success();
     }},
    {"reproducer", "file",
     "where a pass fails, write the IR it was given and the passes to this "
     "file",
     setReproducer},
};

ArrayRef<OptionInfo> mlir::nm::getOptionInfos() { return kOptions; }

Status mlir::nm::setOption(CompileOptions &options, StringRef name,
                           std::optional<StringRef> value) {
  const OptionInfo *found = find_if(
      kOptions, [&](const OptionInfo &info) { return info.name == name; });
  if (found == std::end(kOptions))
    return ::nm::Error{("unknown option '" + name + "'").str()};
  if (!found->value.empty() && !value)
    return ::nm::Error{
        ("expected " + name + "=" + found->value + ", but got no value").str()};
  return found->set(options, value.value_or(""));
}

/// The option that `text` begins with, and what follows it: the first space
/// that is in no brackets ends it.
static std::pair<StringRef, StringRef> splitOption(StringRef text) {
  int64_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '[')
      ++depth;
    else if (text[i] == '>' || text[i] == ']')
      --depth;
    else if (text[i] == ' ' && depth <= 0)
      return {text.take_front(i), text.drop_front(i + 1)};
  }
  return {text, ""};
}

Status mlir::nm::parseOptions(StringRef text, CompileOptions &options) {
  while (!text.empty()) {
    auto [word, rest] = splitOption(text);
    text = rest;
    if (word.empty())
      continue;
    auto [name, given] = word.split('=');
    std::optional<StringRef> value;
    if (word.contains('='))
      value = given;
    if (Status status = setOption(options, name, value); !status)
      return status;
  }
  return Status::success();
}

Result<Emit> mlir::nm::parseEmit(StringRef name) {
  static constexpr std::pair<StringLiteral, Emit> kEmits[] = {
      {"nm", Emit::NM},          {"schedule", Emit::Schedule},
      {"gpu", Emit::GPU},        {"nvvm", Emit::NVVM},
      {"ptx", Emit::PTX},        {"cubin", Emit::Cubin},
      {"llvm", Emit::LLVM},      {"obj", Emit::Object},
      {"so", Emit::SharedObject}};
  std::string names;
  for (auto [known, emit] : kEmits) {
    if (known == name)
      return emit;
    names += (names.empty() ? "" : ", ") + known.str();
  }
  return expected("emit to be one of " + names, name);
}
