//===- TileLayout.cpp - Where a tile has its elements ---------------------===//

#include "nm/Format/TileLayout.h"

#include <algorithm>

using namespace nm;

/// Bits of an index: those of sizes up to 2^40 (kMaxSize).
static constexpr int64_t kIndexBits = 40;

static int64_t lowBits(int64_t count) { return (int64_t(1) << count) - 1; }

/// Whether `order` names each of its first bits once.
static Status verifyOrder(const std::vector<int64_t> &order, size_t dim) {
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t bit = 0; bit < sorted.size(); ++bit)
    if (sorted[bit] != int64_t(bit) || int64_t(bit) >= kIndexBits)
      return Error{"expected the order of dimension " + std::to_string(dim) +
                   " to name each bit from 0 to " +
                   std::to_string(sorted.size() - 1) + " once"};
  return Status::success();
}

static Status verifyXor(const BitXor &bits, int64_t rank) {
  auto isIn = [](int64_t value, int64_t first, int64_t end) {
    return value >= first && value < end;
  };
  if (!isIn(bits.dim, 0, rank) || !isIn(bits.fromDim, 0, rank))
    return Error{"expected dimensions below the rank, " + std::to_string(rank) +
                 ", to be XORed, but got " + std::to_string(bits.dim) +
                 " with " + std::to_string(bits.fromDim)};
  if (!isIn(bits.count, 1, kIndexBits) || !isIn(bits.bit, 0, kIndexBits) ||
      !isIn(bits.fromBit, 0, kIndexBits) ||
      std::max(bits.bit, bits.fromBit) + bits.count > kIndexBits)
    return Error{"expected bits from 0 to " + std::to_string(kIndexBits - 1) +
                 " to be XORed"};
  return Status::success();
}

Status TileLayout::verify() const {
  for (size_t dim = 0; dim < order.size(); ++dim)
    if (Status status = verifyOrder(order[dim], dim); !status)
      return status;
  for (const BitXor &bits : xors)
    if (Status status = verifyXor(bits, int64_t(order.size())); !status)
      return status;
  // What is XORed into others stays, so that doing it twice undoes it.
  for (const BitXor &to : xors)
    for (const BitXor &from : xors)
      if (to.dim == from.fromDim)
        return Error{"expected dimension " + std::to_string(to.dim) +
                     ", which is XORed into another, not to be changed itself"};
  return verifyPanels();
}

Status TileLayout::verifyPanels() const {
  if (panelColumns == 0 && panelStride == 0)
    return Status::success();
  if (order.empty() || panelColumns < 1 || panelStride < panelColumns)
    return Error{"expected panels of at least one column that are as far apart "
                 "as they are wide or farther, but got panels of " +
                 std::to_string(panelColumns) + ", " +
                 std::to_string(panelStride) + " apart"};
  // The low bits that all columns of a panel share with no other panel.
  int64_t inPanel = 0;
  while (panelColumns % (int64_t(2) << inPanel) == 0)
    ++inPanel;
  int64_t moved = int64_t(order.back().size());
  for (const BitXor &bits : xors)
    if (bits.dim + 1 == int64_t(order.size()))
      moved = std::max(moved, bits.bit + bits.count);
  if (moved > inPanel)
    return Error{"expected columns to stay in their panel of " +
                 std::to_string(panelColumns) + ", but bit " +
                 std::to_string(moved - 1) + " of theirs is moved"};
  return Status::success();
}

std::vector<int64_t> TileLayout::place(std::vector<int64_t> indices) const {
  for (const BitXor &bits : xors)
    indices[bits.dim] ^=
        (indices[bits.fromDim] >> bits.fromBit & lowBits(bits.count))
        << bits.bit;
  for (size_t dim = 0; dim < order.size(); ++dim) {
    int64_t moved = 0;
    for (const BitMove &move : movesOf(int64_t(dim))) {
      int64_t bits = indices[dim] & move.mask;
      moved += move.shift < 0 ? bits >> -move.shift : bits << move.shift;
    }
    indices[dim] = moved;
  }
  if (panelColumns != 0)
    indices.back() = placeColumn(indices.back());
  return indices;
}

std::vector<BitMove> TileLayout::movesOf(int64_t dim) const {
  const std::vector<int64_t> &bits = order[dim];
  std::vector<BitMove> moves = {{~lowBits(int64_t(bits.size())), 0}};
  for (size_t bit = 0; bit < bits.size(); ++bit) {
    int64_t shift = int64_t(bit) - bits[bit];
    if (bit == 0 || shift != moves.back().shift)
      moves.push_back({0, shift});
    moves.back().mask |= int64_t(1) << bits[bit];
  }
  return moves;
}

/// A word has 2^3 elements of 16 bits, and a line of all banks 2^3 words.
static constexpr int64_t kWordBits = 3, kLineBits = 3;

std::vector<BitXor> nm::getMatrixSwizzle(int64_t columns, int64_t rank) {
  // Rows of w words meet the banks of the first again after 8 / gcd(w, 8) rows:
  // their words change places then. With rows of 4 words, the words of rows 2
  // and 3 are XORed with 1, of rows 4 and 5 with 2, of rows 6 and 7 with 3.
  int64_t words = columns >> kWordBits;
  int64_t count = 0;
  while (count < kLineBits && words % (int64_t(2) << count) == 0)
    ++count;
  if (count == 0)
    return {};
  return {{/*dim=*/rank - 1, /*bit=*/kWordBits, /*fromDim=*/rank - 2,
           /*fromBit=*/kLineBits - count, count}};
}
