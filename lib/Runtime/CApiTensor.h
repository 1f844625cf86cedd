//===- CApiTensor.h - What the C entry points share -------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CAPITENSOR_H
#define NM_LIB_RUNTIME_CAPITENSOR_H

#include "nm-c/Runtime.h"
#include "nm/Runtime/Tensor.h"
#include "nm/Support/Error.h"

#include <initializer_list>
#include <string>

namespace nm {

/// A copy of the text that nmMessageFree takes.
char *copyMessage(const std::string &text);
char *copyMessage(const Error &error);
/// NULL for success.
char *copyMessage(const Status &status);

/// What a function of C was given, and what its header calls it.
struct Given {
  const char *name;
  const void *pointer;
};

/// NULL where none of `pointers` is NULL, and else a message that names the
/// first that is.
char *refuseNull(std::initializer_list<Given> pointers);

/// Checks what a C program wrote into a struct.
Result<Tensor> toTensor(const NmTensor &tensor);

} // namespace nm

#endif // NM_LIB_RUNTIME_CAPITENSOR_H
