//===- Mutator.h - Bytes that are nearly valid ------------------*- C++ -*-===//
//
// For tests of readers, which take what they are given or say why not, and end
// no process. Seeds are fixed; in a long run
//
//   NM_FUZZ_EXECUTIONS=100000 NM_FUZZ_SEED=7 bin/NMRuntimeTests \
//     --gtest_filter='Mutated*'
//
// has each test make that many mutants, and others.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TEST_UNIT_MUTATOR_H
#define NM_TEST_UNIT_MUTATOR_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// The number in a variable of the environment.
inline int64_t fuzzNumber(const char *variable, int64_t usual) {
  const char *text = std::getenv(variable);
  return text ? std::strtoll(text, nullptr, 10) : usual;
}

/// How many mutants a test makes, `usual` in the suite.
inline int64_t fuzzExecutions(int64_t usual) {
  return fuzzNumber("NM_FUZZ_EXECUTIONS", usual);
}

/// Makes mutants of `seeds`.
class Mutator {
public:
  explicit Mutator(std::vector<std::string> seeds)
      : seeds(std::move(seeds)),
        random(uint64_t(fuzzNumber("NM_FUZZ_SEED", 11))) {}

  std::string draw() {
    std::string bytes = seeds[below(seeds.size())];
    for (size_t count = 1 + below(4); count > 0; --count)
      mutate(bytes);
    return bytes;
  }

  /// A command line: arguments of the seeds, some of them mutants.
  std::vector<std::string> drawArguments() {
    std::vector<std::string> arguments;
    for (size_t count = below(6); count > 0; --count)
      arguments.push_back(below(2) ? draw() : seeds[below(seeds.size())]);
    return arguments;
  }

  size_t below(size_t bound) { return random() % std::max<size_t>(bound, 1); }

private:
  /// Puts a number at a limit in the place of one in the text.
  void changeNumber(std::string &bytes) {
    static constexpr std::array<const char *, 12> numbers = {
        "0",
        "-1",
        "1",
        "4294967296",
        "2147483648",
        "9223372036854775807",
        "1e308",
        "-9223372036854775808",
        "1.5",
        "18446744073709551616",
        "1099511627777",
        "4611686018427387904"};
    size_t first = bytes.find_first_of("0123456789", below(bytes.size()));
    if (first == std::string::npos)
      return;
    size_t end =
        std::min(bytes.find_first_not_of("0123456789", first), bytes.size());
    bytes.replace(first, end - first, numbers[below(numbers.size())]);
  }

  void mutate(std::string &bytes) {
    size_t at = below(bytes.size()), length = 1 + below(8);
    switch (below(6)) {
    case 0:
      if (!bytes.empty())
        bytes[at] = char(random());
      return;
    case 1:
      bytes.erase(at, length);
      return;
    case 2:
      bytes.insert(at, bytes.substr(below(bytes.size()), length * 4));
      return;
    case 3:
      bytes.resize(at);
      return;
    case 4:
      bytes.replace(at, std::min(length, bytes.size() - at),
                    bytes.substr(below(bytes.size()), length));
      return;
    default:
      changeNumber(bytes);
    }
  }

  std::vector<std::string> seeds;
  std::mt19937_64 random;
};

#endif // NM_TEST_UNIT_MUTATOR_H
