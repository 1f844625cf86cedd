"""Prunes the encoder of all-MiniLM-L6-v2 layer by layer, and compares embeddings
and time with those of the dense model.

usage: sentence_encoder.py [--pattern 2:4] [--type f32] [--device cuda]
                          [--model FOLDER] [--kernels-for CHIP]
"""

import argparse
import copy
import statistics
import time
from pathlib import Path

import nm
import nm.torch
import torch
from encoder import LAYERS, WORDS, Encoder, load_encoder, model_folder, tokenize

SENTENCES = [
    "A pruned network keeps few of its weights and most of its accuracy.",
    "Most weights of a neural network can be removed with little loss.",
    "The compiler knows the weights before the program runs.",
    "Hardware likes order more than it likes zeros.",
    "It rained all day, and the river rose by half a metre.",
    "After the storm the water stood high in the fields.",
    "She plays the violin in an orchestra that tours every summer.",
    "The musicians travel from town to town with their instruments.",
    "How do I change the tyre of a bicycle?",
    "Bread needs flour, water, salt, yeast and patience.",
    "The bakery on the corner opens before sunrise.",
    "Stock prices fell sharply after the central bank spoke.",
    "Investors sold their shares when interest rates went up.",
    "The museum shows paintings from the seventeenth century.",
    "A telescope in orbit sees what clouds hide from us.",
    "Astronomers found a planet that circles two suns.",
]
ROUNDS = 15
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def load(folder):
    """The dense encoder and its input, and where they are from."""
    if folder is None:
        torch.manual_seed(0)
        return (Encoder().eval(), torch.randint(1, WORDS, (len(SENTENCES), 18)),
                "generated weights")
    words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    tokens = tokenize(SENTENCES, {word: i for i, word in enumerate(words)})
    source = nm.io.open_weights(folder / "model.safetensors")
    return load_encoder(source), tokens, "weights of all-MiniLM-L6-v2"


def make_timer(model, tokens):
    """A function that takes the time of one run; on a GPU that of a graph."""
    if not tokens.is_cuda:
        def time_host():
            start = time.perf_counter()
            model(tokens)
            return time.perf_counter() - start
        return time_host
    model(tokens)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(tokens)

    def time_device():
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(10):
            graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 10 * 1e-3
    return time_device


def measure(models, tokens):
    """Medians, in turns, so that a change of the machine's load meets all."""
    timers = [make_timer(model, tokens) for model in models]
    times = [[] for _ in models]
    for timer in timers:
        timer()
    for _ in range(ROUNDS):
        for timer, taken in zip(timers, times):
            taken.append(timer())
    return [statistics.median(taken) for taken in times]


def rules_for(count, pattern):
    """The first `count` layers get the pattern."""
    return {**{f"layers.{i}.*": pattern for i in range(count)}, "*": None}


def make_kernels(model, tokens, pattern, chip):
    """Fills the cache for a machine that has a GPU and no compiler."""
    rows = tokens.numel()
    for name, layer in model.named_modules():
        if isinstance(layer, torch.nn.Linear) and name.startswith("layers.0."):
            sparse = nm.torch.NMLinear.from_dense(layer, pattern,
                                                  prune_weight=True)
            nm.precompile(sparse.sparse_weight(), rows, f"cuda:{chip}", bias=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pattern", default="2:4")
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--model", metavar="FOLDER", type=Path,
                        default=model_folder(), help="with model.safetensors and "
                        "vocab.txt, where not that of the package")
    parser.add_argument("--kernels-for", metavar="CHIP")
    args = parser.parse_args()
    dense, tokens, origin = load(args.model)
    dense.to(TYPES[args.type])
    if args.kernels_for:
        make_kernels(dense, tokens, args.pattern, args.kernels_for)
        return
    if args.device == "cpu":
        torch.set_num_threads(nm.get_num_threads())
    dense, tokens = dense.to(args.device), tokens.to(args.device)
    print(f"{origin}, {tokens.shape[0]} sentences of up to {tokens.shape[1]} "
          f"tokens, {args.type}, pattern {args.pattern}, on {args.device}\n")

    models, reports = [dense], []
    for count in range(1, LAYERS + 1):
        model = copy.deepcopy(dense)
        reports.append(nm.torch.sparsify(model, rules_for(count, args.pattern),
                                         tokens, prune=True, force=True))
        models.append(model)
    print("The layers of the first block:")
    print("\n".join(line for line in str(reports[0]).splitlines()
                    if line.startswith(("layer ", "layers.0."))))
    with torch.no_grad():
        expected = dense(tokens).float()
        times = measure(models, tokens)
        print("\nlayers pruned  cosine similarity (mean, least)      time  "
              "dense/time")
        for count, (model, taken) in enumerate(zip(models, times)):
            similarity = (model(tokens).float() * expected).sum(-1)
            print(f"{count:>13}  {similarity.mean():>15.4f} "
                  f"{similarity.min():>16.4f}  {taken * 1e3:>8.3f} ms  "
                  f"{times[0] / taken:>9.2f}x")


if __name__ == "__main__":
    main()
