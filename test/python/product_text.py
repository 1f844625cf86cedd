"""The module of one product with an N:M weight, for the tests that compile it."""

#: `%r`, the product of `%x` and `%w`; `%zero` and `%e` may be used again.
PRODUCT_OPS = """
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<MxNxf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<MxNxf32>) -> tensor<MxNxf32>
  %r = linalg.matmul
    ins(%x, %w : tensor<MxKxf32>, tensor<KxNxf32, #nm.encoding<PATTERN>>)
    outs(%y : tensor<MxNxf32>) -> tensor<MxNxf32>
"""
_PRODUCT = f"""
func.func @f(%x: tensor<MxKxf32>, %w: tensor<KxNxf32, #nm.encoding<PATTERN>>)
    -> tensor<MxNxf32> {{
{PRODUCT_OPS}
  return %r : tensor<MxNxf32>
}}
"""


def text_of(m, k, n, pattern, text=_PRODUCT):
    """A text, that of `x · w` in f32 where none is given, with sizes for Mx, Kx and
    Nx and with the pattern for PATTERN."""
    text = text.replace("PATTERN", pattern)
    for name, size in zip("MKN", (m, k, n)):
        text = text.replace(f"{name}x", f"{size}x")
    return text
