/** The functions of NumPy that images use, under its names. */

import { NdArray, added, asarray, broadcast_to, elementwise, mapped, where_true } from "./array.js";
import { shape_of_all } from "./axes.js";
import { math } from "./math.js";
import { add as plus, div, mod as rest, mul, pow, round as nearest, sub, zip } from "./python.js";
import { equal, iter, truth } from "./values.js";

export { asarray };

/** @param {any} value */
function isMany(value) { return value instanceof NdArray || value instanceof Array; }

/** @param {any} shape @returns {number[]} */
function shape_of(shape) { return typeof shape === "number" ? [shape] : [...iter(shape)]; }

/** @param {number[]} shape */
function count(shape) { return shape.reduce((product, length) => product * length, 1); }

// --- making -----------------------------------------------------------------------------------------------------------

/** @param {any} a @param {any} dtype */
export function array(a, dtype = undefined) { return asarray(a, dtype, true); }

/** @param {any} shape @param {any} value @param {any} dtype */
export function full(shape, value, dtype = undefined) {
  const lengths = shape_of(shape), one = asarray([value], dtype);
  const data = one.data instanceof Float32Array ? new Float32Array(count(lengths)) : new Array(count(lengths));
  return new NdArray(data.fill(one.data[0]), lengths, one.kind);
}

/** @param {any} shape @param {any} dtype */
export function zeros(shape, dtype = "float") { return full(shape, 0, dtype); }

/** @param {any} shape @param {any} dtype */
export function ones(shape, dtype = "float") { return full(shape, 1, dtype); }

/** @param {number} start @param {any} stop @param {number} step */
export function arange(start, stop = undefined, step = 1) {
  const [first, end] = stop === undefined ? [0, start] : [start, stop];
  const second = first + step; // NumPy goes on by the difference of the first two
  const values = Array.from({ length: Math.max(0, Math.ceil((end - first) / step)) }, (_, i) => (
    i === 0 ? first : i === 1 ? second : first + i * (second - first)));
  return asarray(values, "float");
}

/** @param {any} start @param {any} stop @param {number} num @returns {NdArray} */
export function linspace(start, stop, num = 50) {
  if (isMany(start)) return stack(zip(start, stop).map(([from, to]) => linspace(from, to, num)), 1);
  const step = (stop - start) / (num - 1);
  return asarray(Array.from({ length: num }, (_, i) => (i === num - 1 ? stop : i * step + start)));
}

/** @param {any} arrays @param {number} axis */
export function stack(arrays, axis = 0) {
  const rows = Array.from(arrays, (each) => asarray(each));
  const shape = [rows.length, ...rows[0].shape], order = shape.map((_, i) => i).slice(1);
  order.splice(axis < 0 ? axis + shape.length : axis, 0, 0);
  return joined(rows, shape).transpose(order);
}

/** @param {any} arrays @param {number} axis */
export function concatenate(arrays, axis = 0) {
  const parts = Array.from(arrays, (each) => asarray(each)), along = axis < 0 ? axis + parts[0].ndim : axis;
  const order = parts[0].shape.map((_, i) => i).filter((i) => i !== along);
  const turned = parts.map((part) => part.transpose([along, ...order]));
  const length = turned.reduce((sum, part) => sum + part.shape[0], 0);
  const whole = joined(turned, [length, ...turned[0].shape.slice(1)]);
  const back = order.map((_, i) => i + 1);
  back.splice(along, 0, 0);
  return whole.transpose(back);
}

/** @param {any} arrays */
export function hstack(arrays) {
  const parts = Array.from(arrays, (each) => asarray(each));
  return concatenate(parts, parts[0].ndim === 1 ? 0 : 1);
}

/** @param {any} a */
export function atleast_2d(a) {
  const own = asarray(a);
  return own.ndim < 2 ? own.reshape(1, -1) : own;
}

/** The kind that holds all of these. @param {NdArray[]} arrays */
function common(arrays) {
  const kinds = new Set(arrays.map((each) => each.kind));
  return kinds.has("O") ? "O" : kinds.size === 1 && kinds.has("b") ? "b" : "f";
}

/** The elements of arrays, one behind the other. @param {NdArray[]} arrays @param {number[]} shape */
function joined(arrays, shape) {
  const kind = common(arrays), data = new Array(count(shape));
  let place = 0;
  for (const each of arrays) for (const value of kind === "O" ? each.values() : each.stored()) data[place++] = value;
  return new NdArray(data, shape, kind);
}

