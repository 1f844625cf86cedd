"""A causal language model as two functions on a cache of keys and values."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from ..._errors import Error
from ._program import CompiledFunctions, ExportedFunctions, export, join

#: The prompt and a step are called as they are: libraries choose kernels in a first call.
_STEPS_BEFORE_GRAPH = 2
#: As many as a capture pays for.
_STEPS_OF_GRAPH = 8


def export_decoder(model: nn.Module, *, max_length: int, batch: int = 1
                   ) -> ExportedDecoder:
    """A causal language model of transformers as a module with two functions:

    - ``prefill(tokens, positions, *cache)`` for any number of tokens,
    - ``decode(tokens, positions, *cache)`` for one token of each sequence.

    `tokens` is i64 [batch, t], `positions` i64 [t], where they stand in the sequences.
    `cache` has the keys and the values of each layer, [batch, heads, max_length, size],
    which the functions update in place. Results are the most probable next tokens,
    i64 [batch], and the logits, [batch, vocabulary], after the last token. Functions
    share the model's weights.

    Args:
        model: in evaluation mode; its layers of nm.torch keep their N:M weights.
        max_length: of a sequence, the prompt included.
        batch: sequences, whose prompts have one length.

    Raises:
        Error: as nm.torch.export, and for a model that keeps something other than
            keys and values of equal lengths.
    """
    shapes = _cache_shapes(model, batch, max_length)
    dtype = next(model.parameters()).dtype
    cache = [torch.zeros(shape, dtype=dtype) for shape in shapes]
    step = _Step(model, max_length).eval()
    tokens = torch.export.Dim("tokens", min=2, max=max_length)
    dynamic = ({1: tokens}, {0: tokens}, tuple(None for _ in cache))
    prompt = (torch.zeros((batch, 3), dtype=torch.int64), torch.arange(3), tuple(cache))
    one = (torch.zeros((batch, 1), dtype=torch.int64), torch.arange(1), tuple(cache))
    functions = join(export(step, prompt, dynamic_shapes=dynamic, name="prefill"),
                     export(step, one, name="decode"))
    return ExportedDecoder(functions, cache)


class _WithCache:
    def __init__(self, cache: list[Tensor]):
        self._cache = cache

    def new_cache(self, device: Any = "cpu") -> tuple[Tensor, ...]:
        """An empty cache, for sequences of their own."""
        return tuple(torch.zeros_like(each, device=device) for each in self._cache)


class ExportedDecoder(_WithCache):
    """Text, weights and cache of a decoder.

    Attributes:
        text, resources: as those of ExportedModel.
        functions: both functions.
    """

    def __init__(self, functions: ExportedFunctions, cache: list[Tensor]):
        super().__init__(cache)
        self.functions = functions
        self.text, self.resources = functions.text, functions.resources

    def save(self, folder: Any) -> Any:
        """Writes model.mlir and model.safetensors, as ExportedModel.save."""
        return self.functions.save(folder)

    def compile(self, path: Any = None, target: str = "cpu", **options
                ) -> CompiledDecoder:
        """Both functions in one shared object; arguments as of ExportedModel.compile."""
        return CompiledDecoder(self.functions.compile(path, target, **options),
                               self._cache)


class CompiledDecoder(_WithCache):
    """A compiled decoder, which generates.

    Attributes:
        functions: ``functions["prefill"]`` and ``functions["decode"]``.
    """

    def __init__(self, functions: CompiledFunctions, cache: list[Tensor]):
        super().__init__(cache)
        self.functions = functions

    def generate(self, tokens: Tensor, new_tokens: int) -> Tensor:
        """The prompts and what follows them, the most probable token each time. On a
        CUDA device steps behind the first are replays of a CUDA graph, which is captured
        for each call.

        Args:
            tokens: the prompts, i64 [batch, t].
            new_tokens: how many tokens to add.

        Returns:
            i64 [batch, t + new_tokens].

        Raises:
            Error: there is no room for so many, or no prompt.
        """
        length = self._cache[0].shape[2]
        if not 0 < tokens.shape[1] <= length - new_tokens + 1 or new_tokens < 0:
            raise Error(f"expected prompts and new tokens that fit in {length} places, "
                        f"but got {tokens.shape[1]} and {new_tokens}")
        return torch.cat([tokens, *self._steps(tokens, new_tokens)], dim=1)

    def _steps(self, tokens: Tensor, count: int) -> Iterator[Tensor]:
        cache = self.new_cache(tokens.device)
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        name = "prefill" if tokens.shape[1] > 1 else "decode"
        for step in range(count):
            if tokens.is_cuda and step >= _STEPS_BEFORE_GRAPH and (
                    count - step >= _STEPS_OF_GRAPH):
                yield from self._replayed(tokens, positions, cache, count - step)
                return
            following, _ = self.functions[name](tokens, positions, cache)
            name, tokens, positions = "decode", following[:, None], positions[-1:] + 1
            yield tokens

    def _replayed(self, tokens: Tensor, positions: Tensor, cache: tuple[Tensor, ...],
                  count: int) -> Iterator[Tensor]:
        """The tokens of `count` steps by one CUDA graph, in which launches have no gaps."""
        tokens, positions = tokens.clone(), positions.clone()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(tokens.device), torch.cuda.graph(
                graph, capture_error_mode="thread_local"):
            following, _ = self.functions["decode"](tokens, positions, cache)
            tokens.copy_(following[:, None])
            positions.add_(1)
        for _ in range(count):
            graph.replay()
            yield tokens.clone()


class _Step(nn.Module):
    """One call of the model on tokens at some positions."""

    def __init__(self, model: nn.Module, max_length: int):
        super().__init__()
        self.model, self._max_length = model, max_length

    def forward(self, tokens: Tensor, positions: Tensor, cache: tuple[Tensor, ...]
                ) -> tuple[Tensor, Tensor]:
        logits = _call(self.model, tokens, positions,
                       _Cache(list(cache), positions), self._max_length)
        return logits.argmax(-1), logits


def _call(model: nn.Module, tokens: Tensor, positions: Tensor, cache: Any,
          max_length: int) -> Tensor:
    """The logits after the last token."""
    dtype = next(model.parameters()).dtype
    places = torch.arange(max_length, device=tokens.device)
    mask = torch.zeros((), dtype=dtype, device=tokens.device).masked_fill(
        places[None, :] > positions[:, None], torch.finfo(dtype).min)
    mask = mask[None, None].expand(tokens.shape[0], 1, -1, -1)
    # transformers 5.40 renames the argument.
    name = "cache" if "cache" in signature(model.forward).parameters else (
        "past_key_values")
    result = model(input_ids=tokens, attention_mask=mask,
                   position_ids=positions[None].expand(tokens.shape[0], -1),
                   use_cache=True, logits_to_keep=1, **{name: cache})
    return result.logits[:, -1]


class _Cache:
    """What models of transformers ask of a cache, on tensors of the whole length: keys
    and values of layer i are number 2 i and 2 i + 1."""

    is_compileable, is_sliding = True, [False]

    def __init__(self, tensors: list[Tensor], positions: Tensor):
        self._tensors, self._positions = tensors, positions

    def update(self, key: Tensor, value: Tensor, layer: int, *_args: Any, **_kwargs: Any
               ) -> tuple[Tensor, Tensor]:
        found = self._tensors[2 * layer:2 * layer + 2]
        for place, new in zip(found, (key, value)):
            place.index_copy_(2, self._positions, new)
        return found[0], found[1]

    def get_seq_length(self, *_args: Any) -> Any:
        return self._positions[0]

    def get_max_cache_shape(self, *_args: Any) -> int:
        return self._tensors[0].shape[2]

    def __len__(self) -> int:
        return len(self._tensors) // 2


class _RecordingCache(_Cache):
    """Remembers the shapes of keys and values."""

    def __init__(self, positions: Tensor):
        super().__init__([], positions)
        self.shapes: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def update(self, key: Tensor, value: Tensor, layer: int, *_args: Any, **_kwargs: Any
               ) -> tuple[Tensor, Tensor]:
        self.shapes[layer] = tuple(key.shape), tuple(value.shape)
        return key, value


def _cache_shapes(model: nn.Module, batch: int, max_length: int
                  ) -> list[tuple[int, ...]]:
    device = next(model.parameters()).device
    positions = torch.zeros(1, dtype=torch.int64, device=device)
    recorded = _RecordingCache(positions)
    with torch.no_grad():
        _call(model, positions[None].expand(batch, -1), positions, recorded, 1)
    layers = sorted(recorded.shapes)
    if not layers or layers != list(range(len(layers))):
        raise Error("expected a model that keeps keys and values of each layer by a "
                    f"cache's update, but got those of layers {layers}")
    return [(*shape[:2], max_length, *shape[3:])
            for layer in layers for shape in recorded.shapes[layer]]
