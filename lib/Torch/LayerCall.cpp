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

#include "Autocast.h"
#include "ProductRun.h"
#include "PythonApi.h"

#include "nm/Runtime/Export.h"

using namespace nm::torch;

namespace {
/// Names of attributes and items.
struct Names {
  PyObject *fast, *fastLower, *fused, *shards, *parameters, *buffers, *values,
      *indices, *bias, *version, *writes, *number, *requiresGrad, *activation,
      *training, *liesOnHost, *level, *isNegative, *save, *layer, *to;
};

/// Objects that live as long as the process.
struct Known {
  /// torch.Tensor and torch.nn.Parameter.
  PyObject *tensor, *parameter;
  /// torch.autograd.forward_ad, whose level is negative where none is open.
  PyObject *forwardMode;
  /// Functions whose results are false where only the product is asked for.
  PyObject *mustBeFalse;
  /// Make a node of (x, values, bias, layer), with the product, and so under
  /// autocast.
  PyObject *makeNode, *makeLowerNode;
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

namespace {
/// A layer's parameters and buffers, and the record of its known products in a
/// type.
struct Parts {
  Parts(PyObject *layer, const LowerType &lower)
      : lower(lower),
        fast(python.getAttr(layer, lower.code == kNoCast ? names.fast
                                                         : names.fastLower)),
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

  LowerType lower;
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

/// A product that is about to be made.
class LayerProduct {
public:
  /// Casts what autocast asks for. Returns whether there may be a product.
  bool prepare(const Parts &parts, const Tensor &x) {
    Object numberObject(python.getAttr(parts.fast.get(), names.number));
    if (!numberObject ||
        abi.fromPython(parts.values.get(), values.place()) != 0 ||
        abi.fromPython(parts.indices.get(), indices.place()) != 0 ||
        (!parts.bias.isNone() &&
         abi.fromPython(parts.bias.get(), bias.place()) != 0))
      return false;
    number = python.toInteger(numberObject.get());
    usedX = &x;
    usedBias = parts.bias.isNone() ? &values : &bias;
    return parts.lower.code == kNoCast || cast(parts.lower.code);
  }

  /// The input that is multiplied, as a new reference, or null.
  PyObject *takeInput() const { return toPython(*usedX); }

  /// The product as a new reference, or null.
  PyObject *make() const {
    Tensor result;
    void *thread = python.releaseGil();
    bool isMade =
        runProduct(*usedX, values, indices, *usedBias, number, result);
    python.takeGil(thread);
    return isMade ? toPython(result) : nullptr;
  }

private:
  bool cast(int32_t type) {
    if (usedX->type() != type) {
      if (!castTensor(*usedX, type, castX))
        return false;
      usedX = &castX;
    }
    if (!bias.get() || bias.type() == type)
      return true;
    std::shared_ptr<WeightProducts> weight = ProductTable::get().find(number);
    if (!weight)
      return false;
    castBias = weight->bias.get(bias, type);
    usedBias = castBias.get();
    return usedBias != nullptr;
  }

  static PyObject *toPython(const Tensor &tensor) {
    void *object = nullptr;
    return abi.toPython(tensor.get(), nullptr, &object) == 0
               ? static_cast<PyObject *>(object)
               : nullptr;
  }

