// One node: what it is, whom it trusted, what each teacher said of it, and who its neighbours are.
import { forceCollide, forceLink, forceManyBody, forceRadial, forceSimulation } from "d3-force";
import { count, h, number, percent, plural, s, shaded } from "./dom.js";
import { teacher, term } from "./terms.js";

const DRAWN = 36; // neighbours in the drawing
const LISTED = 8; // neighbours in the list, until asked for more
const POSSIBLE = 6; // classes of the prediction set that are named
const COLUMNS = 3; // classes in the table of probabilities

export const chip = (nodes, c) =>
  h("span", { class: "chip" }, h("i", { style: { background: nodes.colour(c) } }), nodes.className(c));

export const bar = (share, colour = "var(--accent)") =>
  h("span", { class: "bar", "aria-hidden": "true" },
    h("i", { style: { width: `${(100 * share).toFixed(2)}%`, background: colour } }));

export function nodePanel(nodes, i, choose) {
  return [heading(nodes, i), verdict(nodes, i), opinions(nodes, i), reasons(nodes, i, choose), neighbourhood(nodes, i, choose)];
}

function heading(nodes, i) {
  const facts = [nodes.names && `number ${i}`, plural(nodes.neighbours(i).length, "neighbour"),
    nodes.partName(i) || (nodes.label[i] < 0 ? "unlabelled" : "in no part of the split")];
  return h("header", { class: "node-head" }, h("h3", { id: "node-name" }, "Node ", h("b", null, nodes.name(i))),
    h("p", null, facts.filter(Boolean).join(" · ")));
}

function verdict(nodes, i) {
  const right = nodes.right(i);
  const possible = likely(nodes, i);
  const next = nodes.suggested.get(i);
  return h("dl", { class: "verdict" },
    h("div", null, h("dt", null, "Prediction"),
      h("dd", null, chip(nodes, nodes.predicted[i]), h("span", { class: "num" }, percent(nodes.confidence(i))))),
    possible && h("div", null, h("dt", null, term("Possible", "prediction set")),
      h("dd", null, possible.slice(0, POSSIBLE).map((c) => chip(nodes, c)), possible.length > POSSIBLE && h("small", null, `and ${possible.length - POSSIBLE} more`), h("small", null, possible.length ? `holds the true class in ${percent(nodes.page.coverage, 0)} of cases` : "no class fits well"))),
    h("div", null, h("dt", null, "Label"), h("dd", null, chip(nodes, nodes.label[i]),
      right !== null && h("span", { class: right ? "good" : "bad" }, right ? "✓ right" : "✗ wrong"),
      right === null && nodes.label[i] >= 0 && h("small", null, "it was trained on"))),
    next && h("div", null, h("dt", null, "To label"), h("dd", { class: "why" }, `${next.at} of ${nodes.suggested.size}: ${next.reason}`)));
}

// The classes of its prediction set, likeliest first; null where the model has no sets, or the set is the prediction alone.
function likely(nodes, i) {
  if (!nodes.sets) return null;
  const width = nodes.sets.length / nodes.count;
  const found = nodes.page.classes.map((_, c) => c).filter((c) => nodes.sets[i * width + (c >> 3)] & (1 << (c & 7)));
  const rank = new Map(nodes.said(0, i).map(({ class: c }, k) => [c, k]));
  found.sort((a, b) => (rank.get(a) ?? 99) - (rank.get(b) ?? 99));
  return found.length === 1 && found[0] === nodes.predicted[i] ? null : found;
}

