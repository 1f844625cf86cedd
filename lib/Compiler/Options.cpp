//===- Options.cpp - What nm-compile can be told --------------------------===//

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

static Status setStrategy(CompileOptions &options, StringRef value) {
  static constexpr StringLiteral kStrategies[] = {"vector", "loops", "simt",
                                                  "gemv", "cublas"};
  if (!value.empty() && !is_contained(kStrategies, value))
    return expected("strategy vector, loops, simt, gemv or cublas", value);
  options.strategy = value.str();
  return Status::success();
}

/// Parses `256,512,128`.
static Status setSizes(SmallVector<int64_t, 3> &option, size_t count,
                       StringRef value, const Twine &what) {
  SmallVector<StringRef> words;
  value.split(words, ',');
  option.clear();
  for (StringRef word : words)
    if (word.getAsInteger(10, option.emplace_back()) || option.back() < 1)
      return expected(what, value);
  return option.size() == count ? Status::success() : expected(what, value);
}

static Status setCount(int64_t &option, const Twine &name, StringRef value) {
  if (value.getAsInteger(10, option) || option < 1 || option > 65536)
    return expected(name + " between 1 and 65536", value);
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
    {"detect-weights", "true|false",
     "find dense constants that obey an N:M pattern (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.detectWeights, "detect-weights", value);
     }},
    {"strategy", "name",
     "how every product without a schedule is expanded, in place of the cost "
     "model's choice: vector or loops on the cpu, simt, gemv or cublas on a "
     "GPU",
     setStrategy},
    {"block", "M,N,K",
     "the tile that one task or thread block makes, in place of the cost "
     "model's",
     [](CompileOptions &options, StringRef value) {
       return setSizes(options.block, 3, value, "block to be sizes m,n,k");
     }},
    {"warp", "M,N", "the tile of a GPU's warp, in place of the cost model's",
     [](CompileOptions &options, StringRef value) {
       return setSizes(options.warp, 2, value, "warp to be sizes m,n");
     }},
    {"stages", "count",
     "the buffers of a GPU's shared memory that copies rotate through, in "
     "place of the cost model's choice",
     [](CompileOptions &options, StringRef value) {
       return setCount(options.stages, "stages", value);
     }},
    {"split-k", "count",
     "the parts that k is cut into on a GPU, in place of the cost model's "
     "choice",
     [](CompileOptions &options, StringRef value) {
       return setCount(options.splitK, "split-k", value);
     }},
    {"cluster-k", "count",
     "the parts of k that the blocks of a GPU's cluster sum, a divisor of "
     "those there are, in place of the cost model's choice",
     [](CompileOptions &options, StringRef value) {
       return setCount(options.clusterK, "cluster-k", value);
     }},
    {"slice-k", "count",
     "the warps of a GPU's block that take the same tile and turns along k, in "
     "place of the cost model's choice",
     [](CompileOptions &options, StringRef value) {
       return setCount(options.sliceK, "slice-k", value);
     }},
    {"prefetch", "true|false",
     "load the indices that a GPU's warp shares to registers, a tile ahead "
     "(default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.prefetch, "prefetch", value);
     }},
    {"pack", "true|false",
     "stage only the rows of A that a block's columns use, or never, in place "
     "of the cost model's choice",
     [](CompileOptions &options, StringRef value) {
       bool packs;
       Status status = setBool(packs, "pack", value);
       if (status)
         options.pack = packs ? "true" : "false";
       return status;
     }},
    {"overlap-kernels", "true|false",
     "let a GPU's kernel start while the one before it ends, on sm_90 and "
     "newer (default true)",
     [](CompileOptions &options, StringRef value) {
       return setBool(options.overlapKernels, "overlap-kernels", value);
     }},
    {"thread", "M,N",
     "the tile that is summed in registers, in place of the cost model's",
     [](CompileOptions &options, StringRef value) {
       return setSizes(options.thread, 2, value, "thread to be sizes m,n");
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
     "processor to compile for, as LLVM names it (default native: this one)",
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

Status mlir::nm::parseOptions(StringRef text, CompileOptions &options) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
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
