"""Choices of code that a model's arguments do not change, and those of transformers'
models for infinities in f16."""

import pytest
from conftest import relative_error

torch = pytest.importorskip("torch")
import nm  # noqa: E402
import nm.torch  # noqa: E402
from torch import nn  # noqa: E402


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def known_item(x):
    return x * 2 if (torch.ones(2, 3) > 0).flatten().any().item() else x


def known_truth(x):
    return x if torch.zeros(x.shape[1]).sum() else x * 3


def known_elements(x):
    for count in torch.arange(3).view(3, 1).long().sum(1):
        x = x + int(count)
    return x * sum(torch.arange(4).tolist())


def written(x):
    counts = torch.zeros(3)
    view = counts[1:]
    view += 2
    counts[0] = 5
    return x + counts.max().item()


@pytest.mark.parametrize("function", [known_item, known_truth, known_elements, written])
def test_known_choices(function):
    x = torch.randn(2, 5)
    model = Function(function)
    compiled = nm.torch.export(model, x).compile(opt_level=1)
    torch.testing.assert_close(compiled(x), model(x))


class Counting(nn.Module):
    """A model with state of each kind, and a choice after it is written."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(5))
        self.register_buffer("last", torch.zeros(5))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.total += x[0]
        self.last = x[1]
        factor = 2 if torch.ones(3).any().item() else 1
        return x * factor + self.total


def test_a_second_trace_sees_the_state_of_the_first():
    model = Counting()
    before, attributes = dict(model._buffers), set(vars(model))
    compiled = nm.torch.export(model, torch.randn(2, 5)).compile(opt_level=1)
    assert model.calls == 0 and set(vars(model)) == attributes
    assert all(model._buffers[name] is buffer and not buffer.any()
               for name, buffer in before.items())
    for _ in range(2):
        x = torch.randn(2, 5)
        torch.testing.assert_close(compiled(x), model(x))
        assert all(torch.equal(state, getattr(model, name))
                   for name, state in compiled.states.items())


@pytest.mark.parametrize("function,traces", [(torch.relu, 1), (known_item, 2),
                                             (known_elements, 2), (written, 2)])
def test_only_models_with_choices_are_traced_twice(function, traces, monkeypatch):
    counted, trace = [], torch.export.export

    def export(*args, **kwargs):
        counted.append(args)
        return trace(*args, **kwargs)

    monkeypatch.setattr(torch.export, "export", export)
    nm.torch.export(Function(function), torch.randn(2, 5))
    assert len(counted) == traces


def test_an_error_of_the_model_is_its_own():
    def wrong(x):
        raise KeyError("of the model")

    with pytest.raises(KeyError, match="of the model") as error:
        nm.torch.export(Function(wrong), torch.randn(2, 5))
    assert error.value.__context__ is None


def of_argument(x):
    return x * 2 if (x > 0).any() else x


def of_written(x):
    counts = torch.zeros(2, 5)
    view = counts[1]
    counts += x
    return x * 2 if view.sum() > 0 else x


def of_result(x):
    sums = torch.zeros(5)
    torch.sum(x, 0, out=sums)
    return x * 2 if sums[0] > 0 else x


def of_drawn(x):
    return x * 2 if torch.rand(3).sum() > 1 else x


def of_other_code(x):
    return torch.clamp(x * 2, -5, 5) if torch.isinf(x.half()).any() else x


def of_no_code(x):
    if not torch.isfinite(x.half()).all():
        pass
    return x


@pytest.mark.parametrize("function", [of_argument, of_written, of_result, of_drawn,
                                      of_other_code, of_no_code])
def test_choices_of_arguments_are_refused(function, capfd):
    with pytest.raises(nm.Error, match="choices of code|that clamps"):
        nm.torch.export(Function(function), torch.randn(2, 5))
    assert "def forward" not in capfd.readouterr().err


def clamp_unless_finite(x):
    y = x * 40000
    if y.dtype == torch.float16 and not torch.isfinite(y).all():
        most = torch.finfo(y.dtype).max - 1000
        y = torch.clamp(y, min=-most, max=most)
    return y


def clamp_infinite(x):
    y = x * 40000
    if y.dtype == torch.float16 and (torch.isinf(y).any() or torch.isnan(y).any()):
        y = y.clamp(-64504, 64504)
    return y


@pytest.mark.parametrize("function", [clamp_unless_finite, clamp_infinite])
def test_infinities_of_f16(function):
    model = Function(function)
    exported = nm.torch.export(model, torch.randn(2, 5).half())
    assert any("clamps of f16" in remark for remark in exported.remarks)
    compiled = exported.compile(opt_level=1)
    for x in ([[1, -1.5], [0.25, -2]], [[1, 0], [-1, 1.625]], [[3, -3], [3, 1]]):
        x = torch.nn.functional.pad(torch.tensor(x).half(), (0, 3))
        torch.testing.assert_close(compiled(x), model(x))
    # Where nothing is infinite an element above the clamp's limit stays.
    assert compiled(torch.full((2, 5), 1.6250).half()).max() == 65000
    wide = nm.torch.export(model, torch.randn(2, 5))
    assert not wide.remarks


@pytest.mark.parametrize("shape,order,size,stride,offset", [
    ((4, 6), None, (3, 4), (6, 1), 2), ((24,), None, (5, 8), (4, 1), 0),
    ((2, 3, 4), (2, 0, 1), (3, 3, 2), (1, 4, 12), 1), ((12,), None, (3, 4), (0, 2), 3)])
def test_windows_by_strides(shape, order, size, stride, offset):
    x = torch.randn(shape)

    def windows(x):
        x = x if order is None else x.permute(order)
        return x.as_strided(size, stride, offset) + 0

    compiled = nm.torch.export(Function(windows), x).compile(opt_level=1)
    torch.testing.assert_close(compiled(x), windows(x))


def marian():
    from transformers import MarianConfig, MarianModel
    return MarianModel(MarianConfig(
        vocab_size=100, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_position_embeddings=32, use_cache=False, pad_token_id=0,
        eos_token_id=1, decoder_start_token_id=1)).half()


def led():
    from transformers import LEDConfig, LEDModel
    return LEDModel(LEDConfig(
        vocab_size=100, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=64,
        decoder_ffn_dim=64, max_encoder_position_embeddings=64, attention_window=8,
        max_decoder_position_embeddings=32, use_cache=False, pad_token_id=0,
        eos_token_id=1, bos_token_id=1, decoder_start_token_id=1))


@pytest.mark.parametrize("make", [marian, led])
def test_models(make):
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = make().eval()
    args = {"input_ids": torch.randint(2, 100, (2, 16)),
            "decoder_input_ids": torch.randint(2, 100, (2, 5))}
    compiled = nm.torch.export(model, (), args).compile(opt_level=1)
    with torch.no_grad():
        got, want = compiled(**args)[0], model.double()(**args)[0]
    limit = 2e-3 if got.dtype == torch.float16 else 1e-5
    assert relative_error(got.double().numpy(), want.numpy()) < limit
