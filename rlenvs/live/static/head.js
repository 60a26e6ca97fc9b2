// What the head of an image says, as `EpisodeTotals` of rlenvs/core/forms/render.py counts it.

/** @typedef {import("./environment.js").Environment} Environment */

const FEW_TEAMS = 3; // whose returns are shown one by one
const UNKNOWN = "-"; // in the place of a number

/** Return, cost and success of the running episode. */
export class Totals {
  /** @param {Environment} environment */
  constructor(environment) {
    const { agents } = environment.description;
    this.environment = environment;
    this.returns = new Float64Array(agents);
    this.costs = new Float64Array(agents);
    this.success = new Uint8Array(agents);
    this.playing = new Uint8Array(agents);
    this.known = true;
    this.begin();
  }

  /** An episode begins. */
  begin() {
    this.known = true;
    for (const numbers of [this.returns, this.costs, this.success]) numbers.fill(0);
    this.playing.fill(1);
  }

  /** A step was made. */
  step() {
    const environment = this.environment;
    if (environment.elapsed === 0) return this.begin();
    if (environment.elapsed === 1) this.begin();
    const [rewards, costs, terminated, truncated] = ["rewards", "costs", "terminated", "truncated"].map(name => environment.array(name));
    const success = environment.field("results", "success");
    for (let k = 0; k < this.returns.length; k++) {
      this.returns[k] += Number(rewards[k]);
      this.costs[k] += Number(costs[k]);
      if (this.playing[k]) this.success[k] = Number(success[k]);
      if (terminated[k] || truncated[k]) this.playing[k] = 0;
    }
  }

  /** The state came from outside: what was before is not known until the next episode. */
  forget() {
    this.begin();
    this.known = this.environment.elapsed === 0;
  }
}

/** @param {Environment} environment */
export function headOf(environment) {
  const { id, horizon: usual, endless, limit, teams } = environment.description;
  const { known, returns, costs, success } = environment.totals;
  const horizon = Number(environment.field("param_rows", "horizon")[0] ?? usual);
  const told = [`return ${known ? returnsOf(returns, teams) : UNKNOWN}`];
  if (limit !== null) told.push(`cost ${known ? shown(sum(costs) / costs.length) : UNKNOWN}${limit}`);
  const count = sum(success);
  const partly = count < success.length ? `success ${count} of ${success.length}` : "success";
  return {
    title: id,
    step: `step ${environment.elapsed}${horizon < endless ? ` / ${horizon}` : ""}`,
    totals: told.join("   "),
    mark: count ? partly : environment.over ? "over" : "",
    success: count > 0,
  };
}

/**
 * The sum over agents, side by side; from many teams the lowest and the highest.
 * @param {Float64Array} returns
 * @param {number[]} teams
 */
function returnsOf(returns, teams) {
  const sums = Array.from({ length: Math.max(...teams) + 1 }, (_, team) => sum(returns.filter((_, k) => teams[k] === team)));
  return sums.length > FEW_TEAMS ? `${shown(Math.min(...sums))} to ${shown(Math.max(...sums))}` : sums.map(shown).join(" : ");
}

const sum = (/** @type {Float64Array | Uint8Array} */ numbers) => Array.from(numbers).reduce((total, number) => total + number, 0);

const shown = (/** @type {number} */ value) => fixed(value, Math.abs(value) < 100 ? 2 : 0);

/**
 * A number with some decimals, as Python rounds: a tie goes to the even digit, and zero keeps its sign.
 * @param {number} value
 * @param {number} decimals
 */
export function fixed(value, decimals) {
  const size = Math.abs(value), tie = (size * 2 ** (decimals + 1)) % 2 === 1, below = Math.floor(size * 10 ** decimals);
  const even = tie ? (below + (below % 2)) / 10 ** decimals : size;
  return `${value < 0 || Object.is(value, -0) ? "-" : ""}${even.toFixed(decimals)}`;
}
