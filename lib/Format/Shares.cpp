//===- Shares.cpp - Packing by several threads ----------------------------===//

#include "Shares.h"

#include <algorithm>
#include <thread>
#include <vector>

#include <pthread.h>

using namespace nm;

namespace {
/// A part of [0, count) that a thread does.
struct Share {
  const std::function<void(int64_t, int64_t)> *fn;
  int64_t first, end;
};
} // namespace

static void *runShare(void *share) {
  const Share &own = *static_cast<Share *>(share);
  (*own.fn)(own.first, own.end);
  return nullptr;
}

void nm::detail::forEachShare(int64_t count, int64_t valuesOfOne,
                              const std::function<void(int64_t, int64_t)> &fn) {
  // Starting a thread takes as long as packing some 50000 values.
  constexpr int64_t kValuesOfThread = 1 << 19, kMostThreads = 16;
  int64_t parts = std::max<int64_t>(
      1, std::min<int64_t>({count, count * valuesOfOne / kValuesOfThread,
                            kMostThreads,
                            int64_t(std::thread::hardware_concurrency())}));
  std::vector<Share> shares;
  for (int64_t part = 0; part < parts; ++part)
    shares.push_back({&fn, count * part / parts, count * (part + 1) / parts});
  std::vector<pthread_t> threads(parts);
  // The last is this thread's, and so are those that no thread can be had for.
  int64_t started = 0;
  while (started + 1 < parts && pthread_create(&threads[started], nullptr,
                                               runShare, &shares[started]) == 0)
    ++started;
  for (int64_t part = started; part < parts; ++part)
    runShare(&shares[part]);
  for (int64_t part = 0; part < started; ++part)
    pthread_join(threads[part], nullptr);
}
