"""What the automatic pool tries, and how long each of it may train (`--effort`)."""

from __future__ import annotations

from dataclasses import dataclass

PAPER_TASKS = ("par", "clu", "dgi", "pairdis", "pairsim")  # the paper's five
GRAND_TASKS = ("grand:views=4",)  # of method grand


@dataclass(frozen=True)
class Effort:
    """How much is tried.

    Args:
        first: scouts that also tell how features are to be scaled: each is trained with every scaling.
        others: scouts that are trained with the scaling that was better.
        tasks: pretext tasks.
        encoders: how many of the best encoders they are trained on: dealt out in turn or, with several seeds, each on
            all.
        seeds: networks of each task and encoder.
        epochs: most epochs of a network.
        patience: most epochs that it waits for a better one.
        generations: most students.
    """

    first: tuple[str, ...]
    others: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    encoders: int = 1
    seeds: int = 1
    epochs: int = 500
    patience: int = 50
    generations: int = 2

    @property
    def scouts(self) -> tuple[str, ...]:
        """All of them."""
        return self.first + self.others


SIMPLE_SCOUTS = ("labels@linear", "labels@linear:k=0", "labels@lp")
NETWORK_SCOUTS = (
    "labels@sage",
    "labels@gcn:skip_weight=0.4",
    "labels@gat",
    "labels@appnp",
    "labels@gpr:teleport=0.5",
    "labels@ppr",
    "labels@hops",
    "labels@linkx",
    "labels@gcn:view=knn",
)
EFFORTS = {
    "quick": Effort(
        ("labels@gcn",), (*SIMPLE_SCOUTS, "labels@mlp", "labels@sage"), epochs=100, patience=20, generations=1
    ),
    "standard": Effort(("labels@mlp", "labels@gcn"), SIMPLE_SCOUTS + NETWORK_SCOUTS, PAPER_TASKS, encoders=3),
    "best": Effort(
        ("labels@mlp", "labels@gcn"),
        SIMPLE_SCOUTS + NETWORK_SCOUTS,
        (*PAPER_TASKS, "bgrl", "grace", "graphmae"),
        encoders=3,
        seeds=2,
    ),
}
IN_PARTS = Effort(("labels@gcn",), ("labels@sage", "labels@mlp"), PAPER_TASKS)  # of a graph that is trained in parts
