//===- Error.h - Errors as values -------------------------------*- C++ -*-===//
//
// The runtime and the format arithmetic are built without exceptions and
// without LLVM: a function that can fail returns a Result.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SUPPORT_ERROR_H
#define NM_SUPPORT_ERROR_H

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace nm {

/// What went wrong, as `expected X, but got Y` with the place it was seen.
struct Error {
  std::string message;
};

/// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state); }
  T &operator*() { return std::get<T>(state); }
  const T &operator*() const { return std::get<T>(state); }
  T *operator->() { return &std::get<T>(state); }
  const T *operator->() const { return &std::get<T>(state); }
  const Error &error() const { return std::get<Error>(state); }

private:
  std::variant<T, Error> state;
};

/// Success, or the reason for the failure.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failure(std::move(error)) {}

  static Status success() { return {}; }
  explicit operator bool() const { return !failure; }
  const Error &error() const { return *failure; }

private:
  std::optional<Error> failure;
};

} // namespace nm

#endif // NM_SUPPORT_ERROR_H
