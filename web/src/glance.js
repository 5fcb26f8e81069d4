// The result at a glance, the data, and how it was made.
import { count, h, number, percent, plural, points, s, section } from "./dom.js";

const MEASURES = [["macro_f1", "Macro-F1", number], ["log_loss", "Log-loss", number], ["ece", "Calib. error", number]];
const PARTS = { test: "test", val: "validation" };

export function results(page) {
  const own = page.results.at(-1);
  const several = page.seeds.length > 1;
  const facts = [["Accuracy", percent(own.accuracy.mean), several ? `± ${(100 * own.accuracy.std).toFixed(1)}` : ""],
    ...MEASURES.map(([key, name, write]) => [name, write(own[key].mean), several ? `± ${write(own[key].std)}` : ""])];
  const over = several ? `mean ± deviation over ${plural(page.seeds.length, "seed")}` : `seed ${page.seed}`;
  return section("results", "Result", `${own.name === "student" ? "The student" : "The model"} on the ${PARTS[page.part]} nodes, ${over}.`,
    h("dl", { class: "stats" }, facts.map(([name, value, spread]) =>
      h("div", null, h("dt", null, name), h("dd", null, value, spread && h("small", null, spread))))),
    gain(page), table(page), data(page));
}

function gain(page) {
  if (!page.gain || page.gain.mean === null) {
    if (page.method === "gcn") return null;
    return h("p", { class: "quiet" }, "No plain GCN to compare with: fit one with ", h("code", null, "--method gcn"),
      " and name it with ", h("code", null, "agssl report --baseline"), ".");
  }
  const { mean, low, high, seeds, note } = page.gain;
  const sure = low === null ? "" : ` (95% interval ${points(low)} to ${points(high)})`;
  const how = seeds.length ? `paired over ${plural(seeds.length, "seed")} with the same splits` : `not paired: ${note}`;
  return h("p", { class: "gain" }, h("b", null, `${points(mean)} points`), ` of accuracy against the plain GCN${sure}; ${how}.`);
}

function table(page) {
  const rows = page.results;
  const weighted = rows.some((row) => row.weight);
  const values = rows.flatMap((row) => row.accuracy.values);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const pad = Math.max(0.004, (high - low) * 0.12);
  const scale = (v) => 6 + (248 * (v - low + pad)) / (high - low + 2 * pad);
  const strip = (row) => s("svg", { viewBox: "0 0 260 20", preserveAspectRatio: "xMinYMid", class: "strip", "aria-hidden": "true" },
    s("line", { x1: 0, x2: 260, y1: 10, y2: 10, class: "axis" }),
    row.accuracy.values.length > 1 && row.accuracy.values.map((v) => s("circle", { cx: scale(v), cy: 10, r: 2.6, class: "one" })),
    row.accuracy.mean !== null && s("circle", { cx: scale(row.accuracy.mean), cy: 10, r: 5, class: `mean ${row.role}` }));
  const several = page.seeds.length > 1;
  const best = Math.max(...rows.map((row) => row.accuracy.mean));
  return h("div", { class: "scroll" }, h("table", { class: "results" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Model"), h("th", { scope: "col", colspan: 2 }, `Accuracy, ${PARTS[page.part]}`),
      MEASURES.map(([, name]) => h("th", { scope: "col", class: "num" }, name)),
      page.part === "test" && h("th", { scope: "col", class: "num" }, "Accuracy, val."), weighted && h("th", { scope: "col", class: "num" }, "Mean trust"))),
    h("tbody", null, rows.map((row) => h("tr", { class: row.role },
      h("th", { scope: "row" }, row.role === "teacher" ? `teacher ${row.name}` : row.name),
      h("td", { class: "strip-cell" }, strip(row)),
      h("td", { class: `num${row.accuracy.mean === best ? " best" : ""}` }, percent(row.accuracy.mean),
        several && h("small", null, ` ± ${(100 * row.accuracy.std).toFixed(1)}`)),
      MEASURES.map(([key, , write]) => h("td", { class: "num" }, row[key] ? write(row[key].mean) : "–")),
      page.part === "test" && h("td", { class: "num" }, percent(row.val_accuracy.mean)),
      weighted && h("td", { class: "num" }, row.weight ? number(row.weight.mean) : ""))))));
}

function data(page) {
  const { nodes, edges, features, classes, density, homophily, isolated, split } = page.data;
  const facts = [["nodes", count(nodes)], ["edges", count(edges)], ["features", count(features)], ["classes", count(classes)],
    ["density", percent(density)], ["homophily", number(homophily, 2)], ["isolated", count(isolated)],
    ["train / val / test", `${count(split.train)} / ${count(split.val)} / ${count(split.test)}`]];
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
