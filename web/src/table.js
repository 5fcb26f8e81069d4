// The nodes that pass the filters, as a table that can be sorted and saved.
import { count, h, number, percent } from "./dom.js";
import { PICK_NAMES } from "./filters.js";
import { chip } from "./node.js";
import { download } from "./save.js";

const FIRST = 10;
const STEP = 40;
const SORTS = { unsure: ["sure", 1], wrong: ["sure", -1], split: ["with", 1], ask: ["next", 1] };

export class NodeTable {
  constructor(nodes, state, choose) {
    Object.assign(this, { nodes, state, choose, shown: FIRST });
    this.all = columnsOf(nodes);
    this.head = h("thead");
    this.body = h("tbody");
    this.more = h("button", { type: "button", class: "link-button", onclick: () => { this.shown += STEP; this.draw(); } });
    this.size = h("span", { class: "quiet" });
    const picks = h("div", { class: "picks", role: "group", "aria-label": "Nodes to look at" }, Object.keys(PICK_NAMES).filter((name) => this.some(name)).map((name) =>
      h("button", { type: "button", "data-pick": name, onclick: () => this.pick(name) }, PICK_NAMES[name])));
    this.picks = picks;
    this.element = h("div", { class: "node-table" },
      h("div", { class: "table-tools" }, picks, this.size, h("button", { type: "button", class: "csv", onclick: () => this.save() }, "CSV")),
      h("div", { class: "scroll" }, h("table", { class: "nodes" }, h("caption", { class: "hidden" }, "Nodes that pass the filters"), this.head, this.body)), this.more);
  }

  some(name) {
    const { nodes } = this;
    if (name === "split") return nodes.tasks > 1;
    return name !== "ask" || nodes.suggested.size > 0;
  }

  pick(name) {
    const on = this.state.get("pick") === name;
    this.state.set({ pick: on ? null : name, sort: on ? null : `${SORTS[name][1] < 0 ? "-" : ""}${SORTS[name][0]}` });
  }

  // Suggestions have a reason, which says what some other columns do.
  get columns() {
    const asked = this.state.get("pick") === "ask";
    return Object.fromEntries(Object.entries(this.all).filter(([, { only }]) => only === undefined || only === asked));
  }

  // The order of the table: a column, and whether it falls.
  order() {
    const text = this.state.get("sort") ?? "sure";
    const key = text.replace(/^-/, "");
    return this.columns[key] ? { key, falling: text.startsWith("-") } : { key: "sure", falling: false };
  }

  show({ mask, size }) {
    this.mask = mask;
    this.total = size;
    this.shown = FIRST;
    this.draw();
  }

  // The first few in order, without sorting all: from a copy of the keys, the one up to which they go.
  sorted(most) {
    const { key, falling } = this.order();
    const { value } = this.columns[key];
    const members = [];
    for (let i = 0; i < this.mask.length; i++) if (this.mask[i]) members.push(i);
    if (typeof value(0) === "string") {
      members.sort((a, b) => (falling ? -1 : 1) * value(a).localeCompare(value(b), undefined, { numeric: true }) || a - b);
      return members.slice(0, most);
    }
    const sign = falling ? -1 : 1;
    const keys = Float64Array.from(members, (i) => sign * value(i));
    const last = most < keys.length ? keys.slice().sort()[most - 1] : Infinity;
    const near = members.map((i, at) => [i, keys[at]]).filter(([, k]) => k <= last);
    return near.sort((a, b) => a[1] - b[1] || a[0] - b[0]).slice(0, most).map(([i]) => i);
  }

  draw() {
    const { key, falling } = this.order();
    this.head.replaceChildren(h("tr", null, Object.entries(this.columns).map(([name, { title, num }]) =>
      h("th", { scope: "col", class: num ? "num" : null, "aria-sort": name === key ? (falling ? "descending" : "ascending") : null },
        h("button", { type: "button", onclick: () => this.state.set({ sort: name === key && !falling ? `-${name}` : name }) },
          title, name === key ? (falling ? " ↓" : " ↑") : "")))));
    const none = h("tr", null, h("td", { colspan: Object.keys(this.columns).length, class: "quiet" }, "No node passes all filters."));
    this.body.replaceChildren(...(this.total ? this.sorted(this.shown).map((i) => this.row(i)) : [none]));
    this.size.textContent = `${count(this.total)} of ${count(this.nodes.count)} nodes`;
    this.more.textContent = `Show ${count(Math.min(STEP, this.total - this.shown))} more`;
    this.more.hidden = this.shown >= this.total;
    for (const button of this.picks.children) button.setAttribute("aria-pressed", String(this.state.get("pick") === button.dataset.pick));
    this.mark();
  }

