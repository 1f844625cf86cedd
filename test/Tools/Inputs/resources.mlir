func.func @shift() -> tensor<4xi32> {
  %c = arith.constant dense_resource<"a \22quoted\22 name"> : tensor<4xi32>
  %one = arith.constant dense<1> : tensor<4xi32>
  %r = arith.addi %c, %one : tensor<4xi32>
  return %r : tensor<4xi32>
}
