//===- KernelObjects.h - Kernels of one module for several chips *- C++ -*-===//
//
// A compiled module carries its GPU kernels once per chip. Upstream's
// gpu.binary embeds exactly one object, so the compiler puts all of them into
// one string of bytes, which the runtime is handed through mgpuModuleLoad:
//
//   bytes  0  magic, 8 bytes
//          8  u64 size of the whole
//         16  u64 number of objects
//         24  per object: char chip[16], zero-padded; u64 format; u64 offset
//             of its bytes from the start; u64 size
//             the objects, each at a multiple of 16
//
// All numbers are little-endian. The bytes of PTX are followed by a NUL, which
// their size does not count.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_KERNELOBJECTS_H
#define NM_SUPPORT_KERNELOBJECTS_H

#include "nm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// The chip that code is compiled for.
struct Chip {
  int major = 0;
  int minor = 0;
  /// 'a' for code that runs on this chip alone, 'f' for its family, else 0.
  char suffix = 0;

  /// Parses `sm_90a`.
  static std::optional<Chip> parse(std::string_view text);
  /// What to compile for on a device of this compute capability: with a suffix
  /// where the device has features that plain code for it cannot use.
  static Chip ofDevice(int major, int minor);
  std::string str() const;
};

enum class KernelFormat : uint64_t { Cubin = 1, Ptx = 2 };

/// A kernel `f` that waits for the kernel before it has a global variable of
/// this name and `f` in its module.
inline constexpr const char kWaitMark[] = "nm_waits_";
/// And of this name where it takes little longer than a launch.
inline constexpr const char kShortMark[] = "nm_short_";

/// The kernels of a module for one chip. The bytes are someone else's.
struct KernelObject {
  std::string chip;
  KernelFormat format = KernelFormat::Cubin;
  std::string_view bytes;

  /// `sm_90a`, or `sm_80+ptx`.
  std::string str() const;
  /// An object without bytes from what str() gives.
  static std::optional<KernelObject> parseKind(std::string_view text);
};

/// The container of `objects`, whose chips must be valid.
std::string encodeKernelObjects(const std::vector<KernelObject> &objects);

/// Whether `data` starts as a container does; at least 8 bytes are read.
bool isKernelContainer(const void *data);
/// The size that a container's header gives.
uint64_t kernelContainerSize(const void *data);
/// The objects of a container, which point into `bytes`.
Result<std::vector<KernelObject>> decodeKernelObjects(std::string_view bytes);

/// The objects that a device of compute capability major.minor can run, best
/// first: machine code for this very chip, then for its family, then for an
/// earlier chip of the same generation, then PTX, the newest first.
std::vector<size_t> rankKernelObjects(const std::vector<KernelObject> &objects,
                                      int major, int minor);

} // namespace nm

#endif // NM_SUPPORT_KERNELOBJECTS_H
