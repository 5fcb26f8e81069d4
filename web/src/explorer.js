// The node explorer: the map, what its colours mean, a search field, and the node that is looked at.
import { NEUTRAL, categorical, confidence } from "./colours.js";
import { count, h, percent, section } from "./dom.js";
import { NodeMap } from "./map.js";
import { nodePanel } from "./node.js";

const RAMP = 24;

export function explorer(nodes) {
  const state = { colour: "class", only: null, part: 0 };
  const ways = {
    class: ["Class", () => byClass(nodes)],
    ...(nodes.tasks ? { task: ["Most trusted task", () => byTask(nodes)] } : {}),
    confidence: ["Confidence", () => byConfidence(nodes)],
    right: ["Right or wrong", () => byRight(nodes)],
  };
  const panel = h("div", { class: "panel", "aria-live": "polite", id: "node" });
  const tip = h("div", { class: "tip", hidden: true });
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Colours" });
  const show = (i, focus = false) => {
    state.node = i;
    panel.replaceChildren(...nodePanel(nodes, i, (j) => show(j)));
    map.show(i);
    if (focus) map.element.focus({ preventScroll: true });
  };
  const map = new NodeMap(nodes, { select: show, hover: (i, at) => hover(i, at) });
  const hover = (i, at) => {
    tip.hidden = i === null;
    map.element.classList.toggle("over", i !== null);
    if (i === null) return;
    tip.replaceChildren(h("b", null, nodes.name(i)), h("span", null,
      `${nodes.className(nodes.predicted(i))}, ${percent(nodes.confidence(i))}`));
    tip.style.left = `${Math.max(70, Math.min(at[0], map.width - 70))}px`;
    tip.style.top = `${at[1]}px`;
  };
  map.element.append(tip);

  const paint = () => {
    const { entries, which, ramp, last, labels } = ways[state.colour][1]();
    const seen = Uint8Array.from(which, (value, i) => {
      if (state.part && nodes.part[i] !== state.part) return 255;
      return state.only === null || ramp || value === state.only ? value : entries.length;
    });
    const colours = [...(ramp ?? entries.map((entry) => entry.colour)), NEUTRAL];
    const rank = (i) => (seen[i] === entries.length && !ramp ? 0 : 1 + (last ? last(which[i]) : 0));
    map.paint({ colours, which: seen, last: rank, labels: labels ?? [] });
    legend.replaceChildren(...(ramp ? [rampLegend(ramp, entries)] : entries.map((entry, k) => key(entry, k))));
  };
  const key = ({ name, colour, nodes: n }, k) => h("button", { type: "button", "aria-pressed": String(state.only === k),
    title: "show these alone", onclick: () => { state.only = state.only === k ? null : k; paint(); } },
    h("i", { style: { background: colour } }), name, h("small", null, count(n)));
  const choice = (name, [text], k) => h("label", null, h("input", { type: "radio", name: "colour", value: name,
    checked: k === 0, onchange: () => { state.colour = name; state.only = null; paint(); } }), h("span", null, text));
  const parts = h("select", { "aria-label": "Which nodes to show", onchange: () => { state.part = Number(parts.value); paint(); } },
    ["all nodes", "training nodes", "validation nodes", "test nodes"].map((text, k) => h("option", { value: k }, text)));
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const buttons = h("div", { class: "zoom" }, button("+", "zoom in", () => map.by(1.6)),
    button("−", "zoom out", () => map.by(1 / 1.6)), button("⤢", "show all", () => map.reset()));

  paint();
  show(interesting(nodes));
  return section("nodes", "Every node", "Find a node by its name or number, or click it. The map lays nodes out by the model’s embedding: "
    + "what it holds alike lies close together.",
    h("div", { class: "tools" }, search(nodes, show),
      h("fieldset", { class: "segments" }, h("legend", null, "Colour by"), Object.entries(ways).map(([name, way], k) => choice(name, way, k))), parts),
    h("div", { class: "explorer" }, h("div", { class: "map-side" }, h("div", { class: "map-box" }, map.element, buttons), legend), panel));
}

// A node to begin with: a test node that its most trusted teacher gets right and most others get wrong.
function interesting(nodes) {
  let best = 0;
  let most = -1;
  for (let i = 0; i < nodes.count; i++) {
    if (nodes.label[i] < 0 || !nodes.neighbours(i).length || nodes.neighbours(i).length > 12) continue;
    let wrong = 0;
    for (let k = 0; k < nodes.tasks; k++) wrong += nodes.said(k + 1, i)[0].class !== nodes.label[i];
    const followed = nodes.tasks && nodes.said(nodes.trusted(i) + 1, i)[0].class === nodes.label[i] && nodes.right(i);
    const score = (nodes.part[i] === 3 ? 20 : 0) + (followed ? 2 * wrong : 0) + 1.5 * Math.min(nodes.neighbours(i).length, 4) + 2 * nodes.confidence(i);
    if (score > most) [best, most] = [i, score];
  }
  return best;
}

