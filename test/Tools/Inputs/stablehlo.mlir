// jax.jit(lambda x: jax.nn.relu(x @ w + b)).lower(x).as_text(), with 2:4 weights, through
// stablehlo-opt --stablehlo-legalize-to-linalg.
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x8xf32>) -> (tensor<5x6xf32> {jax.result_info = "result"}) {
    %cst = arith.constant dense<[[0.000000e+00, 6.000000e+00, 5.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00, 2.000000e+00, 7.000000e+00, 0.000000e+00, 0.000000e+00], [5.000000e+00, 0.000000e+00, 0.000000e+00, 6.000000e+00, 6.000000e+00, 0.000000e+00], [5.000000e+00, 8.000000e+00, 0.000000e+00, 0.000000e+00, 6.000000e+00, 1.000000e+00], [0.000000e+00, 7.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 6.000000e+00], [7.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00], [0.000000e+00, 3.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 1.000000e+00], [1.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 5.000000e+00, 0.000000e+00]]> : tensor<8x6xf32>
    %cst_0 = arith.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]> : tensor<6xf32>
    %0 = tensor.empty() : tensor<5x6xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %2 = linalg.matmul ins(%arg0, %cst : tensor<5x8xf32>, tensor<8x6xf32>) outs(%1 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %3 = tensor.empty() : tensor<1x6xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<6xf32>) outs(%3 : tensor<1x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x6xf32>
    %5 = tensor.empty() : tensor<5x6xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x6xf32>) outs(%5 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x6xf32>
    %7 = tensor.empty() : tensor<5x6xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %6 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%7 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %10 = arith.addf %in, %in_2 : f32
      linalg.yield %10 : f32
    } -> tensor<5x6xf32>
    %9 = call @relu(%8) : (tensor<5x6xf32>) -> tensor<5x6xf32>
    return %9 : tensor<5x6xf32>
  }
  func.func private @relu(%arg0: tensor<5x6xf32>) -> tensor<5x6xf32> {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = tensor.empty() : tensor<5x6xf32>
    %1 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%0 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x6xf32>
    %2 = tensor.empty() : tensor<5x6xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0, %1 : tensor<5x6xf32>, tensor<5x6xf32>) outs(%2 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %4 = arith.maximumf %in, %in_0 : f32
      linalg.yield %4 : f32
    } -> tensor<5x6xf32>
    return %3 : tensor<5x6xf32>
  }
}
