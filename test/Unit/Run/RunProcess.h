//===- RunProcess.h - Running nm-run as its users do ------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_RUN_RUNPROCESS_H
#define NM_TEST_UNIT_RUN_RUNPROCESS_H

#include <string>
#include <vector>

/// What a finished process leaves.
struct Finished {
  /// -1 where it was killed, as by a crash.
  int code = -1;
  /// Standard output and error, in the order they were written.
  std::string text;
  /// The most memory it had, in bytes.
  long peakBytes = 0;

  bool says(const std::string &part) const {
    return text.find(part) != std::string::npos;
  }
};

/// Runs nm-run with `args`.
Finished runProcess(const std::vector<std::string> &args);

#endif // NM_TEST_UNIT_RUN_RUNPROCESS_H
