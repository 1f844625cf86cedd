//===- Deterministic.cpp - Whether run time may choose --------------------===//

#include "Deterministic.h"

#include "nm/Runtime/Export.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace nm;

static bool readEnvironment() {
  const char *text = std::getenv("NM_DETERMINISTIC");
  std::string_view value = text ? text : "";
  if (value == "1")
    return true;
  if (!value.empty() && value != "0")
    std::fprintf(stderr,
                 "nm: expected NM_DETERMINISTIC to be 0 or 1, but got '%s'; "
                 "using 0\n",
                 text);
  return false;
}

static std::atomic<bool> &setting() {
  static std::atomic<bool> isOn{readEnvironment()};
  return isOn;
}

bool nm::isDeterministic() { return setting(); }

extern "C" {
NM_RUNTIME_API int32_t nmIsDeterministic(void) { return isDeterministic(); }

NM_RUNTIME_API void nmSetDeterministic(int32_t isOn) { setting() = isOn != 0; }
}
