// Filters of nodes: each has a key and a value in the state, words for it, and a test.
import { count, percent } from "./dom.js";

const PICKS = { unsure: "least sure", wrong: "sure but wrong", split: "teachers split", ask: "to label next" };
const CHANGES = { rescued: "rescued", spoiled: "spoiled", both_right: "right in both", both_wrong: "wrong in both" };
export const PICK_NAMES = PICKS;
export const KEYS = ["pick", "part", "class", "label", "right", "trusted", "degree", "change", "teachers", "differ", "sure"];

export const partWords = (page) => ({ 1: "training nodes", 2: page.measured_on === "heldout" ? "held-out nodes" : "validation nodes",
  3: "test nodes", 4: "held-out nodes that measure", unlabelled: "unlabelled nodes" });

const modelName = (page, m) => (m === 0 ? page.own : page.tasks[m - 1]);

// The range of degrees of a group's name, as "4-7" or "32+".
function range(name) {
  const [low, high] = name.endsWith("+") ? [Number(name.slice(0, -1)), Infinity] : name.split("-").map(Number);
  return [low, high ?? low];
}

const makers = {
  pick: (nodes, v) => PICKS[v] && { text: PICKS[v], test: nodes.pick(v) },
  part: (nodes, v) => ({ text: partWords(nodes.page)[v], test: v === "unlabelled" ? (i) => nodes.label[i] < 0 : (i) => nodes.part[i] === Number(v) }),
  class: (nodes, v) => ({ text: `predicted ${nodes.className(Number(v))}`, test: (i) => nodes.predicted[i] === Number(v) }),
  label: (nodes, v) => ({ text: `label ${nodes.className(Number(v))}`, test: (i) => nodes.measured(i) && nodes.label[i] === Number(v) }),
  right: (nodes, v) => ({ text: v === "unknown" ? "not measured" : v, test: (i) => (v === "unknown" ? nodes.right(i) === null : nodes.right(i) === (v === "right")) }),
  trusted: (nodes, v) => ({ text: `trusts ${nodes.page.tasks[v]} most`, test: (i) => nodes.trusted(i) === Number(v) }),
  degree: (nodes, v) => { const [low, high] = range(v); return { text: `degree ${v}`, test: (i) => nodes.degree(i) >= low && nodes.degree(i) <= high }; },
  change: (nodes, v) => ({ text: `${CHANGES[v]} (against ${nodes.page.changes?.best})`, test: (i) => nodes.measured(i) && nodes.change(i) === v }),
  teachers: (nodes, v) => ({ text: `${v} teachers right`, test: (i) => nodes.measured(i) && nodes.teachersRight(i) === Number(v) }),
  differ: (nodes, v) => { const [a, b] = v.split("-").map(Number);
    return { text: `${modelName(nodes.page, a)} and ${modelName(nodes.page, b)} differ`, test: (i) => nodes.measured(i) && nodes.says(a, i) !== nodes.says(b, i) }; },
  sure: (nodes, v) => { const [low, high] = v.split("-").map(Number);
    return { text: `confidence ${percent(low, 0)} to ${percent(high, 0)}`, test: (i) => nodes.measured(i) && nodes.confidence(i) >= low && (nodes.confidence(i) < high || high === 1) }; },
};

// The filters that are on; one that this run can't have (a link of another run) is left out.
export function active(state, nodes) {
  return KEYS.filter((key) => state.get(key) !== null).map((key) => {
    try { return { key, ...makers[key](nodes, state.get(key)) }; } catch { return null; }
  }).filter((filter) => filter?.test && !filter.text.includes("undefined"));
}

// Which nodes pass all filters, and how many.
export function chosen(state, nodes) {
  const filters = active(state, nodes);
  const mask = new Uint8Array(nodes.count).fill(1);
  for (const { test } of filters) for (let i = 0; i < mask.length; i++) if (mask[i] && !test(i)) mask[i] = 0;
  let size = 0;
  for (const one of mask) size += one;
  return { filters, mask, size, text: `${count(size)} of ${count(nodes.count)} nodes` };
}
