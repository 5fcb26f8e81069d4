import { disagreement, errors, training, trust } from "./charts.js";
import { startTheme } from "./colours.js";
import { compare } from "./compare.js";
import { load } from "./data.js";
import { h } from "./dom.js";
import { explorer } from "./explorer.js";
import { made, results } from "./glance.js";

const METHODS = { gcn: "plain GCN", single: "one task", joint: "all tasks in one network", agssl: "AGSSL" };

function top(eyebrow, title, line, sections, toggle) {
  const short = { results: "Result", nodes: "Nodes", trust: "Trust", disagreement: "Disagreement", errors: "Errors", training: "Training", made: "Run", runs: "Results", differences: "Differences" };
  return h("header", { class: "top" },
    h("div", null, h("p", { class: "eyebrow" }, eyebrow), h("h1", null, title), h("p", { class: "sub" }, line)),
    h("button", { type: "button", class: "theme", "aria-label": "switch between light and dark", title: "light or dark", onclick: toggle }, "◐"),
    h("nav", { "aria-label": "Sections" }, sections.map(({ id }) => h("a", { href: `#${id}` }, short[id] ?? id))));
}

async function main() {
  const toggle = startTheme();
  const place = document.getElementById("page");
  const { page, nodes } = await load();
  if (page.kind === "compare") {
    const sections = compare(page);
    place.append(top("agssl compare", page.title, `${page.runs.length} runs`, sections, toggle), ...sections);
  } else {
    place.append(...report(page, nodes, toggle));
  }
  document.documentElement.dataset.ready = "";
}

function report(page, nodes, toggle) {
  const sections = [results(page), explorer(nodes), trust(page), disagreement(page), errors(page), training(page), made(page)].filter(Boolean);
  const how = [METHODS[page.method] ?? page.method, page.integration && `integration ${page.integration}`,
    page.weighted && `${page.tasks.length} teachers`, page.seeds.length > 1 ? `${page.seeds.length} seeds, details of seed ${page.seed}` : `seed ${page.seed}`];
  return [top("agssl report", page.name, how.filter(Boolean).join(" · "), sections, toggle), ...sections];
}

main().catch((error) => {
  document.getElementById("page").append(h("p", { class: "notice" }, `The page could not be drawn: ${error.message}. A browser of 2023 or later is needed.`));
  throw error;
});
