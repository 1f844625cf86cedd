"""The MLIR of a product with what is fused to it."""

from __future__ import annotations

from ._sparse import SparseTensor

# Of %v in f32, to %r.
_RELU = """
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %v, %zero : f32"""
_GELU = """
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %rsqrt2 = arith.constant 0.707106769 : f32
    %scaled = arith.mulf %v, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %weight = arith.addf %one, %erf : f32
    %halved = arith.mulf %v, %half : f32
    %r = arith.mulf %halved, %weight : f32"""
_GELU_TANH = """
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.constant 0.044715 : f32
    %s = arith.constant 0.797884583 : f32
    %square = arith.mulf %v, %v : f32
    %cube = arith.mulf %square, %v : f32
    %small = arith.mulf %cube, %c : f32
    %sum = arith.addf %v, %small : f32
    %inner = arith.mulf %sum, %s : f32
    %tanh = math.tanh %inner : f32
    %weight = arith.addf %one, %tanh : f32
    %halved = arith.mulf %v, %half : f32
    %r = arith.mulf %halved, %weight : f32"""
_SILU = """
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %v : f32
    %exp = math.exp %minus : f32
    %sum = arith.addf %one, %exp : f32
    %r = arith.divf %v, %sum : f32"""
ACTIVATIONS = {None: None, "relu": _RELU, "gelu": _GELU,
               "gelu_tanh": _GELU_TANH, "silu": _SILU}


# What products of f32 may be computed by; None is the compiler's default, f32.
ARITHMETICS = (None, "f32", "ieee", "bf16x3", "tf32", "fast_accum")


