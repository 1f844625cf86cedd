//===- RecordedError.h - Errors of functions that return none ---*- C++ -*-===//
//
// Compiled host code calls upstream's mgpu* wrappers, whose signatures have no
// room for an error. They leave it here, per thread, for whoever called the
// compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_RUNTIME_RECORDEDERROR_H
#define NM_LIB_RUNTIME_RECORDEDERROR_H

#include "nm/Support/Error.h"

#include <optional>

namespace nm {

/// Keeps the first error of this thread until it is taken. Where no
/// ErrorCollector waits for it, prints it on stderr, and later ones that say
/// something else.
void recordError(Error error);
bool hasRecordedError();
/// Whether the call that an ErrorCollector of this thread waits for has failed:
/// what else it wants queued would work on memory that it did not get.
bool hasCallFailed();
/// Gives the thread's error and forgets it.
std::optional<Error> takeRecordedError();

/// Collects what is recorded on this thread while it lives.
class ErrorCollector {
public:
  ErrorCollector();
  ErrorCollector(const ErrorCollector &) = delete;
  ErrorCollector &operator=(const ErrorCollector &) = delete;
  ~ErrorCollector();

  /// The first error since it was made.
  Status status();

private:
  std::optional<Error> before;
};

} // namespace nm

#endif // NM_LIB_RUNTIME_RECORDEDERROR_H
