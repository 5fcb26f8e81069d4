// The map of all nodes: points stamped into an image (20,000 in a few milliseconds, without a graphics card), and
// above it, as SVG, the names of the classes and the node that is looked at with its neighbours.
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { onTheme, resolve } from "./colours.js";
import { h, s } from "./dom.js";

const MARGIN = 26;
const REACH = 18; // pixels from a click to the node that it means

export class NodeMap {
  constructor(nodes, { select: choose, hover }) {
    Object.assign(this, { nodes, choose, hover, view: zoomIdentity, selected: null, labels: [] });
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.over = s("svg", { "aria-hidden": "true" });
    this.element = h("div", { class: "map", tabindex: 0, role: "application",
      "aria-label": "Map of all nodes. Arrow keys go to the next node in that direction, plus and minus zoom, 0 shows all.",
      onkeydown: (event) => this.key(event) }, this.canvas, this.over);
    this.zoom = zoom().scaleExtent([1, 60]).filter((event) => this.wants(event))
      .on("zoom", ({ transform }) => { this.view = transform; this.draw(); });
    select(this.element).call(this.zoom).on("dblclick.zoom", null)
      .on("click", (event) => this.pick(event))
      .on("pointermove", (event) => event.pointerType === "mouse" && this.point(event))
      .on("pointerleave", () => this.hover(null));
    new ResizeObserver(() => this.resize()).observe(this.element);
    onTheme(() => this.repaint());
  }

  // The wheel scrolls the page until the map has been chosen; one finger scrolls it too, two move the map.
  wants(event) {
    if (event.type === "wheel") return event.ctrlKey || document.activeElement === this.element;
    if (event.type.startsWith("touch")) return event.touches.length > 1;
    return !event.ctrlKey && !event.button;
  }

  // colours: CSS colours; which: for each node the number of its colour; last: drawn on top; large: drawn larger.
  paint({ colours, which, last, labels, large }) {
    Object.assign(this, { colours, which, labels, large });
    this.order = Uint32Array.from({ length: this.nodes.count }, (_, i) => i);
    if (last) {
      const ranks = Uint8Array.from(this.order, (i) => last(i));
      this.order.sort((a, b) => ranks[a] - ranks[b] || a - b);
    }
    this.repaint();
  }

  repaint() {
    if (!this.colours) return;
    this.values = resolve(this.colours);
    this.draw();
  }

  resize() {
    const { width, height } = this.element.getBoundingClientRect();
    if (!width || (width === this.width && height === this.height)) return;
    Object.assign(this, { width, height, ratio: Math.min(devicePixelRatio || 1, 2) });
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    this.over.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.element.style.setProperty("--ratio", width / height); // on paper it keeps its shape
    this.zoom.extent([[0, 0], [width, height]]).translateExtent([[0, 0], [width, height]]);
    this.draw();
  }

  // From the unit square to the screen: x * kx + dx, y * ky + dy. A map has no scale of its own, so on a wide screen it
  // may be drawn a little wider than high.
  frame() {
    const high = Math.min(this.width, this.height) - 2 * MARGIN;
    const wide = Math.min(1.45 * high, this.width - 2 * MARGIN);
    const { k, x, y } = this.view;
    return { kx: k * wide, dx: (k * (this.width - wide)) / 2 + x, ky: k * high, dy: (k * (this.height - high)) / 2 + y };
  }

  place(i) { return this.placeOf(this.nodes.x[i], this.nodes.y[i]); }

  placeOf(x, y) {
    const { kx, dx, ky, dy } = this.frame();
    return [x * kx + dx, y * ky + dy];
  }