  row(i) {
    return h("tr", { "data-node": i, onclick: () => this.choose(i) }, Object.values(this.columns).map(({ show, num, wide }, k) =>
      h("td", { class: num ? "num" : wide ? "why-cell" : null }, k ? show(i) : h("button", { type: "button", class: "link-button", "aria-label": `show node ${this.nodes.name(i)}` }, show(i)))));
  }

  // The row of the node that is looked at.
  mark(node = this.marked) {
    this.marked = node;
    for (const row of this.body.children) row.classList.toggle("selected", row.dataset.node === String(node));
  }

  save() {
    const { nodes } = this;
    const quote = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const class_ = (c) => (c < 0 ? "" : nodes.page.classes[c]);
    const right = (i) => ({ true: "right", false: "wrong" }[nodes.right(i)] ?? "");
    const head = ["node", "prediction", "probability", "label", "right", "part", "degree", ...(nodes.tasks ? ["most trusted", ...nodes.page.tasks.map((t) => `trust in ${t}`)] : []), ...(nodes.suggested.size ? ["label next", "why label it"] : [])];
    const rows = this.sorted(this.total).map((i) => [nodes.name(i), class_(nodes.predicted[i]), nodes.confidence(i).toFixed(4), class_(nodes.label[i]), right(i),
      nodes.partName(i), nodes.degree(i), ...(nodes.tasks ? [nodes.page.tasks[nodes.trusted(i)], ...nodes.page.tasks.map((_, k) => nodes.weight(i, k).toFixed(4))] : []),
      ...(nodes.suggested.size ? [nodes.suggested.get(i)?.at ?? "", nodes.suggested.get(i)?.reason ?? ""] : [])]);
    download("nodes.csv", [head, ...rows].map((row) => row.map((value) => quote(String(value))).join(",")).join("\r\n") + "\r\n", "text/csv");
  }
}

function columnsOf(nodes) {
  const right = (i) => nodes.right(i);
  return {
    node: { title: "Node", value: nodes.names ? (i) => nodes.name(i) : (i) => i, show: (i) => nodes.name(i) },
    next: { title: "Why label it", only: true, wide: true, value: (i) => nodes.suggested.get(i)?.at ?? Infinity, show: (i) => h("span", { class: "why", title: nodes.suggested.get(i).reason }, `${nodes.suggested.get(i).at}. ${nodes.suggested.get(i).reason}`) },
    class: { title: "Prediction", value: (i) => nodes.predicted[i], show: (i) => chip(nodes, nodes.predicted[i]) },
    sure: { title: "Confidence", num: true, value: (i) => nodes.confidence(i), show: (i) => percent(nodes.confidence(i)) },
    label: { title: "Label", only: false, value: (i) => nodes.label[i], show: (i) => [nodes.label[i] < 0 ? h("span", { class: "quiet" }, "none") : chip(nodes, nodes.label[i]),
      right(i) === null ? "" : h("span", { class: right(i) ? "good" : "bad" }, right(i) ? " ✓" : " ✗")] },
    ...(nodes.tasks ? {
      trusted: { title: "Trusts most", value: (i) => nodes.trusted(i), show: (i) => [nodes.page.tasks[nodes.trusted(i)], h("small", null, ` ${number(nodes.weight(i, nodes.trusted(i)), 2)}`)] },
      with: { title: "Teachers with it", only: false, num: true, value: (i) => nodes.teachersWith(i), show: (i) => `${nodes.teachersWith(i)} of ${nodes.tasks}` },
    } : {}),
    degree: { title: "Degree", only: false, num: true, value: (i) => nodes.degree(i), show: (i) => count(nodes.degree(i)) },
    part: { title: "Part", only: false, value: (i) => nodes.part[i], show: (i) => h("span", { class: "quiet" }, nodes.partName(i) || (nodes.label[i] < 0 ? "unlabelled" : "–")) },
  };
}
