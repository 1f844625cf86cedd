//===- Fiber.h - Stacks that take turns on one thread -----------*- C++ -*-===//

#ifndef NM_LIB_SIM_FIBER_H
#define NM_LIB_SIM_FIBER_H

#include "FiberSanitizer.h"

#include "nm/Support/Error.h"

#include <cstddef>

#if !defined(__x86_64__) || defined(NM_SIM_UCONTEXT)
#define NM_SIM_USES_UCONTEXT 1
#include <ucontext.h>
#endif

namespace nm::sim {

/// Memory for many stacks, each above a page that faults: what overflows one
/// stops the program instead of writing into the next.
class Stacks {
public:
  static Result<Stacks> create(size_t count, size_t bytes);
  Stacks(Stacks &&other);
  Stacks &operator=(Stacks &&) = delete;
  ~Stacks();

  char *low(size_t i) const { return memory + i * stride + guard; }
  char *high(size_t i) const { return memory + (i + 1) * stride; }

private:
  Stacks() = default;

  char *memory = nullptr;
  size_t size = 0, stride = 0, guard = 0;
};

/// Where something that runs can be left and entered again.
class Fiber {
public:
  using Body = void (*)(void *argument);

  /// Makes it start `body` when it is first entered; until then it must not be
  /// moved. The body must not return: its last act is to leave for another.
  void start(char *low, char *high, Body body, void *argument);

  /// Leaves `from` and goes on where `to` was left.
  static void change(Fiber &from, Fiber &to);

private:
  static void begin(void *fiber);

  Body body = nullptr;
  void *argument = nullptr;
  FiberSanitizer sanitizer;
#ifdef NM_SIM_USES_UCONTEXT
  ucontext_t context;
#else
  void *stackPointer = nullptr;
#endif
};

} // namespace nm::sim

#endif // NM_LIB_SIM_FIBER_H
