func.func @two() -> tensor<2xf32> {
  %scalar = arith.constant dense_resource<scalar> : tensor<f32>
  %value = tensor.extract %scalar[] : tensor<f32>
  %result = tensor.splat %value : tensor<2xf32>
  return %result : tensor<2xf32>
}
{-# dialect_resources: { builtin: { scalar: "0x040000000000C03F" } } #-}
