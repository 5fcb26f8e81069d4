// The models side by side, the data, and how it was made.
import { count, deviation, h, number, percent, plural, s, section } from "./dom.js";
import { MEASURED } from "./headline.js";
import { teacher, term } from "./terms.js";

const MEASURES = [["macro_f1", "macro-F1", number], ["log_loss", "log-loss", number], ["ece", "ECE", number]];

export function results(page) {
  const several = page.seeds.length > 1;
  const over = several ? `Mean ± deviation over ${plural(page.seeds.length, "seed")}, a ring for each` : `Seed ${page.seed}`;
  return section("results", "Models compared", `${over}; measured on the ${MEASURED[page.measured_on]} nodes.`, table(page), data(page));
}

function table(page) {
  const rows = page.results;
  const weighted = rows.some((row) => row.weight);
  const values = rows.flatMap((row) => row.accuracy.values);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const pad = Math.max(0.004, (high - low) * 0.12);
  const scale = (v) => 6 + (248 * (v - low + pad)) / (high - low + 2 * pad);
  const ticks = ticksOf(low - pad, high + pad);
  const axis = s("svg", { viewBox: "0 0 260 16", preserveAspectRatio: "xMinYMid", class: "strip ticks", "aria-hidden": "true" },
    ticks.map((v) => s("text", { x: scale(v), y: 12 }, `${Number((100 * v).toFixed(1))}%`)));
  const { estimate } = page;
  const strip = (row) => s("svg", { viewBox: "0 0 260 20", preserveAspectRatio: "xMinYMid", class: "strip", "aria-hidden": "true" },
    ticks.map((v) => s("line", { x1: scale(v), x2: scale(v), y1: 0, y2: 20, class: "axis" })), s("line", { x1: 0, x2: 260, y1: 10, y2: 10, class: "axis" }),
    row.role === "model" && estimate?.metric === "accuracy" && s("line", { x1: Math.max(0, scale(estimate.low)), x2: Math.min(260, scale(estimate.high)), y1: 10, y2: 10, class: "interval" }),
    row.accuracy.values.length > 1 && row.accuracy.values.map((v) => s("circle", { cx: scale(v), cy: 10, r: 2.6, class: "one" })),
    row.accuracy.mean !== null && s("circle", { cx: scale(row.accuracy.mean), cy: 10, r: 5, class: `mean ${row.role}` }));
  const best = Math.max(...rows.map((row) => row.accuracy.mean));
  return h("div", { class: "scroll" }, h("table", { class: "results" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Model"), h("th", { scope: "col", class: "strip-cell" }, axis), h("th", { scope: "col", class: "num" }, term("Accuracy", "accuracy")),
      MEASURES.map(([, name]) => h("th", { scope: "col", class: "num" }, term(name))),
      page.part === "test" && h("th", { scope: "col", class: "num wide-only" }, term("Validation", "validation")), weighted && h("th", { scope: "col", class: "num" }, term("Trust", "trust")))),
    h("tbody", null, rows.map((row) => h("tr", { class: row.role },
      h("th", { scope: "row", title: row.name }, row.role === "teacher" ? ["teacher ", teacher(row.name)] : row.name),
      h("td", { class: "strip-cell" }, strip(row)),
      h("td", { class: `num${row.accuracy.mean === best ? " best" : ""}` }, percent(row.accuracy.mean),
        h("small", null, deviation(row.accuracy, (v) => (100 * v).toFixed(1), 0.001))),
      MEASURES.map(([key, , write]) => h("td", { class: "num" }, row[key] ? write(row[key].mean) : "–")),
      page.part === "test" && h("td", { class: "num wide-only" }, percent(row.val_accuracy.mean)),
      weighted && h("td", { class: "num" }, row.weight ? number(row.weight.mean) : ""))))));
}

// Round numbers within a range.
function ticksOf(low, high) {
  const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((one) => (high - low) / one <= 5) ?? 1;
  const first = Math.ceil((low + (high - low) * 0.05) / step);
  return Array.from({ length: 8 }, (_, k) => (first + k) * step).filter((v) => v <= high - (high - low) * 0.05);
}

function data(page) {
  const { nodes, edges, features, classes, density, homophily, isolated, split } = page.data;
  const facts = [["nodes", count(nodes)], ["edges", count(edges)], ["features", count(features)], ["classes", count(classes)],
    ["density", percent(density)], [term("homophily"), number(homophily, 2)], ["isolated", count(isolated)],
    [page.measured_on === "heldout" ? "train / held out / test" : "train / val / test", `${count(split.train)} / ${count(split.val)} / ${count(split.test)}`]];
  return h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))));
}

export function made(page) {
  const write = (value) => (typeof value === "object" && value !== null
    ? (Array.isArray(value) ? value.join(", ") : Object.entries(value).map(([k, v]) => `${k}=${v}`).join(", ")) : String(value));
  const list = (entries) => h("dl", { class: "settings" }, entries.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, write(value)))));
  return section("made", "How it was made", null,
    page.command && h("pre", { tabindex: 0, "aria-label": "The command" }, h("code", null, page.command)),
    list([["run", page.run], ["created", (page.created ?? "").replace("T", " ").replace("+00:00", " UTC")], ["split", page.split],
      ...Object.entries(page.versions)]),
    h("details", null, h("summary", null, "All settings"), list(Object.entries(page.settings))));
}