/** @param {any} a @param {any} shape */
export function reshape(a, shape) { return asarray(a).reshape(shape_of(shape)); }

/** @param {any} a @param {number} shift @param {any} axis the first, or none */
export function roll(a, shift, axis = null) {
  if (axis === 0) {
    const rows = [...asarray(a)], count = rows.length;
    return asarray(rows.map((_, i) => rows[(((i - shift) % count) + count) % count]));
  }
  const own = asarray(a), values = own.values(), size = values.length;
  return asarray(values.map((_, i) => values[(((i - shift) % size) + size) % size])).reshape(own.shape);
}

// --- element by element -----------------------------------------------------------------------------------------------

/** @param {(x: number) => any} make @param {string} kind @returns {(x: any) => any} */
function single(make, kind = "f") { return (x) => mapped(x, (each) => make(Number(each)), kind); }

/** @param {(x: any, y: any) => any} make @param {string} kind @returns {(x: any, y: any) => any} */
function pair(make, kind = "f") {
  return (x, y) => (isMany(x) || isMany(y) ? elementwise(x, y, make, kind) : make(x, y));
}

export const abs = single(Math.abs), sign = single(Math.sign), sqrt = single(Math.sqrt);
export const floor = single(Math.floor), ceil = single(Math.ceil);
export const sin = single(Math.sin), cos = single(Math.cos), tan = single(Math.tan);
export const exp = single(Math.exp), log = single(Math.log);
export const degrees = single(math.degrees), radians = single(math.radians);
export const isfinite = single(Number.isFinite, "b"), isnan = single(Number.isNaN, "b");
export const hypot = pair(math.hypot), arctan2 = pair(Math.atan2);
export const minimum = pair((x, y) => (x < y || x !== x ? x : y)), maximum = pair((x, y) => (x > y || x !== x ? x : y));
export const add = pair(plus), subtract = pair(sub), multiply = pair(mul), divide = pair(div);
export const logical_and = pair((x, y) => Boolean(x && y), "b");

/** @param {any} a @param {any} least @param {any} most */
export function clip(a, least, most) {
  const low = least === null || least === undefined ? a : maximum(a, least);
  return most === null || most === undefined ? low : minimum(low, most);
}

/** @param {any} condition @param {any} x @param {any} y @returns {any} */
export function where(condition, x = undefined, y = undefined) {
  if (x === undefined) return where_true(asarray(condition));
  const parts = [condition, x, y].map((each) => asarray(each)), shape = shape_of_all(parts.map((each) => each.shape));
  const [tests, first, second] = parts.map((each) => broadcast_to(each, shape).stored());
  const kind = common(parts.slice(1)), found = new Array(tests.length);
  for (let i = 0; i < tests.length; i++) found[i] = tests[i] ? first[i] : second[i];
  return new NdArray(found, shape, kind);
}

/** @param {any} a @param {any} chosen */
export function isin(a, chosen) {
  const allowed = new Set(asarray(chosen).values().map(Number));
  return mapped(a, (each) => allowed.has(Number(each)), "b");
}

/** Between points, whose x grow. @param {any} x @param {any} xp @param {any} fp @returns {any} */
export function interp(x, xp, fp) {
  const places = asarray(xp).values(), heights = asarray(fp).values(), last = places.length - 1;
  return mapped(x, (each) => {
    if (each <= places[0]) return heights[0];
    if (each >= places[last]) return heights[last];
    let i = 0;
    while (places[i + 1] <= each) i++;
    return ((heights[i + 1] - heights[i]) / (places[i + 1] - places[i])) * (each - places[i]) + heights[i];
  });
}

// --- of all elements --------------------------------------------------------------------------------------------------

/** @param {string} name @returns {(a: any, ...rest: any[]) => any} */
function method(name) {
  return (a, ...given) => /** @type {any} */ (asarray(a instanceof NdArray || a instanceof Array ? a : [a]))[name](...given);
}

export const sum = method("sum"), max = method("max"), min = method("min"), any = method("any"), all = method("all");
export const mean = method("mean"), argmax = method("argmax"), argmin = method("argmin");

/** @param {any} a */
export function count_nonzero(a) { return where_true(asarray(a).reshape(-1))[0].size; }

/** @param {any} a */
export function flatnonzero(a) { return where_true(asarray(a).reshape(-1))[0]; }

