import { saveButtons } from "./save.js";

// Making elements. Strings become text nodes and never markup, so whatever a user's file holds is shown as it is.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// How figures are written. A minus is a minus and not a hyphen.
const signed = (text) => text.replace("-", "\u2212");
export const percent = (value, digits = 1) =>
  value === null || value === undefined ? "\u2013" : `${signed((100 * value).toFixed(digits))}%`;
export const number = (value, digits = 3) =>
  value === null || value === undefined ? "\u2013" : signed(value.toFixed(digits));
export const count = (value) => (value === null || value === undefined ? "\u2013" : value.toLocaleString("en-US"));
export const points = (value) => `${value > 0 ? "+" : ""}${signed((100 * value).toFixed(1))}`;
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

// A shaded cell, with v in 0..1; where writing changes to the other colour differs between light and dark.
export const shaded = (v, ...children) => shadedCell(v, null, ...children);

// The same with attributes; one that can be clicked is a button inside.
export const shadedCell = (v, click, ...children) => {
  const strength = v > 0.78 ? " strong" : v > 0.62 ? " middle" : "";
  return h("td", { class: `heat${strength}`, style: { "--v": v.toFixed(3) } },
    click ? h("button", { type: "button", class: "cell", ...click }, ...children) : children);
};

export const section = (id, title, lead, ...children) =>
  h("section", { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title), lead && h("p", { class: "lead" }, lead), ...children);

// A figure that can be saved.
export function figure(title, note, ...children) {
  const found = h("figure", null, h("figcaption", null, h("strong", null, title), saveButtons(h, title, () => found), note && h("span", null, note)), ...children);
  return found;
}

// A deviation over seeds; none of a single one, and never a bare zero.
export const deviation = (spread, write, least) =>
  spread.values.length > 1 ? ` ± ${spread.std < least / 2 ? `<${write(least)}` : write(spread.std)}` : "";
