/** What all values have: truth, equality, order, length, elements. */

import { NdArray } from "./array.js";
import { Dict, Named, PySet } from "./containers.js";

/** @param {any} value @returns {boolean} */
export function truth(value) {
  if (typeof value !== "object" || value === null) return Boolean(value);
  if (value instanceof Array) return value.length > 0;
  if (value instanceof NdArray) {
    if (value.size !== 1) throw new Error("the truth of an array of several numbers is not defined");
    return Boolean(value.item());
  }
  return value instanceof Dict || value instanceof PySet ? value.size > 0 : true;
}

/** @param {any} a @param {any} b @returns {boolean} */
export function equal(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" && typeof b !== "object") {
    return typeof a !== "string" && typeof b !== "string" && a == b; // true is 1, and long numbers are equal to short ones
  }
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof Array && b instanceof Array) {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  if (a instanceof PySet) return b instanceof PySet && a.size === b.size && [...a].every((each) => b.has(each));
  if (!(Symbol.iterator in a) || !(Symbol.iterator in b)) return false;
  const [x, y] = [[...a], [...b]];
  return x.length === y.length && x.every((value, i) => equal(value, y[i]));
}

/** Below zero where a comes first, above it where b does. @param {any} a @param {any} b @returns {number} */
export function compared(a, b) {
  if (typeof a !== "object" || typeof b !== "object") return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN;
  const x = [...iter(a)], y = [...iter(b)];
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    if (!equal(x[i], y[i])) return compared(x[i], y[i]);
  }
  return x.length - y.length;
}

/** What goes through the elements. @param {any} value @returns {any} */
export function iter(value) {
  if (value instanceof Array || typeof value === "string") return value;
  if (value instanceof NdArray && value.ndim === 1) return value.kind === "b" ? value.values() : value.stored();
  return value instanceof Dict ? value.keys() : value;
}

/** @param {any} value @returns {number} */
export function len(value) {
  if (value instanceof Array || typeof value === "string") return value.length;
  if (value instanceof NdArray) return value.shape[0];
  return value instanceof Named ? value.items.length : value.size;
}

/** @param {any} holder @param {any} value @returns {boolean} */
export function contains(holder, value) {
  if (typeof holder === "string") return holder.includes(value);
  if (holder instanceof Dict || holder instanceof PySet) return holder.has(value);
  for (const each of iter(holder)) if (equal(each, value)) return true;
  return false;
}
