//===- GuardedArray.h - Memory that notices stray access --------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CPU_GUARDEDARRAY_H
#define NM_TEST_INTEGRATION_CPU_GUARDEDARRAY_H

#include "nm/Format/ElementType.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nm::test {

/// Bytes between two pages that cannot be accessed; they touch one of them, and
/// a pattern fills the gap to the other.
class GuardedMemory {
public:
  enum class Edge { Front, Back };

  GuardedMemory(size_t bytes, Edge edge);
  GuardedMemory(GuardedMemory &&other);
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;
  ~GuardedMemory();

  unsigned char *data() const { return begin; }
  size_t size() const { return bytes; }
  /// Whether the gap still holds the pattern.
  bool gapIsUntouched() const;

  /// The pattern: as a float of any width it is far from all test data.
  static constexpr unsigned char kPattern = 0x5c;

private:
  unsigned char *mapping = nullptr;
  size_t mappedBytes = 0;
  unsigned char *begin = nullptr;
  size_t bytes = 0;
};

/// A strided array as a memref sees it. Memory that belongs to no element holds
/// GuardedMemory's pattern.
class GuardedArray {
public:
  /// `rowGap` elements follow every row of the innermost dimension, and
  /// `offset` ones precede the first.
  GuardedArray(ElementType type, std::vector<int64_t> sizes, int64_t offset,
               int64_t rowGap, GuardedMemory::Edge edge);

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &sizes() const { return shape; }
  int64_t numElements() const;

  /// Element `i` in row-major order of the logical shape.
  double load(int64_t i) const;
  void store(int64_t i, double value);
  /// All elements, row-major without gaps, as raw bytes.
  std::vector<char> bytes() const;
  void setBytes(const std::vector<char> &bytes);

  /// The memref descriptor that MLIR's C interface takes a pointer to.
  void *descriptor() { return words.data(); }

  /// Whether all memory around the elements is as it was.
  bool surroundingsAreUntouched() const;

private:
  /// Where element `i` lies, in elements from the start of the memory.
  int64_t position(int64_t i) const;

  ElementType elementType;
  std::vector<int64_t> shape, strides;
  int64_t offset;
  GuardedMemory memory;
  std::vector<int64_t> words;
};

/// Runs `call`; an access to a guard page ends the program with a message that
/// names `what` instead of a bare signal.
void callGuarded(const std::string &what, const std::function<void()> &call);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_CPU_GUARDEDARRAY_H
