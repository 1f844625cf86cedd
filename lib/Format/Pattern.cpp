//===- Pattern.cpp - The N:M pattern and its sizes ------------------------===//

#include "nm/Format/Pattern.h"

#include <charconv>

using namespace nm;

int64_t Pattern::indexBits() const {
  int64_t bits = 0;
  while ((int64_t(1) << bits) < m)
    ++bits;
  return bits;
}

Status Pattern::verify() const {
  if (m < 1 || m > kMaxWindowUnits)
    return Error{"expected 1 <= M <= " + std::to_string(kMaxWindowUnits) +
                 " in pattern N:M, but got M = " + std::to_string(m)};
  if (n < 1 || n > m)
    return Error{"expected 1 <= N <= M = " + std::to_string(m) +
                 " in pattern N:M, but got N = " + std::to_string(n)};
  if (bk < 1 || bn < 1 || bk > kMaxBlock || bn > kMaxBlock)
    return Error{"expected a block of 1x1 to " + std::to_string(kMaxBlock) +
                 "x" + std::to_string(kMaxBlock) + ", but got " +
                 std::to_string(bk) + "x" + std::to_string(bn)};
  return Status::success();
}

std::string Pattern::str() const {
  std::string text = std::to_string(n) + ":" + std::to_string(m);
  if (bk != 1 || bn != 1)
    text += ", block = " + std::to_string(bk) + "x" + std::to_string(bn);
  return text;
}

namespace {
/// A cursor over the text of a pattern.
class PatternParser {
public:
  explicit PatternParser(std::string_view text) : rest(text) {}

  bool literal(std::string_view word) {
    skipSpace();
    if (rest.substr(0, word.size()) != word)
      return false;
    rest.remove_prefix(word.size());
    return true;
  }

  bool integer(int64_t &value) {
    skipSpace();
    auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc())
      return false;
    rest.remove_prefix(end - rest.data());
    return true;
  }

  bool atEnd() {
    skipSpace();
    return rest.empty();
  }

private:
  void skipSpace() {
    while (!rest.empty() && rest.front() == ' ')
      rest.remove_prefix(1);
  }

  std::string_view rest;
};
} // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
  Error error{"expected a pattern like '2:4' or '8:32, block = 1x32', but got "
              "'" +
              std::string(text) + "'"};
  Pattern pattern;
  PatternParser parser(text);
  if (!parser.integer(pattern.n) || !parser.literal(":") ||
      !parser.integer(pattern.m))
    return error;
  if (parser.literal(",") &&
      (!parser.literal("block") || !parser.literal("=") ||
       !parser.integer(pattern.bk) || !parser.literal("x") ||
       !parser.integer(pattern.bn)))
    return error;
  if (!parser.atEnd())
    return error;
  if (Status status = pattern.verify(); !status)
    return status.error();
  return pattern;
}
