import { disagreement, errors, pool, training, trust } from "./charts.js";
import { startTheme } from "./colours.js";
import { compare } from "./compare.js";
import { loadNodes, loadPage } from "./data.js";
import { h, section } from "./dom.js";
import { explorer } from "./explorer.js";
import { made, results } from "./glance.js";
import { headline } from "./headline.js";
import { State } from "./state.js";
import { startTerms } from "./terms.js";

const METHODS = { gcn: "plain GCN", single: "one task", joint: "all tasks in one network", agssl: "AGSSL" };
const SHORT = { opening: "Result", nodes: "Nodes", results: "Models", pool: "Pool", trust: "Trust", disagreement: "Disagreement", errors: "Errors",
  training: "Training", made: "Run", runs: "Results", differences: "Differences" };

// A click goes to a section and leaves the address, which has the state, as it is.
const link = (id) => h("a", { href: `#${id}`, onclick: (event) => { event.preventDefault(); document.getElementById(id).scrollIntoView(); } }, SHORT[id] ?? id);

function top(eyebrow, title, line, sections, toggle) {
  return [h("header", { class: "top" },
    h("div", null, h("p", { class: "eyebrow" }, eyebrow), h("h1", null, title), h("p", { class: "sub" }, line)),
    h("button", { type: "button", class: "theme", "aria-label": "switch between light and dark", title: "light or dark", onclick: toggle }, "◐")),
  h("nav", { "aria-label": "Sections" }, sections.map(({ id }) => link(id)))];
}

async function main() {
  const toggle = startTheme();
  const page = loadPage();
  startTerms(page.glossary);
  const place = document.getElementById("page");
  if (page.kind === "compare") {
    const sections = compare(page);
    place.append(...top("agssl compare", page.title, `${page.runs.length} runs`, sections, toggle), ...sections);
  } else {
    await report(page, place, toggle);
  }
  document.documentElement.dataset.ready = "";
}

// The result and the node that is looked at share a place, where there is room for one of them only.
function sideOf(page) {
  const buttons = { headline: h("button", { type: "button", role: "tab", onclick: () => open("headline") }, "Result"), node: h("button", { type: "button", role: "tab", onclick: () => open("node") }, "Node") };
  const element = h("div", { class: "side" }, h("div", { class: "tabs", role: "tablist" }, Object.values(buttons)), headline(page));
  const open = (name) => {
    element.dataset.open = name;
    for (const [key, button] of Object.entries(buttons)) button.setAttribute("aria-selected", String(key === name));
  };
  open("headline");
  return { element, open, name: (text) => buttons.node.replaceChildren("Node ", h("b", null, text)) };
}

// What needs no node comes first, and has been painted before the nodes are unpacked.
async function report(page, place, toggle) {
  const state = new State();
  const side = sideOf(page);
  const waiting = h("div", { class: "waiting" });
  const opening = h("section", { id: "opening", class: "opening", "aria-label": "Result and map" }, side.element, waiting);
  const table = section("nodes", "Nodes", "The nodes that pass all filters. To set one, click an entry of the map’s legend, a cell of a table below, or a button here.");
  const sections = [opening, table, results(page), pool(page), trust(page, state), disagreement(page, state), errors(page, state), training(page), made(page)].filter(Boolean);
  const how = [METHODS[page.method] ?? page.method, page.integration && `integration ${page.integration}`,
    page.weighted && `${page.tasks.length} teachers`, page.seeds.length > 1 ? `${page.seeds.length} seeds, details of seed ${page.seed}` : `seed ${page.seed}`];
  place.append(...top("agssl report", page.name, how.filter(Boolean).join(" · "), sections, toggle), ...sections);
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const found = explorer(await loadNodes(page), state, side);
  side.element.append(found.panel);
  waiting.replaceWith(found.map);
  table.append(found.table);
}

main().catch((error) => {
  document.getElementById("page").append(h("p", { class: "notice" }, `The page could not be drawn: ${error.message}. A browser of 2023 or later is needed.`));
  throw error;
});
