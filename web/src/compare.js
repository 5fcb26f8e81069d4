// Runs side by side.
import { deviation, h, number, percent, plural, points, s, section } from "./dom.js";

const NAMES = { test_accuracy: "Accuracy, test", val_accuracy: "Accuracy, val.", macro_f1: "Macro-F1", log_loss: "Log-loss", ece: "Calib. error" };
const share = (key) => key.endsWith("accuracy");
const write = (key, value) => (share(key) ? percent(value) : number(value));
const signed = (key, v) => (share(key) ? points(v) : `${v > 0 ? "+" : ""}${number(v)}`);

export function compare(page) {
  const first = page.runs[0];
  return [section("runs", "Results", "Mean over seeds, ± their deviation.", runs(page)),
    section("differences", `Differences to ${first.name}`, "Each run less the first one, with the 95% interval. Paired where the runs share graph, seeds and splits. "
      + "Accuracies in points. Lower is better for log-loss and calibration error.", differences(page))];
}

function runs(page) {
  return h("div", { class: "scroll" }, h("table", { class: "results" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Run"), h("th", { scope: "col" }, "Data"), h("th", { scope: "col" }, "Method"), h("th", { scope: "col", class: "num" }, "Seeds"),
      page.measures.map((key) => h("th", { scope: "col", class: "num" }, NAMES[key])))),
    h("tbody", null, page.runs.map((run) => h("tr", null, h("th", { scope: "row", title: run.run }, run.name), h("td", null, run.dataset),
      h("td", null, [run.method, run.integration].filter(Boolean).join(", ")), h("td", { class: "num" }, run.seeds.length),
      page.measures.map((key) => h("td", { class: "num" }, write(key, run[key].mean),
        h("small", null, share(key) ? deviation(run[key], (v) => (100 * v).toFixed(1), 0.001) : deviation(run[key], number, 0.001)))))))));
}

function differences(page) {
  const reach = (key) => Math.max(1e-9, ...page.differences.flatMap((d) => (d[key] ? [d[key].mean, d[key].low ?? 0, d[key].high ?? 0] : [0])).map(Math.abs));
  const drawn = (key, { mean, low, high }) => {
    const x = (v) => 60 + (52 * v) / reach(key);
    return s("svg", { viewBox: "0 0 120 20", class: "strip", "aria-hidden": "true" }, s("line", { x1: 60, x2: 60, y1: 1, y2: 19, class: "axis" }),
      low !== null && s("line", { x1: x(low), x2: x(high), y1: 10, y2: 10, class: "interval" }), s("circle", { cx: x(mean), cy: 10, r: 4.5, class: "mean" }));
  };
  const cell = (key, found) => h("td", { class: "difference" }, found === null ? h("span", { class: "quiet" }, "–") : [drawn(key, found),
    h("span", { class: "num" }, h("b", null, signed(key, found.mean)), h("small", null, found.low === null ? "" : ` ${signed(key, found.low)} to ${signed(key, found.high)}`))]);
  return h("div", { class: "scroll" }, h("table", { class: "results" },
    h("thead", null, h("tr", null, h("th", { scope: "col" }, "Run"), h("th", { scope: "col" }, "How"), page.measures.map((key) => h("th", { scope: "col" }, NAMES[key])))),
    h("tbody", null, page.differences.map((d, k) => h("tr", null, h("th", { scope: "row", title: d.run }, page.runs[k + 1].name),
      h("td", null, d.paired ? `paired, ${plural(d.seeds.length, "seed")}` : `not paired: ${d.note}`), page.measures.map((key) => cell(key, d[key])))))));
}
