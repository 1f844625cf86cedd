func.func @f(%x: tensor<4xi8>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.map ins(%x : tensor<4xi8>) outs(%0 : tensor<4xf32>)
    (%byte: i8, %old: f32) {
      %2 = arith.bitcast %byte : i8 to f8E4M3FNUZ
      %3 = arith.extf %2 : f8E4M3FNUZ to f32
      linalg.yield %3 : f32
    }
  return %1 : tensor<4xf32>
}
