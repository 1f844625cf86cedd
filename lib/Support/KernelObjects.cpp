//===- KernelObjects.cpp - Kernels of one module for several chips --------===//

#include "nm/Support/KernelObjects.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <tuple>

using namespace nm;

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

std::optional<Chip> Chip::parse(std::string_view text) {
  constexpr std::string_view kPrefix = "sm_";
  if (text.substr(0, kPrefix.size()) != kPrefix)
    return std::nullopt;
  text.remove_prefix(kPrefix.size());
  Chip chip;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    chip.suffix = text.back();
    text.remove_suffix(1);
  }
  // The last digit is the minor number: sm_103 is 10.3.
  if (text.size() < 2 || text.size() > 4)
    return std::nullopt;
  int number = 0;
  for (char c : text) {
    if (c < '0' || c > '9')
      return std::nullopt;
    number = number * 10 + (c - '0');
  }
  chip.major = number / 10;
  chip.minor = number % 10;
  return chip;
}

Chip Chip::ofDevice(int major, int minor) {
  // wgmma is only in code for sm_90a, tcgen05 only in code for sm_10xa.
  bool isSpecific = (major == 9 && minor == 0) || major == 10;
  return {major, minor, isSpecific ? 'a' : '\0'};
}

std::string Chip::str() const {
  std::string text = "sm_" + std::to_string(major) + std::to_string(minor);
  return suffix ? text + suffix : text;
}

std::string KernelObject::str() const {
  return format == KernelFormat::Ptx ? chip + "+ptx" : chip;
}

std::optional<KernelObject> KernelObject::parseKind(std::string_view text) {
  constexpr std::string_view kPtx = "+ptx";
  KernelObject object;
  size_t plus = text.find('+');
  object.chip = text.substr(0, plus);
  if (plus != std::string_view::npos) {
    if (text.substr(plus) != kPtx)
      return std::nullopt;
    object.format = KernelFormat::Ptx;
  }
  if (!Chip::parse(object.chip))
    return std::nullopt;
  return object;
}

/// Whether a device of major.minor runs code of `chip`. PTX is compiled for
/// the device when it is loaded; what it needs is a device that has at least
/// the features of its chip.
static bool runsOn(const Chip &chip, KernelFormat format, int major,
                   int minor) {
  if (chip.suffix == 'a')
    return chip.major == major && chip.minor == minor;
  if (chip.suffix == 'f' || format == KernelFormat::Cubin)
    return chip.major == major && chip.minor <= minor;
  return std::tie(chip.major, chip.minor) <= std::tie(major, minor);
}

