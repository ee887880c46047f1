# SPDX-License-Identifier: Apache-2.0
"""bench/claims.tsv, the benches and bench/RESULTS.md agree: what is claimed is printed by a bench, judged by the median of its runs,
and the table of results says no more than its own numbers."""

import importlib.util
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ.get("TESELA_SOURCE", "."))
spec = importlib.util.spec_from_file_location("claims", SOURCE / "bench/claims.py")
claims = importlib.util.module_from_spec(spec)
spec.loader.exec_module(claims)

ROWS = claims.read_claims((SOURCE / "bench/claims.tsv").read_text())


def test_benches_print_the_figures_that_are_claimed():
    assert len(ROWS) >= 20
    for claim, bench, figure, together, relation, _ in ROWS:
        (path,) = SOURCE.glob(f"bench/{bench.split()[0]}.*")
        source = path.read_text()
        names = [text.replace(".", r"\.").replace("%s", r"\w+").replace("%d", r"\d")
                 for text in re.findall(r'"(?:figure )?(\w+\.[\w.%]+)[ "]', source)]  # fmt: skip
        assert any(re.fullmatch(name, figure) for name in names), claim
        assert together in claims.TOGETHER and relation in claims.HOLDS


def test_a_claim_is_judged_by_the_median_of_its_runs():
    row = ("speed", "bench_x", "x", "max", "<=", 2.0)
    runs = [claims.figures_of(f"table\nfigure x {a}\nfigure y 9\nfigure x {b}\n") for a, b in ((1, 5), (1, 2), (0.5, 1))]
    assert claims.judge(row, runs) == ("speed: <= 2", "2 (1 to 5)", "holds")
    assert claims.judge((*row[:4], "<=", 1.9), runs)[2] == "missed"
    assert claims.judge((*row[:4], "<=", 1.03), [{"x": [1.03004]}])[1:] == ("1.03 (1.03 to 1.03)", "holds")
    assert claims.judge((*row[:3], "sum", ">=", 3.0), runs) == ("speed: >= 3", "3 (1.5 to 6)", "holds")
    assert claims.judge((*row[:3], "mean", ">=", 1.5), runs)[1:] == ("1.414 (0.7071 to 2.236)", "missed")


def test_results_judge_each_claim_by_their_own_numbers():
    text = (SOURCE / "bench/RESULTS.md").read_text()
    table = text.split(claims.BEGIN)[1].split(claims.END)[0]
    rows = re.findall(r"^\| (.+): (<=|>=) (\S+) \| (\S+) \((\S+) to (\S+)\) \| (\w+) \| `([^`]+)` \| \d{4}-\d\d-\d\d, .+ \|$", table, re.M)
    assert [(row[0], row[7], row[1], float(row[2])) for row in rows] == [(r[0], r[1], r[4], r[5]) for r in ROWS]
    assert len(claims.table_rows(text)) == len(rows) + 2  # its head
    for claim, relation, bound, median, least, most, verdict, _ in rows:
        assert float(least) <= float(median) <= float(most), claim
        assert verdict == ("holds" if claims.HOLDS[relation](float(median), float(bound)) else "missed"), claim
