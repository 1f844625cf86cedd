//===- FiberSanitizer.h - Telling sanitizers of stacks ----------*- C++ -*-===//
//
// AddressSanitizer and ThreadSanitizer keep what they know by thread: they have
// to be told when a thread goes on on another stack. In other builds nothing of
// this is left.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SIM_FIBERSANITIZER_H
#define NM_LIB_SIM_FIBERSANITIZER_H

#include <cstddef>
#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NM_SIM_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif __has_feature(thread_sanitizer)
#define NM_SIM_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace nm::sim {

/// What a sanitizer knows of one stack.
class FiberSanitizer {
public:
#if NM_SIM_ASAN
  /// A stack that is used again has the marks of frames that were never left.
  /// By hand: __asan_unpoison_memory_region does nothing where user poisoning
  /// is off, and LLVM's allocators, of which our part alone is instrumented,
  /// want that.
  [[gnu::no_sanitize("address")]] static void forgetFrames(char *low,
                                                           char *high) {
    size_t scale, offset;
    __asan_get_shadow_mapping(&scale, &offset);
    auto shadow = [&](char *address) {
      return reinterpret_cast<volatile uint64_t *>(
          (reinterpret_cast<uintptr_t>(address) >> scale) + offset);
    };
    for (volatile uint64_t *mark = shadow(low); mark != shadow(high); ++mark)
      *mark = 0;
  }
  void start(char *low, char *high) {
    forgetFrames(low, high);
    bottom = low;
    size = size_t(high - low);
  }
  /// Before the change from `from` to `to`. A thread's own stack is not known:
  /// the first change from it is what tells its place, in `arrive`.
  [[gnu::always_inline]] static void leave(FiberSanitizer &from,
                                           FiberSanitizer &to) {
    leaving = &from;
    __sanitizer_start_switch_fiber(nullptr, to.bottom, to.size);
  }
  /// After it, on the new stack.
  static void arrive() {
    __sanitizer_finish_switch_fiber(nullptr, &leaving->bottom, &leaving->size);
  }

private:
  static inline thread_local FiberSanitizer *leaving = nullptr;
  const void *bottom = nullptr;
  size_t size = 0;
#elif NM_SIM_TSAN
  FiberSanitizer() = default;
  FiberSanitizer(const FiberSanitizer &) = delete;
  FiberSanitizer &operator=(const FiberSanitizer &) = delete;
  ~FiberSanitizer() {
    if (owned)
      __tsan_destroy_fiber(owned);
  }
  static void forgetFrames(char *, char *) {}
  void start(char *, char *) {
    if (owned)
      __tsan_destroy_fiber(owned);
    fiber = owned = __tsan_create_fiber(0);
  }
  // Inline: ThreadSanitizer counts calls by fiber, and this one would return on
  // another.
  [[gnu::always_inline]] static void leave(FiberSanitizer &from,
                                           FiberSanitizer &to) {
    from.fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to.fiber, 0);
  }
  static void arrive() {}

private:
  void *fiber = nullptr;
  void *owned = nullptr;
#else
  static void forgetFrames(char *, char *) {}
  void start(char *, char *) {}
  static void leave(FiberSanitizer &, FiberSanitizer &) {}
  static void arrive() {}
#endif
};

} // namespace nm::sim

#endif // NM_LIB_SIM_FIBERSANITIZER_H
