//===- IrMutator.cpp - IR that is nearly valid ----------------------------===//

#include "IrMutator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace llvm;

namespace {
using Tokens = std::vector<std::string>;

/// At the limits of what integers and tiles hold.
constexpr std::array<const char *, 29> kNumbers = {"0",
                                                   "1",
                                                   "2",
                                                   "3",
                                                   "4",
                                                   "7",
                                                   "8",
                                                   "15",
                                                   "16",
                                                   "31",
                                                   "32",
                                                   "33",
                                                   "63",
                                                   "64",
                                                   "127",
                                                   "128",
                                                   "255",
                                                   "256",
                                                   "1023",
                                                   "4096",
                                                   "65535",
                                                   "65536",
                                                   "2147483647",
                                                   "2147483648",
                                                   "4294967296",
                                                   "1099511627776",
                                                   "1099511627777",
                                                   "4611686018427387904",
                                                   "9223372036854775807"};
constexpr std::array<const char *, 13> kTypes = {
    "f32", "f16",   "bf16",     "i8",     "i32",           "f64", "i1",
    "i4",  "index", "f8E4M3FN", "f8E5M2", "vector<2xf32>", "i64"};
constexpr std::array<const char *, 14> kWords = {
    "packing", "schedule", "transpose_a", "transpose_c", "where",
    "rows",    "part",     "tokens",      "async_proxy", "registers",
    "block",   "stages",   "split_k",     "cluster_k"};
} // namespace

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isWord(char c) { return isAlnum(c) || c == '_'; }

/// The sizes of a shape, `4x?x`, that the text starts with.
static size_t lengthOfSizes(StringRef text) {
  size_t end = 0;
  while (true) {
    StringRef rest = text.drop_front(end);
    size_t length = rest.starts_with("?") ? 1 : rest.find_if_not(isDigit);
    if (length == 0 || length == StringRef::npos || length >= rest.size() ||
        rest[length] != 'x')
      return end;
    end += length + 1;
  }
}

static size_t lengthOfToken(StringRef text) {
  auto length = [&](size_t first, auto isIn) {
    return std::min(text.find_if_not(isIn, first), text.size());
  };
  char c = text.front();
  if (isSpace(c))
    return length(0, isSpace);
  if (size_t sizes = lengthOfSizes(text))
    return sizes;
  if (isDigit(c) || (c == '-' && text.size() > 1 && isDigit(text[1])))
    return length(1, isDigit);
  if (isWord(c) || StringRef("%@#!").contains(c))
    return length(1, [](char c) { return isWord(c) || c == '.'; });
  return 1;
}

static Tokens tokensOf(StringRef text) {
  Tokens tokens;
  while (!text.empty()) {
    size_t length = lengthOfToken(text);
    tokens.push_back(text.take_front(length).str());
    text = text.drop_front(length);
  }
  return tokens;
}

static bool isNumber(StringRef token) {
  token.consume_front("-");
  return !token.empty() && all_of(token, isDigit);
}

static bool isShape(StringRef token) {
  return token.size() > 1 && token.ends_with("x") &&
         lengthOfSizes(token) == token.size();
}

template <typename Predicate>
static SmallVector<size_t> offsetsOf(const Tokens &tokens, Predicate isOne) {
  SmallVector<size_t> places;
  for (auto [i, token] : enumerate(tokens))
    if (isOne(StringRef(token)))
      places.push_back(i);
  return places;
}

//===----------------------------------------------------------------------===//
// Mutations of tokens
//===----------------------------------------------------------------------===//

static void changeNumber(Tokens &tokens, Draw &draw) {
  SmallVector<size_t> places = offsetsOf(tokens, isNumber);
  if (places.empty())
    return;
  std::string &token = tokens[draw.from(places)];
  int64_t number = 0;
  (void)StringRef(token).getAsInteger(10, number);
  switch (draw.below(5)) {
  case 0:
    token = draw.from(kNumbers);
    return;
  case 1:
    token = std::string("-") + draw.from(kNumbers);
    return;
  case 2:
    token = std::to_string(uint64_t(number) + (draw.below(2) ? 1 : -1));
    return;
  case 3:
    token = std::to_string(uint64_t(number) * 2);
    return;
  default:
    token = tokens[draw.from(places)];
  }
}

static void changeShape(Tokens &tokens, Draw &draw) {
  SmallVector<size_t> places = offsetsOf(tokens, isShape);
  if (places.empty())
    return;
  std::string &token = tokens[draw.from(places)];
  SmallVector<StringRef> sizes;
  StringRef(token).drop_back().split(sizes, 'x');
  size_t at = draw.below(sizes.size());
  switch (draw.below(5)) {
  case 0:
    sizes[at] = draw.from(kNumbers);
    break;
  case 1:
    sizes[at] = "?";
    break;
  case 2:
    sizes.erase(sizes.begin() + at);
    break;
  case 3:
    sizes.insert(sizes.begin() + at, draw.below(2) ? "1" : "32");
    break;
  default:
    std::swap(sizes[at], sizes[draw.below(sizes.size())]);
  }
  token = sizes.empty() ? "" : join(sizes, "x") + "x";
}

