/* Who plays: a person, trained agents, the expert, scripted players, random actions, nobody. */

import { make } from "./dom.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {import("./types.js").Description} Description */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {number | number[]} Own of one agent */
/** @typedef {(environment: Environment) => Action} Policy */

export const YOU = "you";
const MAIN = /^(you|agent:.*|expert|random)$/; // who is offered as a button

/** The choice of who plays, and what they do. */
export class Players {
  /**
   * @param {Environment} environment
   * @param {string} who plays at first, "" for the usual one
   * @param {(pointed: boolean) => void} changed called when somebody else was chosen, by a pointer or by keys
   */
  constructor(environment, who, changed) {
    const { id, teams, players } = environment.description;
    this.environment = environment;
    this.changed = changed;
    /** @type {Map<string, Policy>} */
    this.policies = new Map();
    this.known = known(environment.description);
    this.who = this.known.some(([value]) => value === who) ? who : usual(environment.description, true);
    /** Who plays the rest of the person's team, and the other teams. */
    this.parts = {
      mates: usual(environment.description, false),
      opponents: players.length ? `player:${players[0]}` : usual(environment.description, false),
    };
    this.group = `live-${id}-${Math.random().toString(36).slice(2)}`;
    const several = teams.filter((team) => team === 0).length > 1, against = teams.some((team) => team > 0);
    /** @type {Map<string, HTMLInputElement>} */
    this.radios = new Map();
    this.element = make("fieldset", { class: "live-who" }, make("legend", {}, "Who plays"),
      ...this.known.filter(([value]) => MAIN.test(value) || value === this.who).map((each) => this.radio(...each)),
      ...(several ? [this.select("with you", "mates")] : []), ...(against ? [this.select("against", "opponents")] : []));
  }

  /**
   * @param {string} value
   * @param {string} label
   */
  radio(value, label) {
    const input = make("input", { type: "radio", name: this.group, value, checked: value === this.who });
    // a click of a pointer has a count; keys that move through the buttons make clicks without
    input.addEventListener("click", ({ detail }) => void this.choose(value).then(() => this.changed(detail > 0)));
    this.radios.set(value, input);
    return make("label", { "data-policy": value.split(":")[0] }, input, make("span", {}, label));
  }

  /**
   * @param {string} label
   * @param {"mates" | "opponents"} part
   */
  select(label, part) {
    const options = this.known.filter(([value]) => value !== YOU);
    const select = make("select", {}, ...options.map(([value, name]) => make("option", { value }, name)));
    select.value = this.parts[part];
    select.addEventListener("change", async () => {
      await this.use(select.value);
      this.parts[part] = select.value;
    });
    return make("label", { class: "live-others" }, `${label} `, select);
  }

  /** @param {string} who */
  async choose(who) {
    for (const name of [who, this.parts.mates, this.parts.opponents]) if (name !== YOU) await this.use(name);
    this.who = who;
    const radio = this.radios.get(who);
    if (radio) radio.checked = true;
  }

  /** @param {string} name */
  async use(name) {
    if (!this.policies.has(name)) this.policies.set(name, await this.environment.policy(name));
  }

  /**
   * The actions of all agents, as a step takes them; null while the environment waits for the person.
   * @param {() => Own | null} person
   * @returns {Action | null}
   */
  actions(person) {
    const { teams, agents } = this.environment.description, own = this.who === YOU ? person() : undefined;
    if (own === null || (own !== undefined && agents === 1)) return own;
    const team = this.policy(own === undefined ? this.who : this.parts.mates);
    if (agents === 1) return team;
    const rows = /** @type {Own[]} */ (team);
    if (own !== undefined) rows[0] = own;
    if (teams.every((each) => each === 0)) return rows;
    const others = /** @type {Own[]} */ (this.policy(this.parts.opponents));
    return rows.map((row, k) => (teams[k] === 0 ? row : others[k]));
  }

  /** @param {string} name */
  policy(name) {
    const policy = this.policies.get(name);
    if (!policy) throw new Error(`${name} is not loaded`);
    return policy(this.environment);
  }
}

/**
 * What policies are called, and how people call them.
 * @param {Description} description
 * @returns {[string, string][]}
 */
function known({ expert, networks, players, agents }) {
  /** @type {[string, string][]} */
  const found = [[YOU, "You"]];
  for (const { name, label } of networks) found.push([`agent:${name}`, label]);
  if (expert) found.push(["expert", "Expert"]);
  if (agents > 1) for (const name of players) found.push([`player:${name}`, `player ${name}`]);
  return [...found, ["random", "Random"], ["idle", "Nobody"]];
}

/**
 * Who plays where nothing else is said.
 * @param {Description} description
 * @param {boolean} agents whether trained agents come first
 */
function usual({ expert, networks }, agents) {
  const [best] = [...networks].sort((one, other) => (other.mean ?? -Infinity) - (one.mean ?? -Infinity));
  if (agents && best) return `agent:${best.name}`;
  return expert ? "expert" : "random";
}
