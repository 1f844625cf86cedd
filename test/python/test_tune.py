"""Measuring schedules on the CPU, and compiling by what was measured. No test depends
on which schedule is the fastest."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import nm
import numpy as np
import pytest
from conftest import relative_error
from nm._tune import _of_module
from nm.cli.bench import find_program

TEXT = """
func.func @f(%x: tensor<24x64xf32>, %w: tensor<64x96xf32, #nm.encoding<2:4>>,
             %y: tensor<24x96xf32>) -> tensor<24x96xf32> {
  %r = linalg.matmul
    ins(%x, %w : tensor<24x64xf32>, tensor<64x96xf32, #nm.encoding<2:4>>)
    outs(%y : tensor<24x96xf32>) -> tensor<24x96xf32>
  return %r : tensor<24x96xf32>
}
"""
CASE = "24x96x64 2:4 f32"


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A table of one product, as far as a few seconds bring it."""
    table = tmp_path_factory.mktemp("tune") / "t.yaml"
    return nm.tune(CASE, table=table, seconds=25, quiet=True)


def test_what_was_measured_is_taken(tuned, draw, monkeypatch):
    assert tuned.table.exists() and tuned.measurements.exists()
    assert [each.product for each in tuned.products] == [CASE]
    assert tuned.products[0].us > 0 and tuned.products[0].candidates > 0
    assert CASE in str(tuned)
    module = nm.compile(TEXT, schedule_table=str(tuned.table))
    record = module.functions["f"].ops[0]
    assert record.source == "table" and str(tuned.table) in record.reason
    w, x = draw.weight((64, 96), "2:4", axis=0), draw.array(24, 64)
    result = np.asarray(module(x, w, np.zeros((24, 96), np.float32)))
    assert relative_error(result, x.astype(np.float64) @ w) < 1e-5
    # By the environment, and by nothing.
    monkeypatch.setenv("NM_SCHEDULE_TABLE", str(tuned.table))
    assert nm.compile(TEXT).functions["f"].ops[0].source == "table"
    monkeypatch.setenv("NM_SCHEDULE_TABLE", "none")
    assert nm.compile(TEXT).functions["f"].ops[0].source == "model"


def test_a_module_is_tuned_and_goes_on(tuned, tmp_path):
    source = tmp_path / "model.mlir"
    source.write_text(TEXT)
    before = tuned.measurements.read_text()
    again = nm.tune(source, table=tuned.table, seconds=0.001, quiet=True)
    assert [each.product for each in again.products] == [CASE]
    # No time: nothing was measured, and nothing is lost.
    assert tuned.measurements.read_text() == before


def test_the_fastest_are_measured_again_where_an_earlier_run_ended(tuned, tmp_path):
    rows = list(csv.DictReader(tuned.measurements.open()))
    before = [row for row in rows if row["step"] != "again"]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(before)
    # A busy machine may not come so far within a minute: the same call goes on.
    for _ in range(10):
        nm.tune(CASE, table=tmp_path / "t.yaml", seconds=60, quiet=True)
        after = list(csv.DictReader((tmp_path / "t.csv").open()))
        again = {row["schedule"] for row in after if row["step"] == "again"}
        if "" in again:
            break
    # The model's choice is among them, and no later run measures it otherwise.
    assert "" in {row["schedule"] for row in before}
    assert "" in again


def test_a_line_that_was_cut_off_is_measured_again(tuned, tmp_path):
    table = tmp_path / "t.yaml"
    whole = tuned.measurements.read_text()
    (tmp_path / "t.csv").write_text(whole[:-40])
    nm.tune(CASE, table=table, seconds=5, quiet=True)
    lines = (tmp_path / "t.csv").read_text().splitlines()
    # Nothing was written behind the part of a line.
    assert "\n".join(lines).startswith(whole[:-40].rsplit("\n", 1)[0] + "\n")
    assert {len(list(csv.reader([line]))[0]) for line in lines} == {
        len(lines[0].split(","))}


def test_other_devices_and_kernels_are_left_out(tuned, tmp_path):
    rows = list(csv.DictReader(tuned.measurements.open()))
    for i, (key, value) in enumerate((("device", "another"), ("kernels", "0"))):
        table = tmp_path / str(i) / "t.yaml"
        table.parent.mkdir()
        with open(table.with_suffix(".csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows([{**row, key: value, "median_us": "0.001"} for row in rows])
        assert not nm.tune(CASE, table=table, seconds=0.001, quiet=True).products


@pytest.mark.parametrize("kind, result, expected", [
    ("f16", "f32", "24x96x64 2:4 f16"), ("f16", "f16", "24x96x64 2:4 f16 to f16"),
    ("i8", "i32", "24x96x64 2:4 i8"), ("f8E4M3FN", "f32", "24x96x64 2:4 f8E4M3FN")])
def test_a_module_has_its_products_types(kind, result, expected):
    text = TEXT.replace("f32", kind).replace(f"24x96x{kind}", f"24x96x{result}")
    target = "cuda:sm_90a" if kind.startswith("f8") else "cpu"
    assert list(_of_module(text, target, None, None)) == [expected]


def test_what_no_table_has_is_not_tuned():
    open_m = TEXT.replace("24x", "?x")
    assert list(_of_module(open_m, "cpu", 7, None)) == ["7x96x64 2:4 f32"]
    # Dense blocks, for what is kept of unstructured weights is not known.
    unstructured = TEXT.replace("2:4", "unstructured")
    case, = _of_module(unstructured, "cpu", None, None)
    assert case.startswith("24x96x64 1:1")
    # Integers are scaled behind their sums, which no case has.
    scaled = TEXT.replace("f32", "i8").replace("24x96xi8", "24x96xi32").replace(
        "  return %r", "  %s = arith.addi %r, %y : tensor<24x96xi32>\n  return %s")
    assert not list(_of_module(scaled, "cpu", None, None))


@pytest.mark.parametrize("lines, expected", [
    ("%s = arith.addf %r, %y : T", " + residual"),
    ("%s = math.exp %r : T", " + gelu"),
    ("%x1 = math.exp %r : T\n  %s = arith.addf %x1, %y : T", " + gelu + residual"),
    ("%s = arith.mulf %r, %r : T", "")])
def test_a_module_has_its_products_epilogues(lines, expected):
    zeros = """
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x96xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x96xf32>) -> tensor<24x96xf32>
  %r ="""
    text = TEXT.replace("\n  %r =", zeros).replace("outs(%y", "outs(%f").replace(
        "  return %r", f"  {lines}\n  return %s".replace("T", "tensor<24x96xf32>"))
    assert list(_of_module(text, "cpu", None, None)) == [CASE + expected]


def quantized_text(bits, bias):
    from nm._quantized_matmul import QuantizedProduct
    weight = nm.compress(np.eye(96, 64, dtype=np.int8), "2:4", axis=1)
    return QuantizedProduct(weight, 24, bias, "f16", bits, 32).text(24)


def test_a_module_has_its_products_quantized_weights():
    for bits, bias in ((4, True), (8, False)):
        assert list(_of_module(quantized_text(bits, bias), "cuda:sm_90a", None, None)) == [
            f"24x96x64 2:4 f16 x i{bits}/32 to f16{' + bias' if bias else ''}"]


def test_a_table_answers_for_quantized_weights(tmp_path):
    """By the class of the product: no entry of other bits, or of floats."""
    table = tmp_path / "t.yaml"
    for kind, source in (("f16 x i4/32", "table"), ("f16 x i8/32", "model"),
                         ("f16", "model")):
        table.write_text("""version: 1
kernels: 1
device: { name: NVIDIA H200, chip: sm_90a, units: 132, ghz: 1.98, gb_per_s: 4814 }
entries:
  - product: { m: 24, n: 96, k: 64, pattern: '2:4', type: '%s', result: f16, epilogue: columns }
    schedule: '#nm.mma_sp<block = [32, 32, 64], stages = 4>'
    us: 3.5
""" % kind)
        module = nm.compile(quantized_text(4, True), "cuda:sm_90a", dense_fallback=False,
                            schedule_table=str(table))
        record = module.functions["matmul"].ops[0]
        assert record.source == source
        assert ("block = [32, 32, 64]" in record.schedule) == (source == "table")


def test_a_product_with_an_epilogue_is_tuned(tmp_path):
    report = nm.tune(nm.Product(24, 96, 64, "2:4", epilogue="bias + silu + residual"),
                     table=tmp_path / "t.yaml", seconds=8, quiet=True)
    assert [each.product for each in report.products] == [
        CASE + " + bias + silu + residual"]
    assert "epilogue: matrix and activation" in report.table.read_text()
    text = TEXT.replace("  return %r", """  %e = math.exp %r : tensor<24x96xf32>
  %s = arith.addf %e, %y : tensor<24x96xf32>
  return %s""")
    compiled = nm.compile(text, schedule_table=str(report.table))
    assert compiled.functions["f"].ops[0].source == "table"


def test_an_interrupt_keeps_what_there_is(tmp_path):
    table, lines = tmp_path / "t.yaml", tmp_path / "t.csv"
    process = subprocess.Popen(
        [find_program(), "--tune", f"--table={table}", f"--csv={lines}", "--budget=300",
         "--blas=none", f"--case={CASE}"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and not (
                lines.exists() and lines.read_text().count("\n") > 1):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=120)[0]
    finally:
        process.kill()
    assert process.returncode == 0 and "interrupted" in output
    assert lines.read_text().count("\n") > 1
    assert table.exists()


def test_what_is_compiled_is_measured_before_the_budget_is_spent(tmp_path):
    """Of a long list, so that the same command comes further each time."""
    lines = tmp_path / "t.csv"
    shapes = [f"--case={m}x96x64 2:4 f32" for m in range(1, 17)]
    output = subprocess.run(
        [find_program(), "--tune", f"--table={tmp_path / 't.yaml'}", f"--csv={lines}",
         "--budget=12", "--seconds=0.01", "--blas=none", *shapes],
        capture_output=True, text=True, check=True).stdout
    parts = [int(count) for count in re.findall(r"compiled \d+ of (\d+) cases", output)]
    assert parts and max(parts) <= 4 * os.cpu_count()
    assert lines.read_text().count("\n") > 1
    # Cases that come too late are none that products cannot have.
    left_out = re.findall(r"left out (\d+) steps? that products cannot have", output)
    assert all(int(count) < part for count, part in zip(left_out, parts))


def test_a_users_table_answers_by_itself(tuned, tmp_path, monkeypatch):
    monkeypatch.setenv("NM_CACHE_DIR", str(tmp_path))
    assert nm.compile(TEXT).functions["f"].ops[0].source == "model"
    (tmp_path / "schedules.yaml").write_text(tuned.table.read_text())
    # The module in the cache is not that of the table.
    assert nm.compile(TEXT).functions["f"].ops[0].source == "table"
    assert nm.compile(TEXT, schedule_table="none").functions["f"].ops[0].source == "model"


def test_tables_are_merged(tuned, tmp_path):
    merged = tmp_path / "merged.yaml"
    assert subprocess.run(
        [sys.executable, "-m", "nm", "tune", f"--table={merged}",
         f"--merge={tuned.table}"], check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}).returncode == 0
    assert merged.read_text() == tuned.table.read_text()


def test_what_cannot_be_tuned_is_told(tmp_path):
    with pytest.raises(nm.Error, match="expected products with N:M weights to tune"):
        nm.tune([])
    with pytest.raises(TypeError, match="expected products, a module of MLIR"):
        nm.tune(3)
    with pytest.raises(nm.Error, match="expected a product such as"):
        nm.tune("24x96 2:4", table=tmp_path / "t.yaml", quiet=True)
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(nm.Error, match="expected a column"):
        nm.tune(CASE, table=tmp_path / "t.yaml", quiet=True)
    open_m = tmp_path / "m.mlir"
    open_m.write_text(TEXT.replace("24x", "?x"))
    with pytest.raises(nm.Error, match="expected rows="):
        nm.tune(open_m)


def test_products_are_written_as_they_are_read():
    product = nm.Product(16, 64, 96, "2:4", "f16", "f16", m_major=True)
    assert product.case == "16x64x96 2:4 f16 m-major to f16"
    assert nm.Product(16, 64, 96, "2:4", "i8", "i32").case == "16x64x96 2:4 i8"
    quantized = nm.Product(16, 64, 96, "2:4", "f16", "f16", bits=4, epilogue="bias + gelu")
    assert quantized.case == "16x64x96 2:4 f16 x i4/128 to f16 + bias + gelu"
    for each in (product, quantized):
        assert subprocess.run(
            [find_program(), "--target=cuda:sm_90a", "--list", f"--case={each.case}"],
            capture_output=True, text=True, check=True).stdout.strip() == each.case


def test_determinism_is_a_setting():
    before = nm.is_deterministic()
    try:
        nm.set_deterministic()
        assert nm.is_deterministic()
        nm.set_deterministic(False)
        assert not nm.is_deterministic()
    finally:
        nm.set_deterministic(before)
