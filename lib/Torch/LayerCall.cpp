//===- LayerCall.cpp - The call of a layer, without Python's interpreter --===//
//
// A layer hands its call to a function here, which looks at what Python code
// would look at: whether nothing but the product is asked for, and whether the
// weight is as it was. Where anything else is found, the function returns None,
// and the layer goes the way that handles and names everything. Where a
// gradient is needed, torch.autograd.Function makes the node, whose forward is
// here, too.
//
// Errors of Python on the way are dropped, as that way meets them again.
//
//===----------------------------------------------------------------------===//

#include "ProductRun.h"
#include "PythonApi.h"

#include "nm/Runtime/Export.h"

using namespace nm::torch;

namespace {
/// Names of attributes and items.
struct Names {
  PyObject *fast, *fused, *shards, *parameters, *buffers, *values, *indices,
      *bias, *version, *writes, *number, *requiresGrad, *activation, *training,
      *liesOnHost, *level, *isNegative, *save, *layer;
};

/// Objects that live as long as the process.
struct Known {
  /// torch.Tensor and torch.nn.Parameter.
  PyObject *tensor, *parameter;
  /// torch.autograd.forward_ad, whose level is negative where none is open.
  PyObject *forwardMode;
  /// Functions whose results are false where only the product is asked for.
  PyObject *mustBeFalse;
  /// Makes a node of (x, values, bias, layer), with the product.
  PyObject *makeNode;
  /// What makes the product of a node in Python.
  PyObject *slowForward;
};
} // namespace

static Names names;
static Known known;

static PyObject *newNone() {
  python.incRef(python.none);
  return python.none;
}

static bool hasType(const Object &object, PyObject *type) {
  return Object(python.type(object.get())).get() == type;
}

static bool isTrue(PyObject *object, PyObject *attribute) {
  Object value(python.getAttr(object, attribute));
  // What cannot be read may be true.
  return !value || python.isTrue(value.get()) != 0;
}

/// Whether a call with `x` is nothing but a product, and perhaps its gradient.
static bool isPlain(PyObject *x) {
  if (Object(python.type(x)).get() != known.tensor)
    return false;
  Object level(python.getAttr(known.forwardMode, names.level));
  if (!level || python.toInteger(level.get()) >= 0)
    return false;
  for (intptr_t i = 0, size = python.tupleSize(known.mustBeFalse); i < size;
       ++i) {
    Object result(python.call(python.tupleItem(known.mustBeFalse, i), nullptr));
    if (!result || python.isTrue(result.get()) != 0)
      return false;
  }
  return true;
}

/// Whether a tensor's elements are those in memory.
static bool isNegative(PyObject *tensor) {
  Object result(python.callMethod(tensor, names.isNegative, nullptr));
  return !result || python.isTrue(result.get()) != 0;
}

/// The product as a new reference, or null.
static PyObject *makeProduct(PyObject *x, PyObject *values, PyObject *indices,
                             PyObject *bias, PyObject *number) {
  Tensor tensors[4], result;
  PyObject *objects[4] = {x, values, indices,
                          bias == python.none ? values : bias};
  for (int i = 0; i < 4; ++i)
    if (abi.fromPython(objects[i], tensors[i].place()) != 0)
      return nullptr;
  int64_t weight = python.toInteger(number);
  void *thread = python.releaseGil();
  bool isMade = runProduct(tensors[0], tensors[1], tensors[2], tensors[3],
                           weight, result);
  python.takeGil(thread);
  void *object = nullptr;
  if (!isMade || abi.toPython(result.get(), nullptr, &object) != 0)
    return nullptr;
  return static_cast<PyObject *>(object);
}

namespace {
/// What a layer has.
struct Parts {
  explicit Parts(PyObject *layer)
      : fast(python.getAttr(layer, names.fast)),
        parameters(python.getAttr(layer, names.parameters)),
        buffers(python.getAttr(layer, names.buffers)),
        values(item(parameters, names.values)),
        indices(item(buffers, names.indices)),
        bias(item(parameters, names.bias)) {}

  /// Whether nothing takes part in the layer's call but these.
  bool arePlain() const {
    return fast && !fast.isNone() && values && indices && bias &&
           hasType(values, known.parameter) &&
           (hasType(indices, known.tensor) ||
            hasType(indices, known.parameter)) &&
           (bias.isNone() ||
            (hasType(bias, known.parameter) && !isNegative(bias.get())));
  }

  /// Whether the weight was not written to since its products were prepared.
  bool areAsBefore() const {
    Object writes(python.getAttr(fast.get(), names.writes));
    if (!writes || python.tupleSize(writes.get()) != 2)
      return false;
    return isVersion(values, python.tupleItem(writes.get(), 0)) &&
           isVersion(indices, python.tupleItem(writes.get(), 1));
  }

  Object fast, parameters, buffers, values, indices, bias;

private:
  static PyObject *item(const Object &from, PyObject *name) {
    return from ? python.getItem(from.get(), name) : nullptr;
  }
  static bool isVersion(const Object &tensor, PyObject *wanted) {
    Object version(python.getAttr(tensor.get(), names.version));
    constexpr int kEqual = 2;
    return version && python.compare(version.get(), wanted, kEqual) == 1;
  }
};
} // namespace

static PyObject *productOf(const Parts &parts, PyObject *x) {
  Object number(python.getAttr(parts.fast.get(), names.number));
  return number ? makeProduct(x, parts.values.get(), parts.indices.get(),
                              parts.bias.get(), number.get())
                : nullptr;
}

