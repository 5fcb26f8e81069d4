"""The pages of `agssl bench results`: which tables and figures stand together, and what each page answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """A page below docs/research."""

    name: str  # its file, without ending
    title: str
    about: str  # what it answers
    artifacts: tuple[str, ...]

    @property
    def file(self) -> str:
        """Its name with the ending."""
        return f"{self.name}.md"


PAGES = (
    Page("table1", "Single and several tasks", "Does one task help, do several, and is AGSSL above both?", ("table1",)),
    Page("table2", "Other self-supervised methods", "How do other tasks and systems do as one more task?", ("table2",)),
    Page(
        "authors",
        "The authors' split",
        "What of the difference to the paper is the split's?",
        ("table1-authors", "table2-authors"),
    ),
    Page(
        "equal",
        "Equal labels",
        "Is AGSSL above baselines that read validation labels for as much, and when it reads them for less?",
        ("equal",),
    ),
    Page(
        "rivals", "Rivals at their best", "Is it above methods of other kinds, as their papers set them?", ("rivals",)
    ),
    Page("graphs", "Any graphs", "Is it above simple baselines on graphs of other kinds?", ("graphs",)),
    Page("trust", "Trust", "Do the weights of a node point to the teachers that are right there?", ("trust",)),
    Page("tasks", "Which task helps where", "Do tasks differ by graph, pair and node?", ("fig1",)),
    Page(
        "weights",
        "How teachers are weighed",
        "What do weights look like by degree and over epochs?",
        ("fig5", "fig6", "fig7"),
    ),
    Page(
        "integration",
        "Integration, number of teachers, loss weights",
        "What do schemes, more teachers and loss weights change?",
        ("table-a2", "fig8"),
    ),
    Page(
        "redundancy",
        "Which teachers are redundant",
        "What does a teacher add where another is there, and what do more of them bring and cost?",
        ("redundancy",),
    ),
    Page(
        "embeddings",
        "Representations",
        "What are hidden rows worth without labels: do they cluster by class, and do they tell links?",
        ("embeddings",),
    ),
    Page("beyond", "Beyond graphs", "What is it worth for images and text, with few labels?", ("beyond",)),
    Page("cost", "Time and memory", "What does a fit take?", ("table-a3",)),
    Page("theory", "The paper's theory, measured", "Do its claims hold on block models?", ("theory",)),
)
