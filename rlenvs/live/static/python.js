/** Python's operators, functions and methods for translated code.

   Numbers are JavaScript's; whole numbers that need more than 53 bits are BigInt. Lists and tuples are arrays,
   generators arrays that are filled at once, None is null. */

import { NdArray, asarray, elementwise, mapped, view } from "./array.js";
import { ELLIPSIS, Slice } from "./axes.js";
import { Dict, Named, PySet, dict, set } from "./containers.js";
import { agent_color, rgb } from "./frame.js";
import { bits_of, float_of, math, upper_digits, with_sign } from "./math.js";
import { methods } from "./methods.js";
import { float_text, format as format_number } from "./text.js";
import { compared, contains, equal, iter, len, truth } from "./values.js";

export {
  Dict, ELLIPSIS, Named, PySet, Slice, agent_color, bits_of, contains, dict, float_of, float_text, iter, len, math, methods,
  rgb, set, truth, upper_digits, with_sign,
};

// --- operators --------------------------------------------------------------------------------------------------------

/** @param {any} value */
function isArray(value) {
  return value instanceof NdArray;
}

/** A whole number as JavaScript's, where it is exact. @param {bigint} value */
function whole(value) {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** An operation on whole numbers of any length. @param {any} a @param {any} b @param {(a: bigint, b: bigint) => bigint} make */
function exact(a, b, make) {
  return whole(make(BigInt(a), BigInt(b)));
}

/** @param {any} a @param {any} b */
function both_big(a, b) {
  return (typeof a === "bigint" && (typeof b === "bigint" || Number.isInteger(Number(b))))
    || (typeof b === "bigint" && Number.isInteger(Number(a)));
}

/** @param {any} a @param {any} b @returns {any} */
export function add(a, b) {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (isArray(a) || isArray(b)) return elementwise(a, b, (x, y) => x + y);
  if (a instanceof Array || a instanceof Named) return [...iter(a), ...iter(b)];
  return both_big(a, b) ? exact(a, b, (x, y) => x + y) : Number(a) + Number(b);
}

/** a += b, where a list grows itself. @param {any} a @param {any} b @returns {any} */
export function iadd(a, b) {
  if (!(a instanceof Array)) return add(a, b);
  a.push(...iter(b));
  return a;
}

/** @param {any} a @param {any} b @returns {any} */
export function sub(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (isArray(a) || isArray(b)) return elementwise(a, b, (x, y) => x - y);
  if (a instanceof PySet) return methods.difference(a, b);
  return both_big(a, b) ? exact(a, b, (x, y) => x - y) : Number(a) - Number(b);
}

/** @param {any} a @param {any} b @returns {any} */
export function mul(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Math.abs(product) < 2 ** 53 || !Number.isInteger(a) || !Number.isInteger(b)) return product;
    return exact(a, b, (x, y) => x * y);
  }
  if (isArray(a) || isArray(b)) return elementwise(a, b, (x, y) => x * y);
  if (typeof a === "string") return a.repeat(Math.max(Number(b), 0));
  if (a instanceof Array) return [].concat(...new Array(Math.max(Number(b), 0)).fill(a));
  if (typeof b === "string" || b instanceof Array) return mul(b, a);
  return both_big(a, b) ? exact(a, b, (x, y) => x * y) : Number(a) * Number(b);
}

/** @param {any} a @param {any} b @returns {any} */
export function div(a, b) {
  return isArray(a) || isArray(b) ? elementwise(a, b, (x, y) => x / y) : Number(a) / Number(b);
}

/** @param {any} a @param {any} b @returns {any} */
export function mod(a, b) {
  if (isArray(a) || isArray(b)) return elementwise(a, b, mod);
  if (typeof a === "bigint" || typeof b === "bigint") {
    return exact(a, b, (x, y) => (x % y !== 0n && x < 0n !== y < 0n ? (x % y) + y : x % y));
  }
  const rest = Number(a) % Number(b);
  return rest !== 0 && rest < 0 !== Number(b) < 0 ? rest + Number(b) : rest + 0;
}