function search(nodes, show) {
  const list = h("ul", { role: "listbox", id: "found", hidden: true, "aria-label": "Nodes found" });
  const input = h("input", { type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "found",
    "aria-autocomplete": "list", "aria-label": "Find a node", autocomplete: "off", spellcheck: "false",
    placeholder: nodes.names ? "Name or number of a node" : `Number of a node, 0 to ${nodes.count - 1}` });
  let found = [];
  let at = 0;
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
  const take = (i) => { input.value = nodes.name(i); close(); show(i); };
  const mark = (k) => {
    at = k;
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === k)));
    input.setAttribute("aria-activedescendant", `found-${k}`);
  };
  const open = () => {
    found = nodes.search(input.value);
    const none = input.value.trim() && !found.length;
    list.replaceChildren(...found.map((i, k) => h("li", { role: "option", id: `found-${k}`, onmousedown: (event) => { event.preventDefault(); take(i); } },
      h("b", null, nodes.name(i)), h("span", null, nodes.className(nodes.predicted(i))))),
      none ? h("li", { class: "none" }, "No such node") : "");
    list.hidden = !found.length && !none;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (found.length) mark(0);
  };
  input.addEventListener("input", open);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && found.length) take(found[at]);
    else if (event.key === "ArrowDown" && found.length) mark((at + 1) % found.length);
    else if (event.key === "ArrowUp" && found.length) mark((at + found.length - 1) % found.length);
    else return;
    event.preventDefault();
  });
  return h("div", { class: "search" }, input, list);
}

function entriesOf(names, which) {
  const counts = new Array(names.length).fill(0);
  for (const k of which) counts[k]++;
  return names.map((name, k) => ({ name, colour: categorical(k), nodes: counts[k] }));
}

// Where to write the name of a group: at its median, with most nodes first so that they win where names collide.
function labelsOf(nodes, entries, which) {
  const groups = entries.map(() => [[], []]);
  for (let i = 0; i < nodes.count; i++) { groups[which[i]][0].push(nodes.x[i]); groups[which[i]][1].push(nodes.y[i]); }
  const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  return entries.map(({ name, nodes: n }, k) => ({ n, text: name.length > 28 ? `${name.slice(0, 27)}…` : name, x: median(groups[k][0]), y: median(groups[k][1]) }))
    .filter(({ n }) => n > 0).sort((a, b) => b.n - a.n);
}

function byClass(nodes) {
  const which = Uint8Array.from({ length: nodes.count }, (_, i) => Math.min(nodes.predicted(i), 253));
  const names = nodes.page.classes.slice(0, 254).map((_, c) => nodes.className(c));
  const entries = entriesOf(names, which).map((entry, c) => ({ ...entry, colour: nodes.colour(c) }));
  return { entries, which, labels: labelsOf(nodes, entries, which) };
}

function byTask(nodes) {
  const which = Uint8Array.from({ length: nodes.count }, (_, i) => nodes.trusted(i));
  return { entries: entriesOf(nodes.page.tasks, which), which };
}

function byConfidence(nodes) {
  const low = 1 / nodes.page.classes.length;
  const which = Uint8Array.from({ length: nodes.count }, (_, i) =>
    Math.round(Math.max(0, (nodes.confidence(i) - low) / (1 - low)) * (RAMP - 1)));
  const ramp = Array.from({ length: RAMP }, (_, k) => confidence(k / (RAMP - 1)));
  return { ramp, which, last: (k) => RAMP - k, entries: [low, 1] };
}

function rampLegend(ramp, [low, high]) {
  return h("span", { class: "ramp" }, percent(low, 0), h("i", { style: { background: `linear-gradient(to right, ${ramp.join(",")})` } }),
    percent(high, 0), h("small", null, "probability of the predicted class"));
}

function byRight(nodes) {
  const which = Uint8Array.from({ length: nodes.count }, (_, i) => { const r = nodes.right(i); return r === null ? 2 : r ? 0 : 1; });
  const colours = ["var(--right)", "var(--wrong)", NEUTRAL];
  const entries = entriesOf(["right", "wrong", "no label"], which).map((e, k) => ({ ...e, colour: colours[k] }));
  return { entries: entries.filter((e, k) => k < 2 || e.nodes), which, last: (k) => (k === 1 ? 2 : k === 0 ? 1 : 0) };
}
