//===- Ptxas.cpp - PTX to machine code ------------------------------------===//

#include "Ptxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <optional>

using namespace llvm;
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

namespace {
/// A file that is gone when this is.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef extension) {
    error = sys::fs::createTemporaryFile("nm-kernels", extension, path);
    if (!error)
      remover.setFile(path);
  }

  Status write(StringRef text) const {
    std::error_code failed = error;
    if (!failed) {
      raw_fd_ostream stream(path, failed);
      stream << text;
      stream.close();
      if (!failed)
        failed = stream.error();
      stream.clear_error();
    }
    if (!failed)
      return Status::success();
    return ::nm::Error{"cannot write a temporary file: " + failed.message()};
  }
  std::string read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  StringRef getPath() const { return path; }

private:
  SmallString<128> path;
  std::error_code error;
  FileRemover remover;
};
} // namespace

/// The kernels of which the text that `ptxas -v` prints says that they spill:
///   ptxas info    : Compiling entry function 'a_kernel' for 'sm_80'
///   ...
///       24 bytes stack frame, 32 bytes spill stores, 32 bytes spill loads
static std::vector<SpilledKernel> findSpills(StringRef log) {
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
    if (!spills.consumeInteger(10, bytes) && bytes > 0)
      spilled.push_back({kernel.str(), bytes});
  }
  return spilled;
}

/// PTX in which one block of each kernel of `kernels` is enough for a
/// multiprocessor. ptxas else limits registers to what more blocks have, even
/// where it then spills, and knows nothing of the shared memory that they take.
static std::string liftRegisterLimit(StringRef ptx,
                                     ArrayRef<SpilledKernel> kernels) {
  std::string lifted = ptx.str();
  for (const SpilledKernel &kernel : kernels) {
    size_t entry = lifted.find(".entry " + kernel.name + "(");
    size_t body = lifted.find("\n{", entry);
    if (entry != std::string::npos && body != std::string::npos)
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

static Result<Assembly> runPtxas(StringRef ptxas, StringRef chip, StringRef ptx,
                                 unsigned optLevel) {
  TemporaryFile source("ptx"), output("cubin"), log("log");
  if (Status status = source.write(ptx); !status)
    return status.error();
  std::string arch = ("-arch=" + chip).str();
  std::string level = "-O" + std::to_string(optLevel);
  StringRef argv[] = {
      ptxas, "-v", arch, level, source.getPath(), "-o", output.getPath()};
  std::optional<StringRef> redirects[] = {std::nullopt, log.getPath(),
                                          log.getPath()};
  std::string reason;
  int code =
      sys::ExecuteAndWait(ptxas, argv, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  std::string cubin = output.read();
  std::string said = StringRef(log.read()).trim().str();
  if (code == 0 && !cubin.empty())
    return Assembly{std::move(cubin), findSpills(said)};
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
