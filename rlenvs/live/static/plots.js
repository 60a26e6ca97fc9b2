/* Small plots of an episode that is being played: the return, every reward term, every cost. */

import { drawn, make, short, write } from "./dom.js";

const POINTS = 200; // of a line; a longer episode is thinned
const SERIES = 8; // colors in player.css

/** One line over the steps of the episode. */
class Plot {
  /**
   * @param {string} title
   * @param {string} note
   * @param {string} color of CSS
   * @param {boolean} summed whether the line is the sum so far
   * @param {number | null} limit a dashed line, where there is one
   */
  constructor(title, note, color, summed, limit = null) {
    this.summed = summed;
    this.limit = limit;
    this.title = title;
    this.weight = 1;
    /** @type {number[]} */
    this.values = [];
    this.total = 0;
    this.value = make("span", { class: "film-value" });
    this.line = drawn("polyline", { class: "film-line" });
    this.line.style.stroke = color;
    this.zero = drawn("line", { x1: 0, x2: 100, class: "film-zero" });
    this.bound = drawn("line", { x1: 0, x2: 100, class: "film-limit" });
    const picture = drawn("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
    picture.append(this.zero, this.bound, this.line);
    const name = make("span", { class: "film-name", title: note }, title);
    this.element = make("div", { class: "film-plot" }, make("div", {}, name, this.value), picture);
  }

  clear() {
    this.values = [];
    this.total = 0;
  }

  /** @param {number} value of one step */
  add(value) {
    this.total += value;
    this.values.push(this.summed ? this.total : value);
  }

  paint() {
    const { values, limit } = this, every = Math.max(1, Math.ceil(values.length / POINTS));
    const shown = values.filter((_, i) => i % every === 0 || i === values.length - 1);
    let low = Math.min(0, ...shown), high = Math.max(0, ...shown);
    const near = limit !== null && limit <= 4 * Math.max(high, 1e-9);
    if (limit !== null && near) high = Math.max(high, limit);
    if (high === low) high = low + 1;
    const y = (/** @type {number} */ value) => (38 - (36 * (value - low)) / (high - low)).toFixed(2);
    const width = Math.max(shown.length - 1, 1);
    this.line.setAttribute("points", shown.map((value, i) => `${((100 * i) / width).toFixed(2)},${y(value)}`).join(" "));
    place(this.zero, y(0));
    place(this.bound, limit !== null && near ? y(limit) : "-10");
    write(this.value, short(values[values.length - 1]));
  }
}

const total = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0);

/**
 * @param {SVGElement} line
 * @param {string} y
 */
function place(line, y) {
  line.setAttribute("y1", y);
  line.setAttribute("y2", y);
}

/** The plots of an environment. */
export class Plots {
  /** @param {import("./types.js").Description} description */
  constructor({ terms, costs, teams }) {
    this.teams = teams;
    this.sum = new Plot("return", "sum of the rewards so far", "var(--film-agent)", true);
    this.terms = new Map(terms.map(({ name, weight }, i) => /** @type {const} */ ([name, this.term(name, weight, i)])));
    this.costs = new Map(costs.map(({ name, limit }) => /** @type {const} */ ([name, this.cost(name, limit)])));
    this.all = [this.sum, ...this.terms.values(), ...this.costs.values()];
    this.still = make("p", { class: "film-still" });
    this.element = make("div", { class: "film-plots" }, ...this.all.map((plot) => plot.element), this.still);
    this.clear();
  }

  /**
   * @param {string} name
   * @param {number} weight
   * @param {number} i
   */
  term(name, weight, i) {
    const note = `reward term ${name}, times its weight ${weight}, per step`;
    const plot = new Plot(name, note, `var(--film-series-${i % SERIES})`, false);
    plot.weight = weight;
    return plot;
  }

  /**
   * @param {string} name
   * @param {number | null} limit
   */
  cost(name, limit) {
    return new Plot(`cost: ${name}`, `cost ${name} so far, dashed: its limit`, "var(--film-yours)", true, limit);
  }

  clear() {
    for (const plot of this.all) plot.clear();
    this.paint();
  }

  /**
   * Take in a step: what the first team was paid; costs are the mean of its agents, for which limits are.
   * @param {import("./environment.js").Environment} environment
   */
  add(environment) {
    const own = (/** @type {ArrayLike<number>} */ values) => Array.from(values, Number).filter((_, k) => this.teams[k] === 0);
    const of = (/** @type {string} */ name) => own(/** @type {any} */ (environment.field("results", name)));
    this.sum.add(total(own(/** @type {any} */ (environment.array("rewards")))));
    for (const [name, plot] of this.terms) plot.add(plot.weight * total(of(name)));
    for (const [name, plot] of this.costs) plot.add(total(of(name)) / of(name).length);
  }

  /** Draw all but those in which nothing has happened, which are named. */
  paint() {
    const silent = this.all.filter((plot) => plot !== this.sum && !plot.values.some(Boolean));
    for (const plot of this.all) {
      plot.element.hidden = silent.includes(plot);
      if (!plot.element.hidden) plot.paint();
    }
    write(this.still, silent.length ? `0 so far: ${silent.map((plot) => plot.title).join(", ")}` : "");
  }
}

/** The return of this episode, the mean of those played here, and the reference scores. */
export class Scores {
  /** @param {import("./types.js").Description} description */
  constructor({ scores, networks }) {
    /** @type {number[]} */
    this.returns = [];
    this.known = [...scores, ...networks.filter(({ mean }) => mean !== null)];
    this.now = make("td");
    this.element = make("table", { class: "live-scores" });
    this.list();
  }

  /** @param {number} value of a finished episode */
  add(value) {
    this.returns.push(value);
    this.list();
  }

  /** All rows. */
  list() {
    const { returns, known } = this, mean = total(returns) / returns.length;
    const played = returns.length ? [row(`mean of ${returns.length} played here`, mean, true)] : [];
    const others = known.map((each) => row(each.label, each.mean, false)), own = row("this episode", null, true);
    own.replaceChild(this.now, /** @type {Element} */ (own.lastChild));
    this.element.replaceChildren(make("caption", {}, "Return"), own, ...played, ...others);
  }

  /** @param {number} now the return of this episode so far */
  paint(now) {
    write(this.now, short(now));
  }
}

/**
 * @param {string} label
 * @param {number | null} value
 * @param {boolean} own whether it was played here
 */
function row(label, value, own) {
  return make("tr", { class: own ? "live-own" : "" }, make("th", { scope: "row" }, label), make("td", {}, short(value)));
}
