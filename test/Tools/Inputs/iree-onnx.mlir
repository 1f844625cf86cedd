// A Gemm with 2:4 weights and a Relu, of iree-import-onnx, through torch-mlir-opt
// --pass-pipeline='builtin.module(torch-onnx-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline)'.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @layer(%arg0: tensor<5x8xf32>) -> tensor<5x6xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<[[0.000000e+00, 0.000000e+00, 5.000000e+00, 5.000000e+00, 0.000000e+00, 7.000000e+00, 0.000000e+00, 1.000000e+00], [6.000000e+00, 0.000000e+00, 0.000000e+00, 8.000000e+00, 7.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00], [5.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00], [0.000000e+00, 7.000000e+00, 6.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 6.000000e+00, 6.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 5.000000e+00], [1.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 6.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00]]> : tensor<6x8xf32>
    %cst_1 = arith.constant dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]> : tensor<6xf32>
    %0 = tensor.empty() : tensor<8x6xf32>
    %transposed = linalg.transpose ins(%cst_0 : tensor<6x8xf32>) outs(%0 : tensor<8x6xf32>) permutation = [1, 0] 
    %1 = tensor.empty() : tensor<5x6xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<5x8xf32>, tensor<8x6xf32>) outs(%2 : tensor<5x6xf32>) -> tensor<5x6xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %cst_1 : tensor<5x6xf32>, tensor<6xf32>) outs(%1 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %6 = arith.addf %in, %in_2 : f32
      linalg.yield %6 : f32
    } -> tensor<5x6xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<5x6xf32>) outs(%1 : tensor<5x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %6 = arith.cmpf ugt, %in, %cst : f32
      %7 = arith.select %6, %in, %cst : f32
      linalg.yield %7 : f32
    } -> tensor<5x6xf32>
    return %5 : tensor<5x6xf32>
  }
}
