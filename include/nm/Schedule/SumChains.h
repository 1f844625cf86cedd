//===- SumChains.h - How long sums are divided ------------------*- C++ -*-===//
//
// Adding k products one after another in one f32 accumulator has an error that
// grows with k: at k = 100 000 equal products it is 5e-4. Sums are therefore
// made of chains of few products, each in an accumulator that starts at zero.
// As many chains are added to a part, as many parts to a larger one, and so on,
// so that no accumulator takes more than kChainRows values; the error then
// grows with log(k).
//
// A thread of a GPU has registers for one total beside a chain, or for none. Of
// long sums, of more than kLongSumRows, every thread is promoted. Strategy simt
// has them in shared memory, so that registers are left to the chains: each
// total takes kChainsPerPromotion chains, and is then added to a second sum in
// the thread's local memory. Other strategies have them in registers, and what
// rounding leaves out of a total is where the next chain starts: the error is
// that of one chain, whatever k.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SCHEDULE_SUMCHAINS_H
#define NM_SCHEDULE_SUMCHAINS_H

#include <cstdint>

namespace nm {

/// Kept rows of a chain, chains of a part, and so on. Of 64 equal products the
/// relative error is at most 1e-6, and the sum of a chain costs 1/64 of the
/// multiply-adds in it.
inline constexpr int64_t kChainRows = 64;

/// Kept rows of a chain whose total is in shared memory, at most, and chains
/// that such a total takes. To end a chain takes about two instructions a sum,
/// and time in which others wait for shared memory: of k = 100 000 3 to 11 % on
/// an H200, as docs/Arithmetic.md shows. Of up to 50 000 equal terms the
/// relative error is at most 2.2e-6; of 0.1, in tiles of 8 to 64 rows, 9e-7.
/// Longer chains cost less, and more digits: with those of 224 it is 3.9e-6,
/// and of 0.1 1.7e-6.
inline constexpr int64_t kSharedChainRows = 96;
inline constexpr int64_t kChainsPerPromotion = 64;

/// Tiles of `rowsOfTile` kept rows that make such a chain.
constexpr int64_t tilesPerSharedChain(int64_t rowsOfTile) {
  return rowsOfTile < kSharedChainRows ? kSharedChainRows / rowsOfTile : 1;
}

/// Kept rows of a long sum, from which on promoted sums are worth what they
/// cost. A thread of a GPU may add as many in one accumulator: the relative
/// error of as many equal terms is up to 3e-4, that of random ones far less.
inline constexpr int64_t kLongSumRows = 24 * 1024;

/// Kept rows of a part of a long sum, at most, where strategy wgmma makes it of
/// split floats: the sums of its tiles are added one after the other. The
/// relative error of 50 000 equal terms in such parts is up to 1.4e-6, of 0.1
/// 4.7e-7; in parts of half as many, of which there would be twice as many to
/// store, up to 9.1e-7.
inline constexpr int64_t kSplitPartRows = 8 * 1024;

/// Kept rows of a chain of a sum that is not long, where ending one costs 2 %
/// of the time or more: on a CPU, vectors along m. The relative error of as
/// many equal terms is up to 1e-5.
inline constexpr int64_t kShortSumChainRows = 512;

/// Whether a thread of mma_sync or mma_sp has registers for as many promoted
/// sums as it has sums.
constexpr bool hasMmaPromotion(int64_t sums) { return sums <= 64; }

/// A sum of `items` items of `rowsPerItem` kept rows each is made of parts: how
/// many items each has, or 0 where the sum is one chain, or too short for
/// whole items to be parts of it.
constexpr int64_t itemsPerPart(int64_t items, int64_t rowsPerItem) {
  int64_t part = 0;
  for (int64_t rows = kChainRows; rows < items * rowsPerItem;
       rows *= kChainRows)
    if (rowsPerItem <= rows)
      part = rows / rowsPerItem;
  return part;
}

} // namespace nm

#endif // NM_SCHEDULE_SUMCHAINS_H
