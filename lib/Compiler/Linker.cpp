//===- Linker.cpp - Objects to shared objects -----------------------------===//

#include "Linker.h"

#include "LargeConstants.h"

#include "nm/Support/Seal.h"
#include "nm/Support/TemporaryPath.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#ifdef NM_HAVE_LLD
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Signals.h"
LLD_HAS_DRIVER(elf)
#endif

#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <link.h>

using namespace llvm;
using ::nm::Result;
using ::nm::Status;

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kRuntime = "libnm_runtime.so";
/// What simulated kernels call; beside the runtime.
static constexpr StringLiteral kSimulator = "libnm_sim.so";

/// The folder of the binary that this code is in.
static std::string getOwnFolder() {
  void *address = reinterpret_cast<void *>(&getOwnFolder);
  Dl_info info;
  SmallString<128> path;
  // A program's own name may be what it was called by; a library's is a path.
  if (!dladdr(address, &info) || !info.dli_fname ||
      !sys::path::is_absolute(info.dli_fname) ||
      sys::fs::real_path(info.dli_fname, path))
    path = sys::fs::getMainExecutable(nullptr, address);
  return sys::path::parent_path(path).str();
}

/// The runtime beside this library, or where this tool's libraries are.
static Result<std::string> findRuntime() {
  std::string own = getOwnFolder();
  for (StringRef relative : {".", NM_LIBDIR_FROM_BINDIR}) {
    SmallString<128> path(own);
    sys::path::append(path, relative, kRuntime);
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return ::nm::Error{("expected " + kRuntime + " in '" + own + "' or '" + own +
                      "/" + NM_LIBDIR_FROM_BINDIR + "', but found none")
                         .str()};
}

/// The file of a library that this process has loaded, or can. A linker wants
/// `libm.so`, which only a system with compilers has.
static std::optional<std::string> findSystemLibrary(const char *name) {
  void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (!handle)
    return std::nullopt;
  std::optional<std::string> path;
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name[0])
    path = map->l_name;
  dlclose(handle);
  return path;
}

/// The libraries that a module is linked with. Few need the simulator's.
static Result<std::vector<std::string>> findLibraries() {
  Result<std::string> runtime = findRuntime();
  if (!runtime)
    return runtime.error();
  std::vector<std::string> libraries = {*runtime};
  SmallString<128> simulator(sys::path::parent_path(*runtime));
  sys::path::append(simulator, kSimulator);
  if (sys::fs::exists(simulator))
    libraries.push_back(simulator.str().str());
  for (const char *name : {"libm.so.6", "libc.so.6"})
    if (std::optional<std::string> path = findSystemLibrary(name))
      libraries.push_back(*path);
  return libraries;
}

//===----------------------------------------------------------------------===//
// Libraries of other processors
//===----------------------------------------------------------------------===//

/// Writes a library without code to `path`, which has the name and the symbols
/// of `library` and is for `triple`: enough for a linker to see that nothing is
/// missing, where this machine has no libraries of that processor.
static Status writeInterface(StringRef library, StringRef path,
                             const Triple &triple) {
  auto failure = [&](llvm::Error error) {
    return ::nm::Error{"cannot read the symbols of '" + library.str() +
                       "': " + toString(std::move(error))};
  };
  auto bytes = MemoryBuffer::getFile(library, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/false);
  if (!bytes)
    return failure(errorCodeToError(bytes.getError()));
  auto interface = ifs::readELFFile((*bytes)->getMemBufferRef());
  if (!interface)
    return failure(interface.takeError());
  (*interface)->Target.Arch = triple.isAArch64() ? EM_AARCH64
                              : triple.isRISCV() ? EM_RISCV
                                                 : EM_X86_64;
  if (llvm::Error error = ifs::writeBinaryStub(path, **interface))
    return failure(std::move(error));
  return Status::success();
}

