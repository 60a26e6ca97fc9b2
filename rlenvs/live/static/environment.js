// An environment in a page: the kernels that train, as WebAssembly, on the memory that Python laid out.

import { recordOf } from "./records.js";
import { headOf, Totals } from "./head.js";
import { LinkError, linkText, readLink, restoreLink, restoreSnapshot, snapshotOf } from "./links.js";
import { layImage } from "./memory.js";
import { unpacked } from "./packing.js";
import { policyOf } from "./policies.js";
import { Generator } from "./random.js";
import { Sha256 } from "./sha256.js";

/** @typedef {import("./types.js").Description} Description */
/** @typedef {import("./types.js").Outcome} Outcome */
/** @typedef {import("./types.js").Place} Place */
/** @typedef {(url: URL) => Promise<Uint8Array>} Read */

export const ACT = 0; // jobs of `run_worlds`, see rlenvs/core/compiler/driver.py
const [BEGIN, OBSERVE] = [3, 4];
const MOST_BYTES = 1 << 24; // of names of choices
const REASONS = ["", "the episode is over, or never began", "the action contains NaN", "the action is not one of the choices"];
const TYPES = {
  f8: Float64Array, f4: Float32Array, i8: BigInt64Array, i4: Int32Array, i2: Int16Array, i1: Int8Array,
  u8: BigUint64Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array, b1: Uint8Array,
};

