"""Figures of measurements."""

import csv

import pytest

import nm
from nm.cli import main

matplotlib = pytest.importorskip("matplotlib")
from nm._plots import data, roofline, speedup  # noqa: E402

COLUMNS = (*data._NUMBERS, *data._TEXTS, "sparse_median_us", "csr_median_us", "unit",
           "zeros")


def make_row(shape=(256, 1024, 1024), pattern=(2, 4), block=(1, 1), kind="f32",
             speedup=1.5, threads=2, **fields):
    m, n, k = shape
    kept = k * n * pattern[0] / pattern[1]
    size = {"f32": 4, "f16": 2}[kind]
    bytes_ = size * (m * k + m * n + kept) + kept * 2 / 8
    values = {"m": m, "n": n, "k": k, "pattern_n": pattern[0], "pattern_m": pattern[1],
              "block_k": block[0], "block_n": block[1],
              "sparsity": 1 - pattern[0] / pattern[1], "speedup": speedup,
              "gflops": 100.0, "flops": 2 * m * kept, "bytes": bytes_,
              "peak_gflops": 200.0, "peak_gbytes_per_s": 20.0, "median_us": 1000.0,
              "p10_us": 900.0, "p90_us": 1250.0, "threads": threads,
              "device": "cpu" if threads else "NVIDIA H200", "type": kind,
              "accurate": 1, "disturbed": 0, "blas_routine": "gemm"}
    return {**values, **fields}


@pytest.fixture
def measured(tmp_path):
    def write(rows, name="m.csv"):
        with open(tmp_path / name, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
        return str(tmp_path / name)
    return write


ROWS = [make_row(shape, pattern, block, kind, 1 / (pattern[0] / pattern[1]) * 0.8)
        for shape in ((256, 1024, 1024), (4, 2048, 1024))
        for kind in ("f32", "f16")
        for pattern, block in (((2, 4), (1, 1)), ((1, 4), (1, 1)), ((8, 32), (1, 32)))]


def texts_of(figure):
    return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_speedups(measured):
    rows = data.read_measurements(measured(ROWS))
    figure = speedup.draw_speedup(rows, "2026-11-22")
    texts = texts_of(figure)
    assert "CPU, 2 threads, f32, f16, beside OpenBLAS in f32, 2026-11-22" in texts
    facets = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in facets] == [
        "m × n × k = 4 × 2048 × 1024", "m × n × k = 256 × 1024 × 1024"]
    legend, = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "ideal, f16", "ideal, f32", "dense", "1x1: 2:4, 1:4, f16", "1x1: 2:4, 1:4, f32",
        "1x32: 8:32, f16", "1x32: 8:32, f32"]
    # For many rows the operations are what is spared, for few the bytes of the type.
    ideals = [{line.get_label(): line.get_ydata()[-1] for line in axes.get_lines()
               if line.get_label().startswith("ideal")} for axes in facets]
    assert ideals[1] == {"ideal, f16": 4.0, "ideal, f32": 4.0}
    assert ideals[0]["ideal, f16"] < ideals[0]["ideal, f32"] < 4
    # The spread is that of our calls: 1000 us, 900 to 1250.
    row = rows[0]
    assert row.speedup_range == pytest.approx((row.speedup * 0.8, row.speedup / 0.9))
    bars = [bar for axes in facets for bar in axes.containers]
    assert len(bars) == 8 and all(bar.has_yerr for bar in bars)


def test_the_peer_has_points_where_it_was_timed(measured):
    rows = [make_row(), make_row(pattern=(1, 4)), make_row(pattern=(8, 32), block=(1, 32))]
    plain = speedup.draw_speedup(data.read_measurements(measured(rows)), "today")
    assert "cuSPARSELt" not in texts_of(plain)
    for row, time in zip(rows, (1200.0, 750.0, "")):
        row["sparse_median_us"] = time
    read = data.read_measurements(measured(rows))
    figure = speedup.draw_speedup(read, "today")
    line, = (line for axes in figure.axes for line in axes.get_lines()
             if line.get_label() == "cuSPARSELt")
    # Ours takes 1000 us and is 1.5 times as fast as dense.
    assert line.get_xdata() == pytest.approx([50, 75])
    assert line.get_ydata() == pytest.approx([1.5 / 1.2, 1.5 / 0.75])


def test_ceilings_have_labels_that_nothing_covers(measured):
    rows = data.read_measurements(measured(ROWS))
    figure = roofline.draw_roofline(rows, "2026-11-22")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert [axes.get_title() for axes in figure.axes] == ["f16", "f32"]
    for axes in figure.axes:
        labels = [each for each in axes.texts]
        assert {each.get_text() for each in labels} == {"200 Gflop/s", "20 GB/s"}
        boxes = [each.get_window_extent(canvas.get_renderer()) for each in labels]
        assert not boxes[0].overlaps(boxes[1])
        for box in boxes:
            assert axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 + 1
            for line in axes.get_lines():
                for point in axes.transData.transform(line.get_xydata()):
                    assert not box.contains(*point)


