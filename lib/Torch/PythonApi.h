//===- PythonApi.h - Python's stable C functions ----------------*- C++ -*-===//
//
// The functions of Python's stable ABI that the call of a layer needs. They are
// looked up where they are loaded, so that one build serves several versions of
// Python and none is needed to build. All want the GIL.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_TORCH_PYTHONAPI_H
#define NM_LIB_TORCH_PYTHONAPI_H

#include <cstdint>
#include <string>

struct _object;

namespace nm::torch {

using PyObject = ::_object;
using PyFunction = PyObject *(*)(PyObject * self, PyObject *const *args,
                                 intptr_t count);

/// PyMethodDef, whose layout is part of the stable ABI.
struct PyMethod {
  const char *name;
  PyFunction function;
  int flags;
  const char *doc;
};
constexpr int kMethFastCall = 0x80;

struct PythonApi {
  void (*incRef)(PyObject *);
  void (*decRef)(PyObject *);
  PyObject *(*type)(PyObject *);
  PyObject *(*getAttr)(PyObject *, PyObject *name);
  int (*setAttr)(PyObject *, PyObject *name, PyObject *);
  PyObject *(*getItem)(PyObject *, PyObject *key);
  PyObject *(*tupleItem)(PyObject *, intptr_t);
  intptr_t (*tupleSize)(PyObject *);
  PyObject *(*packTuple)(intptr_t, ...);
  int64_t (*toInteger)(PyObject *);
  int (*isTrue)(PyObject *);
  int (*compare)(PyObject *, PyObject *, int op);
  PyObject *(*call)(PyObject *, ...);
  PyObject *(*callMethod)(PyObject *, PyObject *name, ...);
  PyObject *(*intern)(const char *);
  PyObject *(*makeFunction)(PyMethod *, PyObject *self, PyObject *module);
  PyObject *(*errorOccurred)();
  void (*clearError)();
  void *(*releaseGil)();
  void (*takeGil)(void *);
  PyObject *none;

  /// Returns the name of a function that is not there, or an empty text.
  std::string load();
};

extern PythonApi python;

/// A reference that is given back.
class Object {
public:
  explicit Object(PyObject *object = nullptr) : object(object) {}
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  ~Object() { python.decRef(object); }

  PyObject *get() const { return object; }
  explicit operator bool() const { return object != nullptr; }
  bool isNone() const { return object == python.none; }

private:
  PyObject *object;
};

} // namespace nm::torch

#endif // NM_LIB_TORCH_PYTHONAPI_H
