// The page of `agssl label`. Everything that comes from the graph or from people is put in as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
const KEYS = [..."123456789abcdefghijklmopqrtvwxyz"]; // without n, s and u, which do other things
const PALETTE = {
  light: ["#0072b2", "#b87f00", "#008562", "#b8588c", "#c75300", "#2f8fc4", "#8a7a00", "#6f6f6f"],
  dark: ["#3f9fdd", "#e69f00", "#17b487", "#da92ba", "#f0743a", "#8bd0f7", "#efe25a", "#a3a7ad"],
};
const POLL = 1500;
const dark = matchMedia("(prefers-color-scheme: dark)");

// a reload keeps the name of the tab, and with it its node and what it can undo
const tab = sessionStorage.getItem("agssl-tab") ?? crypto.getRandomValues(new Uint32Array(3)).join("-");
sessionStorage.setItem("agssl-tab", tab);

let state = null; // what all tabs share
let card = null; // the node that is shown
let chosen = false; // whether it was chosen here, and not suggested
let busy = false;

async function ask(call, body) {
  const reads = body === undefined;
  const address = reads ? `api/${call}${call.includes("?") ? "&" : "?"}tab=${tab}` : `api/${call}`;
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ tab, ...body }) };
  let answer;
  try {
    answer = await fetch(address, reads ? {} : options);
  } catch {
    throw new Error("agssl label does not answer. All labels that were given so far are on disk; start it again, and open the address that it prints.");
  }
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error), { status: answer.status, found });
  return found;
}

function make(name, text, ...classes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  made.classList.add(...classes);
  return made;
}

