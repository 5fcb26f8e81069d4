"""What the records of `agssl.theory.study` say, in Markdown with verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from agssl.theory.study import StudyRecord

SCHEME_ROWS = (  # in the records, in words, family
    ("par", "PAR alone", "teacher"),
    ("clu", "CLU alone", "teacher"),
    ("dgi", "DGI alone", "teacher"),
    ("pairdis", "PAIRDIS alone", "teacher"),
    ("pairsim", "PAIRSIM alone", "teacher"),
    ("best single, by validation", "best single, by validation", "teacher"),
    ("GCN", "GCN, no task", "teacher"),
    ("Average", "Average", "paper"),
    ("LF, train", "LF, lambda from training labels", "paper"),
    ("TS, train", "TS, lambda from training labels", "paper"),
    ("Average, calibrated", "Average, calibrated", "ours"),
    ("LF, val", "LF, validation labels, calibrated", "ours"),
    ("TS, val", "TS, validation labels, calibrated", "ours"),
    ("LOCAL, val", "local, validation labels, calibrated", "ours"),
    ("STACK, val", "stack, validation labels, calibrated", "ours"),
    ("BOTH, val", "both, validation labels, calibrated", "ours"),
    ("best weights, shared by all nodes", "best shared weights (p* known)", "oracle"),
    ("best weights a node", "best weights per node (p* known)", "oracle"),
    ("best weights a node, calibrated", "same, calibrated (p* known)", "oracle"),
)
_STUDENTS = ("student of LF, train", "student of TS, train", "student of LF, val", "student of TS, val")
TEACHERS = ("best single", "Average", "LF", "TS", "Bayes")


def scheme_rows(records: Sequence[StudyRecord]) -> list[tuple[str, str, str]]:
    """Those of `SCHEME_ROWS` that all records have: earlier versions had fewer."""
    return [row for row in SCHEME_ROWS if all(row[0] in record["schemes"] for record in records)]


def values(records: Sequence[StudyRecord], pick: Callable[[StudyRecord], float]) -> np.ndarray:
    """One number per seed."""
    return np.array([pick(record) for record in records])


def _text(found: np.ndarray, digits: int = 3) -> str:
    spread = f" ± {found.std(ddof=1):.{digits}f}" if len(found) > 1 else ""
    return f"{found.mean():.{digits}f}{spread}"


def one(record: StudyRecord, teacher: str, network: str) -> StudyRecord:
    """The measurement of Proposition 1 for one teacher and network."""
    return next(r for r in record["proposition"] if (r["teacher"], r["network"]) == (teacher, network))


def right_side(row: StudyRecord) -> float:
    """Of Proposition 1, with the factor that O hides."""
    return float(row["variance_if_independent"] + row["second_term"])


def theory_table(records: Sequence[StudyRecord]) -> str:
    """The whole of the report, in Markdown."""
    return "\n".join([*_model(records), *_proposition(records), *_theorem(records), *_schemes(records)]) + "\n"


def _model(records: Sequence[StudyRecord]) -> list[str]:
    model, bayes = records[0]["model"], [record["bayes"] for record in records]
    mean = {key: float(np.mean([b[key] for b in bayes])) for key in bayes[0]}
    return [
        "The paper argues with the Bayes probability p\\*(x), which nobody knows on real data. On a "
        "contextual stochastic "
        "block model it can be computed, so its claims can be tested.",
        "",
        f"Model: {model['nodes']:,} nodes, {model['classes']} classes, average degree {model['degree']:g}, "
        f"{model['homophily']:.0%} of the edges within a class, {model['features']} Gaussian features with "
        "class means of "
        f"length {model['signal']:g}. p\\*(x_i) is P(y_i | all features, all edges), with known parameters "
        "and no label "
        "known. It is estimated by Gibbs sampling, half of the chains started from the true labels and half from the "
        f"features: the expected error of a node's p\\* is {mean['sampling_error']:.4f} (as a Euclidean "
        "distance, like all "
        "distances here). Belief propagation, an independent computation, is "
        f"{mean['distance_to_belief_propagation']:.4f} away; tests compare both with the sum over all "
        "labellings of small graphs (belief propagation on trees). "
        f"p\\* is right about {100 * mean['accuracy']:.1f}% of the nodes, and expects "
        f"{100 * mean['expected_accuracy']:.1f}%.",
        "",
        "Teachers, integration and students are those of the library, trained with 20 labels per class and 200 "
        "validation "
        f"labels, temperature 1; distances are means over 700 test nodes. {len(records)} seeds, each with a "
        "graph of its "
        "own; ± is the standard deviation over seeds.",
        "",
    ]


def _proposition(records: Sequence[StudyRecord]) -> list[str]:
    lines = [
        "### (a) Proposition 1: the bound",
        "",
        "Claim: for any network, E[(R~ - R)²] ≤ V[pᵗ·l] / N + O(E|pᵗ - p\\*|)². Measured over 60 fresh graphs "
        "a seed with "
        "teachers and network fixed; the factor that O hides is written out as in Eq. A.9, (E[|pᵗ - p\\*| "
        "|l|])². The last "
        "column is V[R~] over V[pᵗ·l] / N, two things that the proof (Eq. A.8) takes for equal. LF and TS fit lambda "
        "to validation "
        "labels, with calibrated teachers. Means over seeds.",
        "",
        "| network | integrated teacher | left side | V[pᵗ·l] / N | second term | bound | V[R~] / (V / N) |",
        "|---|---|---|---|---|---|---|",
    ]
    held = {}
    for network in ("trained", "untrained"):
        for teacher in TEACHERS:
            rows = [one(record, teacher, network) for record in records]
            count = sum(row["left"] <= right_side(row) for row in rows)
            held[teacher, network] = count
            mean = {key: np.mean([row[key] for row in rows]) for key in rows[0] if key not in ("teacher", "network")}
            verdict = "holds" if count == len(rows) else f"**fails in {len(rows) - count} of {len(rows)}**"
            name = "p\\* itself" if teacher == "Bayes" else teacher
            ratios = np.array([row["variance_ratio"] for row in rows])
            lines.append(
                f"| {network} | {name} | {mean['left']:.2g} | {mean['variance_if_independent']:.2g} | "
                f"{mean['second_term']:.2g} | {verdict} | {_text(ratios, 1)} |"
            )
    real = [(t, n) for t in TEACHERS if t != "Bayes" for n in ("trained", "untrained")]
    rows = [one(record, t, n) for record in records for t, n in real]
    slack = np.array([right_side(row) / row["left"] for row in rows])
    bare = sum(row["left"] > row["variance_if_independent"] + row["second_term_without_factor"] for row in rows)
    ratio = np.mean([row["variance_ratio"] for record in records for row in record["proposition"]])
    failed = 2 * len(records) - held["Bayes", "trained"] - held["Bayes", "untrained"]
    kept = "in all cases" if all(held[key] == len(records) for key in real) else "not in all cases"
    lines += [
        "",
        f"- For teachers that can be had, the bound holds {kept}, because it is loose: the right side is "
        f"{slack.min():.0f} to {slack.max():,.0f} times the left (median {np.median(slack):.0f}). Without the "
        "factor |l| "
        f"that O hides, it fails in {bare} of {len(rows)} cases.",
        "- The step V[R~] = V[pᵗ·l] / N is wrong on graphs: nodes share neighbours and are not independent, "
        "so that the "
        f"variance is {ratio:.1f} times as large on average. Where the second term vanishes, at pᵗ = p\\*, "
        "this breaks the "
        f"bound: it fails in {failed} of {2 * len(records)} cases. With N independent nodes it would hold "
        "with equality.",
        "- What the paper concludes from it, that pᵗ should be near p\\*, rests on the second term and is not touched.",
        "",
    ]
    return lines


def _theorem(records: Sequence[StudyRecord]) -> list[str]:
    trained, classes = records[0]["theorem"]["trained"]["distance"], records[0]["model"]["classes"]
    count = len(trained["simplex"])
    lines = [
        "### (b) Theorem 1: more teachers",
        "",
        "Claim: Δ(K) = min |Σ λ_k h⁽ᵏ⁾ - p\\*| (1) does not rise with K and (2) tends to 0. Measured with the "
        "five tasks "
        "and five more of other settings, added in six random orders; beside them, teachers that know nothing "
        "(softmax of "
        "Gaussian noise). Weights are optimal for each node, found with p\\* in hand.",
        "",
        f"| teachers | weights | {' | '.join(f'K = {k}' for k in range(1, count + 1))} |",
        f"|---|---|{'---|' * count}",
    ]
    for name in ("trained", "ignorant"):
        for kind in trained:
            curve = np.mean([record["theorem"][name]["distance"][kind] for record in records], axis=0)
            cells = " | ".join("0" if value < 5e-7 else f"{value:.3f}" for value in curve)
            lines.append(f"| {name} | {kind} | {cells} |")
    rises = sum(sum(record["theorem"][n]["rises"].values()) for record in records for n in ("trained", "ignorant"))
    outside = values(records, lambda r: r["theorem"]["trained"]["outside_hull"]).mean()
    unsure = values(records, lambda r: r["theorem"]["all_less_sure"]).mean()
    size = np.median(values(records, lambda r: r["theorem"]["weight_size"]))
    last = values(records, lambda r: r["theorem"]["trained"]["distance"]["simplex"][-1])
    verdict = "fails" if outside > 0.5 else "cannot be refuted here"
    lines += [
        "",
        f"- (1) holds: {rises} rises in all nodes, orders and kinds of weights. It has to, as a new teacher "
        "may get weight 0.",
        f"- (2) {verdict} for weights on the simplex, the only ones that a softmax gives. If p\\* gives a "
        "class more than "
        "any teacher does, no average comes nearer than the difference, however many such teachers there are. Here "
        f"every teacher gives p\\*'s likeliest class less than p\\* does in {unsure:.0%} of the nodes, "
        f"{outside:.0%} have "
        f"p\\* farther than 0.01 outside of the teachers' convex hull, and with all {count} a distance of "
        f"{_text(last)} "
        "is left.",
        f"- Off the simplex, 0 is no limit but is reached at K = C = {classes}, by any {classes} independent "
        "vectors: teachers "
        "that know nothing do as well. So the theorem says nothing of what teachers know. The weights that do it are "
        f"large (median Σ|λ| = {size:.0f} at K = {classes}) and can only be found by one who has p\\*.",
        "- The proof sets λ_{K+1} freely while it keeps the others (Eq. A.12), which leaves Σλ = 1; and a product of "
        "factors below 1 need not tend to 0.",
        "",
    ]
    return lines


def _schemes(records: Sequence[StudyRecord]) -> list[str]:
    def of(name: str, what: str = "distance") -> np.ndarray:
        return values(records, lambda record: record["schemes"][name][what])

    lines = [
        "### (c) How near p\\* the schemes come",
        "",
        "| integrated teacher, five tasks | distance to p\\* | test accuracy |",
        "|---|---|---|",
    ]
    names = [(key, words) for key, words, _ in scheme_rows(records)]
    names += [(key, key.replace("train", "training labels").replace("val", "validation labels")) for key in _STUDENTS]
    for key, words in [*names, ("Bayes", "p* itself")]:
        known = "accuracy" in records[0]["schemes"][key]
        accuracy = _text(100 * of(key, "accuracy"), 1) if known else ""
        lines.append(f"| {words.replace('*', chr(92) + '*')} | {_text(of(key))} | {accuracy} |")
    better = {name: int((of(name) < of("best single, by validation")).sum()) for name in ("Average", "TS, train")}
    gain = of("Average") - of("Average, calibrated")
    learnt = {name: of("Average, calibrated") - of(name) for name in ("LF, val", "TS, val")}
    paper = {name: of("Average") - of(name) for name in ("LF, train", "TS, train")}
    near = [key for key, _, _ in scheme_rows(records) if key in ("LOCAL, val", "STACK, val", "BOTH, val")]
    settings = records[0]["settings"]
    dropout = settings["student_dropout"]
    apart = of("student of TS, val") - of("TS, val")
    sharper = 100 * (of("student of TS, val", "accuracy") - of("TS, val", "accuracy"))
    lines += [
        "",
        f"- Average is nearer to p\\* than the teacher that validation picks in {better['Average']} of "
        f"{len(records)} seeds, "
        f"TS as in the paper in {better['TS, train']}.",
        f"- As in the paper (lambda from training labels), LF gains {_text(paper['LF, train'])} on Average and TS "
        f"{_text(paper['TS, train'])}.",
        f"- Calibrating each teacher's temperature gains {_text(gain)} for Average. On top of it, learned "
        "weights gain "
        f"{_text(learnt['LF, val'])} (LF) and {_text(learnt['TS, val'])} (TS).",
        *[
            f"- `{key.partition(',')[0].lower()}` gains {_text(of('Average, calibrated') - of(key))} on the calibrated "
            f"average, and {_text(100 * (of(key, 'accuracy') - of('Average, calibrated', 'accuracy')), 1)} points."
            for key in near
        ],
        "- Near is not the same as right: distance is about whole probability vectors, accuracy about their largest "
        f"entry. The students of TS (validation labels), trained with {dropout:.0%} dropout, are "
        f"{_text(apart)} farther "
        f"from p\\* than their teachers, while their accuracy differs by {_text(sharper, 1)} points.",
        "",
    ]
    return lines
