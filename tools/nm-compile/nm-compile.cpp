//===- nm-compile.cpp - Compiles a module ---------------------------------===//

#include "nm/Compiler/Compiler.h"
#include "nm/Support/Progress.h"
#include "nm/Support/TemporaryPath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <memory>
#include <vector>

#include <unistd.h>

using namespace llvm;
using mlir::nm::CompileOptions;
using mlir::nm::Diagnostics;
using mlir::nm::Emit;
using mlir::nm::OptionInfo;

namespace {
/// One of the two.
struct SharedOption {
  std::unique_ptr<cl::opt<bool>> flag;
  std::unique_ptr<cl::opt<std::string>> text;

  bool isGiven() const {
    return (flag ? flag->getNumOccurrences() : text->getNumOccurrences()) > 0;
  }
  std::string getValue() const {
    return flag ? (*flag ? "true" : "false") : text->getValue();
  }
};

/// The command line. It is made after ResetCommandLineParser, without which
/// libLLVM's own options are there too, some by the same names.
class CommandLine {
public:
  CommandLine() {
    for (const OptionInfo &info : mlir::nm::getOptionInfos()) {
      SharedOption &option = shared.emplace_back();
      if (info.value.empty())
        option.flag = std::make_unique<cl::opt<bool>>(
            info.name, cl::desc(info.help), cl::cat(category));
      else
        option.text = std::make_unique<cl::opt<std::string>>(
            info.name, cl::desc(info.help), cl::value_desc(info.value),
            cl::cat(category));
    }
  }

  nm::Status read(CompileOptions &options) const;
  std::string getInput() const { return input; }
  std::string getOutput(Emit phase) const;

private:
  cl::OptionCategory category{"Options of the compiler"};
  cl::opt<std::string> input{cl::Positional,
                             cl::desc("<input.mlir, - for stdin>"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::value_desc("file"), cl::cat(category),
      cl::desc("where the result goes, - for stdout (default: stdout for text, "
               "else the input's name with .cubin, .o or .so)")};
  cl::opt<std::string> target{
      "target", cl::value_desc("target"), cl::init("cpu"), cl::cat(category),
      cl::desc("what to compile for: cpu (the default), or "
               "cpu:x86_64, cpu:aarch64 or cpu:riscv64, a Linux on another "
               "processor; cuda[:sm_XX[,sm_YY...]]; or sim[:sm_XX], the "
               "kernels of a GPU on the host; where no chip is given, that of "
               "the device that is here, or sm_90")};
  cl::opt<std::string> emit{
      "emit", cl::value_desc("phase"), cl::init("so"), cl::cat(category),
      cl::desc(
          "how far to compile (default so): nm, products as nm ops; "
          "schedule, with the schedule of each; for one chip of cuda, gpu, "
          "launches, nvvm, kernels in the nvvm dialect, ptx and cubin; "
          "llvm, optimized LLVM IR; obj, an object file; so, a shared "
          "object")};
  /// The options that the C API has too.
  std::vector<SharedOption> shared;
};
} // namespace

nm::Status CommandLine::read(CompileOptions &options) const {
  options.target = target;
  nm::Result<Emit> phase = mlir::nm::parseEmit(emit);
  if (!phase)
    return phase.error();
  options.emit = *phase;
  for (auto [option, info] : llvm::zip(shared, mlir::nm::getOptionInfos())) {
    if (!option.isGiven())
      continue;
    if (nm::Status status = info.set(options, option.getValue()); !status)
      return status;
  }
  return nm::Status::success();
}

/// The extension of a file that is no text.
static StringRef getExtension(Emit phase) {
  switch (phase) {
  case Emit::Cubin:
    return ".cubin";
  case Emit::Object:
    return ".o";
  case Emit::SharedObject:
    return ".so";
  default:
    return "";
  }
}

/// Beside the input, as compilers do; text goes to stdout.
std::string CommandLine::getOutput(Emit phase) const {
  if (output.getNumOccurrences() > 0)
    return output;
  StringRef extension = getExtension(phase);
  if (extension.empty())
    return "-";
  StringRef stem = input;
  if (!stem.consume_back(".mlirbc"))
    stem.consume_back(".mlir");
  if (stem == "-")
    stem = "model";
  return (stem + extension).str();
}

/// Over the line that shows the progress, if there is one.
static void print(const Diagnostics::Entry &entry) {
  if (isatty(STDERR_FILENO))
    errs() << "\r\x1b[K";
  errs() << entry.str() << "\n";
}

namespace {
struct Request {
  std::string input, output;
  CompileOptions options;
};
} // namespace

/// Exits for --help and for options that there are not.
static nm::Result<Request> readCommandLine(int argc, char **argv) {
  cl::ResetCommandLineParser();
  CommandLine commandLine;
  cl::ParseCommandLineOptions(
      argc, argv,
      "compiles the matrix products of an MLIR module, N:M-sparse ones among "
      "them\n\nRemarks on stderr say how each product was compiled.\n");
  Request request;
  nm::Status status = commandLine.read(request.options);
  request.input = commandLine.getInput();
  request.output = commandLine.getOutput(request.options.emit);
  // The linker inside registers options of its own, some by the same names.
  cl::ResetCommandLineParser();
  if (!status)
    return status.error();
  return request;
}

int main(int argc, char **argv) {
  // Before LLVM's handlers, which call those that were there.
  nm::cleanUpOnSignals();
  InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  // LLVM's handler would print a stack trace; the write fails, too.
  std::signal(SIGXFSZ, SIG_IGN);
  nm::Result<Request> request = readCommandLine(argc, argv);
  if (!request) {
    WithColor::error() << request.error().message << "\n";
    return 1;
  }
  nm::Progress progress("compiling " + request->input);
  Diagnostics diagnostics(
      print, [&](StringRef step) { progress.setStep(step.str()); });
  return failed(mlir::nm::compileFile(request->input, request->output,
                                      request->options, diagnostics));
}