namespace {
/// A call that makes a node, which calls forward below.
struct NodeCall {
  const Parts &parts;
  PyObject *layer, *x;
  /// What needs a gradient.
  bool weightNeeds, xNeeds;
};
} // namespace

static thread_local const NodeCall *nodeCall = nullptr;

/// The result of a layer's call, or null where Python is to make it. An error
/// that `isRaised` tells of is the call's own.
static PyObject *callLayer(PyObject *layer, PyObject *x, bool &isRaised) {
  if (!isPlain(x) || isNegative(x))
    return nullptr;
  for (PyObject *name : {names.fused, names.shards})
    if (!Object(python.getAttr(layer, name)).isNone())
      return nullptr;
  Parts parts(layer);
  if (!parts.arePlain() || !parts.areAsBefore())
    return nullptr;
  if (!abi.isGradEnabled())
    return productOf(parts, x);
  bool weightNeeds = isTrue(parts.values.get(), names.requiresGrad);
  bool xNeeds = isTrue(x, names.requiresGrad);
  if (!weightNeeds && !xNeeds &&
      (parts.bias.isNone() || !isTrue(parts.bias.get(), names.requiresGrad)))
    return productOf(parts, x);
  if (!Object(python.getAttr(layer, names.activation)).isNone() ||
      isTrue(layer, names.liesOnHost) ||
      (weightNeeds && isTrue(layer, names.training)))
    return nullptr;
  NodeCall call = {parts, layer, x, weightNeeds, xNeeds};
  nodeCall = &call;
  PyObject *result = python.call(known.makeNode, x, parts.values.get(),
                                 parts.bias.get(), layer, nullptr);
  nodeCall = nullptr;
  isRaised = !result;
  return result;
}

static PyObject *callLayerOrNot(PyObject *, PyObject *const *args,
                                intptr_t count) {
  bool isRaised = false;
  PyObject *result =
      count == 2 ? callLayer(args[0], args[1], isRaised) : nullptr;
  if (result || isRaised)
    return result;
  python.clearError();
  return newNone();
}

/// Keeps for the gradient what it needs. Returns whether that is kept.
static bool save(PyObject *context, const NodeCall &call) {
  PyObject *values = call.parts.values.get();
  // As ctx.save_for_backward, which is in Python, does.
  Object tensors(python.packTuple(3, call.weightNeeds ? call.x : python.none,
                                  call.xNeeds ? values : python.none,
                                  call.parts.indices.get()));
  return tensors && python.setAttr(context, names.save, tensors.get()) == 0 &&
         python.setAttr(context, names.layer, call.layer) == 0;
}

/// forward(context, x, values, bias, layer) of a node.
static PyObject *forward(PyObject *, PyObject *const *args, intptr_t count) {
  if (count != 5)
    return newNone();
  const NodeCall *call = nodeCall;
  if (call && call->layer == args[4] && call->x == args[1] &&
      save(args[0], *call))
    if (PyObject *result = productOf(call->parts, call->x))
      return result;
  python.clearError();
  return python.call(known.slowForward, args[0], args[1], args[2], args[3],
                     args[4], nullptr);
}

static bool internNames() {
  struct {
    PyObject **place;
    const char *text;
  } all[] = {{&names.fast, "_fast"},
             {&names.fused, "_fused"},
             {&names.shards, "_shards"},
             {&names.parameters, "_parameters"},
             {&names.buffers, "_buffers"},
             {&names.values, "values"},
             {&names.indices, "indices"},
             {&names.bias, "bias"},
             {&names.version, "_version"},
             {&names.writes, "writes"},
             {&names.number, "number"},
             {&names.requiresGrad, "requires_grad"},
             {&names.activation, "activation"},
             {&names.training, "training"},
             {&names.liesOnHost, "_lies_on_host"},
             {&names.level, "_current_level"},
             {&names.isNegative, "is_neg"},
             {&names.save, "to_save"},
             {&names.layer, "layer"}};
  for (auto [place, text] : all)
    if (!(*place = python.intern(text)))
      return false;
  return true;
}

static PyObject *keep(PyObject *object) {
  python.incRef(object);
  return object;
}

extern "C" {

/// Whether PyTorch and Python have what the two below need. nmTorchRegister has
/// been called.
NM_RUNTIME_API int32_t nmTorchFindPython() {
  return abi.fromPython && abi.toPython && abi.isGradEnabled &&
         python.load().empty();
}

/// The forward of a node. `slowForward` takes the same where there is no
/// product.
NM_RUNTIME_API PyObject *nmTorchMakeForward(PyObject *slowForward) {
  static PyMethod method = {"forward", forward, kMethFastCall, nullptr};
  if (!internNames())
    return nullptr;
  known.slowForward = keep(slowForward);
  return python.makeFunction(&method, nullptr, nullptr);
}

/// A function (layer, x) that gives the layer's result or None. `parts` are the
/// members of Known but the last, in order, for as long as the process lives.
NM_RUNTIME_API PyObject *nmTorchMakeCall(PyObject *parts) {
  static PyMethod method = {"call_layer", callLayerOrNot, kMethFastCall,
                            nullptr};
  int i = 0;
  for (PyObject **place : {&known.tensor, &known.parameter, &known.forwardMode,
                           &known.mustBeFalse, &known.makeNode})
    *place = keep(python.tupleItem(parts, i++));
  return python.makeFunction(&method, nullptr, nullptr);
}

} // extern "C"