std::vector<size_t>
nm::rankKernelObjects(const std::vector<KernelObject> &objects, int major,
                      int minor) {
  // Compared from left to right, more is better.
  using Rank = std::tuple<bool, int, int, int>;
  std::vector<std::pair<Rank, size_t>> fitting;
  for (size_t i = 0; i < objects.size(); ++i) {
    std::optional<Chip> chip = Chip::parse(objects[i].chip);
    if (!chip || !runsOn(*chip, objects[i].format, major, minor))
      continue;
    int specific = chip->suffix == 'a' ? 2 : chip->suffix == 'f' ? 1 : 0;
    bool isCubin = objects[i].format == KernelFormat::Cubin;
    fitting.push_back({{isCubin, chip->major, chip->minor, specific}, i});
  }
  std::sort(fitting.begin(), fitting.end(), [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<size_t> order;
  for (const auto &[rank, i] : fitting)
    order.push_back(i);
  return order;
}

//===----------------------------------------------------------------------===//
// The container
//===----------------------------------------------------------------------===//

// The first byte is that of no ELF file and of no text.
static constexpr char kMagic[8] = {'\x8e', 'N', 'M', 'K', 'E', 'R', 'N', 1};
static constexpr size_t kChipSize = 16;
static constexpr size_t kHeaderSize = 24;
static constexpr size_t kEntrySize = kChipSize + 3 * sizeof(uint64_t);
static constexpr size_t kAlignment = 16;

static void append(std::string &out, uint64_t value) {
  for (size_t byte = 0; byte < sizeof value; ++byte)
    out += char(value >> (8 * byte));
}

static uint64_t read(const char *from) {
  uint64_t value = 0;
  for (size_t byte = 0; byte < sizeof value; ++byte)
    value |= uint64_t(static_cast<unsigned char>(from[byte])) << (8 * byte);
  return value;
}

static size_t alignUp(size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// The NUL after PTX, which the driver wants, is not counted by its size.
static size_t storedSize(const KernelObject &object) {
  return object.bytes.size() + (object.format == KernelFormat::Ptx);
}

std::string nm::encodeKernelObjects(const std::vector<KernelObject> &objects) {
  size_t first = alignUp(kHeaderSize + objects.size() * kEntrySize);
  size_t size = first;
  for (const KernelObject &object : objects)
    size += alignUp(storedSize(object));
  std::string out(kMagic, sizeof kMagic);
  append(out, size);
  append(out, objects.size());
  size_t offset = first;
  for (const KernelObject &object : objects) {
    assert(Chip::parse(object.chip) && "expected a chip");
    std::string chip = object.chip;
    chip.resize(kChipSize);
    out += chip;
    append(out, uint64_t(object.format));
    append(out, offset);
    append(out, object.bytes.size());
    offset += alignUp(storedSize(object));
  }
  out.resize(first);
  for (const KernelObject &object : objects) {
    out += object.bytes;
    out.resize(out.size() + alignUp(storedSize(object)) - object.bytes.size());
  }
  return out;
}

bool nm::isKernelContainer(const void *data) {
  return std::memcmp(data, kMagic, sizeof kMagic) == 0;
}

uint64_t nm::kernelContainerSize(const void *data) {
  return read(static_cast<const char *>(data) + sizeof kMagic);
}

static Result<KernelObject> readEntry(std::string_view bytes, size_t at) {
  const char *entry = bytes.data() + at;
  KernelObject object;
  object.chip = std::string(entry, kChipSize);
  object.chip.resize(object.chip.find_last_not_of('\0') + 1);
  uint64_t format = read(entry + kChipSize);
  uint64_t offset = read(entry + kChipSize + 8);
  uint64_t size = read(entry + kChipSize + 16);
  if (!Chip::parse(object.chip))
    return Error{"expected a chip like sm_90a, but got '" + object.chip + "'"};
  if (format != uint64_t(KernelFormat::Cubin) &&
      format != uint64_t(KernelFormat::Ptx))
    return Error{"expected the format of " + object.chip +
                 " to be 1 (cubin) or 2 (PTX), but got " +
                 std::to_string(format)};
  object.format = KernelFormat(format);
  bool isPtx = object.format == KernelFormat::Ptx;
  if (offset > bytes.size() || size > bytes.size() - offset ||
      (isPtx && size == bytes.size() - offset))
    return Error{"expected the kernels of " + object.str() + " within " +
                 std::to_string(bytes.size()) + " bytes, but got " +
                 std::to_string(size) + " bytes at " + std::to_string(offset)};
  object.bytes = bytes.substr(offset, size);
  if (isPtx && bytes[offset + size] != 0)
    return Error{"expected a NUL after the PTX of " + object.chip};
  return object;
}

Result<std::vector<KernelObject>>
nm::decodeKernelObjects(std::string_view bytes) {
  if (bytes.size() < kHeaderSize || !isKernelContainer(bytes.data()))
    return Error{"expected a container of kernels"};
  uint64_t size = kernelContainerSize(bytes.data());
  uint64_t count = read(bytes.data() + 16);
  if (size > bytes.size())
    return Error{"expected " + std::to_string(size) +
                 " bytes of kernels, but got " + std::to_string(bytes.size())};
  bytes = bytes.substr(0, size);
  if (size < kHeaderSize || count > (size - kHeaderSize) / kEntrySize)
    return Error{"expected " + std::to_string(count) +
                 " entries of kernels within " + std::to_string(size) +
                 " bytes"};
  std::vector<KernelObject> objects;
  for (uint64_t i = 0; i < count; ++i) {
    Result<KernelObject> object =
        readEntry(bytes, kHeaderSize + i * kEntrySize);
    if (!object)
      return object.error();
    objects.push_back(std::move(*object));
  }
  return objects;
}
