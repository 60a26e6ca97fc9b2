/** Records in memory, as the kernels have them. */

import { NdArray } from "./array.js";
import { size_of } from "./axes.js";

const TYPES = {
  f8: Float64Array, f4: Float32Array, i8: BigInt64Array, u8: BigUint64Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array, b1: Uint8Array,
};
/** @typedef {InstanceType<(typeof TYPES)[keyof typeof TYPES]>} Memory */

/** A live view of memory. @param {ArrayBufferLike} buffer @param {number} place in bytes
 * @param {string} code such as "f8" @param {number[]} shape @returns {NdArray} */
export function view(buffer, place, code, shape) {
  const type = TYPES[/** @type {keyof typeof TYPES} */ (code)];
  const kind = code[0] === "u" ? "i" : code[0];
  return new NdArray(new type(/** @type {ArrayBuffer} */ (buffer), place, size_of(shape)), shape, kind);
}

/** A live record: numbers and truth values, and arrays as views. @param {ArrayBufferLike} buffer
 * @param {number} place of the record, in bytes @param {Record<string, [string, number, number[]]>} fields
 * code, place in the record and shape of each @returns {any} */
export function recordOf(buffer, place, fields) {
  const record = {};
  for (const [name, [code, offset, shape]] of Object.entries(fields)) {
    const own = view(buffer, place + offset, code, shape);
    Object.defineProperty(record, name, {
      enumerable: true,
      get: shape.length ? () => own : () => own.read(0),
      set: (value) => { own.write(0, value); },
    });
  }
  return record;
}
