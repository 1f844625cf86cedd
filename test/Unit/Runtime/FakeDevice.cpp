//===- FakeDevice.cpp - What the fake driver drives -----------------------===//

#include "FakeDevice.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <sys/mman.h>

using namespace fake;

State &fake::state() {
  static auto *state = [] {
    auto *made = new State();
    return made;
  }();
  return *state;
}

static void applyDefaults(State &s) {
  s.settings = {{"devices", 1}, {"version", 12040}, {"major", 9},
                {"minor", 0},   {"shared", 232448}, {"clusters", 1},
                {"pools", 1},   {"free", 1 << 30},  {"l2", 1 << 20}};
  s.failures.clear();
  s.log.clear();
  const char *text = std::getenv("FAKE_CUDA");
  for (std::string rest = text ? text : ""; !rest.empty();) {
    size_t end = std::min(rest.find(','), rest.size());
    std::string item = rest.substr(0, end);
    rest.erase(0, end + 1);
    size_t equals = item.find('=');
    int64_t value = std::atoll(item.c_str() + equals + 1);
    std::string key = item.substr(0, equals);
    if (key.compare(0, 5, "fail:") == 0)
      s.failures[key.substr(5)] = {int(value), true};
    else
      s.settings[key] = value;
  }
}

int64_t fake::setting(const char *key) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (s.settings.empty())
    applyDefaults(s);
  return s.settings[key];
}

int fake::enter(const char *call, const std::string &detail) {
  setting("devices");
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  std::string text = call + (detail.empty() ? "" : " " + detail);
  s.log += text + "; ";
  if (s.settings["print"])
    std::fprintf(stderr, "%s\n", text.c_str());
  auto failure = s.failures.find(call);
  if (failure == s.failures.end())
    return 0;
  int code = failure->second.code;
  if (!failure->second.sticky)
    s.failures.erase(failure);
  return code;
}

void fake::count(int64_t change) {
  std::lock_guard<std::mutex> lock(state().mutex);
  state().live += change;
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

extern "C" {
EXPORT void fakeCudaReset(void) {
  std::lock_guard<std::mutex> lock(state().mutex);
  applyDefaults(state());
}
EXPORT void fakeCudaSet(const char *key, int64_t value) {
  setting(key);
  std::lock_guard<std::mutex> lock(state().mutex);
  state().settings[key] = value;
}
EXPORT void fakeCudaFail(const char *call, int code, int sticky) {
  setting("devices");
  std::lock_guard<std::mutex> lock(state().mutex);
  state().failures[call] = {code, sticky != 0};
}
EXPORT void *fakeCudaOpenMemory(void) { return new Unlocked; }
EXPORT void fakeCudaCloseMemory(void *opened) {
  delete static_cast<Unlocked *>(opened);
}
EXPORT void fakeCudaSleep(void *stream, int milliseconds) {
  fake::onStream(stream, [=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return 0;
  });
}
EXPORT const char *fakeCudaLog(void) { return state().log.c_str(); }
EXPORT int64_t fakeCudaLive(void) { return state().live; }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr size_t kPage = 4096;

static size_t pages(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

bool fake::isDevice(uintptr_t address, size_t bytes) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto after = state().memory.upper_bound(address);
  if (after == state().memory.begin())
    return false;
  auto [base, size] = *std::prev(after);
  return address + bytes <= base + size;
}

void Unlocked::protect(int flags) {
  std::lock_guard<std::mutex> lock(state().mutex);
  for (auto [base, size] : state().memory)
    mprotect(reinterpret_cast<void *>(base), pages(size), flags);
}

std::mutex Unlocked::mutex;

Unlocked::Unlocked() : lock(mutex) { protect(PROT_READ | PROT_WRITE); }
Unlocked::~Unlocked() { protect(PROT_NONE); }

int fake::allocate(unsigned long long *address, size_t bytes) {
  if (int64_t(bytes) > setting("free"))
    return 2;
  void *data = mmap(nullptr, pages(bytes), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return 2;
  *address = reinterpret_cast<uintptr_t>(data);
  std::lock_guard<std::mutex> lock(state().mutex);
  state().memory[*address] = bytes;
  ++state().live;
  return 0;
}

int fake::release(unsigned long long address) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto known = state().memory.find(address);
  if (known == state().memory.end())
    return 1;
  munmap(reinterpret_cast<void *>(address), pages(known->second));
  state().memory.erase(known);
  --state().live;
  return 0;
}

int fake::releaseOnStream(unsigned long long address, void *stream) {
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    auto graph = state().capturing.find(stream);
    if (graph != state().capturing.end()) {
      graph->second->memory->addresses.push_back(address);
      return 0;
    }
  }
  return release(address);
}

GraphMemory::~GraphMemory() {
  for (unsigned long long address : addresses)
    release(address);
}

int fake::onStream(void *stream, std::function<int()> step, Node node) {
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    auto graph = state().capturing.find(stream);
    if (graph != state().capturing.end()) {
      node.run = std::move(step);
      graph->second->nodes.push_back(std::make_shared<Node>(std::move(node)));
      return 0;
    }
  }
  return step();
}
