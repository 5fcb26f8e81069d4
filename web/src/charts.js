// Training curves, trust, errors and disagreement. Tables of shares are real tables, shaded.
import * as Plot from "@observablehq/plot";
import { categorical } from "./colours.js";
import { count, figure, h, number, percent, plural, section, shadedCell } from "./dom.js";
import { MEASURED } from "./headline.js";
import { teacher, term } from "./terms.js";

const HEIGHT = 250;

// A chart that is drawn again when its place gets wider or narrower.
function chart(label, make) {
  const box = h("div", { class: "chart", role: "img", "aria-label": label });
  let width = 0;
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (!now || now === width) return;
    width = now;
    box.replaceChildren(Plot.plot({ width, height: HEIGHT, marginLeft: 44, marginBottom: 34, marginTop: 14,
      style: { background: "none", color: "var(--muted)", fontFamily: "inherit", fontSize: "12px", overflow: "visible" }, ...make(width) }));
  }).observe(box);
  return box;
}

const UPRIGHT = 7; // columns, above which their names are turned
const GRID = { stroke: "var(--line)", strokeOpacity: 1 };
const TIP = { fill: "var(--card)", stroke: "var(--line)", textPadding: 8 };

// Names at the ends of lines, pushed apart where they would touch.
function spreadOut(ends, low, high) {
  const gap = ((high - low) * 14) / (HEIGHT - 48);
  const sorted = [...ends].sort((a, b) => a.y - b.y);
  for (const [k, end] of sorted.entries()) end.at = k ? Math.max(end.y, sorted[k - 1].at + gap) : end.y;
  const over = sorted.length ? Math.max(0, sorted.at(-1).at - high) : 0;
  for (const end of sorted) end.at -= over;
  return sorted;
}

function lines(label, series, { y, percentages = false, named = true, best = null }) {
  const rows = series.flatMap(({ name, values, colour, bold }) =>
    values.map((v, x) => ({ name, x, y: v, colour, bold })).filter((row) => row.y !== null && row.y !== undefined));
  if (!rows.length) return null;
  let low = Math.min(...rows.map((row) => row.y));
  let high = Math.max(...rows.map((row) => row.y));
  if (percentages) { // the first steps up from chance are cut off, or they would press the rest flat
    const sorted = rows.map((row) => row.y).sort((a, b) => a - b);
    low = Math.max(0, sorted[Math.floor(0.06 * sorted.length)] - 0.03);
    high = Math.min(1, high + 0.01);
  }
  if (high === low) high = low + 1e-3;
  const last = Math.max(...rows.map((row) => row.x), 1);
  const ends = spreadOut(series.map(({ name, values, colour }) => ({ name, colour, y: values.findLast((v) => v !== null && v !== undefined) }))
    .filter((end) => end.y !== undefined), low, high);
  const write = (v) => (percentages ? percent(v) : number(v));
  const clipped = (text) => (text.length > 22 ? `${text.slice(0, 21)}…` : text);
  return chart(label, () => ({
    marginRight: named ? Math.min(170, 20 + 7 * Math.max(...series.map(({ name }) => name.length))) : 12,
    x: { label: "epoch", labelArrow: "none", domain: [0, last], ticks: 5, tickSize: 0 },
    y: { label: y, domain: [low, high], ticks: 5, tickSize: 0, tickFormat: percentages ? (v) => `${Math.round(100 * v)}%` : undefined },
    marks: [
      Plot.gridY({ ticks: 5, ...GRID }),
      best === null ? null : Plot.ruleX([best], { stroke: "var(--muted)", strokeDasharray: "2 3" }),
      best === null ? null : Plot.text([best], { x: (v) => v, frameAnchor: best > 0.8 * last ? "top-right" : "top-left", dx: best > 0.8 * last ? -4 : 4, dy: -12, text: () => "kept", fill: "var(--muted)" }),
      Plot.line(rows, { x: "x", y: "y", z: "name", stroke: "colour", strokeWidth: (row) => (row.bold ? 2.6 : 1.5), strokeLinejoin: "round", clip: percentages }),
      named ? Plot.text(ends, { x: () => last, y: "at", text: (end) => clipped(end.name), fill: "colour", textAnchor: "start", dx: 6, fontWeight: 600 }) : null,
      Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: (row) => `${row.name}, epoch ${row.x}\n${write(row.y)}`, ...TIP })),
    ],
  }));
}

