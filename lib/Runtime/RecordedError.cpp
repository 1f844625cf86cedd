//===- RecordedError.cpp - Errors of functions that return none -----------===//

#include "RecordedError.h"

#include <cstdio>
#include <utility>

using namespace nm;

namespace {
struct ThreadState {
  std::optional<Error> error;
  int collectors = 0;
};
} // namespace

static thread_local ThreadState state;

void nm::recordError(Error error) {
  bool isNew = !state.error || state.error->message != error.message;
  if (state.collectors == 0 && isNew)
    std::fprintf(stderr, "nm: error: %s\n", error.message.c_str());
  if (!state.error)
    state.error = std::move(error);
}

bool nm::hasRecordedError() { return state.error.has_value(); }

bool nm::hasCallFailed() { return state.collectors > 0 && hasRecordedError(); }

std::optional<Error> nm::takeRecordedError() {
  return std::exchange(state.error, std::nullopt);
}

ErrorCollector::ErrorCollector() : before(takeRecordedError()) {
  ++state.collectors;
}

ErrorCollector::~ErrorCollector() {
  --state.collectors;
  state.error = std::move(before);
}

Status ErrorCollector::status() {
  std::optional<Error> error = takeRecordedError();
  return error ? Status(std::move(*error)) : Status::success();
}
