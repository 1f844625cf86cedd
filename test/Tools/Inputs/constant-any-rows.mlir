// Of which ptxas makes other code where it has other addresses.
func.func @any_rows(%a: tensor<?x256xf16>, %c: tensor<?x100xf16>) -> tensor<?x100xf16> {
  %b = arith.constant dense<"DRAW 256x100xf16 2:4"> : tensor<256x100xf16>
  %p = linalg.matmul ins(%a, %b : tensor<?x256xf16>, tensor<256x100xf16>) outs(%c : tensor<?x100xf16>) -> tensor<?x100xf16>
  return %p : tensor<?x100xf16>
}
