"""The dialect in upstream's Python package, where that is: scripts/build-mlir-python
makes one. Without it, only what was generated is compared with the reference."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nm._library import folders

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "build" / "mlir-python"


def run_python(*arguments):
    paths = [str(PACKAGE), str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run([sys.executable, *arguments], capture_output=True,
                          text=True, env=environment)


@pytest.fixture(scope="module")
def mlir():
    found = run_python("-c", "import mlir.ir")
    if found.returncode:
        pytest.skip("no package mlir: " + found.stderr.splitlines()[-1])


def test_generated_bindings_have_every_op():
    path = next(folder / "_nm_ops_gen.py" for folder in folders()
                if (folder / "_nm_ops_gen.py").exists())
    text = path.read_text(encoding="utf-8")
    ast.parse(text)
    reference = ROOT / "docs" / "reference" / "Dialects" / "NMDialect.md"
    ops = set(re.findall(r"^### `(nm\.\w+)`", reference.read_text(encoding="utf-8"),
                         flags=re.M))
    assert ops and ops == set(re.findall(r'OPERATION_NAME = "([^"]+)"', text))


def test_guide_shows_the_example():
    guide = (ROOT / "docs" / "Embedding.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "mlir-python" / "product.py").read_text(encoding="utf-8")
    shown = re.findall(r"^```python\n(.*?)^```", guide, flags=re.M | re.S)
    assert shown and all(text in example for text in shown)


def test_product_is_built_op_by_op_and_runs(mlir):
    result = run_python(str(ROOT / "examples" / "mlir-python" / "product.py"))
    assert result.returncode == 0, result.stderr
    assert "nm.spmm <2:4> arithmetic <ieee>" in result.stdout
    assert "error" in result.stdout


def test_dialect_verifies_and_parses_in_the_package(mlir):
    result = run_python("-c", """
from mlir import ir, passmanager
import nm.mlir
with nm.mlir.context() as context, ir.Location.unknown():
    module = ir.Module.parse('''
        func.func @f(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>,
                     %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
          %r = linalg.matmul ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>)
            outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
          return %r : tensor<5x48xf32>
        }''')
    passmanager.PassManager.parse(
        "builtin.module(convert-linalg-to-nm,nm-materialize-storage)").run(module.operation)
    print(module)
    ops = nm.mlir.ops()
    products = [op for op in module.body.operations[0].regions[0].blocks[0]
                if isinstance(op, ops.SpMMOp)]
    print(products[0].pattern, products[0].values.type)
    try:
        ir.Attribute.parse("#nm.pattern<5:4>")
    except ir.MLIRError as error:
        print(error)
""")
    assert result.returncode == 0, result.stderr
    assert "#nm.pattern<2:4> tensor<32x48xf32>" in result.stdout
    assert "expected 1 <= N <= M = 4" in result.stdout
