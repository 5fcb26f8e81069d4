"""Is this installation sound: versions, libraries, optional packages, a small fit from end to end, and the caches."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

from agssl.base.install import install_line
from agssl.base.system import free_memory

CORE = ("torch", "numpy", "scipy", "scikit-learn", "pyarrow", "safetensors", "rich")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    group: str  # "extra" | "kernel" | "self-test" | "folder"
    name: str
    state: str  # "ok" | "absent" | "failed"
    detail: str
    seconds: float = 0.0


def versions() -> dict[str, str]:
    """Versions of this package, of Python and of what it needs."""
    from agssl.base.version import __version__

    found = {"agssl": __version__, "python": platform.python_version()}
    for name in CORE:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "absent"
    return found


def machine_facts() -> dict[str, Any]:
    """Processors, threads, the libraries that multiply matrices, and memory."""
    import torch
    from threadpoolctl import threadpool_info

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    pools = [
        {"library": pool["internal_api"], "version": pool.get("version"), "threads": pool["num_threads"]}
        for pool in threadpool_info()
    ]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores,
        "torch_threads": torch.get_num_threads(),
        "blas": pools,
        "torch_blas": "mkl" if torch.backends.mkl.is_available() else "other",
        "cuda": torch.cuda.is_available(),
        "free_memory": free_memory(),
    }


def caches() -> dict[str, dict[str, Any]]:
    """Where data and cached targets are, and how many bytes they take."""
    from agssl.data.fetch import data_folders

    folders = data_folders()
    places = {"AGSSL_DATA": folders.root, "cache": folders.cache, "targets": folders.cache / "targets"}
    return {
        name: {"path": None if path is None else str(path), "bytes": 0 if path is None else folder_size(path)}
        for name, path in places.items()
    }


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder; links are not followed."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def checks() -> Iterator[Check]:
    """Every check in turn, each as soon as it is done."""
    for extra, (module, use) in EXTRAS.items():
        yield _tried("extra", extra, partial(_use, module, use), absent=module)
    yield _tried("kernel", "sparse product and its gradient", _kernels)
    yield _tried("kernel", "partition", _partition)
    yield _tried("self-test", "fit, save, load, predict", _fit)
    yield _tried("folder", "cache can be written", _cache_writable)


def _tried(group: str, name: str, check: Callable[[], str], absent: str | None = None) -> Check:
    start = time.perf_counter()
    try:
        if absent is not None and importlib.util.find_spec(absent) is None:
            return Check(group, name, "absent", f"{absent} is not installed; {install_line(name)} brings it")
        detail, state = check(), "ok"
    except Exception as error:  # whatever it is, this is the place that tells
        detail, state = " ".join(f"{type(error).__name__}: {error}".split())[:200], "failed"
    return Check(group, name, state, detail, time.perf_counter() - start)


def _use(module: str, use: Callable[[Any], str]) -> str:
    return use(importlib.import_module(module))


def _optuna(optuna: Any) -> str:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=2)
    return f"optuna {optuna.__version__}, {len(study.trials)} trials"


def _matplotlib(matplotlib: Any) -> str:
    from matplotlib.figure import Figure

    buffer = io.BytesIO()
    Figure().savefig(buffer, format="png")
    return f"matplotlib {matplotlib.__version__}, drew {len(buffer.getvalue()):,} bytes"


def _pyg(pyg: Any) -> str:
    from agssl.data.convert import from_pyg

    graph = _graph()
    assert from_pyg(graph.to_pyg()).fingerprint == graph.fingerprint
    return f"torch_geometric {pyg.__version__}, a graph there and back"


def _cmaes(cmaes: Any) -> str:
    import numpy as np

    point = cmaes.CMA(mean=np.zeros(2), sigma=1.0, seed=0).ask()
    return f"cmaes, a point of {len(point)} numbers"


def _tensorboard(tensorboard: Any) -> str:
    from torch.utils.tensorboard import SummaryWriter

    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            writer.add_scalar("loss", 1.0, 0)
        return f"tensorboard {tensorboard.__version__}, {len(os.listdir(folder))} file of events"


def _pymetis(pymetis: Any) -> str:
    from agssl.ops.partition import metis_parts

    return f"pymetis {metadata.version('pymetis')}, {len(set(metis_parts(_graph(), 4).tolist()))} parts"


def _ray(ray: Any) -> str:
    return f"ray {ray.__version__}; no cluster was started"


def _uvicorn(uvicorn: Any) -> str:
    import starlette

    return f"uvicorn {uvicorn.__version__}, starlette {starlette.__version__}; nothing was served"


def _onnxruntime(onnxruntime: Any) -> str:
    import onnx

    return f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}"


EXTRAS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "metis": ("pymetis", _pymetis),
    "tune": ("optuna", _optuna),
    "es": ("cmaes", _cmaes),
    "plot": ("matplotlib", _matplotlib),
    "pyg": ("torch_geometric", _pyg),
    "track": ("tensorboard", _tensorboard),
    "scale": ("ray", _ray),
    "serve": ("uvicorn", _uvicorn),
    "onnx": ("onnxruntime", _onnxruntime),
}


def _graph() -> Any:
    """Sixty nodes in two groups, with labels and a split."""
    import numpy as np

    from agssl.base.rng import Rng
    from agssl.data.graph import Graph
    from agssl.data.splits import make_split

    draw = Rng(0).child("doctor").numpy()
    y = np.arange(60) % 2
    ends = draw.integers(60, size=(2, 400))
    ends = ends[:, (y[ends[0]] == y[ends[1]]) | (draw.random(400) < 0.1)]
    x = (draw.normal(size=(60, 8)) + 2 * y[:, None]).astype(np.float32)
    graph = Graph.from_arrays(ends, x, y, name="doctor", notify=False)
    return graph.with_split(make_split("fraction:0.4/0.3/0.3", graph, Rng(0).child("split")))


def _kernels() -> str:
    """Â H and its gradient against dense matrices in double precision."""
    import numpy as np
    import torch

    from agssl.ops.adjacency import Adjacency
    from agssl.ops.csr import multiply

    graph = _graph()
    a = graph.adjacency().toarray().astype(np.float64) + np.eye(graph.num_nodes)
    scale = a.sum(1) ** -0.5
    dense = torch.from_numpy(a * scale[:, None] * scale)
    h = torch.randn(graph.num_nodes, 16, generator=torch.Generator().manual_seed(0), requires_grad=True)
    out = multiply(Adjacency.of(graph).normalised, h)
    out.square().sum().backward()
    wide = h.detach().double().requires_grad_()
    expected = dense @ wide
    expected.square().sum().backward()
    assert h.grad is not None
    assert wide.grad is not None
    error = max((out - expected).abs().max().item(), (h.grad - wide.grad).abs().max().item())
    if error > 1e-4:
        raise ArithmeticError(f"sparse and dense differ by {error:.1e}")
    return f"equal to dense ones within {error:.0e}"


def _partition() -> str:
    from agssl.ops.partition import METIS, cut_by, cut_graph

    parts = cut_graph(_graph(), 4, seed=0)
    by = "METIS" if cut_by() == METIS else "our own method"
    return f"{len(set(parts.tolist()))} parts of {len(parts)} nodes, by {by}"


def _fit() -> str:
    """All five tasks, then the saved model must say the same."""
    import numpy as np

    from agssl import AGSSL

    graph = _graph()
    model = AGSSL(hidden=16, epochs=20, alpha=1.0, random_state=0).fit(graph)
    with tempfile.TemporaryDirectory(prefix="agssl-doctor-") as folder:
        model.save(Path(folder) / "model.agssl")
        again = AGSSL.load(Path(folder) / "model.agssl").predict_proba(graph)
    if not np.allclose(again, model.predict_proba(), atol=1e-5):
        raise ArithmeticError("a saved model predicts something else than the fitted one")
    accuracy = model.score()
    if accuracy < 0.7:
        raise ArithmeticError(f"the test accuracy on an easy graph is {accuracy:.0%}, expected 70% or more")
    return f"test accuracy {accuracy:.0%} on 60 nodes, five tasks"


def _cache_writable() -> str:
    from agssl.base.atomic import write_bytes
    from agssl.data.fetch import data_folders

    path = data_folders().cache / ".doctor"
    write_bytes(path, b"")
    path.unlink()
    return str(path.parent)
