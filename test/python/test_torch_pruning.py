"""nm.torch.sparsify's ways to prune, and nm.torch.search."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import nm  # noqa: E402
from nm.torch import NMLinear, _inputs, _layer_timing, search, sparsify  # noqa: E402
from torch import nn  # noqa: E402


def make_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(),
                         nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 8))


def make_input(rows=50):
    torch.manual_seed(1)
    return torch.randn(rows, 64) * torch.tensor([0.1, 1, 2, 4]).repeat(16)


def test_wanda_takes_the_norms_of_the_calibration():
    model, batches = make_model(), [make_input(20), make_input(30) * 2]
    weight = model[0].weight.detach().clone()
    x = torch.cat(batches)
    sparsify(model, {"0": "2:4", "*": None}, prune="wanda", calibration=batches)
    expected = nm.prune(weight, "2:4", axis=1, activations=x, scores="wanda").weight
    assert torch.equal(model[0].weight, expected)
    assert not torch.equal(expected, nm.prune(weight, "2:4", axis=1).weight)
    # Without calibration the example counts.
    other = make_model()
    sparsify(other, {"0": "2:4", "*": None}, x, prune="wanda", force=True)
    assert torch.equal(other[0].weight, expected)


@pytest.mark.parametrize("most_bytes", [1 << 31, 1])
def test_sparsegpt_takes_the_inputs_that_replaced_layers_make(monkeypatch, most_bytes):
    # With little room layers are recorded one by one, behind those that are sparse.
    recorder = _inputs.gram_recorder
    monkeypatch.setattr("nm.torch._sparsify.gram_recorder",
                        lambda *args: recorder(*args, most_bytes=most_bytes))
    model, batches = make_model(), [make_input(70), make_input(90) * 2]
    sparsify(model, {"6": None, "*": "2:4"}, prune="sparsegpt", calibration=iter(batches))
    dense, x = make_model(), torch.cat(batches)
    inputs = x
    for i in (0, 2, 4):
        expected = nm.prune(dense[i].weight.detach(), "2:4", axis=1, activations=inputs,
                            scores="sparsegpt").weight
        torch.testing.assert_close(model[i].weight, expected, rtol=2e-3, atol=2e-4)
        layer = model[i] if most_bytes == 1 else dense[i]
        with torch.no_grad():
            inputs = torch.relu(layer(inputs))
    # The update makes up for what goes.
    with torch.no_grad():
        error = (model[:2](x) - make_model()[:2](x)).norm()
        first = nm.prune(make_model()[0].weight.detach(), "2:4", axis=1).weight
        by_magnitude = make_model()[:2]
        by_magnitude[0].weight.copy_(first)
        assert error < (by_magnitude(x) - make_model()[:2](x)).norm()


def test_scores_and_masks_of_others():
    model, weights = make_model(), [layer.weight.detach().clone() for layer in make_model()
                                    if isinstance(layer, nn.Linear)]
    scores = torch.rand(96, 64)
    mask = torch.zeros(96, 96, dtype=torch.bool)
    mask[:, 1::4] = True
    broken = torch.ones(96, 96, dtype=torch.bool)
    report = sparsify(model, "2:4", prune={"0": scores, "2": mask, "4": broken})
    assert torch.equal(model[0].weight,
                       nm.prune(weights[0], "2:4", axis=1, scores=scores).weight)
    assert torch.equal(model[2].weight, weights[1] * mask)
    for name, index in (("4", 2), ("6", 3)):
        layer = report.layers[index]
        assert layer.name == name and not layer.replaced
        assert "breaks its pattern: expected" in layer.reason
    called = make_model()
    sparsify(called, {"0": "2:4", "*": None},
             prune=lambda name, layer: scores if name == "0" else None)
    assert torch.equal(called[0].weight, model[0].weight)


def test_what_pruning_lacks():
    with pytest.raises(nm.Error, match="expected prune to be a truth value, magnitude"):
        sparsify(make_model(), "2:4", prune="taylor")
    with pytest.raises(nm.Error, match="calibration inputs that reach '0'"):
        sparsify(make_model(), "2:4", prune="wanda")
    with pytest.raises(nm.Error, match="calibration inputs that reach '0'"):
        sparsify(make_model(), "2:4", prune="sparsegpt")
    bad = make_input()
    bad[0, 0] = torch.inf
    with pytest.raises(nm.Error, match="expected finite calibration inputs of '0'"):
        sparsify(make_model(), "2:4", prune="wanda", calibration=[bad])
    with pytest.raises(nm.Error, match="expected finite activations"):
        sparsify(make_model(), "2:4", prune="sparsegpt", calibration=[bad])


def test_layers_of_one_shape_are_timed_once(monkeypatch):
    timed = []
    monkeypatch.setattr(_layer_timing, "host_times",
                        lambda calls: timed.append(calls) or [2.0, 1.0])
    model = make_model()
    report = sparsify(model, {"6": "1:4", "*": "2:4"}, make_input(), prune=True)
    assert len(timed) == 3
    assert all(layer.measured == 2 and layer.replaced for layer in report)
    assert all(isinstance(model[i], NMLinear) for i in (0, 2, 4, 6))


@pytest.fixture
def times(monkeypatch):
    """Kernels that take as much as their weights are dense, and a little more."""
    def taken(dense, sparse, x):
        seconds = dense.weight.numel() * 1e-9
        return _layer_timing.Timing("vector", None, seconds,
                                    seconds * (1.1 - sparse.pattern.sparsity))
    from nm.torch import _search
    monkeypatch.setattr(_search, "time_layer", taken)


PATTERNS = ["2:4", "1:4", "4:16"]


def all_choices(report):
    """Speed-up and error of every choice for the whole model."""
    for layers in itertools.product(*report.candidates):
        seconds = sum(layer.seconds for layer in layers)
        yield (sum(layer.dense_seconds for layer in layers) / seconds,
               np.sqrt(np.mean([layer.error ** 2 for layer in layers])))


@pytest.mark.parametrize("budget", [{"speedup": 1.3}, {"speedup": 2.5}, {"error": 0.2},
                                    {"error": 0.45}, {"error": 0.0}, {"speedup": 0.5}])
def test_search_finds_the_best(times, budget):
    model = make_model()
    report = search(model, PATTERNS, make_input(), **budget)
    assert all(type(model[i]) is nn.Linear for i in (0, 2, 4, 6)), "changed the model"
    choices = list(all_choices(report))
    # Costs are rounded up by a part in 4000 for each layer.
    if "speedup" in budget:
        assert report.speedup >= budget["speedup"]
        best = min(error for speed, error in choices
                   if speed >= 1.002 * budget["speedup"])
        assert report.error <= best * (1 + 1e-9)
    else:
        assert report.error <= budget["error"] * (1 + 1e-9)
        best = max(speed for speed, error in choices
                   if error <= 0.998 * budget["error"])
        assert report.speedup >= best * (1 - 1e-9)
    for point in report.front:
        assert any(np.allclose(point, choice) for choice in choices)
        assert not any(speed > point[0] * 1.01 and error < point[1] * 0.99
                       for speed, error in report.front)


def test_search_measures_what_sparsify_does(times, tmp_path):
    model, x = make_model(), make_input()
    report = search(model, {"6": None, "0": ["2:4"], "*": PATTERNS}, x, speedup=1.5,
                    prune="wanda")
    assert list(report.rules) == ["0", "2", "4"] and not report.left_out
    for layer, inputs in zip(report, (x, model[:2](x), model[:4](x))):
        index = int(layer.name)
        if layer.pattern is None:
            assert layer.error == 0
            continue
        expected = nm.prune(model[index].weight.detach(), layer.pattern, scores="wanda",
                            activations=inputs.detach()).report.relative_error
        assert layer.error == pytest.approx(expected, rel=1e-4)
    lines = str(report).splitlines()
    assert lines[0].split() == ["layer", "shape", "pattern", "error", "speed-up"]
    assert lines[-1].split() == ["all", f"{report.error:.4f}", f"{report.speedup:.2f}x"]
    replaced = sparsify(model, {**report.rules, "*": None}, prune="wanda",
                        calibration=[x])
    assert [layer.pattern for layer in replaced][:3] == list(report.rules.values())


def test_search_draws(times, tmp_path):
    pytest.importorskip("matplotlib")
    report = search(make_model(), PATTERNS, make_input(), error=0.4)
    report.plot(tmp_path / "search.png")
    assert (tmp_path / "search.png").read_bytes()[:4] == b"\x89PNG"
    from nm.torch._search_plot import uniform_choices
    found = uniform_choices(report)
    assert list(found) == ["2:4", "1:4", "4:16"]
    assert found["2:4"][0] == pytest.approx(1 / 0.6)


@pytest.mark.parametrize("options,error,text", [
    ({}, nm.Error, "expected either speedup or error"),
    ({"speedup": 2, "error": 0.1}, nm.Error, "expected either speedup or error"),
    ({"speedup": 20}, nm.Error, "that these patterns reach, at most 2.86, but got 20"),
    ({"error": -1}, nm.Error, "expected error to be a number from 0 on"),
    ({"speedup": 0}, nm.Error, "expected speedup to be a number above 0"),
])
def test_budgets_that_are_refused(times, options, error, text):
    with pytest.raises(error, match=text):
        search(make_model(), PATTERNS, make_input(), **options)


def test_search_tells_what_it_left_out(times):
    model = make_model()
    model.add_module("unused", nn.Linear(8, 8))
    model.forward = lambda x: model[:7](x)
    report = search(model, ["2:4"], make_input(), error=1)
    assert report.left_out == ("unused",)
    assert "did not repeat: unused" in str(report)


def test_searches_that_are_refused(monkeypatch):
    from nm.torch import _search
    with pytest.raises(nm.PatternError, match="a list of patterns, but got '2:4'"):
        search(make_model(), "2:4", make_input(), error=1)
    monkeypatch.setattr(_search, "time_layer", lambda *args: _layer_timing.Timing(
        "vector", None, None, None))
    with pytest.raises(nm.Error, match="whose times repeat"):
        search(make_model(), ["2:4"], make_input(), error=1)