/** @param {any} a @param {any} b @returns {any} */
export function floordiv(a, b) {
  if (isArray(a) || isArray(b)) return elementwise(a, b, floordiv);
  if (typeof a === "bigint" || typeof b === "bigint") {
    return exact(a, b, (x, y) => (x % y !== 0n && x < 0n !== y < 0n ? x / y - 1n : x / y));
  }
  const quotient = (Number(a) - mod(a, b)) / Number(b), floor = Math.floor(quotient);
  return (quotient - floor > 0.5 ? floor + 1 : floor) + 0;
}

/** @param {any} a @param {any} b @returns {any} */
export function pow(a, b) {
  if (isArray(a) || isArray(b)) return elementwise(a, b, pow);
  if (Number.isInteger(a) && Number.isInteger(b) && b >= 0) {
    const power = a ** b;
    return Math.abs(power) < 2 ** 53 || b > 1000 ? power : exact(a, b, (x, y) => x ** y);
  }
  return b === 2 ? a * a : b === 0.5 ? Math.sqrt(a) : Number(a) ** Number(b);
}

/** @param {(x: number, y: number) => number} short @param {(x: bigint, y: bigint) => bigint} long @returns {any} */
function bitwise(short, long) {
  const apply = (/** @type {any} */ a, /** @type {any} */ b) => {
    if (typeof a === "boolean" && typeof b === "boolean") return Boolean(short(Number(a), Number(b)));
    if (typeof a === "number" && typeof b === "number" && a === (a | 0) && b === (b | 0)) return short(a, b);
    if (isArray(a) || isArray(b)) {
      const truths = [a, b].every((each) => (isArray(each) ? each.kind === "b" : typeof each === "boolean"));
      return elementwise(a, b, truths ? short : apply, truths ? "b" : "f");
    }
    return exact(a, b, long);
  };
  return apply;
}

const bits_and = bitwise((x, y) => x & y, (x, y) => x & y);
const bits_or = bitwise((x, y) => x | y, (x, y) => x | y);
const bits_xor = bitwise((x, y) => x ^ y, (x, y) => x ^ y);

/** @param {any} a @param {any} b @returns {any} */
export function and(a, b) { return a instanceof PySet ? methods.intersection(a, b) : bits_and(a, b); }

/** @param {any} a @param {any} b @returns {any} */
export function or(a, b) {
  if (a instanceof PySet) return methods.union(a, b);
  return a instanceof Dict ? dict([...methods.items(a), ...methods.items(b)]) : bits_or(a, b);
}

/** @param {any} a @param {any} b @returns {any} */
export function xor(a, b) { return bits_xor(a, b); }

/** @param {any} a @param {any} b @returns {any} */
export function lshift(a, b) {
  if (isArray(a) || isArray(b)) return elementwise(a, b, lshift);
  const shifted = Number(a) * 2 ** Number(b);
  return Math.abs(shifted) < 2 ** 53 ? shifted : exact(a, b, (x, y) => x << y);
}

/** @param {any} a @param {any} b @returns {any} */
export function rshift(a, b) {
  if (isArray(a) || isArray(b)) return elementwise(a, b, rshift);
  return typeof a === "bigint" ? exact(a, b, (x, y) => x >> y) : Math.floor(Number(a) / 2 ** Number(b));
}

/** @param {any} a @returns {any} */
export function neg(a) { return isArray(a) ? mapped(a, (x) => -Number(x)) : typeof a === "bigint" ? -a : -Number(a); }

/** @param {any} a @returns {any} */
export function pos(a) { return typeof a === "boolean" ? Number(a) : a; }

/** @param {any} a @returns {any} */
export function invert(a) {
  if (isArray(a)) return mapped(a, a.kind === "b" ? (x) => 1 - x : invert, a.kind);
  return typeof a === "bigint" ? ~a : -Number(a) - 1;
}