  Tensor values, indices, bias, castX;
  std::shared_ptr<const Tensor> castBias;
  const Tensor *usedX = nullptr, *usedBias = nullptr;
  int64_t number = -1;
};
} // namespace

static PyObject *productOf(const Parts &parts, const Tensor &x) {
  LayerProduct product;
  return product.prepare(parts, x) ? product.make() : nullptr;
}

namespace {
/// A call that makes a node, which calls forward below.
struct NodeCall {
  const Parts &parts;
  PyObject *layer, *x;
  const Tensor &xTensor;
  /// What needs a gradient.
  bool weightNeeds, xNeeds;
};
} // namespace

static thread_local const NodeCall *nodeCall = nullptr;

/// The product of a layer and its node, or null.
static PyObject *callNode(const NodeCall &call, bool &isRaised) {
  nodeCall = &call;
  const Parts &parts = call.parts;
  PyObject *result = python.call(
      parts.lower.code == kNoCast ? known.makeNode : known.makeLowerNode,
      call.x, parts.values.get(), parts.bias.get(), call.layer, nullptr);
  nodeCall = nullptr;
  isRaised = !result;
  return result;
}

/// The product of a layer and its node, or null, where the cast of x is a node
/// of the graph, too: second derivatives go through the x that a product's node
/// saves.
static PyObject *callNodeOfCast(const NodeCall &call, bool &isRaised) {
  Object x(
      python.callMethod(call.x, names.to, call.parts.lower.object, nullptr));
  Tensor tensor;
  if (!x || abi.fromPython(x.get(), tensor.place()) != 0)
    return nullptr;
  return callNode(
      {call.parts, call.layer, x.get(), tensor, call.weightNeeds, call.xNeeds},
      isRaised);
}

/// The result of a layer's call, or null where Python is to make it. An error
/// that `isRaised` tells of is the call's own.
static PyObject *callLayer(PyObject *layer, PyObject *x, bool &isRaised) {
  if (!isPlain(x) || isNegative(x))
    return nullptr;
  for (PyObject *name : {names.fused, names.shards})
    if (!Object(python.getAttr(layer, name)).isNone())
      return nullptr;
  Tensor tensor;
  LowerType lower;
  if (abi.fromPython(x, tensor.place()) != 0 || !findLowerType(tensor, lower))
    return nullptr;
  Parts parts(layer, lower);
  if (!parts.arePlain() || !parts.areAsBefore())
    return nullptr;
  if (!abi.isGradEnabled())
    return productOf(parts, tensor);
  bool weightNeeds = isTrue(parts.values.get(), names.requiresGrad);
  bool xNeeds = isTrue(x, names.requiresGrad);
  if (!weightNeeds && !xNeeds &&
      (parts.bias.isNone() || !isTrue(parts.bias.get(), names.requiresGrad)))
    return productOf(parts, tensor);
  if (!Object(python.getAttr(layer, names.activation)).isNone() ||
      isTrue(layer, names.liesOnHost) ||
      (weightNeeds && isTrue(layer, names.training)))
    return nullptr;
  NodeCall call = {parts, layer, x, tensor, weightNeeds, xNeeds};
  if (weightNeeds && xNeeds && lower.code != kNoCast &&
      tensor.type() != lower.code)
    return callNodeOfCast(call, isRaised);
  return callNode(call, isRaised);
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
static bool save(PyObject *context, const NodeCall &call,
                 const LayerProduct &product) {
  Object x(call.weightNeeds && call.parts.lower.code != kNoCast
               ? product.takeInput()
               : nullptr);
  PyObject *input = x ? x.get() : call.x;
  // As ctx.save_for_backward, which is in Python, does.
  Object tensors(
      python.packTuple(3, call.weightNeeds ? input : python.none,
                       call.xNeeds ? call.parts.values.get() : python.none,
                       call.parts.indices.get()));
  return tensors && python.setAttr(context, names.save, tensors.get()) == 0 &&
         python.setAttr(context, names.layer, call.layer) == 0;
}

/// forward(context, x, values, bias, layer) of a node. `slowForward` is the
/// same in Python.
static PyObject *forward(PyObject *slowForward, PyObject *const *args,
                         intptr_t count) {
  if (count != 5)
    return newNone();
  const NodeCall *call = nodeCall;
  LayerProduct product;
  if (call && call->layer == args[4] && call->x == args[1] &&
      product.prepare(call->parts, call->xTensor) &&
      save(args[0], *call, product))
    if (PyObject *result = product.make())
      return result;
  python.clearError();
  return python.call(slowForward, args[0], args[1], args[2], args[3], args[4],
                     nullptr);
}

static bool internNames() {
  struct {
    PyObject **place;
    const char *text;
  } all[] = {{&names.fast, "_fast"},
             {&names.fastLower, "_fast_lower"},
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
             {&names.layer, "layer"},
             {&names.to, "to"}};
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

/// The forward of a node. `slowForward` takes the same arguments, where there
/// is no product.
NM_RUNTIME_API PyObject *nmTorchMakeForward(PyObject *slowForward) {
  static PyMethod method = {"forward", forward, kMethFastCall, nullptr};
  if (!internNames())
    return nullptr;
  return python.makeFunction(&method, slowForward, nullptr);
}

/// A function (layer, x) that gives the layer's result or None. `parts` are the
/// members of Known in order, and what keepAutocast takes, for as long as the
/// process lives.
NM_RUNTIME_API PyObject *nmTorchMakeCall(PyObject *parts) {
  static PyMethod method = {"call_layer", callLayerOrNot, kMethFastCall,
                            nullptr};
  int i = 0;
  for (PyObject **place :
       {&known.tensor, &known.parameter, &known.forwardMode, &known.mustBeFalse,
        &known.makeNode, &known.makeLowerNode})
    *place = keep(python.tupleItem(parts, i++));
  if (!keepAutocast(python.tupleItem(parts, i)))
    return newNone();
  return python.makeFunction(&method, nullptr, nullptr);
}

} // extern "C"
