//===- NpyHeader.cpp - The header of an .npy file -------------------------===//
//
// Magic "\x93NUMPY", a version of two bytes, the length of the text (two bytes
// in version 1, four in versions 2 and 3), and the text: a Python dictionary
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// padded with spaces and ended by a line feed.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Npy.h"

#include <cctype>
#include <charconv>

using namespace nm;

static constexpr std::string_view kMagic("\x93NUMPY", 6);

namespace {
struct Descr {
  std::string_view text;
  ElementType type;
  bool isUnsigned;
};

/// What the dictionary holds; a set bit says that the key was seen.
struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<Shape> shape;
};

/// A cursor over the header's text.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  /// Parses the dictionary; an error says what was expected where.
  Result<Fields> parse();

private:
  bool literal(std::string_view word);
  Error expected(const std::string &what) const;
  Result<std::string> string();
  Result<Shape> tuple();
  Status value(const std::string &key, Fields &fields);
  void skipSpace();

  std::string_view rest;
};
} // namespace

static constexpr Descr kDescrs[] = {
    {"<f8", ElementType::F64, false},
    {"<f4", ElementType::F32, false},
    {"<f2", ElementType::F16, false},
    {"<i8", ElementType::I64, false},
    {"<i4", ElementType::I32, false},
    {"|i1", ElementType::I8, false},
    {"|u1", ElementType::I8, true},
    {"<V2", ElementType::BF16, false},
    {"|V1", ElementType::F8E4M3, false},
    {"|V2", ElementType::BF16, false},
    {"<V1", ElementType::F8E4M3, false},
    {"<i1", ElementType::I8, false},
    {"<u1", ElementType::I8, true},
    {"bfloat16", ElementType::BF16, false},
    {"float8_e4m3fn", ElementType::F8E4M3, false},
    // ml_dtypes saves it as <f1, which NumPy does not read.
    {"float8_e5m2", ElementType::F8E5M2, false},
    {"<f1", ElementType::F8E5M2, false},
    {"|f1", ElementType::F8E5M2, false}};

//===----------------------------------------------------------------------===//
// The dictionary
//===----------------------------------------------------------------------===//

void HeaderParser::skipSpace() {
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest[0])))
    rest.remove_prefix(1);
}

bool HeaderParser::literal(std::string_view word) {
  skipSpace();
  if (rest.substr(0, word.size()) != word)
    return false;
  rest.remove_prefix(word.size());
  return true;
}

/// `text` with what a terminal cannot show as a question mark.
static std::string printable(std::string_view text) {
  std::string result;
  for (char c : text)
    result += c >= 32 && c < 127 ? c : '?';
  return result;
}

Error HeaderParser::expected(const std::string &what) const {
  return Error{"expected " + what + " in the .npy header, but got '" +
               printable(rest.substr(0, 20)) + "'"};
}

Result<std::string> HeaderParser::string() {
  skipSpace();
  char quote = rest.empty() ? 0 : rest[0];
  size_t end = rest.find(quote, 1);
  if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
    return expected("a quoted string");
  std::string text(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return text;
}

Result<Shape> HeaderParser::tuple() {
  if (!literal("("))
    return expected("a tuple of sizes");
  Shape shape;
  while (!literal(")")) {
    int64_t size = 0;
    skipSpace();
    auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || size < 0)
      return expected("a size");
    rest.remove_prefix(end - rest.data());
    literal("L"); // Python 2 wrote long integers so.
    shape.push_back(size);
    if (!literal(",") && (rest.empty() || rest[0] != ')'))
      return expected("',' or ')'");
  }
  return shape;
}

Status HeaderParser::value(const std::string &key, Fields &fields) {
  if (key == "descr") {
    skipSpace();
    if (!rest.empty() && rest[0] == '[')
      return Error{"expected an array of numbers, but got structured records"};
    Result<std::string> descr = string();
    if (!descr)
      return descr.error();
    fields.descr = *descr;
    return Status::success();
  }
  if (key == "shape") {
    Result<Shape> shape = tuple();
    if (!shape)
      return shape.error();
    fields.shape = *shape;
    return Status::success();
  }
  if (key != "fortran_order")
    return Error{"expected the keys descr, fortran_order and shape in the .npy "
                 "header, but got '" +
                 printable(key) + "'"};
  if (literal("True"))
    fields.fortranOrder = true;
  else if (literal("False"))
    fields.fortranOrder = false;
  else
    return expected("True or False");
  return Status::success();
}

