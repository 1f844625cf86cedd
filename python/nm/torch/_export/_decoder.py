"""A causal language model as two functions on a cache of keys and values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


def export_decoder(model: nn.Module, *, max_length: int, batch: int = 1,
                   lengths: bool = False) -> ExportedDecoder:
    """A causal language model of transformers as a module with two functions:

    - ``prefill(tokens, positions, *cache)`` for any number of tokens,
    - ``decode(tokens, positions, *cache)`` for one token of each sequence.

    `tokens` is i64 [batch, t], `positions` i64 [t], where they stand in the sequences.
    `cache` has the keys and the values of each layer, [batch, heads, max_length, size],
    which the functions update in place. Results are the most probable next tokens,
    i64 [batch], and the logits, [batch, vocabulary], after the last token. Functions
    share the model's weights.

    With `lengths` prompts of a batch have lengths of their own, and padding behind their
    ends, whose tokens may be any:

    - ``prefill(tokens, positions, lengths, *cache)``, where `lengths` is i64 [batch], each
      from 1 to t; results are those after a prompt's own last token,
    - ``decode(tokens, positions, *cache)``, where `positions` is i64 [batch].

    Keys of padding are in the cache until a sequence's own take their places; no token
    sees them, for attention ends at a sequence's position.

    Args:
        model: in evaluation mode; its layers of nm.torch keep their N:M weights.
        max_length: of a sequence, the prompt included.
        batch: sequences.
        lengths: whether their prompts may have different lengths.

    Raises:
        Error: as nm.torch.export, and for a model that keeps something other than
            keys and values of equal lengths.
    """
    shapes = _cache_shapes(model, batch, max_length)
    dtype = next(model.parameters()).dtype
    cache = [torch.zeros(shape, dtype=dtype) for shape in shapes]
    step = _Step(model, max_length).eval()
    prefill = _Prefill(model, max_length).eval() if lengths else step
    tokens = torch.export.Dim("tokens", min=2, max=max_length)
    ends = (torch.full((batch,), 3),) if lengths else ()
    dynamic = ({1: tokens}, {0: tokens}, *(None for _ in ends), tuple(None for _ in cache))
    prompt = (torch.zeros((batch, 3), dtype=torch.int64), torch.arange(3), *ends,
              tuple(cache))
    one = (torch.zeros((batch, 1), dtype=torch.int64),
           torch.zeros(batch if lengths else 1, dtype=torch.int64), tuple(cache))
    decode = _OwnStep(model, max_length).eval() if lengths else step
    functions = join(export(prefill, prompt, dynamic_shapes=dynamic, name="prefill"),
                     export(decode, one, name="decode"))
    return ExportedDecoder(functions, cache, lengths)


class _WithCache:
    def __init__(self, cache: list[Tensor], has_lengths: bool):
        self._cache, self._has_lengths = cache, has_lengths

    def new_cache(self, device: Any = "cpu") -> tuple[Tensor, ...]:
        """An empty cache, for sequences of their own."""
        return tuple(torch.zeros_like(each, device=device) for each in self._cache)


class ExportedDecoder(_WithCache):
    """Text, weights and cache of a decoder.

    Attributes:
        text, resources: as those of ExportedModel.
        functions: both functions.
    """

    def __init__(self, functions: ExportedFunctions, cache: list[Tensor],
                 has_lengths: bool):
        super().__init__(cache, has_lengths)
        self.functions = functions
        self.text, self.resources = functions.text, functions.resources

    def save(self, folder: Any) -> Any:
        """Writes model.mlir and model.safetensors, as ExportedModel.save."""
        return self.functions.save(folder)

    def compile(self, path: Any = None, target: str = "cpu", **options
                ) -> CompiledDecoder:
        """Both functions in one shared object; arguments as of ExportedModel.compile."""
        return CompiledDecoder(self.functions.compile(path, target, **options),
                               self._cache, self._has_lengths)


class CompiledDecoder(_WithCache):
    """A compiled decoder, which generates.

    Attributes:
        functions: ``functions["prefill"]`` and ``functions["decode"]``.
    """

    def __init__(self, functions: CompiledFunctions, cache: list[Tensor],
                 has_lengths: bool):
        super().__init__(cache, has_lengths)
        self.functions = functions

    def generate(self, tokens: Tensor, new_tokens: int, lengths: Tensor | None = None
                 ) -> Tensor:
        """The prompts and what follows them, the most probable token each time. On a
        CUDA device steps behind the first are replays of a CUDA graph, which is captured
        for each call.

        Args:
            tokens: the prompts, i64 [batch, t].
            new_tokens: how many tokens to add to each.
            lengths: of the prompts, i64 [batch], for a decoder that was exported with
                lengths; tokens behind a prompt's length are padding, and may be any.

        Returns:
            i64 [batch, t + new_tokens]; what follows a prompt stands behind its length,
            and zeros behind that.

        Raises:
            Error: there is no room for so many, no prompt, or a length is none of a
                prompt's.
        """
        length = self._cache[0].shape[2]
        if not 0 < tokens.shape[1] <= length - new_tokens + 1 or new_tokens < 0:
            raise Error(f"expected prompts and new tokens that fit in {length} places, "
                        f"but got {tokens.shape[1]} and {new_tokens}")
        if lengths is not None:
            return self._padded(tokens, new_tokens, self._checked(tokens, lengths))
        return torch.cat([tokens, *self._steps(tokens, new_tokens)], dim=1)

    def _checked(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        batch, most = tokens.shape
        if not self._has_lengths:
            raise Error("expected a decoder that export_decoder(..., lengths=True) made "
                        "for prompts of different lengths, but got one without")
        if lengths.shape != (batch,) or not (
                (lengths >= 1) & (lengths <= most)).all():
            raise Error(f"expected a length from 1 to {most} for each of {batch} prompts, "
                        f"but got {lengths.tolist()}")
        return lengths.to(tokens.device, torch.int64)

    def _padded(self, tokens: Tensor, count: int, lengths: Tensor) -> Tensor:
        """The prompts, and behind each what follows it."""
        places = torch.arange(tokens.shape[1] + count, device=tokens.device)
        padded = nn.functional.pad(tokens, (0, count))
        result = torch.where(places < lengths[:, None], padded, 0)
        found = torch.cat([tokens[:, :0], *self._steps(tokens, count, lengths)], dim=1)
        return result.scatter_(1, lengths[:, None] + places[:count], found)

    def _steps(self, tokens: Tensor, count: int, lengths: Tensor | None = None
               ) -> Iterator[Tensor]:
        """The tokens that follow prompts, which are whole without `lengths`."""
        cache = self.new_cache(tokens.device)
        batch, width = tokens.shape
        positions = torch.arange(width, device=tokens.device)
        name = "prefill" if width > 1 else "decode"
        if self._has_lengths and count:
            lengths = lengths if lengths is not None else torch.full(
                (batch,), width, device=tokens.device)
            following, _ = (
                self.functions["prefill"](tokens, positions, lengths, cache) if width > 1
                else self.functions["decode"](tokens, torch.zeros_like(lengths), cache))
            name, tokens, positions = "decode", following[:, None], lengths
            yield tokens
        for step in range(1 if self._has_lengths else 0, count):
            if tokens.is_cuda and step >= _STEPS_BEFORE_GRAPH and (
                    count - step >= _STEPS_OF_GRAPH):
                yield from self._replayed(tokens, positions, cache, count - step)
                return
            following, _ = self.functions[name](tokens, positions, cache)
            if not self._has_lengths:
                positions = positions[-1:]
            name, tokens, positions = "decode", following[:, None], positions + 1
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
        logits = _call(self.model, tokens, positions[None],
                       _Cache(list(cache), positions), self._max_length)
        return logits.argmax(-1), logits


class _Prefill(_Step):
    """Prompts of different lengths."""

    def forward(self, tokens: Tensor, positions: Tensor, lengths: Tensor,
                cache: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        with _last_states(self.model, lengths):
            logits = _call(self.model, tokens, positions[None],
                           _Cache(list(cache), positions), self._max_length, keep=0)
        return logits.argmax(-1), logits


class _OwnStep(_Step):
    """A token of each sequence, each at a position of its own."""

    def forward(self, tokens: Tensor, positions: Tensor, cache: tuple[Tensor, ...]
                ) -> tuple[Tensor, Tensor]:
        logits = _call(self.model, tokens, positions[:, None],
                       _OwnCache(list(cache), positions), self._max_length)
        return logits.argmax(-1), logits


@contextmanager
def _last_states(model: nn.Module, lengths: Tensor) -> Iterator[None]:
    """Has the layer that makes logits make those of each sequence's last token alone."""
    head = model.get_output_embeddings()
    if head is None:
        raise Error("expected a model whose get_output_embeddings is the layer that makes "
                    f"logits, for prompts of different lengths, but got {type(model)}")

    def pick(_module: nn.Module, args: tuple) -> tuple:
        batch, width, size = args[0].shape
        rows = torch.arange(batch, device=lengths.device) * width + lengths - 1
        states = args[0].reshape(batch * width, size).index_select(0, rows)
        return (states[:, None], *args[1:])

    hook = head.register_forward_pre_hook(pick)
    try:
        yield
    finally:
        hook.remove()


