// Products with the epilogues that cuBLASLt has, and one that it has not.

#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>

func.func @bias(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>, %bias: tensor<20xf32>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<7x20xf32>, tensor<20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %b: f32, %out: f32):
    %x = arith.addf %s, %b : f32
    linalg.yield %x : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}

func.func @relu(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<7x20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %out: f32):
    %y = arith.maximumf %s, %zero : f32
    linalg.yield %y : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}

func.func @bias_relu(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>, %bias: tensor<20xf32>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<7x20xf32>, tensor<20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %b: f32, %out: f32):
    %x = arith.addf %s, %b : f32
    %y = arith.maximumf %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}

func.func @gelu(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cubed = arith.constant 0.044715 : f32
  %scale = arith.constant 0.797884583 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<7x20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %out: f32):
    %square = arith.mulf %s, %s : f32
    %cube = arith.mulf %square, %s : f32
    %small = arith.mulf %cube, %cubed : f32
    %sum = arith.addf %s, %small : f32
    %inner = arith.mulf %sum, %scale : f32
    %tanh = math.tanh %inner : f32
    %weight = arith.addf %one, %tanh : f32
    %halved = arith.mulf %s, %half : f32
    %y = arith.mulf %halved, %weight : f32
    linalg.yield %y : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}

func.func @bias_gelu(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>, %bias: tensor<20xf32>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %both = arith.constant 0.0356774081 : f32
  %scale = arith.constant 0.797884583 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<7x20xf32>, tensor<20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %b: f32, %out: f32):
    %x = arith.addf %s, %b : f32
    %square = arith.mulf %x, %x : f32
    %inside = arith.mulf %square, %both : f32
    %sum = arith.addf %scale, %inside : f32
    %inner = arith.mulf %x, %sum : f32
    %tanh = math.tanh %inner : f32
    %weight = arith.mulf %half, %tanh : f32
    %all = arith.addf %weight, %half : f32
    %y = arith.mulf %all, %x : f32
    linalg.yield %y : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}

func.func @bias_erf(%a: tensor<7x36xf32>, %w: tensor<36x20xf32, #nm.encoding<2:4>>, %bias: tensor<20xf32>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %e = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %w : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  %y = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<7x20xf32>, tensor<20xf32>) outs(%e : tensor<7x20xf32>) {
  ^bb0(%s: f32, %b: f32, %out: f32):
    %x = arith.addf %s, %b : f32
    %scaled = arith.mulf %x, %root : f32
    %erf = math.erf %scaled : f32
    %weight = arith.addf %one, %erf : f32
    %halved = arith.mulf %x, %half : f32
    %y = arith.mulf %halved, %weight : f32
    linalg.yield %y : f32
  } -> tensor<7x20xf32>
  return %y : tensor<7x20xf32>
}
