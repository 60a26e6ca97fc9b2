// Compressed bytes.

/**
 * Bytes that were compressed.
 * @param {Uint8Array} bytes
 * @param {CompressionFormat} format
 * @param {number} most how many there may be
 */
export async function unpacked(bytes, format, most) {
  const stream = new Blob([/** @type {BlobPart} */ (bytes)]).stream().pipeThrough(new DecompressionStream(format));
  const reader = stream.getReader(), pieces = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new RangeError(`more than ${most} bytes`);
    }
    pieces.push(value);
  }
  const found = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    found.set(piece, at);
    at += piece.length;
  }
  return found;
}
