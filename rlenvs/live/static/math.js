/** Python's module `math`, and the bits of floats for functions that are made of them. */

const NUMBER = new Float64Array(1), BITS = new BigInt64Array(NUMBER.buffer), HALVES = new Uint32Array(NUMBER.buffer);

/** The whole number with the same 64 bits. @param {number} x @returns {bigint} */
export function bits_of(x) {
  NUMBER[0] = x;
  return BITS[0];
}

/** The float with the lowest 64 bits of a whole number. @param {bigint} bits @returns {number} */
export function float_of(bits) {
  BITS[0] = BigInt.asIntN(64, bits);
  return NUMBER[0];
}

/** The upper 26 of the 53 digits. @param {number} x @returns {number} */
export function upper_digits(x) {
  NUMBER[0] = x;
  HALVES[0] &= 0xf8000000;
  return NUMBER[0];
}

/** A number that is not negative, with the sign of another. @param {number} size @param {number} sign @returns {number} */
export function with_sign(size, sign) {
  return sign < 0 || Object.is(sign, -0) ? -size : size;
}

/** The root of a sum of squares, of which the rounding errors are kept. @param {number[]} numbers @returns {number} */
function hypot(...numbers) {
  let largest = 0;
  for (const x of numbers) {
    if (x === Infinity || x === -Infinity) return Infinity;
    if (Math.abs(x) > largest || x !== x) largest = Math.abs(x);
  }
  if (!(largest > 1e-140 && largest < 1e140)) return Math.hypot(...numbers);
  let sum = 0, rest = 0;
  for (const x of numbers) {
    const top = upper_digits(x), low = x - top, square = x * x;
    rest += ((top * top - square) + 2 * top * low) + low * low;
    const next = sum + square, part = next - sum;
    rest += (sum - (next - part)) + (square - part);
    sum = next;
  }
  const root = Math.sqrt(sum + rest), top = upper_digits(root), low = root - top;
  return root + (((sum - top * top) - 2 * top * low - low * low) + rest) / (2 * root);
}

/** @param {number} x */
function copysign_one(x) {
  return x < 0 || Object.is(x, -0) ? -1 : 1;
}

/** @param {number} x @param {number} y the nearest multiple of which is taken away; the even one of two */
function remainder(x, y) {
  const part = Math.abs(y), rest = Math.abs(x) % part, twice = rest * 2;
  let found = rest;
  if (twice > part || (twice === part && Math.abs(x) % (2 * part) !== rest)) found = rest - part;
  return x < 0 ? -found : found;
}

/** @param {number} a @param {number} b */
function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return Math.abs(a);
}

export const math = {
  pi: Math.PI, tau: 2 * Math.PI, e: Math.E, inf: Infinity, nan: NaN,
  hypot, remainder, gcd,
  sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan: Math.atan, atan2: Math.atan2,
  exp: Math.exp, expm1: Math.expm1, log1p: Math.log1p, log2: Math.log2, log10: Math.log10, tanh: Math.tanh,
  sqrt: Math.sqrt, pow: Math.pow, sinh: Math.sinh, cosh: Math.cosh, cbrt: Math.cbrt,
  fabs: Math.abs, trunc: (/** @type {number} */ x) => Math.trunc(x) + 0,
  floor: (/** @type {number} */ x) => Math.floor(x) + 0, ceil: (/** @type {number} */ x) => Math.ceil(x) + 0,
  log: (/** @type {number} */ x, /** @type {number | undefined} */ base) => (
    base === undefined ? Math.log(x) : Math.log(x) / Math.log(base)),
  dist: (/** @type {Iterable<number>} */ a, /** @type {Iterable<number>} */ b) => {
    const other = [...b];
    return hypot(...[...a].map((x, i) => x - other[i]));
  },
  copysign: (/** @type {number} */ x, /** @type {number} */ y) => copysign_one(y) * Math.abs(x),
  degrees: (/** @type {number} */ x) => x * (180 / Math.PI), radians: (/** @type {number} */ x) => x * (Math.PI / 180),
  fmod: (/** @type {number} */ x, /** @type {number} */ y) => x % y,
  isfinite: (/** @type {any} */ x) => Number.isFinite(Number(x)), isnan: (/** @type {any} */ x) => Number.isNaN(Number(x)),
  isinf: (/** @type {any} */ x) => Math.abs(Number(x)) === Infinity,
  isqrt: (/** @type {number} */ x) => Math.floor(Math.sqrt(x)),
  prod: (/** @type {Iterable<number>} */ numbers) => [...numbers].reduce((product, x) => product * x, 1),
  fsum: (/** @type {Iterable<number>} */ numbers) => [...numbers].reduce((sum, x) => sum + x, 0),
  comb: (/** @type {number} */ n, /** @type {number} */ k) => {
    let found = 1;
    for (let i = 1; i <= k; i++) found = (found * (n - k + i)) / i;
    return Math.round(found);
  },
  isclose: (/** @type {number} */ a, /** @type {number} */ b, rel = 1e-9, abs = 0) => (
    a === b || Math.abs(a - b) <= Math.max(rel * Math.max(Math.abs(a), Math.abs(b)), abs)),
};
