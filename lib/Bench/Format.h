//===- Format.h - Numbers as text -------------------------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_FORMAT_H
#define NM_LIB_BENCH_FORMAT_H

#include <cstdio>
#include <string>

namespace nm {

/// What printf would print, up to 127 characters of it.
template <typename... Args>
std::string format(const char *form, Args... args) {
  char text[128];
  std::snprintf(text, sizeof text, form, args...);
  return text;
}

} // namespace nm

#endif // NM_LIB_BENCH_FORMAT_H
