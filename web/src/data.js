// The data of the page: one JSON value, and one packed block with the arrays of all nodes.
import { DISTINCT, NEUTRAL, categorical } from "./colours.js";

const TYPES = { uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  uint32: Uint32Array };

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
    this.link();
    this.rank();
  }

  // Where there are more classes than distinct colours, the classes that are predicted most get those.
  rank() {
    const counts = this.page.classes.map(() => 0);
    for (let i = 0; i < this.count; i++) counts[this.predicted(i)]++;
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

  predicted(i) { return this.top[i * this.keep]; }
  confidence(i) { return this.probability[i * this.keep] / this.page.share; }
  right(i) { return this.label[i] < 0 ? null : this.label[i] === this.predicted(i); }
  partName(i) { return ["", "train", "val", "test"][this.part[i]]; }
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
