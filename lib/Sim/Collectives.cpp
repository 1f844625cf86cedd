//===- Collectives.cpp - What lanes compute as one ------------------------===//
//
// Each of these is in the table of convert-kernels-to-sim. Operands arrive as a
// struct of those of the op and of its attributes, in that order.
//
//===----------------------------------------------------------------------===//

#include "nm/Format/MmaFragments.h"
#include "nm/Sim/Abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace {
struct ShuffleOperands {
  int32_t value, offset, maskAndClamp, kind;
};
struct ShuffleResult {
  int32_t value;
  bool isValid;
};
} // namespace

/// The lane that `lane` reads, or -1, after PTX's description of shfl.sync.
static int findSource(const ShuffleOperands &operands, int lane) {
  enum Kind { Butterfly, Up, Down, Index };
  int b = operands.offset & 31;
  int clamp = operands.maskAndClamp & 31;
  int segment = operands.maskAndClamp >> 8 & 31;
  int most = (lane & segment) | (clamp & ~segment);
  int least = lane & segment;
  int source = lane;
  bool isValid = true;
  switch (Kind(operands.kind)) {
  case Up:
    source = lane - b;
    // The clamp is the least lane of the segment here.
    isValid = source >= most;
    break;
  case Down:
    source = lane + b;
    isValid = source <= most;
    break;
  case Butterfly:
    source = lane ^ b;
    isValid = source <= most;
    break;
  case Index:
    source = least | (b & ~segment);
    isValid = source <= most;
    break;
  }
  return isValid ? source : -1;
}

void nmSimShuffle(NmSimCollective *lanes) {
  auto operandsOf = [&](int lane) {
    return static_cast<ShuffleOperands *>(lanes->operands[lane]);
  };
  for (int lane = 0; lane < lanes->width; ++lane) {
    if (!operandsOf(lane))
      continue;
    int source = findSource(*operandsOf(lane), lane);
    auto *result = static_cast<ShuffleResult *>(lanes->results[lane]);
    result->isValid = source >= 0;
    // A lane that takes no part has no value: what one reads there is
    // undefined, and shall not look like anything.
    if (source < 0)
      result->value = operandsOf(lane)->value;
    else if (operandsOf(source))
      result->value = operandsOf(source)->value;
    else
      result->value = -1;
  }
}

void nmSimElect(NmSimCollective *lanes) {
  bool isFirst = true;
  for (int lane = 0; lane < lanes->width; ++lane)
    if (lanes->operands[lane]) {
      *static_cast<bool *>(lanes->results[lane]) = isFirst;
      isFirst = false;
    }
}

void nmSimVote(NmSimCollective *lanes) {
  struct Operands {
    int32_t predicate, kind;
  };
  enum Kind { Any, All, Ballot, Uniform };
  uint32_t votes = 0, present = 0;
  int kind = Ballot;
  for (int lane = 0; lane < lanes->width; ++lane)
    if (auto *operands = static_cast<Operands *>(lanes->operands[lane])) {
      present |= 1u << lane;
      votes |= uint32_t(operands->predicate & 1) << lane;
      kind = operands->kind;
    }
  uint32_t result = votes;
  if (kind == Any)
    result = votes != 0;
  else if (kind == All)
    result = votes == present;
  else if (kind == Uniform)
    result = votes == present || votes == 0;
  for (int lane = 0; lane < lanes->width; ++lane)
    if (lanes->results[lane])
      *static_cast<uint32_t *>(lanes->results[lane]) = result;
}

namespace {
struct ReduceOperands {
  // Bits of an i32 or an f32.
  uint32_t value;
  int32_t kind, abs, nan;
};
enum ReduceKind { Add = 1, And, Max, Min, Or, UMax, UMin, Xor, FMin, FMax };
} // namespace

