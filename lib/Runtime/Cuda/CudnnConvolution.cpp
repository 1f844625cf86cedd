//===- CudnnConvolution.cpp - Convolutions as graphs of cuDNN -------------===//

#include "Cuda/Cudnn.h"
#include "nm/Runtime/Export.h"

#include <algorithm>
#include <optional>

using namespace nm;
using namespace nm::cudnn;
using namespace nm::cuda;

/// The tensors of the graph.
enum Id : int64_t { kX = 1, kW, kY };

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

int64_t Convolution::Dimension::getBehind() const {
  int64_t reach = (taps - 1) * dilation + 1;
  auto hasPlaces = [&](int64_t behind) {
    int64_t room = size + before + behind - reach;
    return room >= 0 && room / step + 1 == places;
  };
  // Most engines have the same padding on both sides alone.
  if (hasPlaces(before))
    return before;
  int64_t behind =
      std::max<int64_t>(0, (places - 1) * step + reach - before - size);
  return hasPlaces(behind) ? behind : -1;
}

/// The data type of cuDNN for `type`, if there is one.
static std::optional<int> getDataType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return kFloat;
  case ElementType::F16:
    return kHalf;
  case ElementType::BF16:
    return kBFloat16;
  default:
    return std::nullopt;
  }
}

/// The strides of contiguous elements, with channels last or as planes.
static std::vector<int64_t> getStrides(const std::vector<int64_t> &sizes,
                                       bool hasChannelsLast) {
  std::vector<size_t> order;
  if (hasChannelsLast)
    order.push_back(1);
  for (size_t dim = sizes.size(); dim-- > 2;)
    order.push_back(dim);
  if (!hasChannelsLast)
    order.push_back(1);
  order.push_back(0);
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// Gives `shape` the strides of one of both orders, if they are the same but
/// for dimensions of one element, whose strides mean nothing. cuDNN takes a
/// tensor for one in either order, and computes something else of others.
static bool setOrder(CudnnShape &shape, bool prefersLast) {
  for (bool hasChannelsLast : {prefersLast, !prefersLast}) {
    std::vector<int64_t> strides = getStrides(shape.sizes, hasChannelsLast);
    bool isSame = true;
    for (size_t dim = 0; dim < strides.size(); ++dim)
      isSame &= shape.sizes[dim] == 1 || strides[dim] == shape.strides[dim];
    if (!isSame)
      continue;
    shape.strides = strides;
    return true;
  }
  return false;
}

/// The shape of a tensor whose dimensions of pixels have `size` and `stride`.
template <typename Size, typename Stride>
static CudnnShape shapeOf(const Convolution &convolution, int64_t outer,
                          int64_t inner, const Convolution::Strides &strides,
                          Size size, Stride stride) {
  CudnnShape shape{{outer, inner}, {strides.outer, strides.inner}};
  for (const Convolution::Dimension &dimension : convolution.dimensions) {
    shape.sizes.push_back(dimension.*size);
    shape.strides.push_back(dimension.*stride);
  }
  return shape;
}

namespace {
/// The shapes of X, W and Y.
struct Shapes {
  explicit Shapes(const Convolution &convolution);

  CudnnShape ofX, ofW, ofY;
  /// Whether all are in an order that cuDNN knows.
  bool areInOrder;
};
} // namespace

Shapes::Shapes(const Convolution &convolution) {
  using Dimension = Convolution::Dimension;
  ofX = shapeOf(convolution, convolution.images, convolution.channels,
                convolution.ofX, &Dimension::size, &Dimension::ofX);
  ofW = shapeOf(convolution, convolution.outputs, convolution.channels,
                convolution.ofW, &Dimension::taps, &Dimension::ofW);
  ofY = shapeOf(convolution, convolution.images, convolution.outputs,
                convolution.ofY, &Dimension::places, &Dimension::ofY);
  bool hasChannelsLast =
      (convolution.channels > 1 && convolution.ofX.inner == 1) ||
      (convolution.outputs > 1 && convolution.ofY.inner == 1);
  areInOrder = setOrder(ofX, hasChannelsLast) &&
               setOrder(ofW, /*prefersLast=*/true) &&
               setOrder(ofY, hasChannelsLast);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static void build(CudnnGraph &graph, const Convolution &convolution) {
  int type = *getDataType(convolution.type);
  Shapes shapes(convolution);
  CudnnSteps steps;
  for (const Convolution::Dimension &dimension : convolution.dimensions) {
    steps.steps.push_back(dimension.step);
    steps.dilations.push_back(dimension.dilation);
    steps.before.push_back(dimension.before);
    steps.behind.push_back(dimension.getBehind());
  }
  CudnnGraph::Descriptor x = graph.addTensor(shapes.ofX, type, kX),
                         w = graph.addTensor(shapes.ofW, type, kW),
                         y = graph.addTensor(shapes.ofY, type, kY);
  graph.convolve(x, w, y, steps);
}

/// What cuDNN has no convolution of, whatever its version.
static std::string whyNotTaken(const Convolution &convolution) {
  if (!getDataType(convolution.type))
    return "expected f32, f16 or bf16 for a convolution by cuDNN";
  for (const void *pointer :
       {convolution.x, convolution.w, static_cast<const void *>(convolution.y)})
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0)
      return "expected tensors at multiples of 16 bytes for a convolution by "
             "cuDNN";
  for (const Convolution::Dimension &dimension : convolution.dimensions)
    if (dimension.before < 0 || dimension.getBehind() < 0)
      return "expected all places of an image for a convolution by cuDNN";
  if (!Shapes(convolution).areInOrder)
    return "expected contiguous images, filters and outputs, in planes or with "
           "channels last, for a convolution by cuDNN";
  return "";
}

static std::vector<int64_t> keyOf(const Convolution &convolution) {
  std::vector<int64_t> key = {convolution.images, convolution.channels,
                              convolution.outputs, int64_t(convolution.type),
                              int64_t(convolution.allowsTF32)};
  for (const Convolution::Strides &strides :
       {convolution.ofX, convolution.ofW, convolution.ofY})
    key.insert(key.end(), {strides.outer, strides.inner});
  for (const Convolution::Dimension &dimension : convolution.dimensions)
    key.insert(key.end(), {dimension.size, dimension.taps, dimension.places,
                           dimension.step, dimension.dilation, dimension.before,
                           dimension.ofX, dimension.ofW, dimension.ofY});
  return key;
}

/// What engines must not do: sum in less than f32, or in an order that differs
/// from call to call, or make other products than those of the convolution,
/// whose errors are larger.
static unsigned getForbiddenNotes(const Convolution &convolution) {
  unsigned notes = 0;
  for (NumericalNote note : {kDownConvertsInputs, kReducesInLess,
                             kFourierTransform, kNonDeterministic, kWinograd,
                             kWinogradOf4, kWinogradOf6, kWinogradOf13})
    notes |= 1U << note;
  // Tensor cores round operands of f32.
  if (convolution.type == ElementType::F32 && !convolution.allowsTF32)
    notes |= 1U << kTensorCores;
  return notes;
}

Result<std::string> Cudnn::convolve(const ContextScope &scope,
                                    const Convolution &convolution) const {
  if (std::string reason = whyNotTaken(convolution); !reason.empty())
    return reason;
  return queue(scope, {"convolution",
                       keyOf(convolution),
                       [&](CudnnGraph &graph) { build(graph, convolution); },
                       getForbiddenNotes(convolution),
                       {kX, kW, kY},
                       {const_cast<void *>(convolution.x),
                        const_cast<void *>(convolution.w), convolution.y}});
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

extern "C" {

/// Y = the convolution of X with W. `flags` has bit 0 where f32 may be rounded
/// to TensorFloat-32. Each of three dimensions of pixels has its size, the
/// taps, the places, how far places and taps are apart, and the padding in
/// front; outer ones that there are not have one pixel. Strides, in elements,
/// are along images, channels and pixels of X; outputs, channels and taps of W;
/// and images, outputs and places of Y. Returns 0 where the library refuses and
/// Y is as it was.
NM_RUNTIME_API int64_t nmCudnnTryConvolve(
    const void *x, const void *w, void *y, int64_t type, int64_t flags,
    int64_t images, int64_t channels, int64_t outputs, int64_t size0,
    int64_t taps0, int64_t places0, int64_t step0, int64_t dilation0,
    int64_t before0, int64_t size1, int64_t taps1, int64_t places1,
    int64_t step1, int64_t dilation1, int64_t before1, int64_t size2,
    int64_t taps2, int64_t places2, int64_t step2, int64_t dilation2,
    int64_t before2, int64_t imageOfX, int64_t channelOfX, int64_t pixel0OfX,
    int64_t pixel1OfX, int64_t pixel2OfX, int64_t outputOfW, int64_t channelOfW,
    int64_t tap0OfW, int64_t tap1OfW, int64_t tap2OfW, int64_t imageOfY,
    int64_t outputOfY, int64_t place0OfY, int64_t place1OfY,
    int64_t place2OfY) {
  Convolution convolution{images,
                          channels,
                          outputs,
                          {{size0, taps0, places0, step0, dilation0, before0,
                            pixel0OfX, tap0OfW, place0OfY},
                           {size1, taps1, places1, step1, dilation1, before1,
                            pixel1OfX, tap1OfW, place1OfY},
                           {size2, taps2, places2, step2, dilation2, before2,
                            pixel2OfX, tap2OfW, place2OfY}},
                          x,
                          w,
                          y,
                          static_cast<ElementType>(type),
                          (flags & 1) != 0,
                          {imageOfX, channelOfX},
                          {outputOfW, channelOfW},
                          {imageOfY, outputOfY}};
  if (convolution.dimensions.front().isOne())
    convolution.dimensions.erase(convolution.dimensions.begin());
  return queueOrRecord([&](const Cudnn &cudnn, const ContextScope &scope) {
    return cudnn.convolve(scope, convolution);
  });
}
}
