//===- IrMutator.h - IR that is nearly valid --------------------*- C++ -*-===//

#ifndef NM_TEST_FUZZ_IRMUTATOR_H
#define NM_TEST_FUZZ_IRMUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Draws numbers: the same ones for a seed and the number of an execution.
class Draw {
public:
  Draw(uint64_t seed, uint64_t number) {
    std::seed_seq sequence{seed >> 32, seed, number >> 32, number};
    random.seed(sequence);
  }
  size_t below(size_t bound) { return random() % std::max<size_t>(bound, 1); }
  template <typename Range>
  auto &from(Range &range) {
    return *std::next(std::begin(range), below(std::size(range)));
  }

private:
  std::mt19937_64 random;
};

/// A mutant of IR, by its tokens and lines. Lines and attributes of others get
/// into it.
std::string mutateIr(llvm::StringRef text, llvm::ArrayRef<std::string> others,
                     Draw &draw);

#endif // NM_TEST_FUZZ_IRMUTATOR_H