Result<Fields> HeaderParser::parse() {
  Fields fields;
  if (!literal("{"))
    return expected("a dictionary");
  while (!literal("}")) {
    Result<std::string> key = string();
    if (!key)
      return key.error();
    if (!literal(":"))
      return expected("':'");
    if (Status status = value(*key, fields); !status)
      return status.error();
    if (!literal(",") && (rest.empty() || rest[0] != '}'))
      return expected("',' or '}'");
  }
  skipSpace();
  if (!rest.empty())
    return expected("the end of the dictionary");
  if (!fields.descr || !fields.fortranOrder || !fields.shape)
    return Error{"expected the keys descr, fortran_order and shape in the .npy "
                 "header, but at least one is missing"};
  return fields;
}

//===----------------------------------------------------------------------===//
// NpyHeader
//===----------------------------------------------------------------------===//

static Status setType(NpyHeader &header, const std::string &descr) {
  for (const Descr &known : kDescrs)
    if (descr == known.text) {
      header.type = known.type;
      header.isUnsigned = known.isUnsigned;
      return Status::success();
    }
  std::string shown = "'" + printable(descr) + "'";
  if (!descr.empty() && descr[0] == '>')
    return Error{"expected little-endian elements, but got big-endian " +
                 shown};
  if (descr.substr(0, 2) == "|O")
    return Error{"expected an array of numbers, but got Python objects (" +
                 shown + ")"};
  return Error{"expected elements of type f8, f4, f2, i8, i4, i1, u1, V2 "
               "(bf16), V1 (f8E4M3FN) or f1 (f8E5M2), but got " +
               shown};
}

static uint32_t littleEndian(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

Result<NpyHeader> NpyHeader::parse(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) !=
      kMagic.substr(0, std::min(bytes.size(), kMagic.size())))
    return Error{"expected an .npy file, but the first bytes are '" +
                 printable(bytes.substr(0, kMagic.size())) + "'"};
  Error truncated{"expected a whole .npy header, but the file ends after " +
                  std::to_string(bytes.size()) + " bytes"};
  if (bytes.size() < kMagic.size() + 2)
    return truncated;
  int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return Error{"expected version 1, 2 or 3 of the .npy format, but got " +
                 std::to_string(major)};
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t textStart = kMagic.size() + 2 + lengthBytes;
  if (bytes.size() < textStart)
    return truncated;
  size_t length = littleEndian(bytes, kMagic.size() + 2, lengthBytes);
  if (bytes.size() - textStart < length)
    return truncated;

  HeaderParser parser(bytes.substr(textStart, length));
  Result<Fields> fields = parser.parse();
  if (!fields)
    return fields.error();
  NpyHeader header;
  if (Status status = setType(header, *fields->descr); !status)
    return status.error();
  header.fortranOrder = *fields->fortranOrder;
  header.shape = *fields->shape;
  header.dataOffset = textStart + length;
  return header;
}

std::string NpyHeader::str() const {
  std::string_view descr;
  for (const Descr &known : kDescrs)
    if (known.type == type && known.isUnsigned == isUnsigned) {
      descr = known.text;
      break;
    }
  std::string text =
      "{'descr': '" + std::string(descr) +
      "', 'fortran_order': " + (fortranOrder ? "True" : "False") +
      ", 'shape': (";
  for (size_t d = 0; d < shape.size(); ++d)
    text += std::to_string(shape[d]) + (d + 1 < shape.size() ? ", "
                                        : shape.size() == 1  ? ","
                                                             : "");
  text += "), }";
  // NumPy aligns the elements so that they can be mapped.
  constexpr size_t kAlignment = 64;
  size_t prefix = kMagic.size() + 4;
  while ((prefix + text.size() + 1) % kAlignment)
    text += ' ';
  text += '\n';
  std::string bytes(kMagic);
  bytes += {1, 0, char(text.size() & 0xff), char(text.size() >> 8)};
  return bytes + text;
}