const legend = (series) => h("div", { class: "keys" }, series.map(({ name, colour, bold }) =>
  h("span", null, h("i", { class: bold ? "bold" : "", style: { background: colour } }), name)));

export function training(page) {
  const stages = Object.entries(page.history).filter(([, columns]) => columns.val_accuracy);
  if (!stages.length) return null;
  const students = stages.filter(([name]) => name.startsWith("student"));
  const lastStage = stages.at(-1)[0];
  const colour = (name, k) => (name === lastStage ? "var(--text)" : name.startsWith("student") ? "var(--muted)" : categorical(k));
  const pick = (column) => stages.map(([name, columns], k) =>
    ({ name: name.replace("teacher ", ""), values: columns[column] ?? [], colour: colour(name, k), bold: name === lastStage }));
  const accuracy = pick("val_accuracy");
  const best = page.best ? page.best.epoch : null;
  const mse = students.length ? [["train_mse", "training", "var(--c0)"], ["val_mse", page.measured_on === "heldout" ? "held out" : "validation", "var(--c4)"]].map(([column, name, c]) =>
    ({ name, values: students.at(-1)[1][column] ?? [], colour: c, bold: false })) : [];
  const judge = page.measured_on === "heldout" ? "Held-out" : "Validation";
  return section("training", "Training", `Seed ${page.seed}. The epoch with the best ${judge.toLowerCase()} accuracy is the one that is kept.`,
    h("div", { class: `grid${mse.length ? " three" : ""}` },
      figure(`${judge} accuracy`, null, lines(`${judge} accuracy over epochs`, accuracy, { y: null, percentages: true, named: false }), legend(accuracy)),
      figure("Training loss", null, lines("Loss over epochs", pick("loss"), { y: null, named: false }), legend(accuracy)),
      mse.length > 0 && figure("Squared error of the integrated teacher", null,
        lines("Squared error of the integrated teacher over epochs", mse, { y: null, best }))));
}

// A table of shares, shaded by value; a cell that stands for nodes shows them (`pick` gives their filters).
function heat({ caption, corner, columns, rows, max, write, note, pick, state, name = (text) => text }) {
  const cell = (value, shade, filters, said) => shadedCell(Math.max(0, Math.min(1, shade / max)), filters && value
    ? { onclick: () => show(state, filters), "aria-label": `${said}: ${write(value)}; show these nodes` } : null, write(value));
  return h("div", { class: "scroll" }, h("table", { class: `heatmap${columns.length > UPRIGHT ? " many" : ""}` }, h("caption", { class: "hidden" }, caption),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, corner), columns.map((text) => h("th", { scope: "col", title: text }, h("span", null, columns.length > UPRIGHT ? text : name(text)))),
      note && h("th", { scope: "col", class: "num quiet" }, note))),
    h("tbody", null, rows.map((row, r) => h("tr", null, h("th", { scope: "row", title: row.name }, h("span", null, name(row.name))),
      row.values.map((value, k) => cell(value, row.shades ? row.shades[k] : value, pick?.(r, k), `${row.name}, ${columns[k]}`)), note && h("td", { class: "num quiet" }, row.extra))))));
}

// Filters by something on the page, and the map and the table that follow them.
function show(state, filters) {
  state.toggle(filters);
  document.querySelector(".map-side")?.scrollIntoView({ block: "start" });
}

