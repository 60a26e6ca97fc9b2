/** Python's dictionaries, sets and named tuples. */

/** What stands for a key: numbers and texts for themselves, tuples as a text. @param {any} key @returns {any} */
function told(key) {
  if (typeof key === "boolean") return Number(key);
  if (typeof key !== "object" || key === null) return key;
  return `(${[...key].map((part) => (typeof part === "string" ? JSON.stringify(part) : String(told(part)))).join()})`;
}

/** A dictionary, in the order in which keys came. */
export class Dict {
  /** @param {Iterable<[any, any]>} pairs */
  constructor(pairs) {
    /** @type {Map<any, [any, any]>} */
    this.pairs = new Map();
    for (const [key, value] of pairs) this.set(key, value);
  }

  get size() { return this.pairs.size; }

  /** @param {any} key @param {any} value */
  set(key, value) {
    const name = told(key), pair = this.pairs.get(name);
    if (pair) pair[1] = value; else this.pairs.set(name, [key, value]);
  }

  /** @param {any} key @returns {boolean} */
  has(key) { return this.pairs.has(told(key)); }

  /** @param {any} key @returns {any} */
  at(key) {
    const pair = this.pairs.get(told(key));
    if (!pair) throw new Error(`there is no key ${String(key)}`);
    return pair[1];
  }

  /** @param {any} key */
  delete(key) { this.pairs.delete(told(key)); }

  /** @returns {any[]} */
  keys() { return Array.from(this.pairs.values(), ([key]) => key); }

  [Symbol.iterator]() { return this.keys()[Symbol.iterator](); }
}

/** A set. Python's order is not defined; here it is that in which elements came. */
export class PySet {
  /** @param {Iterable<any>} values */
  constructor(values) {
    /** @type {Map<any, any>} */
    this.kept = new Map();
    for (const value of values) this.add(value);
  }

  get size() { return this.kept.size; }

  /** @param {any} value */
  add(value) { if (!this.has(value)) this.kept.set(told(value), value); }

  /** @param {any} value @returns {boolean} */
  has(value) { return this.kept.has(told(value)); }

  /** @param {any} value */
  delete(value) { this.kept.delete(told(value)); }

  [Symbol.iterator]() { return this.kept.values(); }
}

/** A named tuple: its fields are properties, its elements `items`. */
export class Named {
  /** @param {any[]} items */
  constructor(items) {
    Object.defineProperty(this, "items", { value: items });
    /** @type {any[]} */
    this.items;
  }

  [Symbol.iterator]() { return this.items[Symbol.iterator](); }
}

/** @param {any} pairs @returns {Dict} */
export function dict(pairs = []) {
  return new Dict(pairs instanceof Dict ? pairs.pairs.values() : pairs);
}

/** @param {Iterable<any>} values @returns {PySet} */
export function set(values = []) {
  return new PySet(values);
}
