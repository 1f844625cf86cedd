//===- ChildProcess.h - Work in a process of its own ------------*- C++ -*-===//

#ifndef NM_LIB_RUN_CHILDPROCESS_H
#define NM_LIB_RUN_CHILDPROCESS_H

#include "nm/Support/Error.h"

#include <functional>
#include <string>

namespace nm {

/// What a child process came to: the exit code that `work` returned, 0 to 255,
/// and the text that it left.
struct ChildOutcome {
  int exitCode = 0;
  std::string text;
};

/// Calls `work` in a child process, so that the libraries it loads and the
/// memory it takes are gone when it is done, and waits for it. Fails if there
/// can be no child, or if a signal ends it.
Result<ChildOutcome>
runInChild(const std::function<int(std::string &text)> &work);

} // namespace nm

#endif // NM_LIB_RUN_CHILDPROCESS_H