static void changeType(Tokens &tokens, Draw &draw) {
  SmallVector<size_t> places = offsetsOf(
      tokens, [](StringRef token) { return is_contained(kTypes, token); });
  if (!places.empty())
    tokens[draw.from(places)] = draw.from(kTypes);
}

static SmallVector<size_t> placesLike(const Tokens &tokens, size_t one) {
  return offsetsOf(tokens, [&](StringRef token) {
    return token.front() == tokens[one].front() && token != tokens[one];
  });
}

static void swapAlike(Tokens &tokens, Draw &draw) {
  size_t first = draw.below(tokens.size());
  SmallVector<size_t> places = placesLike(tokens, first);
  if (!places.empty())
    std::swap(tokens[first], tokens[draw.from(places)]);
}

static void repeatAlike(Tokens &tokens, Draw &draw) {
  size_t first = draw.below(tokens.size());
  SmallVector<size_t> places = placesLike(tokens, first);
  if (!places.empty())
    tokens[first] = tokens[draw.from(places)];
}

static void dropTokens(Tokens &tokens, Draw &draw) {
  size_t first = draw.below(tokens.size());
  size_t count = std::min<size_t>(1 + draw.below(4), tokens.size() - first);
  tokens.erase(tokens.begin() + first, tokens.begin() + first + count);
}

static void insertWord(Tokens &tokens, Draw &draw) {
  tokens.insert(tokens.begin() + draw.below(tokens.size()),
                std::string(" ") + draw.from(kWords) + " ");
}

static std::string mutateTokens(StringRef text, Draw &draw) {
  using Mutation = void (*)(Tokens &, Draw &);
  // The more often, the more of its mutants are parsed.
  static constexpr Mutation mutations[] = {
      changeNumber, changeNumber, changeNumber, changeNumber, changeShape,
      changeShape,  changeShape,  changeShape,  changeType,   changeType,
      swapAlike,    swapAlike,    swapAlike,    repeatAlike,  repeatAlike,
      dropTokens,   insertWord};
  Tokens tokens = tokensOf(text);
  draw.from(mutations)(tokens, draw);
  return join(tokens, "");
}

//===----------------------------------------------------------------------===//
// Mutations of lines and attributes
//===----------------------------------------------------------------------===//

/// With a line dropped, repeated elsewhere, or taken from another.
static std::string mutateLines(StringRef text, StringRef other, Draw &draw) {
  SmallVector<StringRef> lines = to_vector(split(text, '\n'));
  SmallVector<StringRef> others = to_vector(split(other, '\n'));
  size_t at = draw.below(lines.size());
  switch (draw.below(4)) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, StringRef(draw.from(lines)));
    break;
  case 2:
    std::swap(lines[at], lines[draw.below(lines.size())]);
    break;
  default:
    lines.insert(lines.begin() + at, draw.from(others));
  }
  return join(lines, "\n");
}

/// The attributes and types of nm in a text, with their parameters.
static SmallVector<StringRef> attributesIn(StringRef text) {
  SmallVector<StringRef> found;
  for (size_t at = 0; (at = text.find("nm.", at)) != StringRef::npos; ++at) {
    if (at == 0 || !StringRef("#!").contains(text[at - 1]))
      continue;
    size_t end =
        text.find_if_not([](char c) { return isWord(c) || c == '.'; }, at);
    size_t open = end;
    if (end == StringRef::npos || text[end] != '<')
      continue;
    int depth = 0;
    for (; end < text.size(); ++end) {
      depth += text[end] == '<';
      depth -= text[end] == '>' && text[end - 1] != '-';
      if (depth == 0)
        break;
    }
    if (end < text.size() && end > open)
      found.push_back(text.slice(at - 1, end + 1));
  }
  return found;
}

/// With an attribute of another in the place of one.
static std::string takeAttribute(StringRef text, StringRef other, Draw &draw) {
  SmallVector<StringRef> here = attributesIn(text);
  SmallVector<StringRef> there = attributesIn(other);
  if (here.empty() || there.empty())
    return text.str();
  StringRef place = draw.from(here);
  return (text.take_front(place.begin() - text.begin()) + draw.from(there) +
          text.drop_front(place.end() - text.begin()))
      .str();
}

std::string mutateIr(StringRef text, ArrayRef<std::string> others, Draw &draw) {
  static constexpr size_t counts[] = {1, 1, 1, 2, 3, 6};
  std::string mutant = text.str();
  for (size_t count = draw.from(counts); count > 0 && !mutant.empty(); --count)
    switch (draw.below(10)) {
    case 0:
    case 1:
      mutant = mutateLines(mutant, draw.from(others), draw);
      break;
    case 2:
      mutant = takeAttribute(mutant, draw.from(others), draw);
      break;
    default:
      mutant = mutateTokens(mutant, draw);
    }
  return mutant;
}
