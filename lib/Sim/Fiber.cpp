//===- Fiber.cpp - Stacks that take turns on one thread -------------------===//

#include "Fiber.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

using namespace nm;
using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

Result<Stacks> Stacks::create(size_t count, size_t bytes) {
  Stacks stacks;
  stacks.guard = size_t(sysconf(_SC_PAGESIZE));
  stacks.stride =
      stacks.guard + (bytes + stacks.guard - 1) / stacks.guard * stacks.guard;
  stacks.size = count * stacks.stride;
  void *memory = mmap(nullptr, stacks.size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return Error{
        "cannot reserve " + std::to_string(stacks.size) +
        " bytes for the stacks of a block's threads: " + std::strerror(errno)};
  stacks.memory = static_cast<char *>(memory);
  for (size_t i = 0; i < count; ++i)
    if (mprotect(stacks.memory + i * stacks.stride, stacks.guard, PROT_NONE))
      return Error{std::string("cannot protect the end of a stack: ") +
                   std::strerror(errno)};
  return stacks;
}

Stacks::Stacks(Stacks &&other)
    : memory(std::exchange(other.memory, nullptr)), size(other.size),
      stride(other.stride), guard(other.guard) {}

Stacks::~Stacks() {
  if (!memory)
    return;
  FiberSanitizer::forgetFrames(memory, memory + size);
  munmap(memory, size);
}

//===----------------------------------------------------------------------===//
// Changing stacks
//===----------------------------------------------------------------------===//

/// The first that runs on a fiber's stack.
void Fiber::begin(void *fiber) {
  FiberSanitizer::arrive();
  auto &self = *static_cast<Fiber *>(fiber);
  self.body(self.argument);
}

#ifdef NM_SIM_USES_UCONTEXT

static void enter(unsigned bodyHigh, unsigned bodyLow, unsigned argumentHigh,
                  unsigned argumentLow) {
  auto join = [](unsigned high, unsigned low) {
    return uintptr_t(uint64_t(high) << 32 | low);
  };
  reinterpret_cast<Fiber::Body>(join(bodyHigh, bodyLow))(
      reinterpret_cast<void *>(join(argumentHigh, argumentLow)));
}

void Fiber::start(char *low, char *high, Body startBody, void *startArgument) {
  sanitizer.start(low, high);
  body = startBody;
  argument = startArgument;
  getcontext(&context);
  context.uc_stack.ss_sp = low;
  context.uc_stack.ss_size = size_t(high - low);
  context.uc_link = nullptr;
  // Its arguments are ints, which hold half a pointer each.
  uint64_t function = reinterpret_cast<uintptr_t>(&Fiber::begin);
  uint64_t data = reinterpret_cast<uintptr_t>(this);
  makecontext(&context, reinterpret_cast<void (*)()>(enter), 4,
              unsigned(function >> 32), unsigned(function),
              unsigned(data >> 32), unsigned(data));
}

void Fiber::change(Fiber &from, Fiber &to) {
  FiberSanitizer::leave(from.sanitizer, to.sanitizer);
  swapcontext(&from.context, &to.context);
  FiberSanitizer::arrive();
}

#else

// ucontext saves the signal mask too, with a system call each way. Only what
// the System V ABI has callees preserve is live across the call of a function.
extern "C" {
__attribute__((visibility("hidden"))) void nmSimChangeStack(void **from,
                                                            void *to);
__attribute__((visibility("hidden"))) void nmSimStartFiber();
}

asm(R"(
  .text
  .p2align 4
  .hidden nmSimChangeStack
  .globl nmSimChangeStack
  .type nmSimChangeStack, @function
nmSimChangeStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size nmSimChangeStack, .-nmSimChangeStack

  .p2align 4
  .hidden nmSimStartFiber
  .globl nmSimStartFiber
  .type nmSimStartFiber, @function
nmSimStartFiber:
  movq %r12, %rdi
  callq *%r13
  ud2
  .size nmSimStartFiber, .-nmSimStartFiber
)");

void Fiber::start(char *low, char *high, Body startBody, void *startArgument) {
  sanitizer.start(low, high);
  body = startBody;
  argument = startArgument;
  // What nmSimChangeStack pops: r15, r14, r13, r12, rbx, rbp, and where it
  // returns to. Then the stack is aligned as a call instruction wants it.
  auto *frame = reinterpret_cast<void **>(
      reinterpret_cast<uintptr_t>(high) / 16 * 16 - 72);
  std::memset(frame, 0, 72);
  frame[2] = reinterpret_cast<void *>(&Fiber::begin);
  frame[3] = this;
  frame[6] = reinterpret_cast<void *>(nmSimStartFiber);
  stackPointer = frame;
}

void Fiber::change(Fiber &from, Fiber &to) {
  FiberSanitizer::leave(from.sanitizer, to.sanitizer);
  nmSimChangeStack(&from.stackPointer, to.stackPointer);
  FiberSanitizer::arrive();
}

#endif