export function trust(page, state) {
  if (!page.weighted) return null;
  const groups = (found) => found.map(({ name, nodes, weights }) => ({ name, values: page.tasks.map((task) => weights[task]), extra: count(nodes) }));
  const max = (found) => Math.max(...found.flatMap(({ weights }) => Object.values(weights)));
  const students = Object.entries(page.history).filter(([name]) => name.startsWith("student"));
  const [stage, columns] = students.at(-1) ?? [];
  const series = columns ? page.tasks.map((name, k) => ({ name, values: columns[`lambda${k}`] ?? [], colour: categorical(k), bold: false })) : [];
  const shared = { columns: page.tasks, write: (v) => number(v, 2), note: "nodes", state, name: teacher };
  const numbers = new Map(page.classes.map((name, c) => [name, c]));
  return section("trust", "Whom nodes trusted", "The mean weight of each teacher. Weights of a node sum to one. A cell shows its nodes that trust this teacher most.", h("div", { class: "grid" },
    h("div", { class: "stack" }, figure("By degree", "number of neighbours", heat({ caption: "Mean weight by degree", corner: "degree", rows: groups(page.degree), max: max(page.degree), ...shared, pick: (r, k) => ({ degree: page.degree[r].name, trusted: k }) })), trustworthy(page)),
    figure("By predicted class", null, heat({ caption: "Mean weight by predicted class", corner: "class", rows: groups(page.by_class), max: max(page.by_class), ...shared, pick: (r, k) => ({ class: numbers.get(page.by_class[r].name), trusted: k }) })),
    series.length > 0 && h("div", { class: "wide" }, figure("Over epochs", `mean over all nodes; ${stage}`, lines("Mean weight over epochs", series, { y: null, best: page.best ? page.best.epoch : null })))));
}

// Whether trust is deserved: by how much nodes trust a teacher, how often it is right.
function trustworthy(page) {
  const bins = page.trusted_right ?? [];
  const told = trustFacts(page);
  if (bins.length < 2 && !told.length) return null;
  const drawing = bins.length > 1 && chart("How often a teacher is right, by how much it is trusted", () => ({
    marginRight: 12,
    x: { label: "trust", labelArrow: "none", ticks: 5, tickSize: 0, nice: true },
    y: { label: null, ticks: 5, tickSize: 0, tickFormat: (v) => `${Math.round(100 * v)}%`, nice: true },
    marks: [Plot.gridY({ ticks: 5, ...GRID }), Plot.line(bins, { x: "trust", y: "right", stroke: "var(--accent)", strokeWidth: 1.5 }),
      Plot.dot(bins, { x: "trust", y: "right", fill: "var(--accent)", r: 4 }),
      Plot.tip(bins, Plot.pointer({ x: "trust", y: "right", ...TIP, title: (bin) => `trust ${number(bin.trust, 2)}\nright ${percent(bin.right)}\n${plural(bin.pairs, "pair")} of node and teacher` }))],
  }));
  return figure("Is trust deserved?", `how often a teacher is right, by a node’s trust in it; ${MEASURED[page.measured_on]} nodes, equally many pairs a dot`, drawing,
    told.length > 0 && h("dl", { class: "facts" }, told.map(([name, text]) => h("div", null, h("dt", null, name), h("dd", null, text)))));
}

// What the run measured of its trust, in words; it has figures of teachers that disagree only where some do.
function trustFacts({ trust: found, tasks }) {
  if (!found) return [];
  const error = found.pairs_right_se === null ? "" : ` ± ${number(found.pairs_right_se, 2)}`;
  return [["teachers disagree", found.disagreement, (v) => `${percent(v)} of the nodes`], ["right there: the most trusted", found.most_trusted, percent],
    ["the best single teacher", found.best_single, percent], ["the majority", found.majority, percent],
    ["a right one outweighs a wrong one", found.pairs_right, (v) => `${number(v, 2)}${error} of the pairs`],
    ["teachers in effect", found.effective_teachers, (v) => `${number(v, 2)} of ${tasks.length}`]]
    .filter(([, value]) => value !== null).map(([name, value, write]) => [name, write(value)]);
}

