//===- Device.h - Where elements are, and functions run ---------*- C++ -*-===//

#ifndef NM_RUNTIME_DEVICE_H
#define NM_RUNTIME_DEVICE_H

#include "nm/Runtime/Export.h"

#include <string>

namespace nm {

/// The host, or the CUDA device of this number, as the driver counts them.
struct NM_RUNTIME_API Device {
  enum class Kind { Cpu, Cuda };

  Kind kind = Kind::Cpu;
  int ordinal = 0;

  static Device cpu() { return {}; }
  static Device cuda(int ordinal) { return {Kind::Cuda, ordinal}; }

  bool isCpu() const { return kind == Kind::Cpu; }
  /// `cpu` or `cuda:0`.
  std::string str() const;

  friend bool operator==(const Device &a, const Device &b) {
    return a.kind == b.kind && a.ordinal == b.ordinal;
  }
  friend bool operator!=(const Device &a, const Device &b) { return !(a == b); }
};

} // namespace nm

#endif // NM_RUNTIME_DEVICE_H
