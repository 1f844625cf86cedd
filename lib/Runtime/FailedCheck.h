//===- FailedCheck.h - Checks of compiled functions -------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_FAILEDCHECK_H
#define NM_LIB_RUNTIME_FAILEDCHECK_H

#include <cstdint>
#include <string>
#include <string_view>

namespace nm {

/// The values that the text of a check can have.
inline constexpr int kCheckValues = 4;
/// The numbers of a record of failed checks: how many, which, and its values.
inline constexpr int kCheckRecordSize = 2 + kCheckValues;

/// `text` with the values in place of {0} to {3}.
std::string checkText(std::string_view text, const int64_t *values);

/// Records the error that `record` tells of, if any. `texts` end with zero
/// bytes.
void reportChecks(const int64_t *record, std::string_view texts);

} // namespace nm

namespace nm::cuda {

/// A record that the current device can write to; null after an error, which is
/// recorded, and while the current stream captures a graph.
int64_t *openChecks();
/// Whether openChecks has given this thread no record for that reason since it
/// was asked last.
bool takeSkippedChecks();
/// What is queued on the current stream is what closeChecks waits for.
void markChecks(int64_t *record);
void closeChecks(int64_t *record, std::string_view texts);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_FAILEDCHECK_H
