//===- CheckText.cpp - What MLIR's parser must not be given ---------------===//

#include "nm/CheckText.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

using llvm::StringRef;
using llvm::Twine;

/// Far more than any program has, and half of what 8 MiB of stack hold.
static constexpr int64_t kMaxDepth = 1000;

/// `text` from behind the string or comment that it starts with, if it does.
static StringRef skipQuoted(StringRef text) {
  if (text.starts_with("//"))
    return text.drop_until([](char c) { return c == '\n'; });
  if (!text.starts_with("\""))
    return text;
  size_t at = text.find_first_of("\"\\", 1);
  while (at != StringRef::npos && text[at] == '\\')
    at = text.find_first_of("\"\\", at + 2);
  return text.substr(at == StringRef::npos ? at : at + 1);
}

/// Says where brackets are nested deeper than the parser, which calls itself
/// for each, has stack for, if so.
static std::optional<std::string> whyTooDeep(llvm::MemoryBufferRef buffer) {
  int64_t depth = 0;
  for (StringRef text = buffer.getBuffer(); !text.empty();) {
    StringRef rest = skipQuoted(text);
    if (rest.size() != text.size()) {
      text = rest;
      continue;
    }
    if (text.consume_front("->"))
      continue;
    char c = text.front();
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}>").contains(c) && depth > 0)
      --depth;
    if (depth > kMaxDepth) {
      size_t line = 1 + buffer.getBuffer().drop_back(text.size()).count('\n');
      return (buffer.getBufferIdentifier() + ":" + Twine(line) +
              ": expected at most " + Twine(kMaxDepth) +
              " brackets inside each other")
          .str();
    }
    text = text.drop_front();
  }
  return std::nullopt;
}

std::optional<std::string> mlir::nm::whyNoText(llvm::MemoryBufferRef buffer) {
  if (isBytecode(buffer))
    return std::nullopt;
  if (buffer.getBuffer().starts_with("\xEF\xBB\xBF"))
    return (buffer.getBufferIdentifier() +
            ":1: expected UTF-8 without a byte order mark, but got one; save "
            "the file without it")
        .str();
  return whyTooDeep(buffer);
}
