//===- FailedCheck.cpp - Checks of compiled functions ---------------------===//

#include "FailedCheck.h"
#include "RecordedError.h"
#include "nm/Runtime/Export.h"

#include <algorithm>

using namespace nm;

std::string nm::checkText(std::string_view text, const int64_t *values) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    bool isValue = i + 2 < text.size() && text[i] == '{' &&
                   text[i + 1] >= '0' && text[i + 1] < '0' + kCheckValues &&
                   text[i + 2] == '}';
    if (!isValue) {
      result += text[i];
      continue;
    }
    result += std::to_string(values[text[i + 1] - '0']);
    i += 2;
  }
  return result;
}

/// What compiled code calls where a check fails: keeps the error for whoever
/// called it. `text` has {0} to {3} in place of the values.
extern "C" NM_RUNTIME_API void nmFailCheck(const char *text, int64_t length,
                                           int64_t first, int64_t second,
                                           int64_t third, int64_t fourth) {
  // Indices may be wrong by the million: the first one counts.
  if (hasCallFailed())
    return;
  int64_t values[kCheckValues] = {first, second, third, fourth};
  recordError(Error{checkText({text, size_t(length)}, values)});
}

//===----------------------------------------------------------------------===//
// Checks in kernels
//===----------------------------------------------------------------------===//

void nm::reportChecks(const int64_t *record, std::string_view texts) {
  if (record[0] == 0)
    return;
  for (int64_t i = 0; i < record[1]; ++i)
    texts.remove_prefix(std::min(texts.find('\0'), texts.size() - 1) + 1);
  recordError(Error{checkText(texts.substr(0, texts.find('\0')), record + 2)});
}

extern "C" {

/// Memory for the kernels of a call to say which check has failed; null while
/// the caller's stream captures a graph. `onDevice` says that it is a GPU's
/// kernels, not the simulator's.
NM_RUNTIME_API int64_t *nmOpenChecks(int32_t onDevice) {
  return onDevice ? cuda::openChecks() : new int64_t[kCheckRecordSize]();
}

/// The last kernel of the call that checks is queued.
NM_RUNTIME_API void nmMarkChecks(int64_t *record) { cuda::markChecks(record); }

/// Keeps the error of the first check that has failed for whoever called the
/// module. `texts` end with zero bytes, and have `size` together.
NM_RUNTIME_API void nmCloseChecks(int64_t *record, const char *texts,
                                  int64_t size, int32_t onDevice) {
  if (onDevice)
    return cuda::closeChecks(record, {texts, size_t(size)});
  reportChecks(record, {texts, size_t(size)});
  delete[] record;
}
}
