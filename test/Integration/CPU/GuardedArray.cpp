//===- GuardedArray.cpp - Memory that notices stray access ----------------===//

#include "GuardedArray.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace nm;
using namespace nm::test;

//===----------------------------------------------------------------------===//
// GuardedMemory
//===----------------------------------------------------------------------===//

GuardedMemory::GuardedMemory(size_t bytes, Edge edge) : bytes(bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t inside = (bytes / page + 1) * page;
  mappedBytes = inside + 2 * page;
  void *mapped =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    abort();
  mapping = static_cast<unsigned char *>(mapped);
  if (mprotect(mapping + page, inside, PROT_READ | PROT_WRITE) != 0)
    abort();
  std::fill_n(mapping + page, inside, kPattern);
  begin = mapping + page + (edge == Edge::Front ? 0 : inside - bytes);
}

GuardedMemory::GuardedMemory(GuardedMemory &&other)
    : mapping(std::exchange(other.mapping, nullptr)),
      mappedBytes(other.mappedBytes), begin(other.begin), bytes(other.bytes) {}

GuardedMemory::~GuardedMemory() {
  if (mapping)
    munmap(mapping, mappedBytes);
}

bool GuardedMemory::gapIsUntouched() const {
  size_t page = sysconf(_SC_PAGESIZE);
  auto untouched = [](const unsigned char *from, const unsigned char *to) {
    return std::all_of(from, to,
                       [](unsigned char byte) { return byte == kPattern; });
  };
  return untouched(mapping + page, begin) &&
         untouched(begin + bytes, mapping + mappedBytes - page);
}

//===----------------------------------------------------------------------===//
// GuardedArray
//===----------------------------------------------------------------------===//

/// Strides of a row-major array whose rows are `rowGap` elements apart.
static std::vector<int64_t> stridesOf(const std::vector<int64_t> &sizes,
                                      int64_t rowGap) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= sizes[dim];
    if (dim + 1 == sizes.size())
      stride += rowGap;
  }
  return strides;
}

static int64_t product(const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

/// Elements from the start of the memory to the end of the last element.
static int64_t spanOf(const std::vector<int64_t> &sizes,
                      const std::vector<int64_t> &strides, int64_t offset) {
  if (product(sizes) == 0)
    return offset;
  int64_t last = offset;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    last += (sizes[dim] - 1) * strides[dim];
  return last + 1;
}

GuardedArray::GuardedArray(ElementType type, std::vector<int64_t> sizes,
                           int64_t offset, int64_t rowGap,
                           GuardedMemory::Edge edge)
    : elementType(type), shape(std::move(sizes)),
      strides(stridesOf(shape, rowGap)), offset(offset),
      memory(spanOf(shape, strides, offset) * elementSize(type), edge) {
  auto address = reinterpret_cast<int64_t>(memory.data());
  words = {address, address, offset};
  words.insert(words.end(), shape.begin(), shape.end());
  words.insert(words.end(), strides.begin(), strides.end());
}

int64_t GuardedArray::numElements() const { return product(shape); }

int64_t GuardedArray::position(int64_t i) const {
  int64_t position = offset;
  for (size_t dim = shape.size(); dim-- > 0;) {
    position += i % shape[dim] * strides[dim];
    i /= shape[dim];
  }
  return position;
}

double GuardedArray::load(int64_t i) const {
  return loadAsDouble(memory.data(), elementType, position(i));
}

void GuardedArray::store(int64_t i, double value) {
  storeFromDouble(memory.data(), elementType, position(i), value);
}

std::vector<char> GuardedArray::bytes() const {
  int64_t size = elementSize(elementType);
  std::vector<char> bytes(numElements() * size);
  for (int64_t i = 0; i < numElements(); ++i)
    std::memcpy(bytes.data() + i * size, memory.data() + position(i) * size,
                size);
  return bytes;
}

void GuardedArray::setBytes(const std::vector<char> &bytes) {
  int64_t size = elementSize(elementType);
  for (int64_t i = 0; i < numElements(); ++i)
    std::memcpy(memory.data() + position(i) * size, bytes.data() + i * size,
                size);
}

bool GuardedArray::surroundingsAreUntouched() const {
  int64_t size = elementSize(elementType);
  std::vector<bool> isElement(memory.size());
  for (int64_t i = 0; i < numElements(); ++i)
    for (int64_t byte = 0; byte < size; ++byte)
      isElement[position(i) * size + byte] = true;
  for (size_t byte = 0; byte < memory.size(); ++byte)
    if (!isElement[byte] && memory.data()[byte] != GuardedMemory::kPattern)
      return false;
  return memory.gapIsUntouched();
}

//===----------------------------------------------------------------------===//
// Guarded calls
//===----------------------------------------------------------------------===//

static const std::string *runningCase = nullptr;

static void reportFault(int) {
  // Only calls that are safe in a signal handler.
  const char text[] = "memory outside an operand was accessed by: ";
  [[maybe_unused]] ssize_t written = write(2, text, sizeof(text) - 1);
  if (runningCase)
    written = write(2, runningCase->data(), runningCase->size());
  written = write(2, "\n", 1);
  _exit(1);
}

void nm::test::callGuarded(const std::string &what,
                           const std::function<void()> &call) {
  struct sigaction action = {}, before = {};
  action.sa_handler = reportFault;
  runningCase = &what;
  sigaction(SIGSEGV, &action, &before);
  call();
  sigaction(SIGSEGV, &before, nullptr);
  runningCase = nullptr;
}