export function pool(page) {
  if (!page.pool?.length) return null;
  const rows = [...page.pool].sort((a, b) => a.log_loss - b.log_loss);
  const kept = rows.filter((row) => row.kept > 0);
  const cost = rows.reduce((sum, row) => sum + (row.seconds), 0);
  const values = rows.map((row) => row.accuracy);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = (v) => 8 + (92 * (v - low)) / (high - low || 1);
  return section("pool", "How the pool was found", ["The ", term("automatic pool", "pool"), ` tried ${plural(rows.length, "teacher")}`, ` in ${number(cost, 0)} seconds`, `. It kept the ${count(kept.length)} whose mean answer fits the held-out labels best (the share says how often each was among the best few); these need not be the best ones alone.`],
    figure("Candidates", `held-out accuracy; bars from ${percent(low)} to ${percent(high)}`, h("div", { class: "scroll" }, h("table", { class: "bars pool" }, h("caption", { class: "hidden" }, "What was tried"),
      h("thead", null, h("tr", null, ["teacher", "", "right", "log-loss", "share", "took", ""].map((name) => h("th", { scope: "col", class: name && name !== "teacher" ? "num" : null }, name)))),
      h("tbody", null, rows.map((row) => h("tr", { class: row.kept ? "kept-row" : null }, h("th", { scope: "row", title: row.name }, teacher(row.name)),
        h("td", null, h("span", { class: "bar" }, h("i", { style: { width: `${width(row.accuracy)}%` } }))), h("td", { class: "num" }, percent(row.accuracy)),
        h("td", { class: "num" }, number(row.log_loss, 3)), h("td", { class: "num" }, percent(row.share, 0)),
        h("td", { class: "num quiet" }, `${number(row.seconds, 1)} s`),
        h("td", null, row.kept ? h("b", { class: "good" }, page.seeds.length > 1 ? `kept by ${count(row.kept)} of ${count(page.seeds.length)}` : "kept") : h("span", { class: "quiet" }, "left out")))))))));
}

export function errors(page, state) {
  const rows = page.confusion.map((values, k) => {
    const total = values.reduce((a, b) => a + b, 0);
    return { name: page.classes[k], values, shades: values.map((v) => (total ? v / total : 0)), extra: total ? percent(values[k] / total, 0) : "–" };
  });
  const total = page.reliability.reduce((sum, bin) => sum + bin.nodes, 0);
  const reliability = chart("Accuracy by confidence", () => ({
    marginRight: 12,
    x: { label: "confidence", labelArrow: "none", domain: [0, 1], ticks: 5, tickSize: 0, tickFormat: (v) => `${Math.round(100 * v)}%` },
    y: { label: null, domain: [0, 1], ticks: 5, tickSize: 0, tickFormat: (v) => `${Math.round(100 * v)}%` },
    r: { range: [2, 11] },
    marks: [
      Plot.gridY({ ticks: 5, ...GRID }),
      Plot.line([[0, 0], [1, 1]], { stroke: "var(--muted)", strokeDasharray: "3 4" }),
      Plot.link(page.reliability, { x1: "confidence", x2: "confidence", y1: "confidence", y2: "accuracy", stroke: "var(--wrong)", strokeWidth: 1.5, strokeOpacity: 0.7 }),
      Plot.dot(page.reliability, { x: "confidence", y: "accuracy", r: "nodes", fill: "var(--accent)", fillOpacity: 0.9, stroke: "var(--card)" }),
      Plot.dot(page.reliability, { x: "confidence", y: "accuracy", r: 14, fill: "transparent", className: "pickable" }),
      Plot.tip(page.reliability, Plot.pointer({ x: "confidence", y: "accuracy", ...TIP,
        title: (bin) => `${plural(bin.nodes, "node")}\nconfidence ${percent(bin.confidence)}\naccuracy ${percent(bin.accuracy)}` })),
    ],
  }));
  reliability.addEventListener("click", (event) => {
    const dots = [...reliability.querySelectorAll(".pickable circle")];
    const at = dots.indexOf(event.target.closest("circle"));
    const bin = at >= 0 ? page.reliability[at] : null;
    if (bin) show(state, { sure: `${bin.low.toFixed(4)}-${bin.high.toFixed(4)}` });
  });
  return section("errors", "Right, wrong, and how sure", `Seed ${page.seed}, ${MEASURED[page.measured_on]} nodes. A click on a cell or a dot shows its nodes.`, h("div", { class: "grid" },
    figure("Confusion", "rows: label; columns: prediction; shaded by the share of the row",
      heat({ caption: "Nodes by label and prediction", corner: "", columns: page.classes, rows, max: 1, write: (v) => (v ? count(v) : "·"), note: "right", state, pick: (r, k) => ({ label: r, class: k }) })),
    figure("Reliability", `accuracy by confidence; the size of a dot is its nodes, ${count(total)} in all; on the line, the model is as sure as it should be`, reliability)));
}

