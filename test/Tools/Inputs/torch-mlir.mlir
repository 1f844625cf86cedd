// A layer in the form that torch-mlir prints.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module attributes {torch.debug_module_name = "Linear"} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @forward(%arg0: tensor<4x8xf32>) -> tensor<4x3xf32> {
    %zero = arith.constant 0.000000e+00 : f32
    %weight = arith.constant dense_resource<torch_tensor_3_8_torch.float32> : tensor<3x8xf32>
    %bias = arith.constant dense_resource<torch_tensor_3_torch.float32> : tensor<3xf32>
    %0 = tensor.empty() : tensor<8x3xf32>
    %turned = linalg.transpose ins(%weight : tensor<3x8xf32>) outs(%0 : tensor<8x3xf32>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<4x3xf32>
    %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = linalg.matmul ins(%arg0, %turned : tensor<4x8xf32>, tensor<8x3xf32>) outs(%2 : tensor<4x3xf32>) -> tensor<4x3xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %bias : tensor<4x3xf32>, tensor<3xf32>) outs(%1 : tensor<4x3xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %5 = arith.addf %in, %b : f32
      linalg.yield %5 : f32
    } -> tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
}
