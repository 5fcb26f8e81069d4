// The map, what its colours mean, the filters that are on, a search field, and the card of the node that is looked at.
import { NEUTRAL, categorical, confidence } from "./colours.js";
import { count, h, percent } from "./dom.js";
import { chosen, KEYS, partWords } from "./filters.js";
import { NodeMap } from "./map.js";
import { nodePanel } from "./node.js";
import { saveButtons } from "./save.js";
import { NodeTable } from "./table.js";

const RAMP = 24;

// The tools and the map, the card, and the table; `side` shows the card where there is room for one thing only.
export function explorer(nodes, state, side) {
  const ways = {
    class: ["Class", byClass(nodes)],
    ...(nodes.tasks ? { trust: ["Most trusted", byTask(nodes)] } : {}),
    confidence: ["Confidence", byConfidence(nodes)],
    right: ["Right or wrong", byRight(nodes)],
  };
  const panel = h("div", { class: "panel", "aria-live": "polite", id: "node" });
  const tip = h("div", { class: "tip", hidden: true });
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Colours" });
  const chips = h("div", { class: "filters", role: "group", "aria-label": "Filters" });
  const field = search(nodes, (i) => choose(i));
  const choose = (i) => { state.set({ node: nodes.name(i) }); side.open("node"); };
  const map = new NodeMap(nodes, { select: choose, hover: (i, at) => hover(i, at) });
  const table = new NodeTable(nodes, state, choose);
  const hover = (i, at) => {
    tip.hidden = i === null;
    map.element.classList.toggle("over", i !== null);
    if (i === null) return;
    tip.replaceChildren(h("b", null, nodes.name(i)), h("span", null, `${nodes.className(nodes.predicted[i])}, ${percent(nodes.confidence(i))}`));
    tip.style.left = `${Math.max(70, Math.min(at[0], map.width - 70))}px`;
    tip.style.top = `${at[1]}px`;
  };
  map.element.append(tip);

  const colour = () => (ways[state.get("colour")] ? state.get("colour") : "class");
  const paint = (mask, all) => {
    const { entries, which, ramp, last, labels, filter } = ways[colour()][1];
    const dim = ramp ? ramp.length : entries.length;
    const seen = all ? which : Uint8Array.from(which, (value, i) => (mask[i] ? value : dim));
    const rank = all ? last && ((i) => last(which[i])) : (i) => (mask[i] ? 1 + (last ? last(which[i]) : 0) : 0);
    map.paint({ colours: [...(ramp ?? entries.map((entry) => entry.colour)), NEUTRAL], which: seen, last: rank, labels: labels ?? [], large: !all && 10 * before.size < nodes.count ? mask : null });
    legend.replaceChildren(...(ramp ? [rampLegend(ramp, entries)] : entries.map((entry, k) => key(entry, filter(k)))));
  };
  const key = ({ name, colour: fill, nodes: n }, filter) => h("button", { type: "button", "aria-pressed": String(state.has(filter)),
    title: "show these alone", onclick: () => state.toggle(filter) }, h("i", { style: { background: fill } }), h("span", null, name), h("small", null, count(n)));
  const radios = Object.entries(ways).map(([name, [text]]) => ({ name, text, input: h("input", { type: "radio", name: "colour", value: name, onchange: () => state.set({ colour: name }) }) }));
  const parts = h("select", { "aria-label": "Which nodes to show", onchange: () => state.set({ part: parts.value || null }) },
    h("option", { value: "" }, "all nodes"), partsOf(nodes).map(([value, text]) => h("option", { value }, text)));
  const button = (text, label, act) => h("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const buttons = h("div", { class: "zoom" }, button("+", "zoom in", () => map.by(1.6)), button("−", "zoom out", () => map.by(1 / 1.6)), button("⤢", "show all", () => map.reset()));
  const box = h("div", { class: "map-box" }, map.element, buttons, saveButtons(h, "map", () => box));

  let before = {};
  const follow = () => {
    const filters = KEYS.map((name) => `${name}=${state.get(name)}`).join();
    const now = { filters, colour: colour(), sort: state.get("sort"), node: state.get("node") };
    if (now.filters !== before.filters) {
      const found = chosen(state, nodes);
      [before.mask, before.size, before.all] = [found.mask, found.size, !found.filters.length];
      chips.replaceChildren(...(found.filters.length ? [...found.filters.map(({ key: name, text }) => h("button", { type: "button", class: "filter", "data-filter": name,
        "aria-label": `remove the filter ${text}`, onclick: () => state.set({ [name]: null }) }, text, h("span", { "aria-hidden": "true" }, "×"))),
        h("span", { class: "quiet" }, found.text), h("button", { type: "button", class: "link-button", onclick: () => state.set(Object.fromEntries(KEYS.map((name) => [name, null]))) }, "show all")] : []));
      parts.value = state.get("part") ?? "";
    }
    if (now.filters !== before.filters || now.colour !== before.colour) paint(before.mask, before.all);
    if (now.filters !== before.filters || now.sort !== before.sort) table.show({ mask: before.mask, size: before.size });
    for (const { name, input } of radios) input.checked = name === now.colour;
    if (now.node !== before.node) {
      const named = nodes.find(now.node);
      const i = named ?? nodes.interesting();
      panel.replaceChildren(...nodePanel(nodes, i, choose).filter(Boolean));
      side.name(nodes.name(i));
      map.show(i);
      field.show(named === null ? "" : nodes.name(i));
      table.mark(i);
      if (named !== null) side.open("node");
    }
    Object.assign(before, now);
  };
  state.on(follow);
  follow();
  const tools = h("div", { class: "tools" }, field.element,
    h("fieldset", { class: "segments" }, h("legend", null, "Colour by"), radios.map(({ input, text }) => h("label", null, input, h("span", null, text)))), parts);
  return { map: h("div", { class: "map-side" }, tools, chips, box, legend), panel, table: table.element };
}

const partsOf = (nodes) => {
  const there = new Set(nodes.part);
  return Object.entries(partWords(nodes.page)).filter(([value]) => (value === "unlabelled" ? nodes.label.some((c) => c < 0) : there.has(Number(value))));
};

function search(nodes, choose) {
  const list = h("ul", { role: "listbox", id: "found", hidden: true, "aria-label": "Nodes found" });
  const input = h("input", { type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "found",
    "aria-autocomplete": "list", "aria-label": "Find a node", autocomplete: "off", spellcheck: "false",
    placeholder: nodes.names ? "Name or number of a node" : `Number of a node, 0 to ${nodes.count - 1}` });
  let found = [];
  let at = 0;
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); };
  const take = (i) => { input.value = nodes.name(i); close(); choose(i); };
  const mark = (k) => {
    at = k;
    [...list.children].forEach((item, n) => item.setAttribute("aria-selected", String(n === k)));
    input.setAttribute("aria-activedescendant", `found-${k}`);
  };
  const open = () => {
    found = nodes.search(input.value);
    const none = input.value.trim() && !found.length;
    list.replaceChildren(...found.map((i, k) => h("li", { role: "option", id: `found-${k}`, onmousedown: (event) => { event.preventDefault(); take(i); } },
      h("b", null, nodes.name(i)), h("span", null, nodes.className(nodes.predicted[i])))),
      none ? h("li", { class: "none" }, "No such node") : "");
    list.hidden = !found.length && !none;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (found.length) mark(0);
  };
  input.addEventListener("input", open);
  input.addEventListener("focus", () => input.select());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && found.length) take(found[at]);
    else if (event.key === "ArrowDown" && found.length) mark((at + 1) % found.length);
    else if (event.key === "ArrowUp" && found.length) mark((at + found.length - 1) % found.length);
    else return;
    event.preventDefault();
  });
  return { element: h("div", { class: "search" }, input, list), show: (text) => { input.value = text; } };
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
  const median = (values) => Float32Array.from(values).sort()[values.length >> 1];
  return entries.map(({ name, nodes: n }, k) => ({ n, text: name.length > 28 ? `${name.slice(0, 27)}…` : name, x: median(groups[k][0]), y: median(groups[k][1]) }))
    .filter(({ n }) => n > 0).sort((a, b) => b.n - a.n);
}

function byClass(nodes) {
  const which = Uint8Array.from(nodes.predicted, (c) => Math.min(c, 253));
  const names = nodes.page.classes.slice(0, 254).map((_, c) => nodes.className(c));
  const entries = entriesOf(names, which).map((entry, c) => ({ ...entry, colour: nodes.colour(c) }));
  return { entries, which, labels: labelsOf(nodes, entries, which), filter: (k) => ({ class: k }) };
}

function byTask(nodes) {
  const which = Uint8Array.from({ length: nodes.count }, (_, i) => nodes.trusted(i));
  return { entries: entriesOf(nodes.page.tasks, which), which, filter: (k) => ({ trusted: k }) };
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
  const entries = entriesOf(["right", "wrong", "not measured"], which).map((e, k) => ({ ...e, colour: colours[k] }));
  return { entries: entries.filter((e, k) => k < 2 || e.nodes), which, last: (k) => (k === 1 ? 2 : k === 0 ? 1 : 0),
    filter: (k) => ({ right: ["right", "wrong", "unknown"][k] }) };
}