/// Writes interfaces of `libraries` to `folder` and gives their paths.
static Result<std::vector<std::string>>
writeInterfaces(ArrayRef<std::string> libraries, StringRef folder,
                const Triple &triple) {
  std::vector<std::string> interfaces;
  for (StringRef library : libraries) {
    SmallString<128> path(folder);
    sys::path::append(path, sys::path::filename(library));
    if (Status status = writeInterface(library, path, triple); !status)
      return status.error();
    interfaces.push_back(path.str().str());
  }
  return interfaces;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Equal for equal objects with equal constants.
static Result<std::string>
getBuildId(StringRef object, const mlir::nm::LargeConstants &constants) {
  auto bytes = MemoryBuffer::getFile(object, /*IsText=*/false,
                                     /*RequiresNullTerminator=*/false);
  if (!bytes)
    return ::nm::Error{"cannot read '" + object.str() +
                       "': " + bytes.getError().message()};
  return ::nm::sealedBuildId(xxh3_64bits((*bytes)->getBuffer()) +
                             constants.hash());
}

/// `libraries` begin with the runtime; `runtimeFolder` is where it lies on the
/// machine that runs the object, if that is known.
static std::vector<std::string> getArguments(StringRef object, StringRef output,
                                             StringRef buildId,
                                             ArrayRef<std::string> libraries,
                                             StringRef runtimeFolder) {
  std::vector<std::string> args = {"-shared",
                                   "-o",
                                   output.str(),
                                   object.str(),
                                   "--no-undefined",
                                   "--gc-sections",
                                   "--hash-style=gnu",
                                   "-z",
                                   "noexecstack",
                                   "-z",
                                   "relro",
                                   "-z",
                                   "now",
                                   "-rpath",
                                   "$ORIGIN",
                                   "--enable-new-dtags",
                                   "--build-id=0x" + buildId.str()};
  if (!runtimeFolder.empty())
    append_values(args, std::string("-rpath"), runtimeFolder.str());
  args.push_back(libraries.front());
  args.push_back("--as-needed");
  append_range(args, libraries.drop_front());
  return args;
}

//===----------------------------------------------------------------------===//
// The linker that is built in
//===----------------------------------------------------------------------===//

/// The errors of a linker's output, without its own name.
static ::nm::Error linkError(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string message;
  for (StringRef line : lines) {
    // Where the symbols of an error are used: always in this one object.
    if (line.starts_with(">>>"))
      continue;
    size_t at = line.find("error: ");
    line = (at == StringRef::npos ? line : line.substr(at + 7)).trim();
    message += (message.empty() ? "" : "; ") + line.str();
  }
  return ::nm::Error{"cannot link: " +
                     (message.empty() ? "the linker gave no reason" : message)};
}

#ifdef NM_HAVE_LLD
namespace {
/// LLVM takes the program's signals for the sake of lld's temporary files, and
/// gives them back here, unless it had them before.
class SignalKeeper {
public:
  SignalKeeper() : before(getHandler()) {}
  ~SignalKeeper() {
    if (getHandler() != before)
      sys::unregisterHandlers();
  }

private:
  /// The handler of one of the signals that LLVM takes all at once.
  static sighandler_t getHandler() {
    struct sigaction action;
    sigaction(SIGHUP, nullptr, &action);
    return action.sa_handler;
  }

  sighandler_t before;
};
} // namespace

/// None where lld cannot be used any more: it keeps global state, which an
/// error deep inside of it may leave broken.
static std::optional<Status> linkInProcess(ArrayRef<std::string> args) {
  static std::mutex mutex;
  static bool canRun = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!canRun)
    return std::nullopt;
  SignalKeeper signals;
  // lld's pool of threads would not be there in a forked child, which then
  // waits for it for ever.
  std::vector<const char *> argv = {"ld.lld", "--threads=1"};
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());
  // lld sets it for the whole process.
  scope_exit restore(
      [before = parallel::strategy] { parallel::strategy = before; });
  std::string text;
  raw_string_ostream stream(text);
  lld::Result result =
      lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  canRun = result.canRunAgain;
  return result.retCode == 0 ? Status::success() : Status(linkError(text));
}
#else
static std::optional<Status> linkInProcess(ArrayRef<std::string>) {
  return std::nullopt;
}
#endif

//===----------------------------------------------------------------------===//
// A linker on PATH
//===----------------------------------------------------------------------===//

static Status linkByProgram(ArrayRef<std::string> args) {
  std::string found;
  for (StringRef name : {"ld.lld-22", "ld.lld", "ld"})
    if (auto path = sys::findProgramByName(name)) {
      found = *path;
      break;
    }
  if (found.empty())
    return ::nm::Error{
        "expected ld.lld or ld on PATH to link the shared object, but "
        "found none; --emit=obj needs no linker"};
  Result<::nm::TemporaryPath> file = ::nm::TemporaryPath::file(
      ::nm::inTemporaryFolder("nm-link-"), ".log", 0600);
  if (!file)
    return ::nm::Error{"cannot write a temporary file: " +
                       file.error().message};
  std::string log = file->str();
  std::vector<StringRef> argv = {found};
  argv.insert(argv.end(), args.begin(), args.end());
  std::string reason;
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(log),
                                          StringRef(log)};
  int code =
      sys::ExecuteAndWait(found, argv, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason);
  auto text = MemoryBuffer::getFile(log);
  if (code == 0)
    return Status::success();
  return linkError(text && !(*text)->getBuffer().empty() ? (*text)->getBuffer()
                                                         : StringRef(reason));
}

static Status link(StringRef object, StringRef output,
                   const mlir::nm::LargeConstants &constants,
                   ArrayRef<std::string> libraries, StringRef runtimeFolder) {
  Result<std::string> buildId = getBuildId(object, constants);
  if (!buildId)
    return buildId.error();
  std::vector<std::string> args =
      getArguments(object, output, *buildId, libraries, runtimeFolder);
  std::optional<Status> inProcess = linkInProcess(args);
  Status status = inProcess ? *inProcess : linkByProgram(args);
  if (status)
    status = constants.write(output);
  return status ? ::nm::addSeal(output.str()) : status;
}

Status mlir::nm::linkSharedObject(StringRef object, StringRef output,
                                  const Triple &triple,
                                  const LargeConstants &constants) {
  Result<std::vector<std::string>> libraries = findLibraries();
  if (!libraries)
    return libraries.error();
  if (triple.getArch() == Triple(sys::getProcessTriple()).getArch())
    return link(object, output, constants, *libraries,
                sys::path::parent_path(libraries->front()));
  Result<::nm::TemporaryPath> folder =
      ::nm::TemporaryPath::folder(::nm::inTemporaryFolder("nm-link-"));
  if (!folder)
    return ::nm::Error{"cannot make a temporary folder: " +
                       folder.error().message};
  Result<std::vector<std::string>> interfaces =
      writeInterfaces(*libraries, folder->str(), triple);
  if (!interfaces)
    return interfaces.error();
  // The runtime lies beside the module there, or where its loader looks.
  return link(object, output, constants, *interfaces, /*runtimeFolder=*/"");
}
