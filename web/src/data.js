// The data of the page: one JSON value, and one packed block with the arrays of all nodes.
import { DISTINCT, NEUTRAL, categorical } from "./colours.js";

const TYPES = { uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  uint32: Uint32Array, float32: Float32Array };

export const loadPage = () => JSON.parse(document.getElementById("data").textContent);
export const loadNodes = async (page) => new Nodes(page, await unpack(page.arrays));

async function unpack(where) {
  const text = atob(document.getElementById("arrays").textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  return Object.fromEntries(where.map(({ name, type, start, shape }) =>
    [name, new TYPES[type](buffer, start, shape.reduce((a, b) => a * b, 1))]));
}

// Everything that is known of every node.
export class Nodes {
  constructor(page, arrays) {
    Object.assign(this, arrays);
    this.page = page;
    this.count = this.label.length;
    this.keep = this.top.length / this.count / (page.weighted ? 1 + page.tasks.length : 1);
    this.tasks = page.weighted ? page.tasks.length : 0;
    this.names = arrays.names ? new TextDecoder().decode(arrays.names).split("\0") : null;
    this.x = Float32Array.from({ length: this.count }, (_, i) => this.place[2 * i] / page.place);
    this.y = Float32Array.from({ length: this.count }, (_, i) => 1 - this.place[2 * i + 1] / page.place);
    this.best = page.changes ? 1 + page.tasks.indexOf(page.changes.best) : null;
    this.reasons = new Map(Array.from(arrays.why_node ?? [], (node, row) => [node, row]));
    this.suggested = new Map(page.suggested.map(({ node, reason }, at) => [node, { at: at + 1, reason }]));
    this.link();
    this.rank();
  }

  // Where there are more classes than distinct colours, the classes that are predicted most get those.
  rank() {
    const counts = this.page.classes.map(() => 0);
    for (let i = 0; i < this.count; i++) counts[this.predicted[i]]++;
    const order = counts.map((_, c) => c);
    if (order.length > DISTINCT) order.sort((a, b) => counts[b] - counts[a] || a - b);
    this.colours = [];
    order.forEach((c, k) => { this.colours[c] = categorical(k); });
  }

  colour(c) { return c < 0 ? NEUTRAL : this.colours[c]; }

  // Neighbours of every node, from each edge once.
  link() {
    const { edges, steps, count } = this;
    const ends = new Uint32Array(steps.length);
    const start = new Uint32Array(count + 2);
    for (let i = 0, at = 0; i < count; i++) {
      for (let k = 0, j = i; k < edges[i]; k++, at++) {
        j += steps[at];
        ends[at] = j;
        start[i + 2]++;
        start[j + 2]++;
      }
    }
    for (let i = 2; i < start.length; i++) start[i] += start[i - 1];
    this.near = new Uint32Array(2 * steps.length);
    for (let i = 0, at = 0; i < count; i++) {
      for (let k = 0; k < edges[i]; k++, at++) {
        this.near[start[i + 1]++] = ends[at];
        this.near[start[ends[at] + 1]++] = i;
      }
    }
    this.start = start;
  }

  neighbours(i) { return this.near.subarray(this.start[i], this.start[i + 1]); }
  name(i) { return this.names ? this.names[i] : String(i); }

  // A bare number would be taken for a figure.
  className(c) {
    if (c < 0) return "no label";
    const name = this.page.classes[c];
    return /^-?\d+$/.test(name) ? `class ${name}` : name;
  }

  degree(i) { return this.start[i + 1] - this.start[i]; }

  // The probability of the predicted class, which by a threshold need not be the likeliest.
  confidence(i) {
    let at = i * this.keep;
    for (let k = 0; k < this.keep; k++) if (this.top[at + k] === this.predicted[i]) { at += k; break; }
    return this.probability[at] / this.page.share;
  }

  // Right or wrong, of nodes whose labels did not train the answer; null of others.
  right(i) { return this.known[i] ? this.label[i] === this.predicted[i] : null; }

  // Whether the page's figures count it.
  measured(i) { return Boolean(this.known[i]) && (this.page.part === "test") === (this.part[i] === 3) && this.part[i] > 1; }

  says(model, i) { return model === 0 ? this.predicted[i] : this.top[(model * this.count + i) * this.keep]; }

  // What the student made of the best single teacher's answer.
  change(i) {
    const before = this.says(this.best, i) === this.label[i];
    return this.right(i) ? (before ? "both_right" : "rescued") : before ? "spoiled" : "both_wrong";
  }

  teachersRight(i) {
    let right = 0;
    for (let k = 1; k <= this.tasks; k++) right += this.says(k, i) === this.label[i];
    return right;
  }

  teachersWith(i) {
    let same = 0;
    for (let k = 1; k <= this.tasks; k++) same += this.says(k, i) === this.predicted[i];
    return same;
  }

  // What one would look at first; each is a test of a node.
  pick(name) {
    if (name === "wrong") return (i) => this.right(i) === false;
    if (name === "split") return (i) => this.tasks > 1 && 2 * this.teachersWith(i) <= this.tasks;
    if (name === "ask") return (i) => this.suggested.has(i);
    const sorted = Float64Array.from({ length: this.count }, (_, i) => this.confidence(i)).sort();
    const low = sorted[Math.floor(0.1 * this.count)];
    return (i) => this.confidence(i) <= low;
  }

  partName(i) {
    const held = this.page.measured_on === "heldout";
    return ["", "training node", held ? "held out in turn" : "validation node", "test node", "held out to measure"][this.part[i]];
  }

  // Of held-out nodes with labels within two steps, how many each teacher gets right: what trust can be learnt from.
  evidence(i, most = 400) {
    const seen = new Set([i]);
    const near = [];
    for (const j of this.neighbours(i)) if (!seen.has(j) && seen.size < most) { seen.add(j); near.push(j); }
    for (const j of near.slice()) for (const n of this.neighbours(j)) if (!seen.has(n) && seen.size < most) { seen.add(n); near.push(n); }
    const judges = near.filter((j) => this.known[j] && (this.part[j] === 2 || this.part[j] === 4));
    return { nodes: judges, right: Array.from({ length: this.tasks }, (_, k) => judges.filter((j) => this.says(k + 1, j) === this.label[j]).length) };
  }

  // What moved the prediction of a node: features with their values, and other nodes; null where the page has none.
  why(i) {
    const row = this.reasons.get(i);
    if (row === undefined) return null;
    const width = this.why_feature.length / this.why_node.length;
    const list = (names, moved, more) => Array.from({ length: width }, (_, k) => row * width + k)
      .filter((at) => names[at] >= 0).map((at) => ({ at: names[at], moved: moved[at], ...more(at) }));
    return { other: this.why_other[row],
      features: list(this.why_feature, this.why_moved, (at) => ({ ...this.page.features[this.why_feature[at]], value: this.why_value[at] })),
      nodes: list(this.why_near, this.why_pull, () => ({})) };
  }

  weight(i, k) { return this.weights[i * this.tasks + k] / this.page.share; }

  trusted(i) {
    let best = 0;
    for (let k = 1; k < this.tasks; k++) {
      if (this.weights[i * this.tasks + k] > this.weights[i * this.tasks + best]) best = k;
    }
    return best;
  }

  // What the model (0) or a teacher (1, 2, ...) said of a node: its likeliest classes, likeliest first.
  said(model, i) {
    const at = (model * this.count + i) * this.keep;
    return Array.from({ length: this.keep }, (_, k) =>
      ({ class: this.top[at + k], share: this.probability[at + k] / this.page.share }));
  }

  // A node by its name, or else by its number; null where there is none.
  find(text) {
    if (text === null) return null;
    if (this.names) {
      const at = this.names.indexOf(text);
      if (at >= 0) return at;
    }
    const number = /^\d+$/.test(text) ? Number(text) : -1;
    return number >= 0 && number < this.count ? number : null;
  }

  // A node to begin with: one that measures, that its most trusted teacher gets right and most others get wrong.
  interesting() {
    let best = 0;
    let most = -1;
    for (let i = 0; i < this.count; i++) {
      const near = this.degree(i);
      if (this.label[i] < 0 || !near || near > 12 || (this.reasons.size && !this.reasons.has(i))) continue;
      let wrong = 0;
      for (let k = 1; k <= this.tasks; k++) wrong += this.says(k, i) !== this.label[i];
      const followed = this.tasks && this.says(this.trusted(i) + 1, i) === this.label[i] && this.right(i);
      const score = (this.measured(i) ? 20 : 0) + (followed ? 2 * wrong : 0) + 1.5 * Math.min(near, 4) + 2 * this.confidence(i);
      if (score > most) [best, most] = [i, score];
    }
    return best;
  }

  // Nodes whose name or number is, starts with, or contains a text; the best match first.
  search(text, most = 8) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const found = [[], [], []];
    for (let i = 0; i < this.count && found[0].length < most; i++) {
      const name = this.name(i).toLowerCase();
      if (name === wanted || (this.names && String(i) === wanted)) found[0].push(i);
      else if (name.startsWith(wanted)) found[1].length < most && found[1].push(i);
      else if (found[2].length < most && name.includes(wanted)) found[2].push(i);
    }
    return found.flat().slice(0, most);
  }
}