/** @param {any} a @param {any} b @returns {any} */
export function matmul(a, b) {
  const x = asarray(a), y = asarray(b), inner = y.shape[0], wide = y.ndim === 1 ? 1 : y.shape[1];
  const left = x.stored(), right = y.stored(), rows = x.size / inner, found = new Float64Array(rows * wide);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < wide; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += left[i * inner + k] * right[k * wide + j];
      found[i * wide + j] = sum;
    }
  }
  const shape = [...x.shape.slice(0, -1), ...y.shape.slice(1)];
  return shape.length ? new NdArray(found, shape, "f") : found[0];
}

/** @param {any} a @param {any} b @returns {any} */
export function eq(a, b) { return isArray(a) || isArray(b) ? elementwise(a, b, equal, "b") : equal(a, b); }

/** @param {any} a @param {any} b @returns {any} */
export function ne(a, b) {
  return isArray(a) || isArray(b) ? elementwise(a, b, (x, y) => !equal(x, y), "b") : !equal(a, b);
}

/** @param {(order: number) => boolean} holds @returns {(a: any, b: any) => any} */
function ordered(holds) {
  const compare = (/** @type {any} */ a, /** @type {any} */ b) => (
    isArray(a) || isArray(b) ? elementwise(a, b, compare, "b") : holds(compared(a, b)));
  return compare;
}

export const lt = ordered((order) => order < 0);
export const le = ordered((order) => order <= 0);
export const gt = ordered((order) => order > 0);
export const ge = ordered((order) => order >= 0);

/** a and b and ... @param {any} value @param {(() => any)[]} rest @returns {any} */
export function both(value, ...rest) {
  for (const next of rest) {
    if (!truth(value)) return value;
    value = next();
  }
  return value;
}

/** a or b or ... @param {any} value @param {(() => any)[]} rest @returns {any} */
export function either(value, ...rest) {
  for (const next of rest) {
    if (truth(value)) return value;
    value = next();
  }
  return value;
}

// --- elements ---------------------------------------------------------------------------------------------------------

/** @param {any} holder @param {any} index @returns {any} */
export function item(holder, index) {
  if (holder instanceof NdArray) return typeof index === "number" ? holder.at(index) : holder.get(index);
  if (holder instanceof Dict) return holder.at(index);
  if (typeof index === "string") return holder[index]; // a field of a record
  const list = holder instanceof Named ? holder.items : holder, place = Number(index);
  const value = list[place < 0 ? place + list.length : place];
  if (value === undefined) throw new Error(`index ${String(index)} of ${list.length}`);
  return value;
}

/** The elements that a list chooses. @param {NdArray} holder @param {any[]} places @returns {any} */
export function taken(holder, places) { return holder.get(asarray(places)); }

/** An attribute that may be a method. @param {any} holder @param {string} name @returns {any} */
export function bound(holder, name) {
  const value = holder[name];
  return typeof value === "function" ? value.bind(holder) : value;
}

/** @param {any} holder @param {any} index @param {any} value */
export function set_item(holder, index, value) {
  if (holder instanceof Array) holder[index < 0 ? index + holder.length : index] = value;
  else holder.set(index, value);
}

/** @param {any} holder @param {any} start @param {any} stop @param {any} step @returns {any} */
export function slice(holder, start, stop, step = null) {
  if (holder instanceof NdArray) return holder.view([new Slice(start, stop, step)]);
  const list = holder instanceof Named ? holder.items : holder;
  const [first, count, by] = new Slice(start, stop, step).places(list.length);
  if (by === 1) return list.slice(first, first + count);
  const found = Array.from({ length: count }, (_, i) => list[first + i * by]);
  return typeof list === "string" ? found.join("") : found;
}

// --- functions --------------------------------------------------------------------------------------------------------

/** @param {any} value @returns {any} */
export function float(value = 0) {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Number(value.trim().replace(/^\+/, "").replace(/^(-?)inf$/i, "$1Infinity"));
  return value instanceof NdArray ? Number(value.item()) : Number(value);
}

