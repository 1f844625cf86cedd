//===- TensorCopies.cpp - Copies of boxes of tensors ----------------------===//

#include "Block.h"
#include "TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace nm;
using namespace nm::sim;

static constexpr size_t kChunk = MatrixDescriptor::kChunk;

/// The map that an instruction is given, where it may be used.
bool Block::readTensorMap(NmSimThread &thread, int32_t site, const char *from,
                          int32_t rank, TensorMap &map, bool isOfPixels) {
  std::optional<size_t> extent = launch.global.find(from, TensorMap::kBytes);
  if (!extent) {
    report(thread, FaultClass::GlobalBounds, site,
           "reads a tensor map of 128 bytes from " +
               launch.global.describe(from));
    return false;
  }
  std::memcpy(&map, from, sizeof map);
  if (map.magic != TensorMap::kMagic || map.rank != rank) {
    report(thread, FaultClass::BadOperand, site,
           map.magic != TensorMap::kMagic
               ? "expected a tensor map that nmSimEncodeTensorMap has written"
               : "expected a tensor map of rank " + std::to_string(rank) +
                     ", but got one of rank " + std::to_string(map.rank));
    return false;
  }
  if (bool(map.isOfPixels) != isOfPixels) {
    report(thread, FaultClass::BadOperand, site,
           isOfPixels
               ? "expected a tensor map of pixels"
               : "expected a tensor map of boxes, but got one of pixels");
    return false;
  }
  if (launch.global.getOffset(*extent, from) % TensorMap::kAlignment != 0)
    report(thread, FaultClass::Misaligned, site,
           "expected a tensor map at a multiple of 64 bytes");
  return true;
}

/// Whether the box is in shared memory at `address`.
bool Block::isBoxPlace(NmSimThread &thread, int32_t site, const char *address,
                       const TensorMap &map) {
  constexpr size_t kAlignment = 128;
  size_t offset = size_t(uintptr_t(address) - uintptr_t(shared));
  std::string what = "copies a box of " + std::to_string(map.boxBytes()) +
                     " bytes, which is at byte " +
                     std::to_string(int64_t(offset)) + " of shared memory";
  if (offset >= sharedBytes || map.boxBytes() > sharedBytes - offset) {
    report(thread, FaultClass::SharedBounds, site,
           what + ", which has " + std::to_string(sharedBytes));
    return false;
  }
  if (offset % kAlignment != 0)
    report(thread, FaultClass::Misaligned, site,
           what + ", expected a multiple of 128");
  return true;
}

/// The extent of what is copied of a row, where all of it is memory of an
/// argument.
std::optional<size_t> Block::findRow(NmSimThread &thread, int32_t site,
                                     const TensorMap &map, const char *from,
                                     size_t bytes) {
  std::optional<size_t> extent = launch.global.find(from, bytes);
  if (!extent)
    report(thread, FaultClass::GlobalBounds, site,
           "copies " + std::to_string(bytes) + " bytes of a tensor at " +
               launch.global.describe(from));
  else if (launch.global.getOffset(*extent, map.base) % kChunk != 0)
    report(thread, FaultClass::Misaligned, site,
           "expected a tensor at a multiple of 16 bytes");
  return extent;
}

/// Where chunk `chunk` of a box at `address` is.
static size_t findChunk(const TensorMap &map, size_t offset, size_t chunk) {
  return size_t(swizzleAddress(map.getSwizzle(), int(offset + chunk * kChunk)));
}

/// Puts what the tensor has of `row` into `box`.
void Block::readRow(NmSimThread &thread, int32_t site, const TensorMap &map,
                    const TensorMap::Row &row, std::vector<char> &box) {
  if (row.end <= row.first)
    return;
  size_t skipped = size_t(row.first) * map.elementBytes;
  size_t bytes = size_t(row.end - row.first) * map.elementBytes;
  const char *source = row.from + skipped;
  std::optional<size_t> extent = findRow(thread, site, map, source, bytes);
  if (!extent)
    return;
  GlobalConflict other =
      launch.global.read(*extent, blockOrder, thread.index, source, bytes);
  if (other.kind != Conflict::None)
    reportGlobal(thread, site, source, other);
  std::memcpy(box.data() + row.offset + skipped, source, bytes);
}

