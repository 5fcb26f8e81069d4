// Saving what is drawn. A figure becomes SVG from what is on the screen: boxes with a colour, lines of text, and the
// drawings inside; a PNG is that SVG, drawn twice as large.
const NS = "http://www.w3.org/2000/svg";
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "fill-opacity", "opacity", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline", "paint-order", "stroke-linejoin"];

export function download(name, data, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const make = (tag, attributes) => {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

// A drawing with its styles written into it, since a file has no style sheet.
function inlined(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(originals[k]);
    if (style.display === "none") element.setAttribute("display", "none");
    for (const name of STYLES) if (style.getPropertyValue(name)) element.style.setProperty(name, style.getPropertyValue(name));
  });
  return copy;
}

export function svgOf(element) {
  const frame = element.getBoundingClientRect();
  const out = make("svg", { xmlns: NS, width: Math.ceil(frame.width) + 16, height: Math.ceil(frame.height) + 16, viewBox: `-8 -8 ${Math.ceil(frame.width) + 16} ${Math.ceil(frame.height) + 16}` });
  out.append(make("rect", { x: -8, y: -8, width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  const at = (box) => ({ x: (box.left - frame.left).toFixed(1), y: (box.top - frame.top).toFixed(1), width: box.width.toFixed(1), height: box.height.toFixed(1) });
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return text(node);
    if (node.nodeType !== Node.ELEMENT_NODE || node.classList.contains("save") || node.classList.contains("hidden") || node.classList.contains("zoom")) return;
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    if (!box.width || !box.height || style.display === "none" || style.visibility === "hidden") return;
    if (node instanceof SVGSVGElement) {
      const copy = inlined(node);
      for (const [name, value] of Object.entries(at(box))) copy.setAttribute(name, value);
      return out.append(copy);
    }
    if (node instanceof HTMLCanvasElement) return out.append(make("image", { ...at(box), href: node.toDataURL("image/png") }));
    if (!/rgba\(.*, 0\)|transparent/.test(style.backgroundColor)) {
      out.append(make("rect", { ...at(box), fill: style.backgroundColor, rx: parseFloat(style.borderTopLeftRadius) || 0 }));
    }
    node.childNodes.forEach(visit);
  };
  const text = (node) => {
    const words = node.textContent.trim();
    if (!words) return;
    const where = document.createRange();
    where.selectNodeContents(node);
    const box = where.getBoundingClientRect();
    if (!box.width) return;
    const style = getComputedStyle(node.parentElement);
    const element = make("text", { x: (box.left - frame.left).toFixed(1), y: (box.top - frame.top + box.height / 2).toFixed(1), "dominant-baseline": "central",
      fill: style.color, "font-size": style.fontSize, "font-weight": style.fontWeight, "font-family": style.fontFamily });
    element.textContent = words;
    out.append(element);
  };
  element.childNodes.forEach(visit);
  return { text: new XMLSerializer().serializeToString(out), width: Math.ceil(frame.width) + 16, height: Math.ceil(frame.height) + 16 };
}

export async function pngOf(element) {
  const { text, width, height } = svgOf(element);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

// Two buttons that save what `target` gives.
export function saveButtons(h, title, target) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const button = (kind, act) => h("button", { type: "button", "aria-label": `save ${title} as ${kind}`, onclick: () => act(target()) }, kind);
  return h("span", { class: "save" },
    button("SVG", (element) => download(`${name}.svg`, svgOf(element).text, "image/svg+xml")),
    button("PNG", async (element) => download(`${name}.png`, await pngOf(element))));
}
