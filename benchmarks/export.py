"""The latency of an exported student: onnxruntime beside the student itself.

    python benchmarks/export.py [--dataset cora] [--hidden 64] [--json]

An `mlp` is trained for a moment, exported (`agssl export`), and asked for 1 and for 1000 nodes, on one thread;
`difference` is the largest between the probabilities of both over a thousand nodes. Milliseconds are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results/benchmarks/export.json"


def milliseconds(call: Callable[[], Any], repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - start))
    return round(statistics.median(times), 4)


def measured(dataset: str, hidden: int, repeats: int) -> dict[str, Any]:
    import numpy as np
    import onnxruntime
    import torch

    from agssl import AGSSL, load_dataset
    from agssl.export import export_onnx, network_rows
    from agssl.ops.csr import identity
    from agssl.ops.features import Inputs
    from agssl.ops.plan import ForwardPlan, Hop

    torch.set_num_threads(1)
    graph = load_dataset(dataset)
    model = AGSSL(method="gcn", encoder="mlp", hidden=hidden, epochs=5).fit(graph)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        export_onnx(model.fitted_, path)
        size = path.stat().st_size
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    rows = network_rows(model.fitted_, graph)[:1000]
    network, found = model.fitted_.model, {}
    for count in (1, len(rows)):
        some, plan = rows[:count], ForwardPlan(None, (), (None,), (Hop(identity(count)),))

        def exported(some: np.ndarray = some) -> Any:
            return session.run(["probabilities"], {"rows": some})

        def own(some: np.ndarray = some, plan: ForwardPlan = plan) -> Any:
            with torch.no_grad():
                return network(Inputs.over(some), plan).logits

        found[count] = {"onnxruntime_ms": milliseconds(exported, repeats), "torch_ms": milliseconds(own, repeats)}
    said = session.run(["probabilities"], {"rows": rows})[0]
    difference = float(np.abs(said - model.predict_proba()[: len(rows)]).max())
    return {
        "dataset": dataset,
        "hidden": hidden,
        "bytes": size,
        "nodes": len(rows),
        "difference": difference,
        "by_nodes": found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the record on stdout")
    args = parser.parse_args()
    record = measured(args.dataset, args.hidden, args.repeats) | {"load_average": round(os.getloadavg()[0], 2)}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record), file=sys.stdout if args.json else sys.stderr)


if __name__ == "__main__":
    main()
