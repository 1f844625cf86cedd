//===- JsonReader.h - Typed access to JSON without exceptions ---*- C++ -*-===//
//
// A reader stands at one value of a document. A mismatch is recorded in the
// document, the first one with the path to it, and reading goes on with empty
// values, so that callers check once, at the end.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_RUNTIME_JSONREADER_H
#define NM_LIB_RUNTIME_JSONREADER_H

#include "nm/Support/Error.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

class JsonReader;

class JsonDocument {
public:
  explicit JsonDocument(std::string_view text);

  JsonReader root();
  const std::optional<Error> &error() const { return firstError; }

private:
  friend class JsonReader;
  nlohmann::json value;
  std::optional<Error> firstError;
};

class JsonReader {
public:
  /// False where an optional member is absent or null.
  explicit operator bool() const { return value && !value->is_null(); }

  /// Member `key`, which must be there.
  JsonReader member(const char *key) const;
  JsonReader optionalMember(const char *key) const;
  /// The items of an array.
  std::vector<JsonReader> items() const;

  bool isInteger() const { return value && value->is_number_integer(); }
  int64_t integer() const;
  double number() const;
  bool flag() const;
  std::string text() const;

  /// Records that this value is wrong.
  void fail(const std::string &message) const;

private:
  friend class JsonDocument;
  JsonReader(JsonDocument &document, const nlohmann::json *value,
             std::string path)
      : document(&document), value(value), path(std::move(path)) {}
  const nlohmann::json *find(const char *key) const;
  JsonReader at(const nlohmann::json *child, const std::string &step) const;

  JsonDocument *document;
  const nlohmann::json *value;
  std::string path;
};

} // namespace nm

#endif // NM_LIB_RUNTIME_JSONREADER_H
