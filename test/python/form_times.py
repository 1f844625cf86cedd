"""Times f32 layers of 2:4 on a CUDA device where calls make splits, where weights pack them,
and dense: microseconds of a layer, of four in turn, in a CUDA graph.

    python3 test/python/form_times.py
"""

import nm
import nm.torch
import torch
from torch import nn

SIZE, LAYERS, ROUNDS = 4096, 4, 5


def time_graph(model, x):
    for _ in range(2):
        model(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(x)
    times = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(10):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 100 / LAYERS)
    return min(times)


@torch.no_grad()
def main():
    dense = nn.Sequential(*(nn.Linear(SIZE, SIZE, bias=False) for _ in range(LAYERS)))
    dense = dense.cuda().eval()
    sparse = nn.Sequential(*(nm.torch.NMLinear.from_dense(layer, "2:4", prune_weight=True)
                             for layer in dense)).eval()
    print("rows, made, packed, dense")
    for rows in (16, 64, 512, 2048, 4096):
        x, times = torch.randn(rows, SIZE, device="cuda"), []
        for count in (None, 2):
            nm.set_packed_forms(count)
            nm.free_packed()
            sparse(x[:1])
            times.append(time_graph(sparse, x))
        print(rows, *(f"{each:.1f}" for each in (*times, time_graph(dense, x))), sep=", ")


if __name__ == "__main__":
    main()