/** @type {Read} */
export async function fetchBytes(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * @param {string | URL} url of world.json
 * @param {{level?: string, seed?: number | bigint, params?: Record<string, number>, read?: Read}} [options]
 */
export async function loadEnvironment(url, { level = "", seed = 0, params = {}, read = fetchBytes } = {}) {
  const environment = await made(url, level, read);
  for (const [name, value] of Object.entries(params)) environment.params.set(name, value);
  environment.reset(seed);
  return environment;
}

/**
 * The environment in exactly the state of a link.
 * @param {string} text
 * @param {string | URL} url of world.json
 * @param {Read} [read]
 */
export async function fromLink(text, url, read = fetchBytes) {
  const { header, body } = await readLink(text);
  const environment = await made(url, header.level, read), { id, guarded } = environment.description;
  if (id !== header.id) throw new LinkError(`the link is to ${header.id}, and this page is of ${id}`);
  const found = guarded ? await import(new URL("fault.js", new URL(url, globalThis.location?.href)).href) : { fault: () => "" };
  restoreLink(environment, header, body, found.fault);
  return environment;
}

/**
 * @param {string | URL} url
 * @param {string} level
 * @param {Read} read
 */
async function made(url, level, read) {
  const place = new URL(url, globalThis.location?.href);
  const whole = JSON.parse(new TextDecoder().decode(await read(place)));
  if (!Object.hasOwn(whole.levels, level)) throw new RangeError(`${whole.id} has no level ${JSON.stringify(level)}`);
  /** @type {Description} */
  const description = { ...whole, ...whole.levels[level], level };
  description.params = description.params.map(param => ({ ...param, default: description.values[param.name] }));
  const file = (/** @type {string} */ name) => read(new URL(name, place));
  const { labels } = description.action, named = typeof labels === "string" ? file(labels).then(namesIn) : labels;
  const [module, packed, names] = await Promise.all([file(description.module).then(compiled), file(description.image), named]);
  description.action = { ...description.action, labels: names };
  return new Environment(description, module, await unpacked(packed, "gzip", description.image_bytes), file);
}

/** @param {Uint8Array} bytes @returns {Promise<string[][]>} */
const namesIn = async bytes => JSON.parse(new TextDecoder().decode(await unpacked(bytes, "gzip", MOST_BYTES)));

/** @param {Uint8Array} bytes */
const compiled = bytes => WebAssembly.compile(/** @type {BufferSource} */ (bytes));

export class Environment {
  /**
   * @param {Description} description
   * @param {WebAssembly.Module} module
   * @param {Uint8Array} image
   * @param {(name: string) => Promise<Uint8Array>} file reads a file beside the description
   */
  constructor(description, module, image, file) {
    this.description = description;
    this.module = module;
    this.image = image;
    this.file = file;
    this.exports = /** @type {any} */ (new WebAssembly.Instance(module, {}).exports);
    this.base = layImage(this.exports, image, description.addresses);
    this.buffer = /** @type {ArrayBuffer} */ (this.exports.memory.buffer);
    this.address = BigInt(this.base + description.record);
    this.actions = this.array("actions");
    this.masks = this.array("masks");
    this.params = new Params(this);
    this.totals = new Totals(this);
    /** @type {{p: any, s: any} | null} */
    this.seen = null;
    /** @type {number | bigint | null} */
    this.seed = null; // of the last reset with one
  }

  // --- memory ---

  /**
   * All numbers of an array of the batch, live.
   * @param {string} name
   */
  array(name) {
    const { place, bytes, type = "u1" } = this.description.arrays[name];
    return this.numbers(type, place, bytes);
  }

  /**
   * The bytes of an array of the batch, live.
   * @param {string} name
   */
  bytes(name) {
    const { place, bytes } = this.description.arrays[name];
    return new Uint8Array(this.buffer, this.base + place, bytes);
  }

  /**
   * @param {string} type
   * @param {number} place in the image
   * @param {number} bytes
   */
  numbers(type, place, bytes) {
    const Numbers = TYPES[/** @type {keyof typeof TYPES} */ (type)];
    return new Numbers(this.buffer, this.base + place, bytes / Numbers.BYTES_PER_ELEMENT);
  }

  /**
   * The numbers of a field of a record, live.
   * @param {string} name of the array of records
   * @param {string} field
   */
  field(name, field) {
    const { place, fields } = this.description.arrays[name];
    const [type, offset, shape] = /** @type {Record<string, Place>} */ (fields)[field];
    const size = TYPES[/** @type {keyof typeof TYPES} */ (type)].BYTES_PER_ELEMENT;
    return this.numbers(type, place + offset, size * shape.reduce((count, side) => count * side, 1));
  }

  // --- playing ---

  /**
   * A new episode.
   * @param {number | bigint} [seed] of the world's generator, which goes on without
   */
  reset(seed) {
    if (seed !== undefined) {
      const generator = new Generator(seed);
      this.field("states", "rng").set(/** @type {any} */ (generator.seedWords()));
      if (this.description.players.length) this.field("states", "players_rng").set(/** @type {any} */ (generator.seedWords()));
      this.seed = seed;
    }
    this.array("_begin").fill(/** @type {never} */ (1));
    this.run("run_worlds", BEGIN);
    this.totals.begin();
    return this.observation();
  }

  /**
   * One step; where the episode is over, a new one begins.
   * @param {import("./types.js").Action} action of the only agent, or of each
   * @returns {Outcome}
   */
  step(action) {
    this.load(action);
    this.advance();
    return this.outcome();
  }

  /** A step with the actions that lie in the batch. */
  advance() {
    const code = this.run("run_worlds", ACT);
    if (code) throw new RangeError(`${this.description.id}: ${REASONS[code % 4] || `error ${code}`}`);
    this.totals.step();
  }

  /**
   * Call a function of the module on the only world.
   * @param {string} name
   * @param {...number} more
   */
  run(name, ...more) {
    const code = Number(this.exports[name](this.address, 0n, 1n, ...more.map(BigInt)));
    if (code < 0) throw new Error(`${this.description.id}: a kernel raised an error`);
    return code;
  }

  /**
   * Write actions into the batch.
   * @param {import("./types.js").Action} action
   */
  load(action) {
    const { agents, action: form } = this.description;
    const rows = agents === 1 && !(Array.isArray(action) && Array.isArray(action[0])) ? [action] : /** @type {any[]} */ (action);
    const numbers = Array.isArray(rows) ? rows.flat() : [];
    if (numbers.length !== agents * form.count || !numbers.every(value => typeof value === "number")) {
      throw new RangeError(`${this.description.id}: an action must have ${form.count} numbers of each of ${agents} agents`);
    }
    if (form.kind === "continuous") {
      this.actions.set(/** @type {any} */ (numbers));
    } else if (numbers.every(Number.isSafeInteger)) {
      this.actions.set(/** @type {any} */ (numbers.map(BigInt)));
    } else {
      throw new RangeError(`${this.description.id}: a choice must be a whole number`);
    }
  }

  /** The actions that lie in the batch, as `step` takes them. */
  loaded() {
    return this.shaped(Array.from(this.actions, Number));
  }

  /**
   * Numbers of the actions of all agents, as `step` takes them.
   * @param {number[]} numbers
   * @returns {import("./types.js").Action}
   */
  shaped(numbers) {
    const { agents, action } = this.description;
    const rows = Array.from({ length: agents }, (_, k) => numbers.slice(k * action.count, (k + 1) * action.count));
    const shown = action.single ? rows.map(([choice]) => choice) : rows;
    return agents === 1 ? shown[0] : shown;
  }

  /** Whether the episode is over. */
  get over() {
    return this.field("states", "over")[0] === 1;
  }

  /** Steps of the episode so far. */
  get elapsed() {
    return Number(this.field("states", "elapsed")[0]);
  }

  /** What the last step gave. @returns {Outcome} */
  outcome() {
    const { terms, costs } = this.description, over = this.over;
    const first = (/** @type {string} */ name) => Number(this.field("results", name)[0]);
    const rewards = Array.from(this.array("rewards"), Number), spent = Array.from(this.array("costs"), Number);
    return {
      reward: rewards[0],
      rewards,
      cost: spent[0],
      agent_costs: spent,
      terms: Object.fromEntries(terms.map(({ name, weight }) => [name, weight * first(name)])),
      costs: Object.fromEntries(costs.map(({ name }) => [name, first(name)])),
      terminated: over && this.array("terminated").some(flag => flag === 1),
      truncated: over && this.array("truncated").some(flag => flag === 1),
      over,
      success: first("success") === 1,
      failed: Number(this.array("_failed")[0]),
      mask: this.mask(),
      observation: this.observation(),
    };
  }

  /** Which choices are allowed: 0 or 1 for each, of the only agent or of each; null where all always are. */
  mask() {
    if (!this.description.masked) return null;
    const rows = this.rows(this.masks);
    return this.description.agents === 1 ? rows[0] : rows;
  }

  /** What the only agent sees, or each. */
  observation() {
    const seen = this.observations();
    return this.description.agents === 1 ? seen[0] : seen;
  }

  /** What each agent sees: numbers, or with images a table of "state" and images; the image where that is all. */
  observations() {
    const { agents, observation } = this.description, { images, alone, discrete } = observation;
    if (alone) return Array.from({ length: agents }, (_, k) => this.images(k)[alone].data);
    const vectors = this.rows(this.array("observations"));
    if (discrete) return vectors.map(([number]) => number);
    return Object.keys(images).length ? vectors.map((state, k) => ({ state, ...this.images(k) })) : vectors;
  }

  /**
   * The images that an agent sees, by name: bytes, copied.
   * @param {number} [agent]
   */
  images(agent = 0) {
    const { agents, arrays, observation } = this.description, { place, bytes, fields } = arrays._images;
    const found = Object.entries(observation.images).map(([name, [height, width, channels]]) => {
      const [, offset] = /** @type {Record<string, Place>} */ (fields)[name];
      const start = this.base + place + (agent * bytes) / agents + offset;
      const data = new Uint8Array(this.buffer.slice(start, start + height * width * channels));
      return [name, { data, width, height, channels }];
    });
    return /** @type {Record<string, import("./types.js").Pixels>} */ (Object.fromEntries(found));
  }

  /**
   * Copies of the rows of agents in an array.
   * @template T
   * @param {T} numbers a typed array
   */
  rows(numbers) {
    const all = /** @type {any} */ (numbers), { agents } = this.description, size = all.length / agents;
    return Array.from({ length: agents }, (_, k) => all.slice(k * size, (k + 1) * size));
  }

  /** Observe again, after the state came from outside; the outcome of the last step is cleared. */
  observe() {
    for (const name of ["results", "rewards", "costs", "reward_vectors", "terminated", "truncated"]) this.bytes(name).fill(0);
    this.run("run_worlds", OBSERVE);
  }

  // --- states ---

  /** The state and the parameters, for `restore`. */
  snapshot() {
    return snapshotOf(this);
  }

  /** @param {import("./links.js").Snapshot} snapshot */
  restore(snapshot) {
    restoreSnapshot(this, snapshot);
  }

  /** The text of a link to exactly this state, which follows "#live=" in the address of the page. */
  link() {
    return linkText(this);
  }

  /** Parameters and state as Python's functions see them: numbers, truth values, and arrays (`NdArray`), all live. */
  records() {
    this.seen ??= { p: this.record("param_rows"), s: this.record("states") };
    return this.seen;
  }

  /** @param {string} name of an array with one record */
  record(name) {
    const { place, fields = {} } = this.description.arrays[name];
    return recordOf(this.buffer, this.base + place, fields);
  }

  // --- others ---

  /**
   * Who plays: "expert", "random", "idle", "player:NAME" or "agent:NAME".
   * @param {string} name
   * @param {number | bigint} [seed] of random choices; that of the last reset by default
   * @returns {Promise<(environment: Environment) => import("./types.js").Action>}
   */
  policy(name, seed = this.seed ?? 0) {
    return policyOf(this, name, seed);
  }

  /** What the head of an image says. */
  head() {
    return headOf(this);
  }

  /** Whether the module does here what Python did: steps, the hash of all that they give, and whether it is equal. */
  async proof() {
    const { seed, steps, policy, hash } = this.description.proof;
    const other = new Environment(this.description, this.module, this.image, this.file), sha = new Sha256();
    other.reset(seed);
    const choose = await other.policy(policy, seed);
    const arrays = this.description.hashed.map(name => other.bytes(name));
    arrays.forEach(bytes => sha.update(bytes));
    for (let step = 0; step < steps; step++) {
      other.step(choose(other));
      arrays.forEach(bytes => sha.update(bytes));
    }
    const found = sha.digest();
    return { steps, hash: found, equal: found === hash };
  }
}

/** The physical parameters of an environment, within their declared ranges. */
class Params {
  /** @param {Environment} environment */
  constructor(environment) {
    this.environment = environment;
  }

  /** @param {string} name */
  get(name) {
    this.declared(name);
    return Number(this.environment.field("param_rows", name)[0]);
  }

  /**
   * Act from the next step on. Values that the declaration does not allow are errors, and change nothing.
   * @param {string} name
   * @param {number} value
   */
  set(name, value) {
    if (!this.declared(name).live) throw new RangeError(`${name} cannot be changed in a page: sizes or data follow from it`);
    this.check(name, value);
    this.environment.field("param_rows", name)[0] = /** @type {never} */ (value);
  }

  /**
   * A RangeError where a parameter may not have a value.
   * @param {string} name
   * @param {number} value
   */
  check(name, value) {
    const { low, high, unit } = this.declared(name);
    if (typeof value !== "number" || !(value >= low && value <= high)) {
      throw new RangeError(`${name}=${value} is outside its range [${low}, ${high}] ${unit}`.trim());
    }
    for (const { least, most, factor, doc } of this.environment.description.constraints) {
      if (least !== name && most !== name) continue;
      const [one, other] = [least, most].map(each => (each === name ? value : this.get(each)));
      if (!(one <= factor * other)) throw new RangeError(`${name}=${value} violates a constraint: ${doc}`);
    }
  }

  /** @param {string} name */
  declared(name) {
    const found = this.environment.description.params.find(param => param.name === name);
    if (!found) throw new RangeError(`${this.environment.description.id} has no parameter ${JSON.stringify(name)}`);
    return found;
  }
}
