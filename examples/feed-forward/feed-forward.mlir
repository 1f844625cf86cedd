// A transformer's feed-forward block, y = gelu(x · W1ᵀ + b1) · W2ᵀ + b2, with
// the sizes of all-MiniLM-L6-v2: 128 tokens, 384 features, 1536 inside. Weights
// are as PyTorch keeps them, [out × in], so k is their dimension 1.

// The one line that says that the weights are sparse. feed_forward.py writes
// other patterns here.
#weights = #nm.encoding<2:4, dim = 1>

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#each = affine_map<(m, n) -> (m, n)>

func.func @feed_forward(
    %x: tensor<128x384xf32>,
    %w1: tensor<1536x384xf32, #weights>, %b1: tensor<1536xf32>,
    %w2: tensor<384x1536xf32, #weights>, %b2: tensor<384xf32>)
    -> tensor<128x384xf32> {
  // A product adds to its output, which starts as the bias.
  %hidden_empty = tensor.empty() : tensor<128x1536xf32>
  %hidden_bias = linalg.broadcast ins(%b1 : tensor<1536xf32>)
    outs(%hidden_empty : tensor<128x1536xf32>) dimensions = [0]
  %hidden = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%x, %w1 : tensor<128x384xf32>, tensor<1536x384xf32, #weights>)
    outs(%hidden_bias : tensor<128x1536xf32>) -> tensor<128x1536xf32>

  // gelu(h) = h/2 · (1 + erf(h/√2))
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.707106769 : f32
  %gelu = linalg.generic {indexing_maps = [#each, #each],
                          iterator_types = ["parallel", "parallel"]}
    ins(%hidden : tensor<128x1536xf32>)
    outs(%hidden_empty : tensor<128x1536xf32>) {
  ^bb0(%h: f32, %unused: f32):
    %scaled = arith.mulf %h, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %weight = arith.addf %one, %erf : f32
    %halved = arith.mulf %h, %half : f32
    %r = arith.mulf %halved, %weight : f32
    linalg.yield %r : f32
  } -> tensor<128x1536xf32>

  %out_empty = tensor.empty() : tensor<128x384xf32>
  %out_bias = linalg.broadcast ins(%b2 : tensor<384xf32>)
    outs(%out_empty : tensor<128x384xf32>) dimensions = [0]
  %out = linalg.matmul indexing_maps = [#x, #w, #y]
    ins(%gelu, %w2 : tensor<128x1536xf32>, tensor<384x1536xf32, #weights>)
    outs(%out_bias : tensor<128x384xf32>) -> tensor<128x384xf32>
  return %out : tensor<128x384xf32>
}