// Teachers, most trusted first, with the probabilities of the classes that matter for this node; the model below.
function opinions(nodes, i) {
  const models = [{ name: nodes.page.own, model: 0 }];
  for (let k = 0; k < nodes.tasks; k++) models.push({ name: nodes.page.tasks[k], model: k + 1, weight: nodes.weight(i, k) });
  for (const model of models) model.said = nodes.said(model.model, i);
  const most = new Map();
  for (const { said, weight } of models) {
    for (const { class: c, share } of said) most.set(c, (most.get(c) ?? 0) + share * (weight ?? 1));
  }
  const classes = [...most].sort((a, b) => b[1] - a[1]).slice(0, COLUMNS).map(([c]) => c);
  const rows = [...models.slice(1).sort((a, b) => b.weight - a.weight), models[0]];
  const cell = ({ said }, c) => {
    const found = said.find((one) => one.class === c);
    const share = found ? found.share : null;
    const low = share === null || share < 0.0005;
    return shaded(share ?? 0, low ? "·" : (100 * share).toFixed(1));
  };
  const trust = nodes.tasks > 0;
  const { nodes: judges, right } = trust ? nodes.evidence(i) : { nodes: [] };
  const told = judges.length > 0;
  return h("div", { class: "scroll" }, h("table", { class: "opinions" },
    h("caption", null, trust ? "Whom it trusted, and what they said" : "What the model said", h("span", null, " (probability of each class, %)",
      told && `; beside its trust, on how many of ${plural(judges.length, "held-out node")} within two steps a teacher is right`)),
    h("thead", null, h("tr", null, h("th", { scope: "col" }, trust ? "Teacher" : ""),
      trust && h("th", { scope: "col" }, term("Trust", "trust")),
      classes.map((c) => h("th", { scope: "col", class: "class", title: nodes.className(c) }, h("i", { style: { background: nodes.colour(c) } }), h("span", null, nodes.page.classes[c]))))),
    h("tbody", null, rows.map((row) => h("tr", { class: row.model ? null : "total" },
      h("th", { scope: "row", title: row.name }, teacher(row.name)),
      trust && h("td", { class: "trust" }, row.model > 0 && [h("span", { class: "num" }, number(row.weight)),
        told && h("small", { title: `right on ${right[row.model - 1]} of ${plural(judges.length, "held-out node")} within two steps` }, `${right[row.model - 1]}/${judges.length}`), bar(row.weight)]),
      classes.map((c) => cell(row, c)))))));
}

// Bars to the right speak for the predicted class, to the left for the next likeliest.
function reasons(nodes, i, choose) {
  const why = nodes.why(i);
  if (!why) {
    return nodes.reasons.size > 0 && h("p", { class: "quiet reasons-none" }, `What moved the prediction was worked out for ${count(nodes.reasons.size)} nodes; `,
      h("code", null, "agssl report --reasons N"), " does so for more.");
  }
  if (!why.features.length && !why.nodes.length) return null;
  const most = (list) => Math.max(1e-12, ...list.map(({ moved }) => Math.abs(moved)));
  const row = (name, moved, top, act) => h("li", null, act ? h("button", { type: "button", class: "link-button", onclick: act }, name) : h("span", null, name),
    h("span", { class: "swing", "aria-hidden": "true" }, h("i", { class: moved > 0 ? "for" : "against", style: { width: `${(50 * Math.abs(moved)) / top}%` } })),
    h("span", { class: "num" }, `${moved > 0 ? "+" : ""}${number(moved, 2)}`));
  const told = ({ name, kind, value }) => (kind === "yes" ? name : `${name} = ${short(value)}`);
  const [byFeature, byNode] = [most(why.features), most(why.nodes)];
  return h("div", { class: "reasons" }, h("h4", null, nodes.page.own === "teachers together" ? "What moved the student, which says the same" : "What moved it", h("span", null, `towards ${nodes.className(nodes.predicted[i])} (+) or ${nodes.className(why.other)} (−)`)),
    h("ul", null, why.features.map((feature) => row(told(feature), feature.moved, byFeature))),
    why.nodes.length > 0 && h("ul", { class: "pulls" }, why.nodes.map(({ at, moved }) => row(`node ${nodes.name(at)}`, moved, byNode, () => choose(at)))));
}

const short = (value) => (Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(3))));

function neighbourhood(nodes, i, choose) {
  const near = nodes.neighbours(i);
  if (!near.length) return h("p", { class: "quiet" }, "It has no neighbours.");
  const agree = near.reduce((sum, j) => sum + (nodes.predicted[j] === nodes.predicted[i]), 0);
  const list = h("ul", { class: "neighbours" });
  const more = h("button", { type: "button", class: "link-button", onclick: () => listAll(near.length) });
  const listAll = (most) => {
    list.replaceChildren(...Array.from(near.slice(0, most), (j) => neighbour(nodes, j, choose)));
    more.textContent = `Show all ${count(near.length)}`;
    more.hidden = most >= near.length;
  };
  listAll(LISTED);
  return h("div", { class: "near" },
    h("h4", null, "Neighbours", h("span", null, `${count(agree)} of ${count(near.length)} predicted as it is`)),
    drawing(nodes, i, near, choose), list, more);
}

