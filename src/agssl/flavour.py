"""Fitted models as models of MLflow (extra `track`): saved with it, logged to it, served by it.

    from agssl.flavour import log_model, save_model

    save_model("runs/mine", "mlflow-model")
    mlflow.pyfunc.load_model("mlflow-model").predict(table)

A model of MLflow stands alone: it predicts new rows without edges. One whose student reads neighbours says so, and then
judges rows by their own columns; a student that needs none (`--student mlp`) loses nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agssl.base.atomic import atomic_write
from agssl.base.errors import DataError
from agssl.base.install import missing_extra
from agssl.base.version import __version__
from agssl.store.fitted import FittedModel, load_fitted
from agssl.store.run import Run

if TYPE_CHECKING:
    import pandas as pd

FLAVOUR, FILE = "agssl", "model.safetensors"


def model_file(source: str | Path, seed: int | None = None) -> Path:
    """The file of a model: that of a run's seed, by default the first, or the one that `AGSSL.save` wrote."""
    path = Path(source)
    found = Run.open(path).folder(seed) / FILE if path.is_dir() else path
    if not found.is_file():
        raise DataError(f"{found} does not exist; give a folder written by agssl fit, or a model written by AGSSL.save")
    load_fitted(found)  # a damaged one shows now
    return found


def save_model(source: str | Path, path: str | Path, *, seed: int | None = None) -> None:
    """Write a run's model as a folder that MLflow loads.

    Args:
        source: the folder of a run, or a model file.
        path: the folder to write.
        seed: of the run; by default its first.
    """
    import shutil

    mlflow, found = _mlflow(), model_file(source, seed)
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder} is not empty; name another folder")
    (folder / "data").mkdir(parents=True)
    shutil.copyfile(found, folder / "data" / FILE)
    described = mlflow.models.Model()
    mlflow.pyfunc.add_to_model(described, loader_module=__name__, data=f"data/{FILE}", python_env=None)
    described.add_flavor(FLAVOUR, agssl_version=__version__, data=f"data/{FILE}")
    described.save(str(folder / "MLmodel"))
    with atomic_write(folder / "requirements.txt") as file:
        file.write(f"agssl=={__version__}\npandas\n".encode())


def log_model(source: str | Path, name: str = "model", *, seed: int | None = None) -> None:
    """Add a run's model to the files of MLflow's active run.

    Args:
        source: the folder of a run, or a model file.
        name: of the folder there.
        seed: of the run; by default its first.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="agssl-") as folder:
        save_model(source, Path(folder) / "model", seed=seed)
        _mlflow().log_artifacts(str(Path(folder) / "model"), name)


def load_model(path: str | Path) -> FittedModel:
    """The model in a folder that `save_model` wrote, as agssl knows it."""
    return load_fitted(Path(path) / "data" / FILE)


class PyFunc:
    """What MLflow calls: rows in, predictions out.

    Args:
        fitted: the model.
    """

    def __init__(self, fitted: FittedModel) -> None:
        self.fitted = fitted

    def predict(self, data: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """A row for each of those given, a table or an array.

        Args:
            data: with the columns of the model; ids where there are any.
            params: `coverage` asks for prediction sets.
        """
        import pandas as pd

        from agssl.data.new_nodes import frame_new_nodes
        from agssl.serve.predictor import Asked, Predictor

        predictor = Predictor((self.fitted,), names=())
        found = predictor.new(
            frame_new_nodes(data, None, predictor.known), Asked(coverage=(params or {}).get("coverage"))
        )
        table = pd.DataFrame(found.records(proba=True))
        return table.drop(columns="probabilities").join(pd.json_normalize(table["probabilities"]).add_prefix("proba_"))


def _load_pyfunc(path: str) -> PyFunc:
    """How MLflow loads it, by this name."""
    return PyFunc(load_fitted(path))


def _mlflow() -> Any:
    try:
        import mlflow.models
        import mlflow.pyfunc
    except ImportError as error:
        raise missing_extra("models of MLflow need mlflow", "track") from error
    return mlflow
