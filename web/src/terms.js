// Words of the glossary, explained where they stand: by pointer, by keyboard, or by a tap.
import { h } from "./dom.js";

let glossary = {};

export function startTerms(found) {
  glossary = found ?? {};
  const tip = h("div", { class: "term-tip", role: "tooltip", id: "term-tip", hidden: true });
  document.body.append(tip);
  let current = null;
  const place = () => {
    tip.hidden = current === null || !current.isConnected;
    if (tip.hidden) return;
    const box = current.getBoundingClientRect();
    const width = Math.min(320, innerWidth - 24);
    tip.style.width = `${width}px`;
    tip.style.left = `${Math.max(12, Math.min(box.left, innerWidth - width - 12))}px`;
    const below = box.bottom + tip.offsetHeight + 12 < innerHeight;
    tip.style.top = `${below ? box.bottom + 6 : box.top - tip.offsetHeight - 6}px`;
  };
  const show = (event) => {
    current = event.target instanceof Element ? event.target.closest("[data-term]") : null;
    if (current) tip.textContent = glossary[current.dataset.term];
    place();
  };
  for (const name of ["pointerover", "focusin", "click"]) document.addEventListener(name, show);
  addEventListener("scroll", place, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") { current = null; place(); } });
}

// A word, with its meaning where the glossary has one: its own, or that of `key`.
export function term(text, key = text) {
  return glossary[key] ? h("span", { class: "term", tabindex: 0, "data-term": key, "aria-describedby": "term-tip" }, text) : text;
}

// The name of a teacher, par@gcn:hidden=64, with the meaning of its task.
export function teacher(name) {
  const key = name.split(/[@:]/)[0];
  const parts = name.split(/(?=[@:])/).flatMap((part) => [document.createElement("wbr"), part]); // where a line may end
  return glossary[key] ? h("span", { class: "term", tabindex: 0, "data-term": key, "aria-describedby": "term-tip" }, parts) : h("span", null, parts);
}