/** @param {any} value @param {number} base @returns {any} */
export function int(value = 0, base = 10) {
  if (typeof value === "number") return Math.trunc(value) + 0;
  if (typeof value === "string") return parseInt(value, base);
  return typeof value === "bigint" ? value : int(float(value));
}

/** @param {any} value */
export function bool(value = false) { return truth(value); }

/** @param {any} value @param {any} digits @returns {any} */
export function round(value, digits = null) {
  if (digits === null) {
    const floor = Math.floor(Number(value)), part = Number(value) - floor;
    return (part < 0.5 || (part === 0.5 && floor % 2 === 0) ? floor : floor + 1) + 0;
  }
  if (value instanceof NdArray) return mapped(value, (x) => round(x, digits));
  if (digits < 0) return Number(`${round(Number(`${value}e${digits}`))}e${-digits}`);
  return Number(format_number(Number(value), `.${digits}f`));
}

/** @param {any} value @returns {any} */
export function abs(value) { return isArray(value) ? mapped(value, (x) => Math.abs(Number(x))) : Math.abs(Number(value)); }

/** @param {any} a @param {any} b @returns {any} */
export function divmod(a, b) { return [floordiv(a, b), mod(a, b)]; }

/** The first of the smallest. @param {any[]} values @returns {any} */
export function min(...values) { return min_of(values); }

/** The first of the largest. @param {any[]} values @returns {any} */
export function max(...values) { return max_of(values); }

/** @param {number} a @param {number} b */
export function min2(a, b) { return b < a ? b : a; }

/** @param {number} a @param {number} b */
export function max2(a, b) { return b > a ? b : a; }

/** @param {any} values @param {any} key @param {any} otherwise @param {number} sign @returns {any} */
function extreme(values, key, otherwise, sign) {
  let found = otherwise, most, first = true;
  for (const value of iter(values)) {
    const rank = key ? key(value) : value;
    if (first || sign * compared(rank, most) > 0) [found, most, first] = [value, rank, false];
  }
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
}

/** @param {any} values @param {any} key @param {any} otherwise @returns {any} */
export function min_of(values, key = null, otherwise = undefined) { return extreme(values, key, otherwise, -1); }

/** @param {any} values @param {any} key @param {any} otherwise @returns {any} */
export function max_of(values, key = null, otherwise = undefined) { return extreme(values, key, otherwise, 1); }

/** @param {any} values @param {any} start @returns {any} */
export function sum(values, start = 0) {
  let total = start;
  for (const value of iter(values)) total = add(total, value);
  return total;
}

/** @param {any} values */
export function any(values) { return [...iter(values)].some(truth); }

/** @param {any} values */
export function all(values) { return [...iter(values)].every(truth); }

/** @param {number} start @param {number | undefined} stop @param {number} step @returns {number[]} */
export function range(start, stop = undefined, step = 1) {
  const [first, end] = stop === undefined ? [0, Number(start)] : [Number(start), Number(stop)];
  const found = new Array(Math.max(0, Math.ceil((end - first) / step)));
  for (let i = 0; i < found.length; i++) found[i] = first + i * step;
  return found;
}

/** Whole numbers below another, as words. @param {bigint} stop */
export function words(stop) {
  return Array.from({ length: Number(stop) }, (_, i) => BigInt(i));
}

/** @param {any} values @param {number} start @returns {[number, any][]} */
export function enumerate(values, start = 0) { return Array.from(iter(values), (value, i) => [i + start, value]); }

/** @param {any[]} lists @returns {any[][]} */
export function zip(...lists) {
  const found = lists.map((list) => [...iter(list)]), length = Math.min(...found.map((list) => list.length));
  return Array.from({ length: lists.length ? length : 0 }, (_, i) => found.map((list) => list[i]));
}

/** @param {any} make @param {any[]} lists @returns {any[]} */
export function map(make, ...lists) { return zip(...lists).map((each) => make(...each)); }

