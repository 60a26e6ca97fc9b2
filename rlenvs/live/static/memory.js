// The memory of a batch in that of a WebAssembly module of its kernels, as rlenvs/core/batch/image.py lays it out.

const ALIGNED = 64, PAGE = 65536;

/** @typedef {{memory: WebAssembly.Memory, __heap_base: WebAssembly.Global}} Exports */

/**
 * Copy the memory of a batch behind what the module itself needs.
 * @param {WebAssembly.Exports} exports of an instance of the module
 * @param {Uint8Array} image
 * @param {number[]} addresses where in the image an address lies that is counted from its start
 * @returns {number} where the image begins
 */
export function layImage(exports, image, addresses) {
  const { memory, __heap_base: heap } = /** @type {Exports & WebAssembly.Exports} */ (exports);
  const base = Math.ceil(heap.value / ALIGNED) * ALIGNED;
  const missing = base + image.length - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  new Uint8Array(memory.buffer).set(image, base);
  const words = new DataView(memory.buffer);
  for (const place of addresses) {
    words.setBigInt64(base + place, words.getBigInt64(base + place, true) + BigInt(base), true);
  }
  return base;
}
