//===- JsonReader.cpp - Typed access to JSON without exceptions -----------===//

#include "JsonReader.h"

using namespace nm;

JsonDocument::JsonDocument(std::string_view text)
    : value(nlohmann::json::parse(text.begin(), text.end(), nullptr,
                                  /*allow_exceptions=*/false)) {
  if (value.is_discarded())
    firstError = Error{"expected JSON, but the text does not parse"};
}

JsonReader JsonDocument::root() { return {*this, &value, ""}; }

void JsonReader::fail(const std::string &message) const {
  if (!document->firstError)
    document->firstError =
        Error{path.empty() ? message : path + ": " + message};
}

const nlohmann::json *JsonReader::find(const char *key) const {
  if (!value || !value->is_object())
    return nullptr;
  auto found = value->find(key);
  return found == value->end() ? nullptr : &*found;
}

JsonReader JsonReader::at(const nlohmann::json *child,
                          const std::string &step) const {
  return {*document, child, path.empty() ? step : path + "." + step};
}

JsonReader JsonReader::member(const char *key) const {
  const nlohmann::json *child = find(key);
  JsonReader reader = at(child, key);
  if (!child)
    reader.fail("expected this entry, but there is none");
  return reader;
}

JsonReader JsonReader::optionalMember(const char *key) const {
  return at(find(key), key);
}

std::vector<JsonReader> JsonReader::items() const {
  std::vector<JsonReader> result;
  if (!value || !value->is_array()) {
    fail("expected a list");
    return result;
  }
  for (size_t i = 0; i < value->size(); ++i)
    result.push_back(at(&(*value)[i], std::to_string(i)));
  return result;
}

int64_t JsonReader::integer() const {
  if (isInteger())
    return value->get<int64_t>();
  fail("expected an integer");
  return 0;
}

double JsonReader::number() const {
  if (value && value->is_number())
    return value->get<double>();
  fail("expected a number");
  return 0;
}

bool JsonReader::flag() const {
  if (value && value->is_boolean())
    return value->get<bool>();
  fail("expected true or false");
  return false;
}

std::string JsonReader::text() const {
  if (value && value->is_string())
    return value->get<std::string>();
  fail("expected a string");
  return {};
}
