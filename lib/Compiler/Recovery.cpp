//===- Recovery.cpp - Surviving what LLVM does not ------------------------===//

#include "Recovery.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace llvm;

/// Where the reason of a fatal error of this thread goes; null on a thread that
/// does not compile.
static thread_local std::string *fatalReason = nullptr;

/// LLVM exits the process when this returns, as it should for errors that are
/// not those of a compilation.
static void onFatalError(void *, const char *reason, bool) {
  CrashRecoveryContext *context = CrashRecoveryContext::GetCurrent();
  if (!fatalReason || !context) {
    errs() << "LLVM ERROR: " << reason << "\n";
    return;
  }
  *fatalReason = StringRef(reason).trim().str();
  context->HandleExit(1);
}

namespace {
/// Has LLVM's only handler of fatal errors while any thread compiles, and no
/// longer: the program may have other uses of LLVM.
class FatalErrorHandler {
public:
  FatalErrorHandler() {
    std::lock_guard<std::mutex> lock(mutex);
    if (users++ == 0)
      install_fatal_error_handler(onFatalError);
  }
  ~FatalErrorHandler() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--users == 0)
      remove_fatal_error_handler();
  }

private:
  static std::mutex mutex;
  static int users;
};
std::mutex FatalErrorHandler::mutex;
int FatalErrorHandler::users = 0;
} // namespace

std::optional<std::string> mlir::nm::whyCrashed(function_ref<void()> work) {
  std::string reason;
  FatalErrorHandler handler;
  fatalReason = &reason;
  CrashRecoveryContext::Enable();
  CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely(work);
  fatalReason = nullptr;
  if (finished)
    return std::nullopt;
  return reason.empty() ? "the compiler crashed" : reason;
}
