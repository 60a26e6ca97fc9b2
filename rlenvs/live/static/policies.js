// Who plays in a page: scripted experts and players (kernels), trained agents, random choices, nobody.

import { Network, tensorsOf } from "./network.js";
import { Generator } from "./random.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {(environment: Environment) => Action} Policy */

const RANDOM = 1; // beside the seed, of the generator of random actions, as in rlenvs/agents/evaluate.py
const DRAWN = 3; // the same of choices that an agent draws, as in rlenvs/agents/agent.py

/**
 * @param {Environment} environment
 * @param {string} name
 * @param {number | bigint} seed
 * @returns {Promise<Policy>}
 */
export async function policyOf(environment, name, seed) {
  const { id, expert, players, action } = environment.description;
  const [kind, who] = name.split(":");
  if (kind === "random") return randomPolicy(environment, new Generator(seed, RANDOM));
  if (kind === "idle") return () => environment.shaped(action.nothing.flat());
  if (kind === "expert" && expert) return "advise_worlds" in environment.exports ? advise : playersPolicy(0);
  if (kind === "player" && players.includes(who)) return playersPolicy(players.indexOf(who));
  if (kind === "agent") return await agentPolicy(environment, who, seed);
  throw new RangeError(`${id} has no policy ${JSON.stringify(name)}`);
}

/** @type {Policy} */
function advise(environment) {
  environment.run("advise_worlds");
  return within(environment);
}

/**
 * One of the world's players decides for all agents.
 * @param {number} player
 * @returns {Policy}
 */
function playersPolicy(player) {
  return environment => {
    environment.array("_slots").fill(/** @type {never} */ (BigInt(player)));
    environment.run("play_worlds");
    return within(environment);
  };
}

/** The actions in the batch, within their bounds, as a step has them. @param {Environment} environment */
function within(environment) {
  const { kind, lows, highs, count } = environment.description.action;
  if (kind === "continuous") {
    const actions = /** @type {Float64Array} */ (environment.actions);
    actions.forEach((value, j) => (actions[j] = Math.min(Math.max(value, lows[j % count]), highs[j % count])));
  }
  return environment.loaded();
}

/**
 * As the random policy of `rlenvs.evaluate`.
 * @param {Environment} environment
 * @param {Generator} generator
 * @returns {Policy}
 */
function randomPolicy(environment, generator) {
  const { agents, action } = environment.description;
  if (action.kind === "continuous") {
    const places = Array.from({ length: agents * action.count }, (_, j) => j % action.count);
    return () => environment.shaped(places.map(j => spread(generator.random(), action.lows[j], action.highs[j])));
  }
  const rated = (/** @type {any} */ mask) => Array.from(mask, allowed => generator.random() * Number(allowed));
  return () => {
    const masks = environment.rows(environment.masks);
    return environment.shaped(masks.flatMap(mask => highest(rated(mask), action.parts)));
  };
}

/**
 * A number in [0, 1) over the bounds of an action.
 * @param {number} unit
 * @param {number} low
 * @param {number} high
 */
function spread(unit, low, high) {
  const number = 2 * unit - 1;
  return low === -1 && high === 1 ? number : low + 0.5 * (number + 1) * (high - low);
}

/**
 * The choice that is rated highest, of each number of an action.
 * @param {ArrayLike<number>} ratings those of all numbers, one after the other
 * @param {number[]} parts how many choices each number has
 */
export function highest(ratings, parts) {
  let start = 0;
  return parts.map(count => {
    let best = 0;
    for (let j = 1; j < count; j++) if (ratings[start + j] > ratings[start + best]) best = j;
    start += count;
    return best;
  });
}

/**
 * A trained agent plays all agents.
 * @param {Environment} environment
 * @param {string} name
 * @param {number | bigint} seed of choices that are drawn
 * @returns {Promise<Policy>}
 */
async function agentPolicy(environment, name, seed) {
  const { id, networks, agent_names: names } = environment.description;
  const found = networks.find(each => each.name === name);
  if (!found) throw new RangeError(`${id} has no agent ${JSON.stringify(name)}`);
  const network = new Network(found.architecture, tensorsOf(await environment.file(found.file)));
  const known = (found.architecture.kinds ?? []).map((/** @type {any} */ kind) => kind.name);
  const kinds = names.map(each => known.indexOf(each.replace(/_?\d+$/, "") || each));
  const generator = found.drawn ? new Generator(seed, DRAWN) : null, noise = generator ? () => generator.gumbel() : null;
  let memories = names.map(() => network.start());
  return () => {
    if (environment.elapsed === 0) memories = names.map(() => network.start());
    const seen = environment.observations();
    const masks = network.masked ? environment.rows(environment.masks) : null;
    return environment.shaped(seen.flatMap((each, k) => network.act(each, memories[k], masks && masks[k], kinds[k], noise)));
  };
}