function neighbour(nodes, j, choose) {
  const wrong = nodes.right(j) === false;
  return h("li", null, h("button", { type: "button", onclick: () => choose(j), title: `show node ${nodes.name(j)}` },
    h("b", null, nodes.name(j)), chip(nodes, nodes.predicted[j]),
    nodes.label[j] < 0 ? h("span", { class: "quiet" }, "no label")
      : nodes.right(j) === null ? h("span", { class: "quiet" }, `is ${nodes.className(nodes.label[j])}`)
      : wrong ? h("span", { class: "bad" }, `✗ is ${nodes.className(nodes.label[j])}`) : h("span", { class: "good" }, "✓")));
}

// The node in the middle, its neighbours around it, and the edges among them.
function drawing(nodes, i, near, choose) {
  const width = 380;
  const height = near.length > 12 ? 260 : 210;
  const shown = Array.from(near.slice(0, DRAWN));
  const items = [i, ...shown].map((id, k) => ({ id, fx: k ? undefined : 0, fy: k ? undefined : 0 }));
  const where = new Map(items.map((item, k) => [item.id, k]));
  const links = [];
  items.forEach(({ id }, k) => nodes.neighbours(id).forEach((j) => {
    if (where.has(j) && where.get(j) > k) links.push({ source: k, target: where.get(j), own: k === 0 });
  }));
  const reach = shown.length > 12 ? 98 : 74;
  forceSimulation(items).stop()
    .force("ring", forceRadial(reach).strength((d) => (d.id === i ? 0 : 0.9)))
    .force("charge", forceManyBody().strength(-60))
    .force("link", forceLink(links).distance(46).strength((l) => (l.own ? 0.02 : 0.25)))
    .force("collide", forceCollide(shown.length > 16 ? 11 : 16)).tick(140);
  const named = shown.length <= (shown.some((j) => nodes.name(j).length > 6) ? 7 : 14);
  const edges = (key) => [Math.min(...items.map((item) => item[key])), Math.max(...items.map((item) => item[key]))];
  const [[left, right], [upper, lower]] = [edges("x"), edges("y")];
  const fit = (v, low, high, size, margin) => (high - low < 1 ? size / 2 : margin + ((v - low) / (high - low)) * (size - 2 * margin));
  const at = ({ x, y }) => [fit(x, left, right, width, 40), fit(y, upper, lower, height, 30)];
  const edge = ({ source, target, own }) => {
    const [[x1, y1], [x2, y2]] = [at(source), at(target)];
    return s("line", { x1, y1, x2, y2, class: own ? "edge own" : "edge" });
  };
  const dot = (item) => {
    const [x, y] = at(item);
    const self = item.id === i;
    const wrong = nodes.right(item.id) === false;
    const name = nodes.name(item.id);
    return s("g", { transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`, class: self ? "self" : "other",
      onclick: () => self || choose(item.id) },
      s("title", null, `${name}: predicted ${nodes.className(nodes.predicted[item.id])}, ` +
        (nodes.label[item.id] < 0 ? "no label" : `label ${nodes.className(nodes.label[item.id])}`)),
      wrong && s("circle", { r: self ? 14 : 10, class: "label-ring", style: { stroke: nodes.colour(nodes.label[item.id]) } }),
      s("circle", { r: self ? 10 : 6.5, style: { fill: nodes.colour(nodes.predicted[item.id]) } }),
      (named || self) && s("text", { y: self ? -18 : (y < height / 2 ? -11 : 19) + (wrong ? (y < height / 2 ? -3 : 3) : 0) }, name.length > 12 ? `${name.slice(0, 11)}…` : name));
  };
  const note = `Fill: prediction; ring: the label where it is another` +
    (shown.length < near.length ? `; ${shown.length} of ${count(near.length)} drawn` : "");
  return h("div", { class: "drawing" },
    s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Node ${nodes.name(i)} among its neighbours` },
      links.map(edge), items.slice(1).map(dot), dot(items[0])), h("p", { class: "quiet" }, note));
}
