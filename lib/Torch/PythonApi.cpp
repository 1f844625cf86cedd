//===- PythonApi.cpp - Finding Python's stable C functions ----------------===//

#include "PythonApi.h"

#include "FindFunction.h"

#include <dlfcn.h>

using namespace nm::torch;

PythonApi nm::torch::python;

std::string PythonApi::load() {
  auto need = [&](const char *name, auto &function) {
    return findFunction(RTLD_DEFAULT, name, function) ? std::string()
                                                      : std::string(name);
  };
  // Py_DecRef takes a null pointer, too.
  for (const std::string &missing :
       {need("Py_IncRef", incRef),
        need("Py_DecRef", decRef),
        need("PyObject_Type", type),
        need("PyObject_GetAttr", getAttr),
        need("PyObject_SetAttr", setAttr),
        need("PyObject_GetItem", getItem),
        need("PyTuple_GetItem", tupleItem),
        need("PyTuple_Size", tupleSize),
        need("PyTuple_Pack", packTuple),
        need("PyLong_AsLongLong", toInteger),
        need("PyObject_IsTrue", isTrue),
        need("PyObject_RichCompareBool", compare),
        need("PyObject_CallFunctionObjArgs", call),
        need("PyObject_CallMethodObjArgs", callMethod),
        need("PyUnicode_InternFromString", intern),
        need("PyCFunction_NewEx", makeFunction),
        need("PyErr_Occurred", errorOccurred),
        need("PyErr_Clear", clearError),
        need("PyEval_SaveThread", releaseGil),
        need("PyEval_RestoreThread", takeGil),
        need("_Py_NoneStruct", none)})
    if (!missing.empty())
      return missing;
  return "";
}
