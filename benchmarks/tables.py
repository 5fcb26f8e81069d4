"""Time and memory of encoding a table of mixed columns: `python benchmarks/tables.py --rows 1000000`.

Twenty columns as a CSV file gives them, ten of them texts: numbers of two scales with and without holes, 0 and 1,
booleans, dates, few and many categories, ids, sentences. The peak is that of the process, with the table in it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from agssl.base.system import peak_mb
from agssl.data.columns import apply_columns, fit_columns
from agssl.data.validate import as_features


def make_table(rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    columns: dict[str, pa.Array] = {}
    for i in range(4):
        columns[f"number{i}"] = pa.array(rng.normal(10**i, 10**i, rows))
    for i in range(2):
        columns[f"holes{i}"] = pa.array(rng.normal(size=rows), mask=rng.random(rows) < 0.1)
    for i in range(4):
        columns[f"bit{i}"] = pa.array((rng.random(rows) < 0.2).astype(np.float64))
    columns["member"] = _pick(rng, ["yes", "no", ""], rows)
    columns["remote"] = _pick(rng, ["true", "false"], rows)
    columns["joined"] = _pick(rng, [str(np.datetime64("2000-01-01") + i) for i in range(8000)], rows)
    columns["left"] = _pick(rng, ["", *(str(np.datetime64("2010-01-01") + i) for i in range(4000))], rows)
    columns["city"] = _pick(rng, [f"city {i}" for i in range(8)], rows)
    columns["grade"] = _pick(rng, [f"grade {i}" for i in range(40)], rows)
    columns["brand"] = _pick(rng, [f"brand{i}" for i in range(5000)], rows)
    columns["code"] = pa.array([f"k{i}" for i in range(rows)])
    for name in ("title", "about"):
        words = rng.zipf(1.3, (rows, 8)) % 20_000
        columns[name] = pa.array([" ".join([f"word{w}" for w in row]) for row in words.tolist()])
    return pa.table(columns)


def _pick(rng: np.random.Generator, values: list[str], rows: int) -> pa.Array:
    return pa.array(values).take(pa.array(rng.integers(len(values), size=rows)))


def measure(rows: int) -> dict[str, object]:
    def where(row: int) -> str:
        return f"row {row}"

    table = make_table(rows)
    before, start, cpu = peak_mb(), time.perf_counter(), time.process_time()
    columns, made = fit_columns(table, where)
    x = as_features(made)
    seconds, cpu, peak = time.perf_counter() - start, time.process_time() - cpu, peak_mb()
    del made
    start = time.perf_counter()
    apply_columns(columns, table, where)
    return {
        "rows": rows,
        "columns": table.num_columns,
        "features": x.shape[1],
        "table_mb": round(table.nbytes / 2**20, 1),
        "before_mb": round(before, 1),
        "peak_mb": round(peak, 1),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "apply_seconds": round(time.perf_counter() - start, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--out", help="write the rows to this file")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = [measure(count) for count in args.rows]
    if args.out:
        Path(args.out).write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(json.dumps(rows) if args.json else "\n".join(str(row) for row in rows))


if __name__ == "__main__":
    main()