export function disagreement(page, state) {
  if (!page.changes) return null;
  const { best, both_right: kept, rescued, spoiled, both_wrong: lost, by_right: byRight } = page.changes;
  const { own } = page;
  const names = [...page.tasks, own];
  const off = page.agreement.flatMap((row, i) => row.filter((_, j) => i !== j));
  const low = Math.min(...off) - 0.02;
  const rows = names.map((name, i) => ({ name, values: page.agreement[i], shades: page.agreement[i].map((v, j) => (i === j ? 0 : (v - low) / (1 - low))) }));
  const total = kept + rescued + spoiled + lost;
  const piece = (n, name, kind) => n > 0 && h("div", { class: `piece ${kind}`, style: { "flex-grow": n }, title: `${name}: ${n}` });
  const item = (n, name, kind, text, key) => h("li", null, h("button", { type: "button", "data-change": key, onclick: () => show(state, { change: key }) },
    h("i", { class: kind }), h("b", null, count(n)), " ", name, h("span", null, text)));
  return section("disagreement", "Where teachers disagree, and what integration made of it",
    `Seed ${page.seed}, ${MEASURED[page.measured_on]} nodes. The best single teacher is the one with the best ${page.measured_on === "heldout" ? "held-out" : "validation"} accuracy: ${best}.`, h("div", { class: "grid" },
      figure("Agreement", "share of nodes that two models predict alike; a click shows the others", heat({ caption: "Agreement", corner: "", columns: names, rows, max: 1, write: (v) => (v === 1 ? "" : number(v, 2)), state, name: teacher,
        pick: (r, k) => (r === k ? null : { differ: `${(r + 1) % names.length}-${(k + 1) % names.length}` }) })),
      h("div", { class: "stack" }, figure(`The ${own} against ${best} alone`, plural(total, "node"),
        h("div", { class: "pieces", "aria-hidden": "true" }, piece(kept, "both right", "kept"), piece(rescued, "rescued", "rescued"), piece(spoiled, "spoiled", "spoiled"), piece(lost, "both wrong", "lost")),
        h("ul", { class: "changes" }, item(rescued, "rescued", "rescued", `${best} wrong, ${own} right`, "rescued"), item(spoiled, "spoiled", "spoiled", `${best} right, ${own} wrong`, "spoiled"),
          item(kept, "both right", "kept", "", "both_right"), item(lost, "both wrong", "lost", "", "both_wrong"))),
      figure("By how many teachers are right", `share of these nodes that are right by the ${own}`,
        h("table", { class: "bars" }, h("caption", { class: "hidden" }, "Right by number of teachers right"),
          h("tbody", null, byRight.map(({ teachers, nodes, right }) => h("tr", null,
            h("th", { scope: "row" }, h("button", { type: "button", class: "link-button", onclick: () => show(state, { teachers }) }, `${teachers} of ${page.tasks.length}`)),
            h("td", null, h("span", { class: "bar" }, h("i", { style: { width: `${nodes ? (100 * right) / nodes : 0}%` } }))),
            h("td", { class: "num" }, nodes ? percent(right / nodes, 0) : "–"), h("td", { class: "num quiet" }, plural(nodes, "node"))))))))));
}