/** @param {any} a */
export function nonzero(a) { return where_true(asarray(a)); }

/** @param {any} a */
export function argwhere(a) {
  const found = where_true(asarray(a));
  return found[0].size ? stack(found, 1) : new NdArray([], [0, found.length], "f");
}

/** @param {any} a */
export function unique(a) {
  const values = [...new Set(asarray(a).values())].sort((x, y) => Number(x) - Number(y));
  return asarray(values);
}

/** @param {any} a */
export function sort(a) {
  const own = asarray(a), values = own.values().sort((x, y) => Number(x) - Number(y));
  return asarray(values).reshape(own.shape);
}

/** Of all elements. @param {any} a */
export function argsort(a) {
  const values = asarray(a).values(), order = values.map((_, i) => i).sort((i, j) => Number(values[i]) - Number(values[j]));
  return asarray(order);
}

/** @param {any} a @param {any} axis */
export function ptp(a, axis = null) { return sub(asarray(a).max(axis), asarray(a).min(axis)); }

/** @param {any} a @param {number} decimals */
function rounded(a, decimals = 0) {
  const parts = 10 ** decimals;
  return mapped(a, (x) => nearest(x * parts) / parts);
}

export { rounded as round };

/** @param {any} a @param {any} axis */
export function norm(a, axis = null) { return sqrt(mul(asarray(a), asarray(a)).sum(axis)); }

/** Of vectors of three numbers. @param {any} x @param {any} y */
export function cross(x, y) {
  const [a, b, c] = iter(x), [d, e, f] = iter(y);
  return asarray([b * f - c * e, c * d - a * f, a * e - b * d]);
}

/** The order by the last of the keys, then by the one before. @param {any} keys */
export function lexsort(keys) {
  const rows = Array.from(keys, (each) => asarray(each).values()).reverse(), order = rows[0].map((_, i) => i);
  order.sort((i, j) => {
    for (const row of rows) if (row[i] !== row[j]) return Number(row[i]) - Number(row[j]);
    return 0;
  });
  return asarray(order);
}

/** Give a function what it makes of the parts of an axis that begin at places. @param {any} make
 * @param {(values: any[]) => any} join @param {string} kind */
function with_parts(make, join, kind = "f") {
  make.reduceat = (/** @type {any} */ a, /** @type {any} */ places, axis = 0) => {
    const own = asarray(a), starts = asarray(places).values(), turned = axis === own.ndim - 1 ? own : own.T;
    const lines = turned.ndim === 1 ? [turned] : turned.rows(), length = turned.shape[turned.ndim - 1];
    const found = new Array(lines.length * starts.length);
    lines.forEach((line, i) => {
      const values = line.values();
      starts.forEach((start, j) => {
        const part = values.slice(start, Math.max(start + 1, j + 1 < starts.length ? starts[j + 1] : length));
        found[i * starts.length + j] = join(part);
      });
    });
    const whole = new NdArray(found, turned.ndim === 1 ? [starts.length] : [lines.length, starts.length], kind);
    return axis === own.ndim - 1 ? whole : whole.T;
  };
}

with_parts(add, (values) => values[0] + added(values, 1)); // NumPy begins with the first, and adds the sum of the others
with_parts(minimum, (values) => values.reduce((least, value) => (value < least ? value : least)));
with_parts(maximum, (values) => values.reduce((most, value) => (value > most ? value : most)));
with_parts(logical_and, (values) => values.every(Boolean), "b");

/** @param {any} x @param {any} y */
export function meshgrid(x, y) {
  const columns = asarray(x), rows = asarray(y), shape = [rows.size, columns.size];
  return [broadcast_to(columns.reshape(1, -1), shape), broadcast_to(rows.reshape(-1, 1), shape)];
}

/** @param {any} a */
export function cumsum(a) {
  let total = 0;
  return asarray(asarray(a).values().map((value) => (total += Number(value))));
}

/** @param {any} x @param {any} y */
export function array_equal(x, y) { return equal(asarray(x).shape, asarray(y).shape) && equal(asarray(x).tolist(), asarray(y).tolist()); }

/** @param {any} x */
export function float64(x) { return isMany(x) ? asarray(x, "float") : Number(x); }

/** @param {any} x */
export function int64(x) { return isMany(x) ? asarray(x, "int") : Math.trunc(Number(x)); }

