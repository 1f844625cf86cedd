//===- SharedShadow.h - Who wrote and read shared memory --------*- C++ -*-===//
//
// Finds races as FastTrack does (Flanagan and Freund, PLDI 2009), with a clock
// per warp instead of one per thread: what orders threads are barriers, which
// whole warps take part in.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SIM_SHAREDSHADOW_H
#define NM_LIB_SIM_SHAREDSHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace nm::sim {

inline constexpr int kMaxWarps = 32;
inline constexpr int kWarp = 32;

/// When a thread did something: its number in the block, and how many barriers
/// its warp had passed. Zero is never.
class Stamp {
public:
  Stamp() = default;
  Stamp(uint32_t thread, uint32_t clock) : bits(clock << 10 | thread) {}
  explicit operator bool() const { return bits != 0; }
  bool operator==(Stamp other) const { return bits == other.bits; }
  uint32_t thread() const { return bits & 1023; }
  uint32_t clock() const { return bits >> 10; }

private:
  uint32_t bits = 0;
};

/// What is ordered before what by the barriers of a block.
class Order {
public:
  void reset(int warps);
  Stamp now(uint32_t thread) const {
    return Stamp(thread, clocks[thread / kWarp]);
  }
  /// Whether what was done at `stamp` comes before what `thread` does now.
  bool isBefore(Stamp stamp, uint32_t thread) const {
    return stamp.thread() == thread ||
           stamp.clock() <= known[thread / kWarp][stamp.thread() / kWarp];
  }
  /// The warps in `mask` have met: all of each is before all that follows.
  void join(uint32_t mask);

private:
  int warps = 0;
  // Starts from one, so that no stamp is zero.
  std::array<uint32_t, kMaxWarps> clocks;
  /// known[w][v]: what warp v did up to this clock is before what w does now.
  std::array<std::array<uint32_t, kMaxWarps>, kMaxWarps> known;
};

/// What is wrong with an access.
enum class Conflict {
  None,
  Uninitialized,
  Pending,
  PendingOverwritten,
  WriteAfterWrite,
  ReadAfterWrite,
  WriteAfterRead
};

struct SharedConflict {
  Conflict kind = Conflict::None;
  /// The other access.
  uint32_t thread = 0;
  int32_t site = 0;
};

/// A shadow of a block's shared memory, by 4 bytes; by single bytes where
/// threads access those.
class SharedShadow {
public:
  explicit SharedShadow(size_t bytes);

  /// Nobody has written the first `bytes`.
  void reset(size_t bytes);

  SharedConflict read(const Order &order, uint32_t thread, int32_t site,
                      size_t offset, size_t bytes);
  SharedConflict write(const Order &order, uint32_t thread, int32_t site,
                       size_t offset, size_t bytes, bool atomic);
  /// An asynchronous copy by `thread` to there starts, or lands.
  SharedConflict startCopy(const Order &order, uint32_t thread, int32_t site,
                           size_t offset, size_t bytes);
  void landCopy(const Order &order, uint32_t thread, int32_t site,
                size_t offset, size_t bytes);

private:
  struct Cell {
    Stamp writer, reader, otherReader;
    uint16_t writerSite = 0, readerSite = 0;
    // One more than the thread whose copy is under way.
    uint16_t copier = 0;
    bool atomic = false;
  };

  SharedConflict readCell(Cell &cell, const Order &order, uint32_t thread,
                          int32_t site);
  SharedConflict writeCell(Cell &cell, const Order &order, uint32_t thread,
                           int32_t site, bool atomic);
  void splitWord(size_t word);
  template <typename Visit>
  SharedConflict forEachCell(size_t offset, size_t bytes, Visit visit);

  std::vector<Cell> words, bytes;
  std::vector<uint8_t> isSplit;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_SHAREDSHADOW_H
