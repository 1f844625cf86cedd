//===- Pattern.cpp - The N:M pattern and its sizes ------------------------===//

#include "nm/Format/Pattern.h"

#include "nm/Format/Unstructured.h"

#include <charconv>

using namespace nm;

int64_t Pattern::indexBits() const {
  int64_t bits = 0;
  while ((int64_t(1) << bits) < m)
    ++bits;
  return bits;
}

std::array<int64_t, 2> Pattern::valueShape(int64_t k, int64_t columns) const {
  if (isUnstructured())
    return {1, unstructuredPlaces(*this, k, columns)};
  return {condensedRows(k), paddedColumns(columns)};
}

std::array<int64_t, 2> Pattern::indexShape(int64_t k, int64_t columns) const {
  if (isUnstructured())
    return {1, unstructuredBytes(k, columns)};
  return {unitRows(k), blockColumns(columns)};
}

static Status verifyBlock(const Pattern &pattern) {
  auto fits = [](int64_t size) { return size >= 1 && size <= kMaxBlock; };
  if (fits(pattern.bk) && fits(pattern.bn))
    return Status::success();
  return Error{"expected a block of 1x1 to " + std::to_string(kMaxBlock) + "x" +
               std::to_string(kMaxBlock) + ", but got " +
               std::to_string(pattern.bk) + "x" + std::to_string(pattern.bn)};
}

/// verify() of unstructured weights.
static Status verifyUnstructuredPattern(const Pattern &pattern) {
  if (pattern.n < 0 || pattern.n > kMaxSize)
    return Error{"expected 0 <= kept <= " + std::to_string(kMaxSize) +
                 " of unstructured weights, but got " +
                 std::to_string(pattern.n)};
  return verifyBlock(pattern);
}

Status Pattern::verifySize(int64_t k, int64_t columns) const {
  if (bk > k || bn > columns)
    return Error{"expected block " + std::to_string(bk) + "x" +
                 std::to_string(bn) + " to fit in k x n = " +
                 std::to_string(k) + "x" + std::to_string(columns)};
  if (isUnstructured() && columns > 0 && k > kMaxSize / columns)
    return Error{"expected at most " + std::to_string(kMaxSize) +
                 " unstructured weights, but got k x n = " + std::to_string(k) +
                 "x" + std::to_string(columns)};
  return Status::success();
}

static Error badWindow(int64_t m) {
  return Error{"expected 1 <= M <= " + std::to_string(kMaxWindowUnits) +
               " in pattern N:M, but got M = " + std::to_string(m)};
}

Status Pattern::verify() const {
  if (isUnstructured())
    return verifyUnstructuredPattern(*this);
  if (m < 1 || m > kMaxWindowUnits)
    return badWindow(m);
  if (n < 1 || n > m)
    return Error{"expected 1 <= N <= M = " + std::to_string(m) +
                 " in pattern N:M, but got N = " + std::to_string(n)};
  return verifyBlock(*this);
}

std::string Pattern::str() const {
  std::string text = std::to_string(n) + ":" + std::to_string(m);
  if (isUnstructured())
    text =
        n == 0 ? "unstructured" : "unstructured, kept = " + std::to_string(n);
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
  Error error{"expected a pattern like '2:4', '8:32, block = 1x32' or "
              "'unstructured', but got '" +
              std::string(text) + "'"};
  Pattern pattern;
  PatternParser parser(text);
  bool hasMore;
  if (parser.literal("unstructured")) {
    pattern = unstructured();
    hasMore = parser.literal(",");
    if (hasMore && parser.literal("kept")) {
      if (!parser.literal("=") || !parser.integer(pattern.n) || pattern.n == 0)
        return error;
      hasMore = parser.literal(",");
    }
  } else if (!parser.integer(pattern.n) || !parser.literal(":") ||
             !parser.integer(pattern.m)) {
    return error;
  } else if (pattern.m == 0) {
    return badWindow(0);
  } else {
    hasMore = parser.literal(",");
  }
  if (hasMore && (!parser.literal("block") || !parser.literal("=") ||
                  !parser.integer(pattern.bk) || !parser.literal("x") ||
                  !parser.integer(pattern.bn)))
    return error;
  if (!parser.atEnd())
    return error;
  if (Status status = pattern.verify(); !status)
    return status.error();
  return pattern;
}
