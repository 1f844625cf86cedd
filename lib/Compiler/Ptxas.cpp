//===- Ptxas.cpp - PTX to machine code ------------------------------------===//

#include "Ptxas.h"

#include "nm/Support/TemporaryPath.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <optional>
#ifdef __linux__
#include <sys/personality.h>
#endif

using namespace llvm;
using mlir::nm::AssembledKernel;
using mlir::nm::Assembly;
using mlir::nm::SpilledKernel;
using ::nm::Result;
using ::nm::Status;

Result<std::string> mlir::nm::findPtxas(StringRef toolkit) {
  auto inFolder = [](StringRef folder) -> std::optional<std::string> {
    SmallString<128> path(folder);
    sys::path::append(path, "bin", "ptxas");
    if (folder.empty() || !sys::fs::can_execute(path))
      return std::nullopt;
    return path.str().str();
  };
  if (!toolkit.empty()) {
    if (std::optional<std::string> path = inFolder(toolkit))
      return *path;
    return ::nm::Error{
        ("expected bin/ptxas in the toolkit '" + toolkit + "', but found none")
            .str()};
  }
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME"})
    if (const char *folder = std::getenv(variable))
      if (std::optional<std::string> path = inFolder(folder))
        return *path;
  if (ErrorOr<std::string> path = sys::findProgramByName("ptxas"))
    return *path;
  return ::nm::Error{"found no ptxas in CUDA_ROOT, CUDA_HOME or PATH"};
}

static Status writeSource(StringRef path, StringRef text) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return error ? Status(::nm::Error{
                     ("cannot write '" + path + "': " + error.message()).str()})
               : Status::success();
}

/// Empty where there is no such file.
static std::string readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// The kernels of the text that `ptxas -v` prints:
///   ptxas info    : Compiling entry function 'a_kernel' for 'sm_80'
///   ...
///   ptxas info    : Used 40 registers, used 1 barriers, 400 bytes cmem[0]
static std::vector<AssembledKernel> findKernels(StringRef log) {
  std::vector<AssembledKernel> kernels;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    auto [before, name] = line.split("Compiling entry function '");
    if (!name.empty())
      kernels.push_back(
          {name.take_until([](char c) { return c == '\''; }).str()});
    auto [start, used] = line.split(" Used ");
    int64_t registers = 0;
    if (!kernels.empty() && !used.consumeInteger(10, registers) &&
        used.starts_with(" registers"))
      kernels.back().registers = registers;
  }
  return kernels;
}

/// The kernels of which the text that `ptxas -v` prints says that they spill:
///   ptxas info    : Compiling entry function 'a_kernel' for 'sm_80'
///   ...
///       24 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads
/// Less than a register is the half of one, kept once before warps part.
static std::vector<SpilledKernel> findSpills(StringRef log) {
  constexpr int64_t kRegisterBytes = 4;
  std::vector<SpilledKernel> spilled;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  StringRef kernel;
  for (StringRef line : lines) {
    auto [before, name] = line.split("Compiling entry function '");
    if (!name.empty())
      kernel = name.take_until([](char c) { return c == '\''; });
    auto [frame, spills] = line.split(" bytes stack frame, ");
    int64_t bytes = 0;
    if (!spills.consumeInteger(10, bytes) && bytes >= kRegisterBytes)
      spilled.push_back({kernel.str(), bytes});
  }
  return spilled;
}

/// PTX in which one block of each kernel of `kernels` is enough for a
/// multiprocessor, but of those that say how many are. ptxas else limits
/// registers to what more blocks have, even where it then spills, and knows
/// nothing of the shared memory that they take.
static std::string liftRegisterLimit(StringRef ptx,
                                     ArrayRef<SpilledKernel> kernels) {
  std::string lifted = ptx.str();
  for (const SpilledKernel &kernel : kernels) {
    size_t entry = lifted.find(".entry " + kernel.name + "(");
    size_t body = lifted.find("\n{", entry);
    if (entry == std::string::npos || body == std::string::npos)
      continue;
    StringRef head = StringRef(lifted).slice(entry, body);
    if (!head.contains(".minnctapersm"))
      lifted.insert(body, "\n.minnctapersm 1");
  }
  return lifted;
}

static int64_t countBytes(ArrayRef<SpilledKernel> kernels) {
  int64_t bytes = 0;
  for (const SpilledKernel &kernel : kernels)
    bytes += kernel.bytes;
  return bytes;
}

namespace {
/// Programs that this thread starts have their memory at the same addresses
/// each time, where the system allows it. ptxas goes by addresses: of some
/// kernels it makes other code in each process.
class FixedAddresses {
public:
#ifdef __linux__
  FixedAddresses() : before(personality(kAsk)) {
    if (before != -1)
      personality(unsigned(before) | ADDR_NO_RANDOMIZE);
  }
  ~FixedAddresses() {
    if (before != -1)
      personality(unsigned(before));
  }

private:
  static constexpr unsigned long kAsk = 0xffffffff;
  int before;
#endif
};
} // namespace

/// sys::ExecuteAndWait, whose child a signal to this process ends, too.
static int runProgram(StringRef program, ArrayRef<StringRef> args,
                      ArrayRef<std::optional<StringRef>> redirects,
                      std::string &reason) {
  bool failed = false;
  sys::ProcessInfo child;
  {
    [[maybe_unused]] FixedAddresses fixed;
    child = sys::ExecuteNoWait(program, args, std::nullopt, redirects,
                               /*MemoryLimit=*/0, &reason, &failed);
  }
  if (failed || child.Pid == sys::ProcessInfo::InvalidPid)
    return -1;
  ::nm::ChildGuard guard(child.Pid);
  return sys::Wait(child, /*SecondsToWait=*/std::nullopt, &reason).ReturnCode;
}

static Result<Assembly> runPtxas(StringRef ptxas, StringRef chip, StringRef ptx,
                                 unsigned optLevel) {
  Result<::nm::TemporaryPath> folder =
      ::nm::TemporaryPath::folder(::nm::inTemporaryFolder("nm-kernels-"));
  if (!folder)
    return ::nm::Error{"cannot make a temporary folder for ptxas: " +
                       folder.error().message};
  std::string source = folder->str() + "/kernels.ptx",
              output = folder->str() + "/kernels.cubin",
              log = folder->str() + "/log";
  if (Status status = writeSource(source, ptx); !status)
    return status.error();
  std::string arch = ("-arch=" + chip).str();
  std::string level = "-O" + std::to_string(optLevel);
  StringRef argv[] = {ptxas, "-v", arch, level, source, "-o", output};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  std::string reason;
  int code = runProgram(ptxas, argv, redirects, reason);
  std::string cubin = readFile(output);
  std::string said = StringRef(readFile(log)).trim().str();
  if (code == 0 && !cubin.empty())
    return Assembly{std::move(cubin), findKernels(said), findSpills(said)};
  return ::nm::Error{("ptxas failed for " + chip + ": " +
                      (!said.empty()     ? said
                       : !reason.empty() ? reason
                                         : "it gave no reason"))
                         .str()};
}

Result<Assembly> mlir::nm::assemble(StringRef ptxas, StringRef chip,
                                    StringRef ptx, unsigned optLevel) {
  Result<Assembly> assembly = runPtxas(ptxas, chip, ptx, optLevel);
  if (!assembly || assembly->spilled.empty())
    return assembly;
  Result<Assembly> lifted = runPtxas(
      ptxas, chip, liftRegisterLimit(ptx, assembly->spilled), optLevel);
  bool isBetter =
      lifted && countBytes(lifted->spilled) < countBytes(assembly->spilled);
  return isBetter ? lifted : assembly;
}