  draw() {
    if (!this.width || !this.values || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.stamp(); this.annotate(); });
  }

  stamp() {
    const { width, height } = this.canvas;
    const context = this.canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const zoomed = Math.sqrt(this.view.k);
    const base = Math.max(0.9, Math.min(3.2, 190 / Math.sqrt(this.nodes.count)));
    const radius = Math.min(6, base * zoomed) * this.ratio;
    const discs = [mask(radius), mask(1.7 * radius)];
    const data = image.data;
    const { kx, dx, ky, dy } = this.frame();
    for (const i of this.order) {
      const colour = this.which[i];
      const disc = discs[this.large ? this.large[i] : 0];
      const left = Math.round((this.nodes.x[i] * kx + dx) * this.ratio) - disc.half;
      const top = Math.round((this.nodes.y[i] * ky + dy) * this.ratio) - disc.half;
      if (left < 0 || top < 0 || left + disc.side > width || top + disc.side > height) continue;
      const [red, green, blue] = this.values[colour];
      for (let row = 0, m = 0; row < disc.side; row++) {
        let at = 4 * ((top + row) * width + left);
        for (let column = 0; column < disc.side; column++, m++, at += 4) {
          const alpha = disc.alpha[m];
          if (alpha === 0) continue;
          const below = (data[at + 3] / 255) * (1 - alpha);
          const total = alpha + below;
          data[at] = (red * alpha + data[at] * below) / total;
          data[at + 1] = (green * alpha + data[at + 1] * below) / total;
          data[at + 2] = (blue * alpha + data[at + 2] * below) / total;
          data[at + 3] = 255 * total;
        }
      }
    }
    context.putImageData(image, 0, 0);
  }

  annotate() {
    const parts = [];
    if (this.selected !== null) {
      const [x, y] = this.place(this.selected);
      for (const j of this.nodes.neighbours(this.selected).slice(0, 200)) {
        const [x2, y2] = this.place(j);
        parts.push(s("line", { x1: x, y1: y, x2, y2, class: "link" }));
      }
    }
    const taken = [];
    for (const { x, y, text } of this.labels) {
      const half = text.length * 4.1;
      const [middle, py] = this.placeOf(x, y);
      const seen = middle > 0 && middle < this.width; // names at an edge are moved inside
      const px = seen ? Math.max(half, Math.min(middle, this.width - half)) : middle;
      if (taken.some((t) => Math.abs(t.py - py) < 15 && Math.abs(t.px - px) < t.half + half)) continue;
      taken.push({ px, py, half });
      parts.push(s("text", { x: px, y: py, class: "class-name" }, text));
    }
    if (this.selected !== null) {
      const [x, y] = this.place(this.selected);
      parts.push(s("circle", { cx: x, cy: y, r: 9, class: "ring-under" }), s("circle", { cx: x, cy: y, r: 9, class: "ring" }));
    }
    this.over.replaceChildren(...parts);
  }

  nearest(px, py, allowed = () => true) {
    let best = null;
    let least = Infinity;
    const { kx, dx, ky, dy } = this.frame();
    for (let i = 0; i < this.nodes.count; i++) {
      const x = this.nodes.x[i] * kx + dx;
      const y = this.nodes.y[i] * ky + dy;
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least && allowed(x, y, i)) [best, least] = [i, distance];
    }
    return { node: best, distance: Math.sqrt(least) };
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const found = this.nearest(event.clientX - box.left, event.clientY - box.top);
    return found.distance <= REACH ? found.node : null;
  }

  pick(event) {
    this.element.focus({ preventScroll: true });
    const node = this.at(event);
    if (node !== null) this.choose(node);
  }

  point(event) {
    if (this.pointing) return;
    this.pointing = requestAnimationFrame(() => {
      this.pointing = null;
      const node = this.at(event);
      this.hover(node, node === null ? null : this.place(node));
    });
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "+" || event.key === "=") this.by(1.6);
    else if (event.key === "-") this.by(1 / 1.6);
    else if (event.key === "0") this.reset();
    else if (ways[event.key]) this.step(...ways[event.key]);
    else return;
    event.preventDefault();
  }

  // The next node in a direction, within a right angle of it.
  step(dx, dy) {
    const [x, y] = this.selected === null ? [this.width / 2, this.height / 2] : this.place(this.selected);
    const ahead = (px, py, i) => {
      const along = (px - x) * dx + (py - y) * dy;
      return i !== this.selected && along > 0.5 && along >= Math.abs((px - x) * dy + (py - y) * dx);
    };
    const { node } = this.nearest(x, y, ahead);
    if (node !== null) this.choose(node);
  }

  by(factor) { select(this.element).call(this.zoom.scaleBy, factor); }
  reset() { select(this.element).call(this.zoom.transform, zoomIdentity); }

  show(node) {
    this.selected = node;
    const [x, y] = this.width ? this.place(node) : [0, 0];
    const outside = x < 0 || y < 0 || x > this.width || y > this.height;
    if (outside && this.width) this.reset();
    else if (this.width) this.annotate(); // the points stay as they are
  }
}

// The share of each pixel that a disc covers.
function mask(radius) {
  const half = Math.ceil(radius);
  const side = 2 * half + 1;
  const alpha = Float32Array.from({ length: side * side }, (_, m) => {
    const distance = Math.hypot((m % side) - half, Math.floor(m / side) - half);
    return 0.88 * Math.max(0, Math.min(1, radius + 0.5 - distance));
  });
  return { half, side, alpha };
}
