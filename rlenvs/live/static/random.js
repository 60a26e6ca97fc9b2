// NumPy's generators as Gymnasium makes them from a seed: SeedSequence and PCG64 (PCG XSL RR 128/64).
// Sources: O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
// Generation" (2014), and "Developing a seed_seq Alternative" (2015).

const WORD = 2n ** 32n, LONG = 2n ** 64n, MASK64 = LONG - 1n, MASK128 = 2n ** 128n - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;
const POOL = 4, SHIFT = 16;
const INIT_A = 0x43b0d7e5, MULT_A = 0x931e8875, INIT_B = 0x8b51f9dd, MULT_B = 0x58f38ded;
const MIX_L = 0xca01f9dd, MIX_R = 0x4973f715;
const UNIT = 2 ** -53;

/**
 * A seed as a whole number.
 * @param {number | bigint} seed
 */
function wholeSeed(seed) {
  if (typeof seed === "number" ? !Number.isSafeInteger(seed) || seed < 0 : seed < 0n) {
    throw new RangeError(`seed=${seed} must be a whole number, 0 or more`);
  }
  return BigInt(seed);
}

/**
 * The words of 32 bits of seeds, the lowest first.
 * @param {(number | bigint)[]} seeds
 */
function wordsOf(seeds) {
  return seeds.flatMap(each => {
    let left = wholeSeed(each);
    const words = [];
    do {
      words.push(Number(left % WORD));
      left /= WORD;
    } while (left > 0n);
    return words;
  });
}

/**
 * What `SeedSequence(seeds).generate_state(4, uint64)` gives.
 * @param {(number | bigint)[]} seeds one, or several as in `np.random.default_rng([seed, 1])`
 * @returns {bigint[]}
 */
export function seedState(seeds) {
  let constant = INIT_A;
  const hashed = (/** @type {number} */ word) => {
    let value = word ^ constant;
    constant = Math.imul(constant, MULT_A);
    value = Math.imul(value, constant);
    return (value ^ (value >>> SHIFT)) >>> 0;
  };
  const mixed = (/** @type {number} */ x, /** @type {number} */ y) => {
    const value = (Math.imul(MIX_L, x) - Math.imul(MIX_R, y)) >>> 0;
    return (value ^ (value >>> SHIFT)) >>> 0;
  };
  const entropy = wordsOf(seeds);
  const pool = Array.from({ length: POOL }, (_, i) => hashed(entropy[i] ?? 0));
  for (let source = 0; source < POOL; source++) {
    for (let target = 0; target < POOL; target++) {
      if (source !== target) pool[target] = mixed(pool[target], hashed(pool[source]));
    }
  }
  for (const word of entropy.slice(POOL)) {
    for (let target = 0; target < POOL; target++) pool[target] = mixed(pool[target], hashed(word));
  }
  let multiplier = INIT_B;
  const words = Array.from({ length: 2 * POOL }, (_, i) => {
    let value = pool[i % POOL] ^ multiplier;
    multiplier = Math.imul(multiplier, MULT_B);
    value = Math.imul(value, multiplier);
    return BigInt((value ^ (value >>> SHIFT)) >>> 0);
  });
  return Array.from({ length: POOL }, (_, i) => words[2 * i] | (words[2 * i + 1] << 32n));
}

/** A generator, as `np.random.default_rng` makes it of seeds. */
export class Generator {
  /** @param {...(number | bigint)} seeds */
  constructor(...seeds) {
    const [high, low, streamHigh, streamLow] = seedState(seeds);
    this.increment = ((((streamHigh << 64n) | streamLow) << 1n) | 1n) & MASK128;
    this.state = (this.increment + ((high << 64n) | low)) & MASK128;
    this.step();
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & MASK128;
  }

  /** The next 64 random bits. */
  word() {
    this.step();
    const value = ((this.state >> 64n) ^ this.state) & MASK64, turn = this.state >> 122n;
    return ((value >> turn) | (value << (64n - turn))) & MASK64;
  }

  /** A number in [0, 1), as `random()` gives it. */
  random() {
    return Number(this.word() >> 11n) * UNIT;
  }

  /** As `gumbel()` gives it, but for the last digits. */
  gumbel() {
    for (;;) {
      const number = 1 - this.random();
      if (number < 1) return -Math.log(-Math.log(number));
    }
  }

  /** Two words for the generator of a world, as `seed_words` of rlenvs/core/declare/rng.py draws them. */
  seedWords() {
    return [this.between(1n, MASK64), this.between(1n, MASK64)];
  }

  /**
   * As `integers(low, high, dtype=np.uint64)`, by Lemire's method.
   * @param {bigint} low
   * @param {bigint} high
   */
  between(low, high) {
    const count = high - low, threshold = LONG % count;
    for (;;) {
      const product = this.word() * count;
      if ((product & MASK64) >= threshold) return low + (product >> 64n);
    }
  }
}
