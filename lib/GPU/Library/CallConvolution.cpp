//===- CallConvolution.cpp - Convolutions to calls of cuDNN ---------------===//

#include "GPU/Library/CallConvolution.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Builds the arguments of one call, all of them index.
class ConvolutionCall {
public:
  ConvolutionCall(OpBuilder &builder, SpMMOp op, PatchesOp patches,
                  const PatchConvolution &convolution);

  SmallVector<Value> getArguments();

private:
  /// As lib/Runtime/Cuda/CudnnConvolution.cpp takes them.
  static constexpr size_t kPixelDims = 3;
  using Pixels = PatchConvolution::Pixels;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  int64_t countOf(std::optional<unsigned> loop) {
    return loop ? patches.getLoops()[*loop] : 1;
  }
  /// The iterations of the loops behind `loop` in its group.
  int64_t countInner(unsigned loop);
  /// Elements of W, whose rows are whole, and of C from one iteration of the
  /// loop to the next.
  Value strideOfW(std::optional<unsigned> loop) {
    return constant(loop ? countInner(*loop) : 1);
  }
  Value strideOfY(std::optional<unsigned> loop);
  /// The stride of each dimension of pixels, after 1s of those that there are
  /// not.
  void addOfPixels(SmallVectorImpl<Value> &arguments,
                   function_ref<Value(const Pixels &)> get);

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
  SparseProductOpInterface product;
  PatchesOp patches;
  const PatchConvolution &convolution;
  memref::ExtractStridedMetadataOp ofX, ofW, ofY;
};
} // namespace

ConvolutionCall::ConvolutionCall(OpBuilder &builder, SpMMOp op,
                                 PatchesOp patches,
                                 const PatchConvolution &convolution)
    : builder(builder), loc(op.getLoc()), op(op),
      product(cast<SparseProductOpInterface>(*op)), patches(patches),
      convolution(convolution) {
  auto describe = [&](Value operand) {
    return memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  };
  ofX = describe(patches.getImage());
  ofW = describe(op.getValues());
  ofY = describe(op.getC());
}

int64_t ConvolutionCall::countInner(unsigned loop) {
  unsigned end = 0;
  for (int64_t count : patches.getGroups()) {
    end += unsigned(count);
    if (loop < end)
      break;
  }
  return llvm::product_of(patches.getLoops().slice(loop + 1, end - loop - 1));
}

Value ConvolutionCall::strideOfY(std::optional<unsigned> loop) {
  if (!loop)
    return constant(1);
  ArrayRef<int64_t> groups = patches.getGroups();
  int64_t dim = 0;
  for (int64_t first = groups[0]; int64_t(*loop) >= first;
       first += groups[++dim]) {
  }
  // C has A's dimensions of batches and m.
  if (dim >= product.getNumBatchDims())
    dim = *product.getMDimOfC();
  return builder.createOrFold<arith::MulIOp>(loc, ofY.getStrides()[dim],
                                             constant(countInner(*loop)));
}

void ConvolutionCall::addOfPixels(SmallVectorImpl<Value> &arguments,
                                  function_ref<Value(const Pixels &)> get) {
  arguments.append(kPixelDims - convolution.pixels.size(), constant(1));
  for (const Pixels &pixels : convolution.pixels)
    arguments.push_back(get(pixels));
}

SmallVector<Value> ConvolutionCall::getArguments() {
  constexpr int64_t kAllowTF32 = 1;
  Value image = patches.getImage();
  ArrayRef<int64_t> shape = patches.getImageType().getShape();
  Type element = patches.getImageType().getElementType();
  SmallVector<Value> arguments = {
      getAddress(builder, image, ofX),
      getAddress(builder, op.getValues(), ofW),
      getAddress(builder, op.getC(), ofY),
      constant(static_cast<int64_t>(*mlir::nm::getElementType(element))),
      constant(op.getArithmetic() == Arithmetic::TF32 ? kAllowTF32 : 0),
      constant(shape.front()),
      constant(shape[convolution.channelDim]),
      constant(product.getStaticN())};
  // One pixel, tap and place, one apart from the next and none in front.
  for (size_t i = convolution.pixels.size(); i < kPixelDims; ++i)
    for (int64_t number : {1, 1, 1, 1, 1, 0})
      arguments.push_back(constant(number));
  for (const Pixels &pixels : convolution.pixels)
    for (int64_t number : {shape[pixels.dim], pixels.taps, pixels.places,
                           pixels.step, pixels.dilation, pixels.before})
      arguments.push_back(constant(number));
  arguments.push_back(ofX.getStrides()[0]);
  arguments.push_back(ofX.getStrides()[convolution.channelDim]);
  addOfPixels(arguments, [&](const Pixels &pixels) -> Value {
    return ofX.getStrides()[pixels.dim];
  });
  arguments.push_back(constant(product.getStaticK()));
  arguments.push_back(strideOfW(convolution.channels));
  addOfPixels(arguments,
              [&](const Pixels &pixels) { return strideOfW(pixels.tapLoop); });
  arguments.push_back(convolution.images ? strideOfY(convolution.images)
                                         : constant(1));
  arguments.push_back(ofY.getStrides()[product.getNDimOfC()]);
  addOfPixels(arguments, [&](const Pixels &pixels) {
    return strideOfY(pixels.placeLoop);
  });
  return arguments;
}

Value mlir::nm::callConvolution(SpMMOp op, PatchesOp patches,
                                DeclareFunction declare) {
  std::optional<PatchConvolution> convolution =
      findConvolution(patches, op.getTransposeA());
  if (!convolution)
    return {};
  OpBuilder builder(op);
  SmallVector<Value> arguments =
      ConvolutionCall(builder, op, patches, *convolution).getArguments();
  func::FuncOp callee =
      declare("nmCudnnTryConvolve",
              builder.getFunctionType(ValueRange(arguments).getTypes(),
                                      builder.getIndexType()));
  return func::CallOp::create(builder, op.getLoc(), callee, arguments)
      .getResult(0);
}
