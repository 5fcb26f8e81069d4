import { disagreement, errors, training, trust } from "./charts.js";
import { startTheme } from "./colours.js";
import { compare } from "./compare.js";
import { loadNodes, loadPage } from "./data.js";
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
  const page = loadPage();
  const place = document.getElementById("page");
  if (page.kind === "compare") {
    const sections = compare(page);
    place.append(top("agssl compare", page.title, `${page.runs.length} runs`, sections, toggle), ...sections);
  } else {
    await report(page, place, toggle);
  }
  document.documentElement.dataset.ready = "";
}

// What needs no node comes first, and has been painted before the nodes are unpacked.
async function report(page, place, toggle) {
  const waiting = h("section", { id: "nodes", class: "waiting" });
  const sections = [results(page), waiting, trust(page), disagreement(page), errors(page), training(page), made(page)].filter(Boolean);
  const how = [METHODS[page.method] ?? page.method, page.integration && `integration ${page.integration}`,
    page.weighted && `${page.tasks.length} teachers`, page.seeds.length > 1 ? `${page.seeds.length} seeds, details of seed ${page.seed}` : `seed ${page.seed}`];
  place.append(top("agssl report", page.name, how.filter(Boolean).join(" · "), sections, toggle), ...sections);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  waiting.replaceWith(explorer(await loadNodes(page)));
}

main().catch((error) => {
  document.getElementById("page").append(h("p", { class: "notice" }, `The page could not be drawn: ${error.message}. A browser of 2023 or later is needed.`));
  throw error;
});
