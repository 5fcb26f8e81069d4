"""`agssl serve` under load, beside plain PyG behind the same framework.

    python benchmarks/serve.py                                   # Cora, 60 s per cell, 1, 8 and 64 connections
    python benchmarks/serve.py --seconds 10 --dataset digits --models mlp --json

Each request is one new node with its features; for the GCN also five edges to nodes of the graph. Ours is `agssl serve`
with `--rate 0`, every answer with its "unlike anything seen" flag. Theirs (`pyg_app`) is what one would write with PyG,
Starlette and uvicorn: the new node is added to the edges, `k_hop_subgraph` cuts out what two layers see, and the model
runs on it. (Its degrees at the rim are those of the cut, so its numbers are not quite those of the whole graph; ours
are.) The client is a process of its own with keep-alive connections, each of which sends its next request when it has
the answer.

`requests_per_second`, `p50_ms` and `p99_ms` are of answers with status 200; `failed` counts all others;
`cpu_ms_per_request` is the processor time of the service, which other work on the machine disturbs less. `workers` has
the memory of several workers: `pss_mb` counts a page that n processes share as 1/n in each, `private_mb` those of one
alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results/benchmarks/serve.json"
LINKS = 5


def sample_requests(dataset: str, model: str, count: int = 64) -> list[bytes]:
    """Bodies: rows of the dataset as if they were new, linked to some of its nodes."""
    import numpy as np
    import scipy.sparse as sp

    from agssl.data.datasets import load_dataset

    graph, draw, bodies = load_dataset(dataset), np.random.default_rng(0), []
    x = sp.csr_matrix(graph.x)
    for _ in range(count):
        row = x[int(draw.integers(graph.num_nodes))]
        features = {str(at): float(value) for at, value in zip(row.indices, row.data, strict=True)}
        body: dict[str, Any] = {"new": [{"id": "n0", "features": features}]}
        if model == "gcn":
            body["edges"] = [["n0", int(end)] for end in draw.integers(graph.num_nodes, size=LINKS)]
        bodies.append(json.dumps(body).encode())
    return bodies


def pyg_app(dataset: str, model: str, hidden: int) -> Any:
    """The same service in plain PyG."""
    import numpy as np
    import torch
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route
    from torch_geometric.nn import GCN, MLP
    from torch_geometric.utils import k_hop_subgraph

    from agssl.data.datasets import load_dataset

    torch.set_num_threads(1)
    data = load_dataset(dataset).to_pyg()
    x = data.x.to_dense() if data.x.layout != torch.strided else data.x
    nodes, features, classes = *x.shape, len(data.classes)
    network: Any = MLP([features, hidden, classes], norm=None) if model == "mlp" else GCN(features, hidden, 2, classes)
    network.eval()

    @torch.no_grad()
    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        row = torch.zeros(1, features)
        for name, value in asked["new"][0]["features"].items():
            row[0, int(name)] = value
        if model == "mlp":
            logits = network(row)[0]
        else:
            ends = torch.tensor([end for _, end in asked["edges"]])
            new = torch.full_like(ends, nodes)
            edges = torch.cat([data.edge_index, torch.stack([new, ends]), torch.stack([ends, new])], dim=1)
            near, cut, where, _ = k_hop_subgraph(nodes, 2, edges, relabel_nodes=True, num_nodes=nodes + 1)
            rows = torch.cat([x[near[near < nodes]], row])
            logits = network(rows, cut)[where[0]]
        probabilities = torch.softmax(logits, -1)
        best = int(probabilities.argmax())
        return {"prediction": str(data.classes[best]), "probability": float(np.float32(probabilities[best]))}

    async def predict(request: Request) -> JSONResponse:
        return JSONResponse(answer(await request.json()))

    return Starlette(routes=[Route("/predict", predict, methods=["POST"])])


async def load(port: int, bodies: list[bytes], connections: int, seconds: float) -> dict[str, Any]:
    """Ask over so many connections for so long."""
    times: list[float] = []
    failed = 0
    stop = time.perf_counter() + seconds

    async def ask(number: int) -> None:
        nonlocal failed
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < stop:
            number += 1
            body = bodies[number % len(bodies)]
            head = "POST /predict HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            head += f"content-length: {len(body)}"
            start = time.perf_counter()
            writer.write(head.encode() + b"\r\n\r\n" + body)
            found = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", found.lower())
            assert length is not None
            await reader.readexactly(int(length[1]))
            if b" 200 " in found[:16]:
                times.append(time.perf_counter() - start)
            else:
                failed += 1
        writer.close()

    begun = time.perf_counter()
    await asyncio.gather(*(ask(7 * number) for number in range(connections)))
    spent = time.perf_counter() - begun
    ranked = sorted(times)
    at = [1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))] for share in (0.5, 0.99)]
    return {
        "requests_per_second": round(len(times) / spent, 1),
        "p50_ms": round(at[0], 2),
        "p99_ms": round(at[1], 2),
        "requests": len(times),
        "failed": failed,
    }


class Server:
    """A service in a process of its own."""

    def __init__(self, words: list[str]) -> None:
        self.process = subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                return
        raise RuntimeError(f"{words} did not start")

    def cpu_seconds(self) -> float:
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def cell(server: Server, bodies: list[bytes], connections: int, seconds: float) -> dict[str, Any]:
    """One cell, asked for by a process of its own."""
    words = [sys.executable, __file__, "--call", json.dumps(["load", server.port, connections, seconds])]
    text = json.dumps([body.decode() for body in bodies])
    before = server.cpu_seconds()
    row = json.loads(subprocess.run(words, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout)
    answered = max(1, row["requests"] + row["failed"])
    return row | {"cpu_ms_per_request": round(1000 * (server.cpu_seconds() - before) / answered, 2)}


def workers_memory(run: Path, bodies: list[bytes], counts: list[int]) -> list[dict[str, Any]]:
    """What several workers take, after each has answered."""
    rows = []
    for count in counts:
        server = Server(["-m", "agssl", "serve", str(run), "--port", "0", "--workers", str(count), "--rate", "0"])
        cell(server, bodies, 4 * count, 2)
        parent = server.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        found = [_memory(int(pid)) for pid in (children or [str(parent)])]
        server.stop()
        rows.append(
            {
                "workers": count,
                "pss_mb": [round(one["Pss"] / 1024, 1) for one in found],
                "private_mb": [round((one["Private_Clean"] + one["Private_Dirty"]) / 1024, 1) for one in found],
                "rss_mb": [round(one["Rss"] / 1024, 1) for one in found],
            }
        )
    return rows


def _memory(pid: int) -> dict[str, int]:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) for line in lines}


def fitted(dataset: str, model: str, hidden: int, root: Path) -> Path:
    run = root / f"{dataset}-{model}"
    if not (run / "run.json").exists():
        words = ["fit", dataset, "--method", "gcn", "--encoder", model, "--hidden", str(hidden), "--epochs", "20"]
        words += ["--jobs", "1", "--out", str(run)]
        subprocess.run([sys.executable, "-m", "agssl", *words], check=True, stdout=subprocess.DEVNULL)
    return run


def run_pyg(dataset: str, model: str, hidden: int) -> None:
    """Serve plain PyG."""
    import uvicorn

    from agssl.serve.server import listen

    app = pyg_app(dataset, model, hidden)
    sock = listen("127.0.0.1", 0)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, http="h11", lifespan="off", log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[sock])


def call(name: str, *arguments: Any) -> None:
    if name == "pyg":
        run_pyg(*arguments)
        return
    bodies = [body.encode() for body in json.loads(sys.stdin.read())]
    print(json.dumps(asyncio.run(load(arguments[0], bodies, *arguments[1:]))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="cora")
    parser.add_argument("--models", default="mlp,gcn")
    parser.add_argument("--connections", default="1,8,64")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each cell (default: 60)")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--workers", default="1,2,4", help="whose memory to measure, with commas; empty: none")
    parser.add_argument("--root", type=Path, default=Path("runs/serve"), help="where runs are kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file for the results (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the record on stdout")
    parser.add_argument("--call", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.call:
        call(*args.call)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows, memory = [], []
    for model in args.models.split(","):
        run, bodies = fitted(args.dataset, model, args.hidden, args.root), sample_requests(args.dataset, model)
        servers = {
            "agssl": Server(["-m", "agssl", "serve", str(run), "--port", "0", "--rate", "0"]),
            "pyg": Server([__file__, "--call", json.dumps(["pyg", args.dataset, model, args.hidden])]),
        }
        for connections in map(int, args.connections.split(",")):
            for name, server in servers.items():  # in turn, so that both meet the same neighbours on the machine
                row = {"server": name, "model": model, "connections": connections}
                row |= cell(server, bodies, connections, args.seconds)
                rows.append(row | {"load_average": round(os.getloadavg()[0], 2)})
                print(rows[-1], file=sys.stderr)
        for server in servers.values():
            server.stop()
        if model == "gcn" and args.workers:
            memory = workers_memory(run, bodies, [int(count) for count in args.workers.split(",")])
    record = {"dataset": args.dataset, "seconds": args.seconds, "hidden": args.hidden, "rows": rows, "workers": memory}
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(record, indent=1) + "\n")
    if args.json:
        print(json.dumps(record))


if __name__ == "__main__":
    main()
