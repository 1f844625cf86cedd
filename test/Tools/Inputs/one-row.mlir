func.func @product(%x: tensor<1x300xf32>,
    %w: tensor<300x40xf32, #nm.encoding<unstructured, kept = 600>>, %c: tensor<1x40xf32>)
    -> tensor<1x40xf32> {
  %p = linalg.matmul
    ins(%x, %w : tensor<1x300xf32>,
        tensor<300x40xf32, #nm.encoding<unstructured, kept = 600>>)
    outs(%c : tensor<1x40xf32>) -> tensor<1x40xf32>
  return %p : tensor<1x40xf32>
}
