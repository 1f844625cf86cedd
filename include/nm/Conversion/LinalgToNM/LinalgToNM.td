//===- LinalgToNM.td - Contractions to nm ops --------------*- tablegen -*-===//

#ifndef NM_CONVERSION_LINALGTONM_TD
#define NM_CONVERSION_LINALGTONM_TD

include "mlir/Pass/PassBase.td"

def ConvertLinalgToNM : Pass<"convert-linalg-to-nm"> {
  let summary = "contractions with an encoded operand to nm.spmm and nm.spmv";
  let description = [{
    A linalg contraction (named or generic) that has exactly one operand with
    an `#nm.encoding` becomes `nm.spmm`, or `nm.spmv` where the other operand
    has no dimension but k. The encoded operand is split by `nm.disassemble`.
    Weights may stand on either side; leading dimensions that the output shares
    with the activations are collapsed into m, or kept as batch dimensions where
    A or C is transposed; other orders are transposed first.

    With `dense-products`, a contraction without an encoding, one of whose
    operands is a static matrix, becomes a product too, of pattern 1:1 with a
    block as wide as a row: such a matrix is its own condensed form. Its kernels
    are those of the N:M products beside it, where upstream has loops.

    With `computed-products`, every other sum of products of two tensors of f32,
    f16 or bf16 becomes `nm.contract`: the two of attention, and all that have
    batches, or sizes that are not known. An operand that is transposed before is
    read as it was, where one call of a library can; of two element types, the
    narrower is widened to f32. Sums of less than 8 products are left to loops,
    as are those that have neither m nor n.

    What a product of f32 may be computed by is the `#nm.arithmetic` that the
    contraction has as its attribute `nm.arithmetic`, or else the option's.

    Any encoded operand of another op is an error that says why the op is not
    such a contraction.

    Before:
    ```mlir
    %r = linalg.matmul
      ins(%a, %w : tensor<?x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```
    After:
    ```mlir
    %v, %i = nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>>
      -> tensor<32x48xf32>, tensor<32x48xi8>
    %r = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    ```

    With `computed-products`, before:
    ```mlir
    %s = linalg.batch_matmul ins(%q, %k : tensor<8x64x32xf16>, tensor<8x32x96xf16>)
                             outs(%c : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
    ```
    After:
    ```mlir
    %s = nm.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                      affine_map<(b, m, n, k) -> (b, k, n)>,
                                      affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%q, %k : tensor<8x64x32xf16>, tensor<8x32x96xf16>)
      outs(%c : tensor<8x64x96xf32>) -> tensor<8x64x96xf32>
    ```
  }];
  let options = [
    Option<"denseProducts", "dense-products", "bool", /*default=*/"false",
           "Take dense contractions too, as products with N = M">,
    Option<"computedProducts", "computed-products", "bool",
           /*default=*/"false",
           "Make nm.contract of the contractions of floats that are left">,
    Option<"arithmetic", "arithmetic", "std::string", /*default=*/"\"f32\"",
           "What products may be computed by that do not say it: of f32, f32, "
           "ieee, bf16x3 or tf32; of 8-bit floats, fast_accum">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMRaiseAttention : Pass<"nm-raise-attention", "::mlir::func::FuncOp"> {
  let summary = "products with a softmax between to nm.attention";
  let description = [{
    A product of queries and keys, a factor, `linalg.softmax` over the keys, and
    the product with values become one `nm.attention`, where nothing else reads
    what stands between. The products are any contractions into zeros, named or
    generic, with sums of f32; between them may stand multiplications and divisions
    by a constant and conversions among floats. All operands have the element
    type of the result. What a mask is added to is left: of a row that sees
    nothing `linalg.softmax` makes no numbers, and `nm.attention` zeros.

    Before:
    ```mlir
    %s = linalg.generic ... ins(%q, %k : tensor<8x96x64xf32>, tensor<8x80x64xf32>)
                            outs(%zeros : tensor<8x96x80xf32>) { <sum + q * k> }
    %t = linalg.generic ... ins(%s : tensor<8x96x80xf32>) ... { <s * 0.125> }
    %p = linalg.softmax dimension(2) ins(%t : tensor<8x96x80xf32>) ...
    %r = linalg.batch_matmul ins(%p, %v : tensor<8x96x80xf32>, tensor<8x80x64xf32>)
                             outs(%zero : tensor<8x96x64xf32>) -> tensor<8x96x64xf32>
    ```
    After:
    ```mlir
    %r = nm.attention indexing_maps = [affine_map<(b, m, n, d, e) -> (b, m, d)>, ...]
      scale = 1.250000e-01
      ins(%q, %k, %v : ...) outs(%o : tensor<8x96x64xf32>) -> tensor<8x96x64xf32>
    ```
  }];
  let dependentDialects = ["::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMDecomposeAttention : Pass<"nm-decompose-attention"> {
  let summary = "nm.attention to products, exponentials and sums";
  let description = [{
    Every `nm.attention` becomes the ops that define it: the product of queries and
    keys, the scale and the mask, the exponentials of what is left beside the
    row's largest, their sum, the product with the values, and a division. With
    lengths, scores of keys behind are hidden and values there are zero.

    With `library`, attention in f16 or bf16 whose depth and width are multiples
    of 16 and at most 128 stays one op, for `convert-attention-to-gpu`. Without a
    mask and lengths, and of multiples of 8 and at most 256, it is that in one branch of an
    `scf.if`, whose condition is `nm.has_cudnn`, for `nm-call-cublas` to make a
    call of; the other branch has the op for the kernel, or those that define
    it. What only transposes an operand, or the result, is folded into the
    maps of an op that stays, where rows stay contiguous: the library, and the
    kernel, read views. A remark says what each attention became.

    With `tiles`, every attention stays one op, which reads and writes such
    views, and a mask of i1 becomes what is added to scores: `convert-nm-to-vector`
    expands it for CPUs.

    Before:
    ```mlir
    %r = nm.attention indexing_maps = [...] scale = 1.250000e-01 causal
      ins(%q, %k, %v : ...) outs(%o : ...) -> tensor<2x4x96x64xf16>
    ```
    After, with `library`:
    ```mlir
    %loaded = nm.has_cudnn
    %r = scf.if %loaded -> (tensor<2x4x96x64xf16>) {
      %a = nm.attention indexing_maps = [...] scale = 1.250000e-01 causal
        ins(%q, %k, %v : ...) outs(%o : ...) -> tensor<2x4x96x64xf16>
      scf.yield %a : tensor<2x4x96x64xf16>
    } else {
      %b = nm.attention indexing_maps = [...] scale = 1.250000e-01 causal
        ins(%q, %k, %v : ...) outs(%o : ...) -> tensor<2x4x96x64xf16>
      scf.yield %b : tensor<2x4x96x64xf16>
    }
    ```
  }];
  let options = [
    Option<"library", "library", "bool", /*default=*/"false",
           "leave what a GPU's kernel takes, and what cuDNN may have, as it is">,
    Option<"tiles", "tiles", "bool", /*default=*/"false",
           "leave all attention as it is, for a CPU's tiles">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::nm::NMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMPutChannelsLast : Pass<"nm-put-channels-last", "::mlir::func::FuncOp"> {
  let summary = "images between convolutions from planes to channels last";
  let description = [{
    Tensor copies of a Hopper read what a filter's taps take of an image whose
    channels are last, where the filter is a sparse operand (2:4 and what it
    covers) and the channels of a tap are whole lines of 128 bytes. In a network
    of images in planes, a kernel would transpose the image of each such
    convolution. cuDNN's kernels want channels last, too, and it transposes images
    and outputs of others. The pass gives images the layout [batch, places, channels]
    instead, from the first op that makes one to the last that takes it.

    - **Ops.** Every linalg op takes and gives either layout, by its indexing maps:
      convolutions, pools, sums over places, elementwise ops. Slices that are
      inserted or extracted, padding, and arithmetic on tensors have images of one
      layout. All other ops, as those that flatten an image or return it, take
      planes: the image is transposed once for all of them.
    - **Choice.** Images that such ops make one layout of are a group. It changes
      where more bytes are transposed without than with, counting the images that
      tensor copies read, those that others need in planes, and half of the output of
      several images, whose places fill tiles better as one dimension. Image and
      output count of convolutions that are likely to be cuDNN's: of constant
      filters without a pattern, in f16 or bf16, of a multiple of 8 channels, but
      not 8, and 10^9 multiply-adds and more. Filters of other patterns count for
      planes, which their strategies read. A group without convolutions, of pools,
      depthwise convolutions and sums over all places, changes where an image is
      transposed from or to channels last.
    - **Convolutions.** Image and output may have different layouts, but for those of
      one tap without strides, which take the image whole.

    A remark says how many images have changed.

    Before:
    ```mlir
    %a = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<2x64x10x10xf16>, tensor<64x64x3x3xf16>)
                                  outs(%z : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
    %b = linalg.generic {indexing_maps = [#identity, #identity], ...}
      ins(%a : tensor<2x64x8x8xf16>) outs(%e : tensor<2x64x8x8xf16>) { <relu> }
    %c = linalg.conv_2d_nchw_fchw ins(%b, %g : tensor<2x64x8x8xf16>, tensor<64x64x3x3xf16>)
                                  outs(%o : tensor<2x64x6x6xf16>) -> tensor<2x64x6x6xf16>
    ```
    After:
    ```mlir
    %a = linalg.generic {indexing_maps = [<(n, c, y + i, x + j)>, ..., <(n, y, x, f)>], ...}
      ins(%x, %f : ...) outs(%z : tensor<2x8x8x64xf16>) { <sum + x * f> }
    %b = linalg.generic {indexing_maps = [#identity, #identity], ...}
      ins(%a : tensor<2x8x8x64xf16>) outs(%e : tensor<2x8x8x64xf16>) { <relu> }
    %c = linalg.generic {indexing_maps = [<(n, y + i, x + j, c)>, ..., <(n, f, y, x)>], ...}
      ins(%b, %g : ...) outs(%o : tensor<2x64x6x6xf16>) { <sum + x * f> }
    ```
  }];
  let options = [
    Option<"detectWeights", "detect-weights", "bool", /*default=*/"false",
           "Look for patterns of constant filters, too">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMKeepEncodings : Pass<"nm-keep-encodings"> {
  let summary = "has constants that are reshaped keep their encodings";
  let description = [{
    A filter with an encoding is `tensor.expand_shape` of its matrix. Upstream
    folds that op with a constant matrix to a constant of the filter's shape, whose
    type has no encoding. So the constant becomes a resource, which no fold
    computes with.

    Before:
    ```mlir
    %w = arith.constant dense<...> : tensor<72x16xf32, #nm.encoding<2:4>>
    %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 8, 16]
      : tensor<72x16xf32, #nm.encoding<2:4>> into tensor<3x3x8x16xf32>
    ```
    After:
    ```mlir
    %w = arith.constant dense_resource<nm.5D3E> : tensor<72x16xf32, #nm.encoding<2:4>>
    %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 8, 16]
      : tensor<72x16xf32, #nm.encoding<2:4>> into tensor<3x3x8x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NMDecomposeConvolutions : Pass<"nm-decompose-convolutions"> {
  let summary = "convolutions to products of patches of their images";
  let description = [{
    Every linalg convolution whose channels are summed (of one, two or three
    dimensions, channels last or first, with strides, dilations and batches, also
    quantized and in groups) becomes a product of patches with its filter: a
    generic op copies what each place of the output takes of the image, and the
    filter is the matrix B[k x n], where n is its output channels. Of a 1x1 filter
    without strides the image itself is A. In channels-first order A is [k x m],
    whose rows are runs of pixels. Groups are products of slices.

    k is taps, then channels, so that a pattern holds along the input channels of a
    tap. Of a constant filter it is channels, then taps, if a sparser pattern holds
    in that order. A filter with an encoding is `tensor.expand_shape` of its
    matrix, and perhaps `linalg.transpose` of that, which say the order.

    A depthwise convolution, which sums the taps of one channel, and one without
    channels, stays as it is, and a remark says why; with an encoding that is an
    error.

    Before:
    ```mlir
    %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 64, 32]
      : tensor<576x32xf32, #nm.encoding<2:4>> into tensor<3x3x64x32xf32>
    %r = linalg.conv_2d_nhwc_hwcf
      ins(%x, %f : tensor<1x10x10x64xf32>, tensor<3x3x64x32xf32>)
      outs(%c : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    ```
    After:
    ```mlir
    %p = linalg.generic ... ins(%x : ...) outs(%e : tensor<1x8x8x3x3x64xf32>) ...
    %a = tensor.collapse_shape %p [[0, 1, 2], [3, 4, 5]] : ... into tensor<64x576xf32>
    %s = linalg.generic ... ins(%a, %w : tensor<64x576xf32>,
                                         tensor<576x32xf32, #nm.encoding<2:4>>)
                            outs(%d : tensor<64x32xf32>) ...
    %r = tensor.expand_shape %s [[0, 1, 2], [3]] ... into tensor<1x8x8x32xf32>
    ```
  }];
  let options = [
    Option<"detectWeights", "detect-weights", "bool", /*default=*/"false",
           "Look for patterns in both orders of k of a constant filter">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // NM_CONVERSION_LINALGTONM_TD
