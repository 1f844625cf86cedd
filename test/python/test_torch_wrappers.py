"""Models that torch.compile or DataParallel has wrapped, as a whole or in parts."""

import copy
import os

import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402

SEED = int(os.environ.get("NM_TEST_SEED", "0"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))
        self.head = nn.Linear(32, 8)

    def forward(self, x):
        return self.head(self.body(x))


def compile_part(model):
    model.body = torch.compile(model.body, backend="eager")
    return model


def compile_layer(model):
    model.body[0] = torch.compile(model.body[0], backend="eager")
    return model


WRAPPERS = {"whole": lambda model: torch.compile(model, backend="eager"),
            "part": compile_part, "layer": compile_layer,
            "parallel": nn.DataParallel,
            "both": lambda model: torch.compile(compile_part(model), backend="eager")}


@pytest.mark.parametrize("kind", WRAPPERS)
def test_names_are_those_of_the_model(kind, tmp_path):
    """Rules, reports and files have the names of the layers without wrappers, which are
    there again afterwards."""
    torch.manual_seed(SEED)
    plain = Model().eval()
    model = WRAPPERS[kind](copy.deepcopy(plain))
    kinds = [type(each).__name__ for each in model.modules()]
    x = torch.randn(3, 32)
    with torch.no_grad():
        model(x)  # Compiled for dense layers.
    report = nm.torch.sparsify(model, {"head": None, "*": "2:4"}, prune=True, force=True)
    assert [line.name for line in report] == ["body.0", "body.2", "head"]
    assert [line.replaced for line in report] == [True, True, False]
    nm.torch.sparsify(plain, {"head": None, "*": "2:4"}, prune=True, force=True)
    with torch.no_grad():
        want = plain(x)
        torch.testing.assert_close(model(x), want)
    nm.torch.save(model, tmp_path / "own")
    nm.torch.save(model, tmp_path / "given", state_dict=model.state_dict())
    for folder in ("own", "given") if kind != "parallel" else ("own",):
        again = nm.torch.load(tmp_path / folder, Model())
        other = nm.torch.load(tmp_path / folder, WRAPPERS[kind](Model()))
        with torch.no_grad():
            assert torch.equal(again(x), want)
            torch.testing.assert_close(other(x), want)
    nm.torch.densify(model)
    with torch.no_grad():
        torch.testing.assert_close(model(x), want)
    if kind != "layer":  # What is replaced is compiled no more.
        assert [type(each).__name__ for each in model.modules()] == kinds
