func.func @pick(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %c2 = arith.constant 2 : index
  %v = tensor.extract %x[%c2, %c2] : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %is = arith.cmpf olt, %v, %zero : f32
  %r = scf.if %is -> tensor<4xf32> {
    %f = linalg.fill ins(%zero : f32) outs(%y : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
