"""python -m nm."""

import csv
import json
import os
import random
from pathlib import Path

import nm
import numpy as np
import pytest
from conftest import reference, relative_error
from nm import _safetensors
from nm.cli import main

MODULE = """
func.func @linear(%x: tensor<?x64xf32>, %w: tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>,
                  %y: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                                      affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<?x64xf32>, tensor<48x64xf32, #nm.encoding<2:4, dim = 1>>)
    outs(%y : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
"""


@pytest.fixture
def model(draw, tmp_path):
    """A file with a weight of 2:4, a dense one, and a bias."""
    path = tmp_path / "model.safetensors"
    weights = {"sparse.weight": draw.weight((48, 64), "2:4", axis=1),
               "dense.weight": draw.array(32, 48), "bias": draw.array(48)}
    _safetensors.write(path, {name: ("f32", array)
                              for name, array in weights.items()}, {})
    return path, weights


def run_json(capsys, *args):
    code = main([*map(str, args), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_check(model, capsys):
    path, _ = model
    code, found = run_json(capsys, "check", path)
    assert code == 0 and found["sparse.weight"]["pattern"].endswith("dim = 1")
    assert found["dense.weight"]["pattern"] is None
    code, found = run_json(capsys, "check", path, "--pattern=2:4")
    assert code == 1 and found["sparse.weight"]["holds"]
    assert found["dense.weight"]["first_violation"]["count"] > 2
    assert main(["check", str(path), "--pattern=2:4", "--name=dense*"]) == 1
    output = capsys.readouterr().out
    assert "N is kept of every M" in output and "'dense.weight'" in output
    assert main(["check", str(path), "--pattern=2:4", "--name=sparse*"]) == 0
    assert main(["check", str(path)]) == 0
    assert "50 % sparse" in capsys.readouterr().out


def test_prune_convert(model, capsys, tmp_path):
    path, weights = model
    pruned = tmp_path / "pruned.safetensors"
    code, report = run_json(capsys, "prune", path, "--pattern=1:4", "-o", pruned)
    assert code == 0 and set(report) == {"sparse.weight", "dense.weight"}
    source = nm.io.open_weights(pruned)
    np.testing.assert_array_equal(source["bias"], weights["bias"])
    np.testing.assert_array_equal(
        source["dense.weight"],
        nm.prune(weights["dense.weight"], "1:4", axis=1).weight)
    out = tmp_path / "condensed.safetensors"
    code, report = run_json(capsys, "convert", pruned, "-o", out)
    assert code == 0 and not report["left_dense"] and report["kept"] == ["bias"]
    np.testing.assert_array_equal(nm.io.open_weights(out)["bias"], weights["bias"])
    again = nm.load_weights(out)
    np.testing.assert_array_equal(again["dense.weight"].decompress(),
                                  source["dense.weight"])
    assert main(["convert", str(path), "-o", str(out), "--pattern=2:4"]) == 1
    assert "'dense.weight'" in capsys.readouterr().err
    assert main(["convert", str(path), "-o", str(out), "--pattern=2:4",
                 "--skip"]) == 0
    assert "left dense dense.weight" in capsys.readouterr().out
    assert list(nm.load_weights(out)) == ["sparse.weight"]
    assert main(["prune", str(path), "--pattern=2:4", "-o", str(pruned)]) == 0
    assert "non-zeros dropped" in capsys.readouterr().out


def test_compile_run(model, draw, capsys, tmp_path):
    _, weights = model
    source, module = tmp_path / "linear.mlir", tmp_path / "linear.so"
    source.write_text(MODULE)
    code, report = run_json(capsys, "compile", source, "-o", module,
                            "-O", "opt-level=2")
    assert code == 0 and "2:4" in report["functions"]["linear"]["ops"][0]["remark"]
    x, y = draw.array(5, 64), draw.array(5, 48)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", weights["sparse.weight"])
    np.save(tmp_path / "y.npy", y)
    nm.compress(weights["sparse.weight"], "2:4", axis=1).save(
        tmp_path / "w.safetensors")
    expected = reference(x, weights["sparse.weight"], 1) + y
    for program in (module, source):
        for weight in ("w.npy", "w.safetensors"):
            out = tmp_path / "out.npy"
            code, report = run_json(
                capsys, "run", program, "--repeat=3", "--output", out,
                *(f"--input={tmp_path / name}" for name in ("x.npy", weight,
                                                            "y.npy")))
            assert code == 0 and report["calls"] == 3
            assert relative_error(np.load(out), expected) < 1e-6
    assert main(["compile", str(source), "--emit=nm"]) == 0
    assert "nm.spmm <2:4>" in capsys.readouterr().out
    assert main(["compile", str(source), "-o", str(module)]) == 0
    assert "strategy" in capsys.readouterr().out


def test_compile_elsewhere(capsys, tmp_path):
    source, module = tmp_path / "linear.mlir", tmp_path / "arm.so"
    source.write_text(MODULE)
    code, report = run_json(capsys, "compile", source, "-o", module,
                            "--target=cpu:aarch64")
    assert code == 0 and report["target"] == "cpu:aarch64"
    assert "vectors of 4 lanes" in report["diagnostics"][0]["message"]
    machine = int.from_bytes(module.read_bytes()[18:20], "little")
    assert machine == 183  # EM_AARCH64


def test_run_picks_a_weight(model, draw, capsys, tmp_path):
    path, weights = model
    source, out = tmp_path / "linear.mlir", tmp_path / "out.npy"
    source.write_text(MODULE)
    x, y = draw.array(5, 64), np.zeros((5, 48), np.float32)
    np.savez(tmp_path / "xy.npz", x=x, y=y)
    sparse = nm.compress(weights["sparse.weight"], "2:4", axis=1)
    several = tmp_path / "a:b.safetensors"
    nm.save_weights(several, {"one": sparse, "x:y": sparse})
    expected = reference(x, weights["sparse.weight"], 1)
    for weight in (f"{path}:sparse.weight", f"{several}:one", f"{several}:x:y"):
        inputs = [f"{tmp_path / 'xy.npz'}:x", weight, f"{tmp_path / 'xy.npz'}:y"]
        assert main(["run", str(source), f"--output={out}",
                     *(f"--input={each}" for each in inputs)]) == 0
        assert relative_error(np.load(out), expected) < 1e-6
    for weight, text in ((several, "the name of a weight in it, one of one, x:y"),
                         (f"{several}:two", "but got two"),
                         (path, "expected the name of one of its weights"),
                         (f"{path}:none", "expected the name of a tensor in it")):
        inputs[1] = str(weight)
        capsys.readouterr()
        assert main(["run", str(source), *(f"--input={each}" for each in inputs)]) == 1
        assert text in capsys.readouterr().err


@pytest.mark.parametrize("args,text", [
    (["check", "none.safetensors"], "none.safetensors"),
    (["check", "MODEL", "--name=x*"], "expected weights named x*"),
    (["check", "MODEL", "--block=1x4"], "expected --pattern beside --block"),
    (["check", "MODEL", "--pattern=4:2"], "expected 1 <= N <= M"),
    (["compile", "BAD", "-o", "x.so"], "bad.mlir:1:1: error"),
    (["compile", "BAD"], "expected --output"),
    (["run", "GOOD"], "expected 3 times --input, but got 0"),
    (["run", "GOOD", "--function=f"], "expected a function among linear"),
    (["plot", "BAD"], "no column m, n"),
])
def test_errors(model, capsys, tmp_path, args, text):
    (tmp_path / "bad.mlir").write_text("no module")
    (tmp_path / "good.mlir").write_text(MODULE)
    places = {"MODEL": str(model[0]), "BAD": str(tmp_path / "bad.mlir"),
              "GOOD": str(tmp_path / "good.mlir")}
    assert main([places.get(arg, arg) for arg in args]) == 1
    error = capsys.readouterr().err
    assert "error: " in error and text in error


def test_errors_say_so_once(capsys, tmp_path):
    path = tmp_path / "m.mlir"
    for text, message in (("module {}", "error: expected a public func.func"),
                          ("func.func @f(", f"{path}:1:13: error: ")):
        path.write_text(text)
        assert main(["compile", str(path), "-o", str(tmp_path / "m.so")]) == 1
        error = capsys.readouterr().err
        assert error.startswith(message) and "error: error:" not in error


def test_command_line_errors(capsys):
    for args in ([], ["fly"], ["check"], ["check", "f.npy", "--fast"]):
        with pytest.raises(SystemExit) as caught:
            main(args)
        assert caught.value.code == 2
    assert "--fast" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert "plot" in capsys.readouterr().out


def test_bench_without_its_program(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("NM_LIBRARY_DIR", str(tmp_path / "lib"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["bench", "--list"]) == 1
    assert "nm-bench beside the libraries or on PATH" in capsys.readouterr().err
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "nm-bench").write_text("")
    assert main(["bench", "--list"]) == 1
    assert "to be executable" in capsys.readouterr().err


def test_bench_and_plot(capsys, tmp_path):
    path = tmp_path / "b.csv"
    code, rows = run_json(capsys, "bench", "--shape=4x64x64", "--pattern=2:4",
                          "--pattern=1:4", "--seconds=0.05", f"--csv={path}")
    assert code == 0 and [row["sparsity"] for row in rows] == ["0.5", "0.75"]
    pytest.importorskip("matplotlib")
    code, report = run_json(capsys, "plot", path, "-o", tmp_path / "fig")
    assert code == 0 and report["measurements"] == 2
    for name in ("speedup.png", "speedup.svg", "roofline.png", "roofline.svg"):
        assert (tmp_path / f"fig-{name}").stat().st_size > 5000
    # Nothing that was not measured is drawn.
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "accurate": "0"} for row in rows)
    assert main(["plot", str(path)]) == 1
    assert "accurate measurements" in capsys.readouterr().err


def test_odd_files(draw, capsys, tmp_path):
    """Names that no terminal should get, and numbers that JSON has not."""
    path = tmp_path / "model.safetensors"
    weight = draw.weight((48, 64), "2:4", axis=1)
    _safetensors.write(path, {"\ud800": ("f32", weight),
                              "a\x1b[2J": ("f32", weight)}, {})
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert r"\ud800" in printed and r"a\x1b[2J" in printed
    nan = tmp_path / "nan.npy"
    np.save(nan, weight * np.nan)
    assert main(["prune", str(nan), "--pattern=2:4", "--json",
                 f"--output={tmp_path / 'p.safetensors'}"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["nan"]["relative_error"] is None
    for command in (["prune", "--pattern=2:4"], ["convert"]):
        assert main([*command, str(nan), f"--output={nan}"]) == 1
        assert "ends in .safetensors" in capsys.readouterr().err
    assert main(["plot", str(nan), "-o", str(tmp_path / "x")]) == 1
    assert "expected a CSV file of nm-bench" in capsys.readouterr().err


EXECUTIONS = int(os.environ.get("NM_FUZZ_EXECUTIONS", "200"))


def test_mutated_command_lines(model, tmp_path, monkeypatch, capsys):
    """Each ends with an exit code, whatever it is; more of them, and others, with
    NM_FUZZ_EXECUTIONS and NM_FUZZ_SEED."""
    monkeypatch.chdir(tmp_path)
    Path("good.mlir").write_text(MODULE)
    np.save("a.npy", np.ones((4, 16), np.float32))
    codes, draw = set(), random.Random("cli" + os.environ.get("NM_FUZZ_SEED", ""))
    file = str(model[0].relative_to(tmp_path))
    valid = [["check", file], ["check", file, "--pattern=2:4", "--name=s*"],
             ["prune", file, "--pattern=8:32", "--block=1x32", "-o", "out.safetensors"],
             ["convert", file, "--skip", "--format=nm", "-o", "out.safetensors"],
             ["compile", "good.mlir", "--emit=nm", "-o", "out.mlir", "-O", "opt-level=0"],
             ["run", "good.mlir", "--function=linear", "--input=a.npy", "--output=y.npy"],
             ["plot", "a.npy", "--date=2026-11-22", "-o", "out.svg"]]
    others = ["--json", "--axis=0", "--target=sim", "--repeat=2", "-O", "-o", *valid[4]]
    for _ in range(EXECUTIONS):
        args = [*draw.choice(valid), *draw.choices(others, k=draw.randrange(3))]
        for i in draw.sample(range(len(args)), k=draw.randrange(3)):
            text = list(args[i])
            text[draw.randrange(len(text))] = draw.choice("-=:9x*[\\\0é")
            args[i] = "".join(text)
        try:
            codes.add(main(args))
        except SystemExit as end:
            codes.add(end.code)
        capsys.readouterr()
    assert codes == {0, 1, 2}