def _call(model: nn.Module, tokens: Tensor, positions: Tensor, cache: Any,
          max_length: int, keep: int = 1) -> Tensor:
    """The logits after the last token, of all of which the model has `keep`, or all.
    Positions are of one sequence or of each."""
    dtype = next(model.parameters()).dtype
    places = torch.arange(max_length, device=tokens.device)
    # A token sees itself at least: without a row that sees nothing -inf is exact.
    mask = torch.zeros((), dtype=dtype, device=tokens.device).masked_fill(
        places > positions[..., None], -torch.inf)
    mask = mask[:, None].expand(tokens.shape[0], 1, -1, -1)
    # transformers 5.40 renames the argument.
    name = "cache" if "cache" in signature(model.forward).parameters else (
        "past_key_values")
    result = model(input_ids=tokens, attention_mask=mask,
                   position_ids=positions.expand(tokens.shape[0], -1),
                   use_cache=True, logits_to_keep=keep, **{name: cache})
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


class _OwnCache(_Cache):
    """Of one token of each sequence, with positions of their own."""

    def update(self, key: Tensor, value: Tensor, layer: int, *_args: Any, **_kwargs: Any
               ) -> tuple[Tensor, Tensor]:
        found = self._tensors[2 * layer:2 * layer + 2]
        for place, new in zip(found, (key, value)):
            batch, heads, length, size = place.shape
            first = torch.arange(batch * heads, device=place.device) * length
            rows = first.view(batch, heads) + self._positions[:, None]
            place.view(-1, size).index_copy_(0, rows.view(-1), new.reshape(-1, size))
        return found[0], found[1]

    def get_seq_length(self, *_args: Any) -> Any:
        return self._positions.amax()


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
        _call(model, positions[None].expand(batch, -1), positions[None], recorded, 1)
    layers = sorted(recorded.shapes)
    if not layers or layers != list(range(len(layers))):
        raise Error("expected a model that keeps keys and values of each layer by a "
                    f"cache's update, but got those of layers {layers}")
    return [(*shape[:2], max_length, *shape[3:])
            for layer in layers for shape in recorded.shapes[layer]]
