// Colours stand in the style sheet, once for light and once for dark; drawings in SVG refer to them by name, so a
// change of theme needs no redrawing. Only the map, which is a canvas, has to ask for their values.
export const DISTINCT = 8; // colours of Okabe and Ito, which people with any kind of colour vision tell apart

export function categorical(index) {
  const base = `var(--c${index % DISTINCT})`;
  const round = Math.floor(index / DISTINCT) % 3;
  if (round === 0) return base;
  return `color-mix(in oklab, ${base} 55%, ${round === 1 ? "var(--text)" : "var(--page)"})`;
}

const STEPS = 32;
export const confidence = (share) => {
  const step = Math.round(Math.max(0, Math.min(1, share)) * (STEPS - 1));
  return `color-mix(in oklab, var(--high) ${Math.round((100 * step) / (STEPS - 1))}%, var(--low))`;
};
export const NEUTRAL = "var(--faint)";

// The red, green and blue of CSS colours as they are now, each in 0..255.
export function resolve(colours) {
  const probe = document.createElement("span");
  document.body.append(probe);
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const values = colours.map((colour) => {
    probe.style.color = colour;
    context.fillStyle = getComputedStyle(probe).color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  });
  probe.remove();
  return values;
}

const listeners = new Set();
export const onTheme = (listener) => listeners.add(listener);

export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  for (const listener of listeners) listener();
}

export function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = false;
  const follow = () => chosen || setTheme(system.matches ? "dark" : "light");
  follow();
  system.addEventListener("change", follow);
  return () => {
    chosen = true;
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  };
}
