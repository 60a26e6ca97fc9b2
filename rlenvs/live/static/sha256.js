// SHA-256 (FIPS 180-4), by pieces; `crypto.subtle` takes no pieces, and only works on pages of https.

const BLOCK = 64;

/** The first 32 bits of the fractions of the roots of the first primes. */
function fractions(/** @type {number} */ count, /** @type {(prime: number) => number} */ root) {
  const found = [];
  for (let n = 2; found.length < count; n++) {
    let prime = true;
    for (let k = 2; k * k <= n; k++) prime &&= n % k !== 0;
    if (prime) found.push(Math.floor((root(n) % 1) * 2 ** 32));
  }
  return found;
}

const ROUND = new Int32Array(fractions(64, Math.cbrt)), START = fractions(8, Math.sqrt);

const turned = (/** @type {number} */ x, /** @type {number} */ by) => (x >>> by) | (x << (32 - by));

export class Sha256 {
  constructor() {
    this.state = new Int32Array(START);
    this.schedule = new Int32Array(BLOCK);
    this.rest = new Uint8Array(BLOCK);
    this.length = 0;
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    let filled = this.length % BLOCK, start = 0;
    this.length += bytes.length;
    while (start < bytes.length) {
      if (filled === 0 && bytes.length - start >= BLOCK) {
        this.compress(bytes, start);
        start += BLOCK;
        continue;
      }
      const part = bytes.subarray(start, start + BLOCK - filled);
      this.rest.set(part, filled);
      start += part.length;
      filled = (filled + part.length) % BLOCK;
      if (filled === 0) this.compress(this.rest, 0);
    }
  }

  /** The hash in hexadecimal digits; nothing can be added after that. */
  digest() {
    const bits = BigInt(this.length) * 8n, zeros = (2 * BLOCK - 9 - (this.length % BLOCK)) % BLOCK;
    const end = new Uint8Array(9 + zeros);
    end[0] = 0x80;
    new DataView(end.buffer).setBigUint64(end.length - 8, bits);
    this.update(end);
    return Array.from(this.state, word => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /**
   * @param {Uint8Array} bytes
   * @param {number} start
   */
  compress(bytes, start) {
    const w = this.schedule;
    for (let i = 0, at = start; i < 16; i++, at += 4) {
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < BLOCK; i++) {
      const x = w[i - 15], y = w[i - 2];
      const low = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3), high = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
      w[i] = w[i - 16] + w[i - 7] + low + high;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let i = 0; i < BLOCK; i++) {
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
      const second = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (this.state[i] += value));
  }
}