void Block::loadTensor(NmSimThread &thread, int32_t site, char *to,
                       const char *from, char *address, int32_t rank,
                       const TensorMap::Coordinates &at,
                       const std::optional<TensorMap::Offsets> &offsets,
                       uint32_t mask) {
  step(thread, site);
  TensorMap map;
  if (!readTensorMap(thread, site, from, rank, map, offsets.has_value()) ||
      !isBoxPlace(thread, site, to, map))
    return;
  if (offsets && !map.isPlace(at)) {
    report(thread, FaultClass::BadOperand, site,
           "expected the coordinates of a place between the map's corners");
    return;
  }
  // What is not in the tensor is zero.
  auto box = std::make_shared<std::vector<char>>(map.boxBytes());
  auto read = [&](const TensorMap::Row &row) {
    readRow(thread, site, map, row, *box);
  };
  if (offsets)
    map.forEachPlace(at, *offsets, read);
  else
    map.forEachRow(at, read);
  std::vector<TrackedCopy> copies;
  auto offset = size_t(to - shared);
  for (size_t i = 0; i < box->size() / kChunk; ++i)
    copies.push_back(
        {{shared + findChunk(map, offset, i), box->data() + i * kChunk,
          int32_t(kChunk), site, nullptr},
         Stamp(),
         int32_t(kChunk),
         SharedShadow::Write::Asynchronous,
         box});
  send(thread, site, to, address, mask, copies);
}

/// Puts up to a chunk of a row where the tensor has it. Boxes of tiles that
/// overlap may have the same bytes, as stores of threads may.
void Block::storeChunk(NmSimThread &thread, int32_t site, size_t extent,
                       char *target, const char *value, size_t bytes) {
  GlobalConflict other = launch.global.write(extent, blockOrder, thread.index,
                                             target, bytes, /*atomic=*/false);
  if (other.kind == Conflict::WriteAfterWrite) {
    EqualStore store{
        target,      {}, int32_t(bytes), site,
        other.bytes, id, thread.id,      describeGlobal(site, target, other)};
    std::copy_n(value, bytes, store.value.begin());
    return launch.equalStores.add(std::move(store));
  }
  if (other.kind != Conflict::None)
    reportGlobal(thread, site, target, other);
  std::memcpy(target, value, bytes);
}

void Block::storeTensor(NmSimThread &thread, int32_t site, const char *to,
                        const char *from, int32_t rank,
                        const TensorMap::Coordinates &at) {
  step(thread, site);
  TensorMap map;
  if (!readTensorMap(thread, site, to, rank, map, /*isOfPixels=*/false) ||
      !isBoxPlace(thread, site, from, map))
    return;
  auto offset = size_t(from - shared);
  std::vector<char> row(map.rowBytes());
  bool isRight = true;
  map.forEachRow(at, [&](const TensorMap::Row &place) {
    size_t skipped = size_t(place.first) * map.elementBytes;
    size_t end = size_t(place.end) * map.elementBytes;
    if (end <= skipped || !isRight)
      return;
    for (size_t at = skipped / kChunk; at * kChunk < end; ++at) {
      size_t chunk = findChunk(map, offset, place.offset / kChunk + at);
      isRight = isRight && readForCopy(thread, site, chunk, kChunk);
      std::memcpy(row.data() + at * kChunk, shared + chunk, kChunk);
    }
    char *target = place.from + skipped;
    std::optional<size_t> extent =
        findRow(thread, site, map, target, end - skipped);
    if (!extent)
      return;
    for (size_t at = skipped; at < end; at += kChunk)
      storeChunk(thread, site, *extent, place.from + at, row.data() + at,
                 std::min(kChunk, end - at));
  });
}

void nmSimLoadTensor(NmSimThread *thread, int32_t site, void *to, void *map,
                     void *mbarrier, int32_t rank, int32_t c0, int32_t c1,
                     int32_t c2, int32_t c3, int32_t c4, int32_t isOfPixels,
                     int32_t o0, int32_t o1, int32_t o2, int32_t mask) {
  std::optional<TensorMap::Offsets> offsets;
  if (isOfPixels)
    offsets = {o0, o1, o2};
  thread->block->loadTensor(*thread, site, static_cast<char *>(to),
                            static_cast<char *>(map),
                            static_cast<char *>(mbarrier), rank,
                            {c0, c1, c2, c3, c4}, offsets, uint32_t(mask));
}

void nmSimStoreTensor(NmSimThread *thread, int32_t site, void *map, void *from,
                      int32_t rank, int32_t c0, int32_t c1, int32_t c2,
                      int32_t c3, int32_t c4) {
  thread->bulk.site = site;
  thread->block->storeTensor(*thread, site, static_cast<char *>(map),
                             static_cast<char *>(from), rank,
                             {c0, c1, c2, c3, c4});
}