class Product:
    """One product: the weight's type, the rows of x, and the epilogue."""

    def __init__(self, w: SparseTensor, rows: int, activation: str | None,
                 bias: bool, scale: bool, arithmetic: str | None = None):
        self.w, self.rows = w, rows
        self.activation, self.bias, self.scale = activation, bias, scale
        self.arithmetic = arithmetic
        self.has_epilogue = bias or scale or activation is not None
        # What is computed on the sums is computed in f32, but for a bias of
        # integers alone.
        floating = scale or activation is not None
        self.result_type = {"f8E4M3FN": "f32", "f8E5M2": "f32",
                            "i8": "f32" if floating else "i32"}.get(w.dtype,
                                                                    w.dtype)
        self.sum_type = "i32" if w.dtype == "i8" else (
            "f32" if self.has_epilogue else self.result_type)

    def with_rows(self, rows: int) -> Product:
        return Product(self.w, rows, self.activation, self.bias, self.scale,
                       self.arithmetic)

    @property
    def epilogue(self) -> tuple:
        """What tells the product's kernels from others of the weight."""
        return self.activation, self.bias, self.scale, self.arithmetic

    def text(self, rows: int | None) -> str:
        """The module for `rows` rows, or for any number."""
        w = self.w
        m = "?" if rows is None else rows
        self._m = m
        x = f"tensor<{m}x{w.k}x{w.dtype}>"
        shape = "x".join(map(str, w.shape))
        weight = f"tensor<{shape}x{w.dtype}, #nm.encoding<{w.pattern}>>"
        columns = f"%bias: tensor<{w.n}x{self.result_type}>"
        scales = f"%scale: tensor<{w.n}xf32>"
        args = [f"%x: {x}", f"%w: {weight}"]
        args += [scales] * self.scale + [columns] * self.bias
        body = self._start(rows, x) + self._product(x, weight)
        result = "%acc"
        if self.has_epilogue:
            body += self._epilogue(rows)
            result = "%result"
        return (f"func.func @matmul({', '.join(args)})"
                f" -> {self._type(self.result_type)} {{\n{body}"
                f"  return {result} : {self._type(self.result_type)}\n}}\n")

    def _type(self, element: str) -> str:
        return f"tensor<{self._m}x{self.w.n}x{element}>"

    def _empty(self, rows: int | None, name: str, element: str) -> str:
        size = "" if rows is not None else "%m"
        return f"  %{name} = tensor.empty({size}) : {self._type(element)}\n"

    def _start(self, rows: int | None, x: str) -> str:
        """The zeros that the product is added to."""
        text = ""
        if rows is None:
            text += ("  %c0 = arith.constant 0 : index\n"
                     f"  %m = tensor.dim %x, %c0 : {x}\n")
        element = self.sum_type
        text += self._empty(rows, "empty", element)
        zero = "0" if element == "i32" else "0.0"
        return text + (
            f"  %zero_{element} = arith.constant {zero} : {element}\n"
            f"  %init = linalg.fill ins(%zero_{element} : {element}) "
            f"outs(%empty : {self._type(element)}) -> {self._type(element)}\n")

    def _product(self, x: str, weight: str) -> str:
        maps = ("" if self.w.pattern.axis == 0 else
                " indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
                "affine_map<(m, n, k) -> (n, k)>, "
                "affine_map<(m, n, k) -> (m, n)>]")
        type_ = self._type(self.sum_type)
        allowed = ("" if self.arithmetic is None else
                   f" {{nm.arithmetic = #nm.arithmetic<{self.arithmetic}>}}")
        return (f"  %acc = linalg.matmul{maps}{allowed} ins(%x, %w : {x}, {weight})\n"
                f"    outs(%init : {type_}) -> {type_}\n")

    def _epilogue(self, rows: int | None) -> str:
        """What the compiler makes the product's epilogue."""
        n = self.w.n
        inputs = [("%acc", self._type(self.sum_type), "s", self.sum_type, "m, n")]
        if self.scale:
            inputs.append(("%scale", f"tensor<{n}xf32>", "scale", "f32", "n"))
        if self.bias:
            inputs.append(("%bias", f"tensor<{n}x{self.result_type}>", "b",
                           self.result_type, "n"))
        maps = ", ".join(f"affine_map<(m, n) -> ({map_})>"
                         for *_, map_ in inputs)
        names = ", ".join(name for name, *_ in inputs)
        types = ", ".join(type_ for _, type_, *_ in inputs)
        params = ", ".join(f"%{param}_in: {element}"
                           for _, _, param, element, _ in inputs)
        out = self._type(self.result_type)
        return (self._empty(rows, "out", self.result_type)
                + f"  %result = linalg.generic {{indexing_maps = [{maps}, "
                "affine_map<(m, n) -> (m, n)>], "
                'iterator_types = ["parallel", "parallel"]}\n'
                f"    ins({names} : {types}) outs(%out : {out}) {{\n"
                f"  ^bb0({params}, %unused: {self.result_type}):"
                + self._scalar_code()
                + f"\n    linalg.yield %y : {self.result_type}\n  }} -> {out}\n")

    def _scalar_code(self) -> str:
        lines, value = "", "%s_in"
        if self.result_type == "i32":
            return "\n    %y = arith.addi %s_in, %b_in : i32"
        if self.sum_type == "i32":
            lines += "\n    %f = arith.sitofp %s_in : i32 to f32"
            value = "%f"
        if self.scale:
            lines += f"\n    %product = arith.mulf {value}, %scale_in : f32"
            value = "%product"
        if self.bias:
            bias = "%b_in"
            if self.result_type != "f32":
                lines += (f"\n    %wide = arith.extf %b_in : "
                          f"{self.result_type} to f32")
                bias = "%wide"
            lines += f"\n    %biased = arith.addf {value}, {bias} : f32"
            value = "%biased"
        activation = ACTIVATIONS[self.activation]
        if activation:
            lines += activation.replace("%v", value)
            value = "%r"
        if self.result_type == "f32":
            return lines.replace(" %r ", " %y ") if value == "%r" else (
                lines.replace(f"    {value} =", "    %y ="))
        return lines + f"\n    %y = arith.truncf {value} : f32 to {self.result_type}"