def test_marks_say_what_multiplied(measured):
    """Beside each point where there are several units, else in the legend alone."""
    rows = [{**make_row(), "unit": "sparse tensor cores", "zeros": "partly"},
            {**make_row(pattern=(1, 4)), "unit": "cublas", "zeros": "multiplied"},
            {**make_row(pattern=(3, 4)), "unit": "", "zeros": ""}]
    read = data.read_measurements(measured(rows))
    assert [row.mark for row in read] == ["sp", "b", ""]
    figure = speedup.draw_speedup(read, "today")
    assert {"sp", "b", "sparse tensor cores", "cuBLAS, with dense weights",
            "behind: some zeros multiplied"} <= texts_of(figure)
    figure = speedup.draw_speedup(read[:1], "today")
    assert "sp" not in texts_of(figure) and "sparse tensor cores" in texts_of(figure)


def test_kernels_stand_under_the_roof_of_their_unit(measured):
    """With marks, and a dot where they multiply the zeros."""
    rows = [{**make_row(), "unit": "cuda cores", "zeros": "skipped",
             "peak_gflops": 100.0},
            {**make_row(pattern=(1, 4)), "unit": "tensor cores", "zeros": "multiplied"}]
    read = data.read_measurements(measured(rows))
    figure = roofline.draw_roofline(read, "today")
    axes, = figure.axes
    assert {each.get_text() for each in axes.texts} == {
        "100 Gflop/s, cuda cores", "200 Gflop/s, tensor cores", "20 GB/s", "c", "td"}
    for drawn in (figure, speedup.draw_speedup(read, "today")):
        dots, = (line for axes in drawn.axes for line in axes.get_lines()
                 if line.get_label() == "dot inside: zeros multiplied")
        assert len(dots.get_xdata()) == 1
    # Older files do not say: one roof, and no dots.
    older = roofline.draw_roofline(data.read_measurements(measured(ROWS)), "today")
    assert "dot inside: zeros multiplied" not in texts_of(older)


def test_cusparse_has_points(measured):
    rows = [{**make_row(), "csr_median_us": 3000.0}]
    figure = speedup.draw_speedup(data.read_measurements(measured(rows)), "today")
    line, = (line for axes in figure.axes for line in axes.get_lines()
             if line.get_label() == "cuSPARSE")
    assert line.get_ydata() == pytest.approx([0.5])


def test_the_legend_fits(measured):
    rows = [make_row(pattern=pattern, block=(1, width), kind="f16") for width in
            (32, 64, 128) for pattern in ((16, 32), (8, 32), (4, 32))]
    figure = roofline.draw_roofline(data.read_measurements(measured(rows)), "today")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    box = figure.legends[0].get_window_extent(canvas.get_renderer())
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1


def test_files_for_papers(measured, tmp_path, capsys):
    path, prefix = measured(ROWS), tmp_path / "fig"
    assert main(["plot", path, "-o", str(prefix), "--date=2026-11-22"]) == 0
    assert len(capsys.readouterr().out.split()) == 6
    # Dots in a metre at 200 in an inch.
    png = (tmp_path / "fig-speedup.png").read_bytes()
    at = png.index(b"pHYs") + 4
    assert int.from_bytes(png[at:at + 4], "big") == 7874
    svg = (tmp_path / "fig-speedup.svg").read_text(encoding="utf-8")
    assert "<text" in svg and "1x32: 8:32, f16" in svg, "text as paths"
    assert (tmp_path / "fig-roofline.pdf").read_bytes().startswith(b"%PDF")
    before = (tmp_path / "fig-speedup.pdf").read_bytes()
    main(["plot", path, "-o", str(prefix), "--date=2026-11-22"])
    assert (tmp_path / "fig-speedup.pdf").read_bytes() == before, "other bytes each time"


def test_types_have_figures_of_their_own_where_asked_for(measured, tmp_path, capsys):
    command = ["plot", measured(ROWS), "-o", str(tmp_path / "fig"), "--by-type"]
    assert main([*command, "--date=today"]) == 0
    names = {name.rsplit("/", 1)[-1] for name in capsys.readouterr().out.split()}
    assert {name for name in names if name.endswith(".svg")} == {
        "fig-f16-speedup.svg", "fig-f32-speedup.svg", "fig-roofline.svg"}
    svg = (tmp_path / "fig-f16-speedup.svg").read_text(encoding="utf-8")
    assert "ideal, f16" in svg and "f32, beside" not in svg and "ideal, f32" not in svg


def test_devices_have_figures_of_their_own(measured, tmp_path, capsys):
    paths = [measured(ROWS[:3]), measured([make_row(threads=0)], "gpu.csv")]
    assert main(["plot", *paths, "-o", str(tmp_path / "fig"), "--date=today"]) == 0
    names = {name.rsplit("/", 1)[-1] for name in capsys.readouterr().out.split()}
    assert "fig-cpu-2-speedup.pdf" in names and "fig-NVIDIA-H200-roofline.svg" in names
    gpu = data.read_measurements(paths[1])
    assert data.title_of(gpu, "today") == "NVIDIA H200, f32, beside cuBLAS, today"


def test_what_is_not_drawn(measured, capsys):
    rows = [make_row(accurate=0), make_row(speedup=""), make_row(disturbed=1), make_row()]
    assert len(data.read_measurements(measured(rows))) == 1
    with pytest.raises(nm.Error, match="but found none"):
        data.read_measurements(measured(rows[:3]))
    with pytest.raises(nm.Error, match=":2: expected numbers"):
        data.read_measurements(measured([make_row(m="many")]))