function draw(name, attributes, parent, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;
const number = (count) => count.toLocaleString("en");

function colour(name) {
  const at = state.classes.findIndex((one) => one.name === name);
  const colours = PALETTE[dark.matches ? "dark" : "light"];
  if (at < 0) return "var(--faint)";
  return at < colours.length ? colours[at] : `hsl(${(at * 137.5) % 360} 55% ${dark.matches ? 66 : 40}%)`;
}

function dot(name, full) {
  const made = make("i", undefined, "dot");
  made.style.setProperty("--c", colour(name));
  made.classList.toggle("full", full);
  return made;
}

// what is said of a node: its label, or what it looks like
function verdict(node) {
  const made = make("span");
  if (node.label !== null) made.append(dot(node.label, true), node.label);
  else if (node.guess !== undefined) {
    made.append(dot(node.guess, false), `${node.guess} ${Math.round(100 * node.sure)}%`);
    made.classList.add("guess");
  } else made.append("no label");
  made.title = made.textContent; // long ones are cut off in lists
  if (node.label === null) made.classList.add("guess");
  return made;
}

let lost = false; // whether the server did not answer

function trouble(error) {
  lost = Boolean(error) && error.status === undefined;
  $("trouble").textContent = error ? error.message : "";
  $("trouble").hidden = !error;
}

// the parts of the page

function showState() {
  $("graph").textContent = `Label ${state.graph}`;
  $("progress").textContent = `${number(state.labelled)} of ${number(state.nodes)} nodes have a label`;
  $("undo").disabled = !state.undo;
  $("file").textContent = `${number(state.said)} labels are in ${state.file}`;
  showClasses();
  showCurve();
  const recent = state.recent.map((one) => {
    const button = make("button");
    button.type = "button";
    button.append(make("b", one.name), verdict(one));
    button.addEventListener("click", () => look(one.node));
    const item = make("li");
    item.append(button);
    return item;
  });
  $("recent").replaceChildren(...recent);
  if (!recent.length) $("recent").append(make("li", "none yet", "quiet"));
  document.documentElement.dataset.labels = state.said;
  document.documentElement.dataset.fits = state.curve.length;
}

function showClasses() {
  const all = state.classes.map((one, at) => {
    const button = make("button");
    button.type = "button";
    button.dataset.name = one.name;
    button.style.setProperty("--c", colour(one.name));
    button.setAttribute("aria-pressed", String(card !== null && card.label === one.name));
    if (KEYS[at]) button.setAttribute("aria-keyshortcuts", KEYS[at]);
    button.append(make("kbd", KEYS[at] ?? "·"), make("span", one.name), make("span", number(one.count), "count"));
    button.addEventListener("click", () => say(one.name));
    return button;
  });
  const focused = document.activeElement?.dataset?.name;
  $("classes").replaceChildren(...all);
  $("classes").classList.toggle("short", state.classes.every((one) => one.name.length < 16));
  if (focused !== undefined) all.find((one) => one.dataset.name === focused)?.focus();
  $("names").replaceChildren(...state.classes.map((one) => {
    const option = make("option");
    option.value = one.name;
    return option;
  }));
  if (!all.length) $("classes").append(make("p", "There are no classes yet: type the name of the first one below.", "quiet"));
}

function showCard() {
  document.querySelector("main").hidden = false;
  const over = card === null;
  $("name").textContent = over ? "Every node has a label" : card.name;
  $("why-shown").textContent = over ? "" : chosen ? "Chosen by you" : "Which class is this?";
  for (const id of ["details", "answers"]) $(id).hidden = over;
  document.documentElement.dataset.node = over ? "" : card.node;
  if (over) {
    $("now").replaceChildren();
    $("reason").textContent = "Choose one from the list to change it.";
    return;
  }
  if (card.label !== null) $("now").replaceChildren("labelled ", verdict(card));
  else if (card.guess !== undefined) $("now").replaceChildren("looks like ", verdict(card));
  else $("now").replaceChildren();
  $("reason").textContent = card.reason;
  $("remove").hidden = !card.own;
  $("back").hidden = !chosen;
  $("skip").disabled = card.label !== null;
  $("texts").replaceChildren(...card.texts.map((one) => {
    const box = make("div");
    box.append(make("h3", one.name), make("p", one.text));
    return box;
  }));
  $("features").replaceChildren(...card.features.map((one) => {
    const pair = make("div");
    pair.append(make("dt", one.feature ? one.name : `${one.name} (not used)`), make("dd", one.value));
    return pair;
  }));
  $("features-head").hidden = !card.features.length;
  $("more").textContent = card.hidden > 0 ? `the most unusual ones; ${number(card.hidden)} more are not shown` : "";
  showNear();
}

function showNear() {
  const { near, degree } = card;
  $("near-head").textContent = degree ? `Neighbours (${number(degree)})` : "No neighbours";
  document.querySelector(".near").hidden = !degree;
  $("near").replaceChildren(...near.map((one) => {
    const button = make("button");
    button.type = "button";
    button.append(make("b", one.name), verdict(one));
    if (one.title) button.append(make("small", one.title));
    button.addEventListener("click", () => look(one.node));
    const item = make("li");
    item.append(button);
    return item;
  }));
  if (degree > near.length) $("near").append(make("li", `and ${number(degree - near.length)} more`, "quiet"));
  const svg = $("drawing");
  svg.replaceChildren();
  const places = near.map((_, at) => {
    const turn = (2 * Math.PI * at) / near.length - Math.PI / 2;
    return [160 + 118 * Math.cos(turn), 130 + 96 * Math.sin(turn)];
  });
  for (const [x, y] of places) draw("line", { x1: 160, y1: 130, x2: x, y2: y }, svg);
  for (const [a, b] of card.links) draw("line", { x1: places[a][0], y1: places[a][1], x2: places[b][0], y2: places[b][1] }, svg);
  draw("circle", { cx: 160, cy: 130, r: 10, class: "self" }, svg);
  near.forEach((one, at) => {
    const [x, y] = places[at];
    const what = one.label ?? one.guess;
    const circle = draw("circle", { cx: x, cy: y, r: 9 }, svg);
    circle.style.stroke = what === undefined ? "var(--faint)" : colour(what);
    circle.style.fill = one.label === null ? "var(--page)" : colour(one.label);
    draw("title", {}, circle, `${one.name}: ${one.label ?? (one.guess === undefined ? "no label" : `looks like ${one.guess}`)}`);
    const name = one.name.length > 12 ? `${one.name.slice(0, 11)}…` : one.name;
    draw("text", { x: Math.min(290, Math.max(30, x)), y: y + (y < 130 ? -14 : 22) }, svg, name);
  });
}

function showCurve() {
  const { curve, fitting, problem } = state;
  const last = curve.at(-1);
  const figure = (value) => (last.metric === "accuracy" ? percent(value) : value.toFixed(3));
  $("result").querySelector("h3").textContent = last && last.metric !== "accuracy" ? `Estimated ${last.metric}` : "Estimated accuracy";
  if (last) {
    const interval = last.low === null ? "" : `95% interval ${figure(last.low)} to ${figure(last.high)}, `;
    $("estimate").replaceChildren(make("b", figure(last.value)), make("span", ` ${interval}with ${number(last.labels)} labels`, "quiet"));
  } else $("estimate").replaceChildren(make("span", "A model is fitted as soon as two classes have two labels each.", "quiet"));
  $("fitting").textContent = fitting
    ? `Fitting with ${number(fitting.labels)} labels …`
    : problem ?? (last ? "Held-out labels measure it. Suggested nodes are harder than most, so all nodes together are rather easier." : "");
  const svg = $("curve");
  svg.toggleAttribute("hidden", !last);
  svg.style.display = last ? "" : "none";
  svg.replaceChildren();
  if (!last) return;
  const shares = curve.every((one) => one.value >= 0 && one.value <= 1);
  const most = shares ? 1 : Math.max(...curve.map((one) => one.high ?? one.value)) * 1.05;
  const right = Math.max(...curve.map((one) => one.labels), 10);
  const x = (labels) => 34 + (316 * labels) / right;
  const y = (value) => 158 - 148 * (Math.min(value, most) / most);
  for (const at of [0, 0.25, 0.5, 0.75, 1]) {
    draw("line", { x1: 34, x2: 350, y1: y(at * most), y2: y(at * most), class: "grid" }, svg);
    draw("text", { x: 28, y: y(at * most) + 4, "text-anchor": "end" }, svg, shares ? `${100 * at}` : (at * most).toFixed(2));
  }
  draw("text", { x: 34, y: 175, "text-anchor": "middle" }, svg, "0");
  draw("text", { x: 350, y: 175, "text-anchor": "end" }, svg, `${number(right)} labels`);
  const points = (key) => curve.map((one) => `${x(one.labels)},${y(one[key] ?? one.value)}`);
  draw("polygon", { points: [...points("low"), ...points("high").reverse()].join(" "), class: "band" }, svg);
  draw("polyline", { points: points("value").join(" "), class: "line" }, svg);
  for (const one of curve) {
    const circle = draw("circle", { cx: x(one.labels), cy: y(one.value), r: 3 }, svg);
    draw("title", {}, circle, `${number(one.labels)} labels: ${figure(one.value)}, fitted in ${one.seconds} s`);
  }
}

// what a person does

async function act(call, body, heard) {
  if (busy) return;
  busy = true;
  try {
    const found = await ask(call, body);
    trouble(null);
    state = found.state;
    card = found.card;
    chosen = call === "undo";
    showState();
    showCard();
    if (heard) $("heard").textContent = `${heard}. ${card ? `Next: ${card.name}` : ""}`;
    $("name").focus({ preventScroll: true });
    if (innerWidth < 860) scrollTo(0, 0);
  } catch (error) {
    trouble(error);
    if (error.status === 409 && card !== null && call === "label") await look(card.node, true);
  } finally {
    busy = false;
  }
}

const say = (name) => card && act("label", { node: card.node, label: name, before: card.label }, `${card.name} is ${name ?? "without a label"}`);
const skip = () => card && card.label === null && act("skip", { node: card.node }, `${card.name} skipped`);
const undo = () => state.undo && act("undo", {}, "Undone");

async function look(node, keep = false) {
  try {
    card = await ask(`node?node=${node}`);
    chosen = true;
    state = await ask("state");
    if (!keep) trouble(null);
    showState();
    showCard();
    $("name").focus({ preventScroll: true });
    if (!keep) scrollTo(0, 0);
  } catch (error) {
    trouble(error);
  }
}

async function next() {
  try {
    [state, card] = [await ask("state"), await ask("next")];
    chosen = false;
    trouble(null);
    showState();
    showCard();
  } catch (error) {
    trouble(error);
  }
}

async function poll() {
  try {
    const found = await ask("state");
    if (lost) trouble(null);
    if (JSON.stringify(found) !== JSON.stringify(state) && !busy) {
      const learnt = state && found.curve.length > state.curve.length;
      state = found;
      showState();
      if (learnt && card && !busy) {
        const shown = await ask(`node?node=${card.node}`);
        if (!busy && card && shown.node === card.node && shown.label === card.label) {
          card = shown; // the same node, and what it looks like by now
          showCard();
        }
      }
    }
  } catch (error) {
    trouble(error);
  } finally {
    setTimeout(poll, POLL);
  }
}

$("skip").addEventListener("click", skip);
$("undo").addEventListener("click", undo);
$("remove").addEventListener("click", () => say(null));
$("back").addEventListener("click", next);
$("other").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = $("new").value;
  $("new").value = "";
  if (name.trim()) {
    $("new").blur();
    say(name);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || state === null) return;
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const key = event.key.toLowerCase();
  const at = KEYS.indexOf(key);
  if (at >= 0 && at < state.classes.length) say(state.classes[at].name);
  else if (key === "s") skip();
  else if (key === "u") undo();
  else if (key === "n") $("new").focus();
  else return;
  event.preventDefault();
});
dark.addEventListener("change", () => {
  if (state === null) return;
  showState();
  if (card) showCard();
});

next().then(() => {
  document.documentElement.dataset.ready = "";
  setTimeout(poll, POLL);
});
