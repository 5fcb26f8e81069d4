"""Peak memory and time of a training step with each of the seven rival tasks, one process per task.

    python benchmarks/rivals_memory.py --datasets physics,arxiv --out results/benchmarks/rivals-memory.json

Each process loads the graph, prepares the task (diffusion, coarse graph, centralities), and takes `--steps` joint steps
on the labels and the task; its peak is that of all this. One thread. The arxiv graph has 128 random features where its
own are not at hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workers import CLOCKS, Reply, Worker, arguments, benchmark_graph, machine, peak_mb, say, show, single_thread

TASKS = "gmi,mvgrl,grace,gca,cg3,bgrl,graphmae"
COLUMNS = ("dataset", "task", "peak_mb", "prepare_seconds", "seconds_per_step", "gcn_seconds_per_step")


def side(reply: Reply, dataset: str, task: str, hidden: int, steps: int, clock: str) -> None:
    """Prepares the task and trains with it; its one answer is what that took."""
    from agssl.base.rng import Rng
    from agssl.data.splits import make_split
    from agssl.encoders import Shape
    from agssl.ops.memory import keep_freed_memory
    from agssl.pretext.prepare import make_task, prepared
    from agssl.train.halving import to_the_end
    from agssl.train.loop import Schedule, Training
    from agssl.train.network import WeightedTask, train_network
    from agssl.train.problem import Problem

    single_thread()
    keep_freed_memory()
    now, graph = CLOCKS[clock], benchmark_graph(dataset)
    if graph.split is None:
        graph = graph.with_split(make_split("benchmark", graph, Rng(0).child("split")))
    problem = Problem.of(graph, Shape(graph.num_features, hidden, graph.num_classes))
    kind, start = make_task(task), now()
    weighted = WeightedTask(task, kind, prepared(kind, graph), 1.0)
    prepare_seconds = now() - start

    def seconds(tasks: tuple[WeightedTask, ...]) -> float:
        times: list[float] = []
        schedule = Schedule(epochs=steps + 1)
        training = Training(schedule, watch=lambda stage, record: times.append(now()))
        to_the_end(train_network([problem], tasks, "jt", training, Rng(0)))
        return (times[-1] - times[0]) / steps  # the first step also makes what is kept for the others

    row: dict[str, Any] = {"nodes": graph.num_nodes, "edges": graph.num_edges, "features": graph.num_features}
    row |= {"prepare_seconds": prepare_seconds, "seconds_per_step": seconds((weighted,)), "peak_mb": peak_mb()}
    reply(row | {"gcn_seconds_per_step": seconds(())})


def main() -> None:
    parser = arguments("Peak memory of a training step with each rival task.", "physics,arxiv")
    parser.set_defaults(hidden=64)
    parser.add_argument("--tasks", default=TASKS, help="names, with commas (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=1, help="steps that are timed (default: %(default)s)")
    parser.add_argument("--out", type=Path, help="also write the JSON here, row by row; rows that it has are kept")
    options = parser.parse_args()
    rows = json.loads(options.out.read_text()) if options.out and options.out.exists() else []
    done = {(row["dataset"], row["task"]) for row in rows}
    common = {"hidden": options.hidden, "steps": options.steps, "clock": options.clock}
    for dataset in options.datasets.split(","):
        for task in options.tasks.split(","):
            if (dataset, task) in done:
                continue
            say(f"{dataset}: {task}")
            with Worker("rivals_memory:side", dataset=dataset, task=task, **common) as worker:
                rows.append({"dataset": dataset, "task": task} | common | worker.first | {"machine": machine()})
            if options.out:
                options.out.write_text(json.dumps(rows, indent=1) + "\n")
    show(rows, COLUMNS, options.json)


if __name__ == "__main__":
    main()
