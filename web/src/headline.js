// What came out, first of all: the result with its interval, what it had to beat, and a sentence of what was learnt.
import { count, h, number, percent, plural, points } from "./dom.js";
import { term } from "./terms.js";

export const MEASURED = { test: "test", val: "validation", heldout: "held-out" };
const NAMES = { accuracy: "accuracy", macro_f1: "macro-F1" };

export function headline(page) {
  const own = page.results.at(-1);
  const { estimate } = page;
  const metric = estimate?.metric ?? "accuracy";
  const value = estimate?.value ?? own.accuracy.mean;
  const write = metric === "accuracy" ? (v) => percent(v) : (v) => number(v);
  const where = MEASURED[page.measured_on];
  const key = { test: "test", val: "validation", heldout: "held out" }[page.measured_on];
  return h("article", { id: "headline", "aria-label": "Result" },
    h("p", { class: "what" }, term(`${where} ${NAMES[metric] ?? metric.replace("_", "-")}`, key)),
    h("p", { class: "big" }, write(value)),
    estimate && h("p", { class: "interval" }, term("95% interval"), ` ${write(estimate.low)} to ${write(estimate.high)}`,
      page.seeds.length > 1 ? `; mean of ${plural(page.seeds.length, "seed")}` : ""),
    race(page, metric, value, write), gain(page),
    page.sentence && h("p", { class: "sentence" }, named(page, page.sentence)),
    labels(page), page.warnings.map((text) => h("p", { class: "warning" }, text)));
}

// The simple ways to predict, and this run below them, as bars from zero.
function race(page, metric, value, write) {
  if (!page.gaps.length) return null;
  const gcn = page.results.find((row) => row.role === "baseline");
  const rows = [...page.gaps.map(({ name, value: v, gap }) => ({ name, v, gap })),
    ...(gcn && metric === "accuracy" ? [{ name: `plain ${gcn.name}`, v: gcn.accuracy.mean, gap: value - gcn.accuracy.mean }] : [])].sort((a, b) => a.v - b.v);
  const most = Math.max(value, ...rows.map(({ v }) => v), metric === "accuracy" ? 1 : 0);
  const line = (name, v, text, own) => h("tr", { class: own ? "own" : null }, h("th", { scope: "row" }, name),
    h("td", null, h("span", { class: "bar" }, h("i", { style: { width: `${(100 * Math.max(0, v)) / most}%` } }))), h("td", { class: "num" }, write(v)), h("td", { class: "num gap" }, text));
  const gapText = (gap) => (metric === "accuracy" ? points(gap) : `${gap > 0 ? "+" : ""}${number(gap)}`);
  return h("table", { class: "race" }, h("caption", { class: "hidden" }, "This run and simple ways to predict, with the gap of this run to each"),
    h("tbody", null, rows.map(({ name, v, gap }) => line(name, v, gapText(gap))), line("this run", value, "", true)));
}

function gain(page) {
  if (!page.gain || page.gain.mean === null) {
    return page.method === "gcn" ? null : h("p", { class: "quiet note" }, "Against a plain GCN: fit one with ", h("code", null, "--method gcn"),
      " and name it with ", h("code", null, "agssl report --baseline"), ".");
  }
  const { mean, low, high, seeds, over, note } = page.gain;
  const sure = low === null ? "" : ` (95% interval ${points(low)} to ${points(high)})`;
  const pairs = over === "nodes" ? `paired node by node, seed ${seeds[0]}` : `paired over ${plural(seeds.length, "seed")} with the same splits`;
  return h("p", { class: "gain" }, h("b", null, `${points(mean)} points`), ` against the plain GCN${sure}; ${seeds.length ? pairs : `not paired: ${note}`}.`);
}

function labels(page) {
  if (!page.labels) return null;
  const { train, choose, measure } = page.labels;
  const turn = page.measured_on === "heldout" ? ", each while it was held out" : "";
  return h("p", { class: "quiet note" }, `${plural(train, "label")} trained, ${count(choose)} chose, ${count(measure)} measured${turn}.`);
}

// A sentence in which the names of teachers can be asked about; only the first of each.
function named(page, text) {
  const parts = [text];
  for (const task of [...page.tasks].sort((a, b) => b.length - a.length)) {
    const at = parts.findIndex((part) => typeof part === "string" && part.includes(task));
    if (at < 0) continue;
    const [before, ...after] = parts[at].split(task);
    parts.splice(at, 1, before, term(task, task.split(/[@:]/)[0]), after.join(task));
  }
  return parts;
}