/** @param {any} test @param {any} values @returns {any[]} */
export function filter(test, values) { return [...iter(values)].filter((each) => truth(test ? test(each) : each)); }

/** @param {any} values @returns {any[]} */
export function list(values = []) { return [...iter(values)]; }

/** @param {any} values @returns {any[]} */
export function tuple(values = []) { return [...iter(values)]; }

/** @param {any} values */
export function frozenset(values = []) { return set(values); }

/** @param {any} values @returns {any[]} */
export function reversed(values) { return [...iter(values)].reverse(); }

/** @param {any} values @param {any} key @param {boolean} reverse @returns {any[]} */
export function sorted(values, key = null, reverse = false) {
  const found = [...iter(values)];
  methods.sort(found, key, reverse);
  return found;
}

/** The first element; generators are arrays here. @param {any} values @param {any} otherwise @returns {any} */
export function next(values, otherwise = undefined) {
  for (const value of iter(values)) return value;
  if (otherwise === undefined) throw new Error("there is no next element");
  return otherwise;
}

/** @param {any} value @param {any} type @returns {boolean} */
export function isinstance(value, type) {
  if (type instanceof Array) return type.some((each) => isinstance(value, each));
  if (type === str) return typeof value === "string";
  if (type === bool) return typeof value === "boolean";
  if (type === int) return Number.isInteger(value) || typeof value === "bigint" || typeof value === "boolean";
  if (type === float) return typeof value === "number";
  if (type === list || type === tuple) return value instanceof Array || (type === tuple && value instanceof Named);
  return value instanceof type;
}

/** @param {number} code */
export function chr(code) { return String.fromCodePoint(code); }

/** @param {string} letter */
export function ord(letter) { return letter.codePointAt(0); }

/** @param {any} value @returns {string} */
export function str(value) {
  if (typeof value === "string") return value;
  if (typeof value === "number") return Number.isInteger(value) ? String(value + 0) : float_text(value);
  return repr(value);
}

/** @param {any} value @returns {string} */
export function repr(value) {
  if (typeof value === "string") return value.includes("'") ? JSON.stringify(value) : `'${value.replace(/\\/g, "\\\\")}'`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value instanceof Array) return `[${value.map(repr).join(", ")}]`;
  if (value instanceof NdArray) return `[${value.tolist().map(repr).join(" ")}]`;
  return str(typeof value === "bigint" ? String(value) : value);
}

/** @param {any} value @param {string} spec */
export function format(value, spec) {
  const plain = value instanceof NdArray ? value.item() : value;
  return spec ? format_number(plain, spec) : str(plain);
}

/** An object of a class with these fields. @param {any} type @param {object} fields @returns {any} */
export function made(type, fields) { return Object.assign(Object.create(type.prototype), fields); }

/** @param {any} holder @param {string} name @param {any} otherwise @returns {any} */
export function getattr(holder, name, otherwise = undefined) { return name in holder ? holder[name] : otherwise; }

/** The attributes that a dictionary tells. @param {any} found @returns {any} */
export function attributes(found) { return Object.fromEntries(methods.items(found)); }

/** A function whose first arguments are given. @param {any} call @param {any[]} given @returns {any} */
export function partial(call, ...given) { return (/** @type {any[]} */ ...rest) => call(...given, ...rest); }

/** @param {any} values @returns {any[][]} */
export function pairwise(values) {
  const found = [...iter(values)];
  return found.slice(1).map((value, i) => [found[i], value]);
}

/** A function that keeps its results. @param {any} make @returns {any} */
export function cached(make) {
  const kept = dict([]);
  return (/** @type {any[]} */ ...values) => {
    if (!kept.has(values)) kept.set(values, make(...values));
    return kept.at(values);
  };
}

/** A constant array. @param {string} text base64 @param {string} code @param {number[]} shape */
export function unpacked(text, code, shape) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return view(bytes.buffer, 0, code, shape);
}
