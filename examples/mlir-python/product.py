"""Builds max(x · W + bias, 0) with a 2:4-sparse W op by op, compiles it and runs it.

usage: product.py

Needs upstream's Python package `mlir`, of MLIR 22 (scripts/build-mlir-python), and
nm's with NumPy.
"""

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

import nm
import nm.mlir

M, K, N = 37, 64, 48


def add_epilogue(ops, product):
    """max(sum + bias, 0), which runs on each sum before it is stored."""
    f32 = ir.F32Type.get()
    block = product.epilogues[0].blocks.append(f32, f32)
    with ir.InsertionPoint(block):
        zero = arith.ConstantOp(f32, 0.0)
        biased = arith.AddFOp(block.arguments[0], block.arguments[1]).result
        ops.YieldOp(arith.MaximumFOp(biased, zero.result).result)


def tensor(*shape, element="f32", encoding=None):
    """A type; `encoding` as "#nm.encoding<2:4>"."""
    encoding = ir.Attribute.parse(encoding) if encoding else None
    return ir.RankedTensorType.get(shape, ir.Type.parse(element), encoding)


def build():
    """A module with the function @layer(x, w, bias, y)."""
    ops = nm.mlir.ops()
    module = ir.Module.create()
    weight, result = tensor(K, N, encoding="#nm.encoding<2:4>"), tensor(M, N)
    with ir.InsertionPoint(module.body):
        inputs = [tensor(M, K), weight, tensor(N), result]
        entry = func.FuncOp("layer", (inputs, [result])).add_entry_block()
    columns = ir.AffineMap.get(2, 0, [ir.AffineDimExpr.get(1)])
    with ir.InsertionPoint(entry):
        x, w, bias, y = entry.arguments
        parts = ops.DisassembleOp(tensor(K // 2, N), tensor(K // 2, N, element="i8"), w)
        product = ops.SpMMOp(
            [result], "2:4", x, parts.values, parts.indices, [bias], y, 1,
            arithmetic="ieee",
            epilogue_maps=ir.ArrayAttr.get([ir.AffineMapAttr.get(columns)]))
        add_epilogue(ops, product)
        func.ReturnOp([product.results_[0]])
    return module


def main():
    with nm.mlir.context(), ir.Location.unknown():
        module = build()
        module.operation.verify()
        print(module)
        text = str(module)
    rng = np.random.default_rng()
    w = nm.prune(rng.standard_normal((K, N)).astype(np.float32), "2:4", axis=0).weight
    x = rng.standard_normal((M, K)).astype(np.float32)
    bias = rng.standard_normal(N).astype(np.float32)
    y = np.full((M, N), np.nan, np.float32)
    result = nm.compile(text)["layer"](x, w, bias, y)
    expected = np.maximum(x.astype(float) @ w + bias, 0)
    error = np.linalg.norm(result - expected) / np.linalg.norm(expected)
    print(f"error {error:.1e}")
    return 0 if error < 1e-5 else 1


if __name__ == "__main__":
    raise SystemExit(main())