static float toFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t reduceFloats(const ReduceOperands &operands, uint32_t lhs,
                             uint32_t rhs) {
  float a = toFloat(lhs), b = toFloat(rhs);
  float value = operands.kind == FMin ? std::fmin(a, b) : std::fmax(a, b);
  if (operands.nan && (std::isnan(a) || std::isnan(b)))
    value = NAN;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint32_t reduce(const ReduceOperands &operands, uint32_t a, uint32_t b) {
  switch (ReduceKind(operands.kind)) {
  case Add:
    return a + b;
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  case Max:
    return uint32_t(std::max(int32_t(a), int32_t(b)));
  case Min:
    return uint32_t(std::min(int32_t(a), int32_t(b)));
  case UMax:
    return std::max(a, b);
  case UMin:
    return std::min(a, b);
  case FMin:
  case FMax:
    return reduceFloats(operands, a, b);
  }
  return 0;
}

void nmSimReduce(NmSimCollective *lanes) {
  bool isFirst = true;
  uint32_t result = 0;
  for (int lane = 0; lane < lanes->width; ++lane) {
    auto *operands = static_cast<ReduceOperands *>(lanes->operands[lane]);
    if (!operands)
      continue;
    uint32_t value = operands->value;
    if (operands->abs)
      value &= 0x7fffffff;
    result = isFirst ? value : reduce(*operands, result, value);
    isFirst = false;
  }
  for (int lane = 0; lane < lanes->width; ++lane)
    if (lanes->results[lane])
      *static_cast<uint32_t *>(lanes->results[lane]) = result;
}

/// Element `place` of matrix `matrix`, whose row r lane 8 matrix + r names;
/// null where that lane names none.
static char *findElement(NmSimCollective *lanes, int matrix,
                         nm::FragmentOffset place) {
  void *operand = lanes->operands[8 * matrix + place.row];
  char *row = operand ? static_cast<NmSimMatrices *>(operand)->row : nullptr;
  return row ? row + 2 * place.column : nullptr;
}

/// Visits both 16-bit elements of each lane's word of each matrix: where they
/// are in the row's memory, the lane, the matrix, and 0 or 1.
template <typename Visit>
static void forEachMatrixElement(NmSimCollective *lanes, Visit visit) {
  for (int lane = 0; lane < lanes->width; ++lane) {
    auto *operands = static_cast<NmSimMatrices *>(lanes->operands[lane]);
    if (!operands)
      continue;
    for (int matrix = 0; matrix < operands->count; ++matrix)
      for (int i = 0; i < 2; ++i)
        visit(findElement(
                  lanes, matrix,
                  nm::getMatrixOffset(lane, i, operands->isTransposed != 0)),
              lane, matrix, i);
  }
}

void nmSimLoadMatrices(NmSimCollective *lanes) {
  forEachMatrixElement(lanes, [&](const char *element, int lane, int matrix,
                                  int i) {
    // Undefined where no lane names the row.
    uint16_t value = 0xffff;
    if (element)
      std::memcpy(&value, element, sizeof value);
    std::memcpy(static_cast<char *>(lanes->results[lane]) + 4 * matrix + 2 * i,
                &value, sizeof value);
  });
}

void nmSimStoreMatrices(NmSimCollective *lanes) {
  forEachMatrixElement(lanes, [&](char *element, int lane, int matrix, int i) {
    auto *operands = static_cast<NmSimMatrices *>(lanes->operands[lane]);
    auto value = uint16_t(operands->words[matrix] >> 16 * i);
    if (element)
      std::memcpy(element, &value, sizeof value);
  });
}

void nmSimTransposeMatrix(NmSimCollective *lanes) {
  for (int lane = 0; lane < lanes->width; ++lane)
    for (int i = 0; i < 2 && lanes->results[lane]; ++i) {
      nm::FragmentOffset place =
          nm::getMatrixOffset(lane, i, /*isTransposed=*/true);
      auto *word = static_cast<char *>(
          lanes->operands[4 * place.row + place.column / 2]);
      // Undefined where the lane that has the element takes no part.
      uint16_t value = 0xffff;
      if (word)
        std::memcpy(&value, word + 2 * (place.column % 2), sizeof value);
      std::memcpy(static_cast<char *>(lanes->results[lane]) + 2 * i, &value,
                  sizeof value);
    }
}
