// The same as stablehlo.mlir, of iree-compile --iree-input-type=stablehlo --compile-to=input.
module @jit__lambda {
  util.func public @main(%arg0: tensor<5x8xf32>) -> tensor<5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<[[0.000000e+00, 6.000000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00, 2.000000e+00, 7.000000e+00, 0.000000e+00, 0.000000e+00], [5.000000e+00, 0.000000e+00, 0.000000e+00, 6.000000e+00, 6.000000e+00, 0.000000e+00], [5.000000e+00, 8.000000e+00, 0.000000e+00, 0.000000e+00, 6.000000e+00, 1.000000e+00], [0.000000e+00, 7.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 6.000000e+00], [7.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 5.000000e+00, 0.000000e+00]]> : tensor<8x6xf32>
    %cst_1 = arith.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]> : tensor<6xf32>
    %0 = tensor.empty() : tensor<5x6xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %2 = linalg.matmul ins(%arg0, %cst_0 : tensor<5x8xf32>, tensor<8x6xf32>) outs(%1 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %3 = tensor.empty() : tensor<5x6xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<6xf32>) outs(%3 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x6xf32>
    %5 = tensor.empty() : tensor<5x6xf32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2, %4 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%5 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %9 = arith.addf %in, %in_2 : f32
      linalg.yield %9 : f32
    } -> tensor<5x6xf32>
    %7 = tensor.empty() : tensor<5x6xf32>
    %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<5x6xf32>) outs(%7 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %9 = arith.maximumf %in, %cst : f32
      linalg.yield %9 : f32
    } -> tensor<5x6xf32>
    util.return %8 : tensor<5x6xf32>
  }
}