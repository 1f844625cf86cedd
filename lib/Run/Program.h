//===- Program.h - How command-line programs end ----------------*- C++ -*-===//

#ifndef NM_LIB_RUN_PROGRAM_H
#define NM_LIB_RUN_PROGRAM_H

#include "nm/Runtime/Npy.h"
#include "nm/Support/TemporaryPath.h"

#include <string>
#include <vector>

namespace nm {

/// The codes that programs end with.
inline constexpr int kSuccess = 0, kFailure = 1, kUsage = 2;

/// A command-line program, which tells of its errors on stderr.
struct Program {
  const char *name;

  /// Says `error`, after all that was printed; gives `code`.
  int fail(const Error &error, int code = kFailure) const;
  /// Says how the arguments are wrong, and where to look.
  int failUsage(const Error &error) const;
  /// `code`, or a failure where what was printed could not be written.
  int finish(int code) const;

  /// Runs with the options that `parse` makes of the arguments.
  template <typename Parse, typename Run>
  int main(int argc, char **argv, Parse parse, Run run) const {
    cleanUpOnSignals();
    cleanUpRuntimeOnSignals();
    auto options = parse(std::vector<std::string>(argv + 1, argv + argc));
    return options ? finish(run(*options)) : failUsage(options.error());
  }
};

} // namespace nm

#endif // NM_LIB_RUN_PROGRAM_H
