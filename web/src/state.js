// What is looked at: the node, the colours, and the filters. It stands in the address (#node=42&colour=trust), so a
// link keeps it, and everything that shows nodes follows it.
export class State {
  constructor() {
    this.values = fromHash();
    this.listeners = [];
    addEventListener("hashchange", () => {
      const found = fromHash();
      if (hashOf(found) !== hashOf(this.values)) { this.values = found; this.tell(); }
    });
  }

  get(key) { return this.values.get(key) ?? null; }
  on(listener) { this.listeners.push(listener); }
  tell() { for (const listener of this.listeners) listener(this); }

  // Several values at once; null takes one away.
  set(changes) {
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === undefined) this.values.delete(key);
      else this.values.set(key, String(value));
    }
    const hash = hashOf(this.values);
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    this.tell();
  }

  // Filters: those that are there go away, so that a second click undoes the first.
  toggle(filters) {
    const on = Object.entries(filters).every(([key, value]) => this.get(key) === String(value));
    this.set(on ? Object.fromEntries(Object.keys(filters).map((key) => [key, null])) : filters);
  }

  has(filters) { return Object.entries(filters).every(([key, value]) => this.get(key) === String(value)); }
}

const fromHash = () => new Map(location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : []);
const hashOf = (values) => new URLSearchParams([...values]).toString();
