/** Numbers as texts, as Python writes them. */

/** A number times 10^digits, rounded exactly to a whole one; of two that are as near, the even one.
 * @param {number} x not negative @param {number} digits @returns {bigint} */
function scaled(x, digits) {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, x);
  const word = bits.getBigUint64(0), exponent = Number(word >> 52n);
  let over = (word & 0xfffffffffffffn) | (exponent ? 0x10000000000000n : 0n), under = 1n;
  const power = (exponent || 1) - 1075;
  if (power >= 0) over <<= BigInt(power); else under <<= BigInt(-power);
  if (digits >= 0) over *= 10n ** BigInt(digits); else under *= 10n ** BigInt(-digits);
  const whole = over / under, twice = 2n * (over % under);
  return twice > under || (twice === under && (whole & 1n) === 1n) ? whole + 1n : whole;
}

/** Digits behind the point. @param {number} x not negative @param {number} digits */
function fixed(x, digits) {
  const text = String(scaled(x, digits)).padStart(digits + 1, "0");
  return digits ? `${text.slice(0, -digits)}.${text.slice(-digits)}` : text;
}

/** The first digits and the power of ten. @param {number} x not negative @param {number} count @returns {[string, number]} */
function leading(x, count) {
  if (x === 0) return ["0".repeat(count), 0];
  let power = Number(x.toExponential().split("e")[1]);
  let text = String(scaled(x, count - 1 - power));
  if (text.length > count) {
    power += 1;
    text = String(scaled(x, count - 1 - power));
  }
  return [text, power];
}

/** @param {number} power */
function exponent_text(power) {
  return `e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** @param {number} x not negative @param {number} digits */
function scientific(x, digits) {
  const [text, power] = leading(x, digits + 1);
  return text[0] + (digits ? `.${text.slice(1)}` : "") + exponent_text(power);
}

/** @param {number} x not negative @param {number} digits @param {boolean} full keep zeros at the end */
function general(x, digits, full) {
  const count = digits || 1, [text, power] = leading(x, count);
  const cut = (/** @type {string} */ number) => (full || !number.includes(".") ? number : number.replace(/\.?0+$/, ""));
  if (power < -4 || power >= count) return cut(scientific(x, count - 1).split("e")[0]) + exponent_text(power);
  return cut(fixed(x, count - 1 - power));
}

/** A float as `repr` writes it. @param {number} x @returns {string} */
export function float_text(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  const sign = x < 0 || Object.is(x, -0) ? "-" : "", [digits, power] = Math.abs(x).toExponential().split("e");
  if (x !== 0 && (Number(power) < -4 || Number(power) >= 16)) return sign + digits + exponent_text(Number(power));
  const text = Number(power) < 0 && x !== 0 ? fixed(Math.abs(x), digits.replace(".", "").length - 1 - Number(power))
    : String(Math.abs(x));
  return sign + (text.includes(".") ? text : `${text}.0`);
}

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?#?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** A number without its sign. @param {any} x @param {string} type @param {number | null} digits @returns {string} */
function body(x, type, digits) {
  if (typeof x === "bigint") return String(x);
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : "inf";
  const count = digits === null ? 6 : digits;
  if (type === "d" || type === "n") return String(x);
  if (type === "x" || type === "X" || type === "b" || type === "o") {
    const text = x.toString({ x: 16, X: 16, b: 2, o: 8 }[type]);
    return type === "X" ? text.toUpperCase() : text;
  }
  if (type === "f" || type === "F") return fixed(x, count);
  if (type === "%") return `${fixed(100 * x, count)}%`;
  if (type === "e") return scientific(x, count);
  if (type === "g" || type === "G") return general(x, count, false);
  if (digits !== null) return general(x, digits, false);
  return Number.isInteger(x) ? String(x) : float_text(x);
}

/** As Python's format(). @param {any} value @param {string} spec @returns {string} */
export function format(value, spec) {
  const found = SPEC.exec(spec);
  if (!found) throw new Error(`the format ${spec} is not known`);
  const [, fill, align, plus, zero, width, comma, digits, type] = found, wide = Number(width || 0);
  if (typeof value === "string") {
    const text = digits ? value.slice(0, Number(digits)) : value;
    return padded(text, wide, fill || " ", align || "<");
  }
  const x = typeof value === "boolean" ? Number(value) : value, negative = x < 0 || Object.is(x, -0);
  const kept = digits === undefined ? null : Number(digits);
  let text = body(typeof x === "bigint" ? (x < 0n ? -x : x) : Math.abs(x), type || "", kept);
  if (comma) text = text.replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, comma));
  const integral = Object.is(x, -0) && (type === "d" || type === undefined);
  const sign = negative && !integral ? "-" : plus && plus !== "-" ? plus : "";
  if (zero && !align) return sign + text.padStart(wide - sign.length, "0");
  if (align === "=") return sign + text.padStart(wide - sign.length, fill || " ");
  return padded(sign + text, wide, fill || " ", align || ">");
}

/** @param {string} text @param {number} width @param {string} fill @param {string} align */
export function padded(text, width, fill, align) {
  if (align === "<") return text.padEnd(width, fill);
  if (align === ">") return text.padStart(width, fill);
  const left = Math.floor(Math.max(width - text.length, 0) / 2);
  return (fill.repeat(left) + text).padEnd(width, fill);
}
