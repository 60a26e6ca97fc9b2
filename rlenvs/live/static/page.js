/* A live environment in a page: an element with the class "live" and data-world="where/world.json/is" becomes one.

   What it contains already, such as a film, stays as what is shown instead, at a press of a button or where the
   environment cannot be loaded. */

import { Canvas, paintScene } from "./canvas.js";
import { iconButton, make, nameButton, short } from "./dom.js";
import { fromLink, loadEnvironment } from "./environment.js";
import { Plots } from "./plots.js";
import { Settings } from "./settings.js";
import { Sharing } from "./sharing.js";
import { Steering } from "./steering.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {import("./types.js").Action} Action */
/** @typedef {(environment: Environment) => any} Policy */

const YOU = "you";
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const SLOWEST = 2; // steps per second, at speed 1
const MOST_STEPS = 50; // between two pictures
const BUDGET = 12; // milliseconds of a picture's time that steps may take
const HOLD = 1200; // milliseconds from the end of an episode to the next one
const PLOTTED = 100; // milliseconds from one update of plots to the next
const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** An environment that is played in an element of a page. */
class Live {
  /**
   * @param {HTMLElement} element
   * @param {URL} url of world.json
   */
  constructor(element, url) {
    this.url = url;
    this.playing = false;
    this.speed = 1;
    this.last = 0; // when the last step was made
    this.plotted = 0;
    this.over = 0; // when the episode ended; 0 while it goes on
    this.element = element;
  }

  // --- loading ------------------------------------------------------------------------------------------------------

  async start() {
    const linked = location.hash.startsWith("#live=") ? location.hash.slice(6) : "";
    const asked = new URLSearchParams(location.search), level = asked.get("level") || undefined;
    const environment = linked ? await fromLink(linked, this.url) : await loadEnvironment(this.url, { level });
    const { draw } = await import(new URL("draw.js", this.url).href);
    this.drawWorld = draw;
    this.canvas = new Canvas();
    this.who = asked.get("who") || "";
    this.seed = Number(asked.get("seed")) || 0;
    await this.take(environment, !linked);
    if (!linked && !calm()) this.play();
  }

  /**
   * Play this environment from now on.
   * @param {Environment} environment
   * @param {boolean} fresh whether it still has to be reset
   */
  async take(environment, fresh) {
    const { description } = environment;
    this.environment = environment;
    this.description = description;
    this.policies = new Map();
    this.returns = []; // of finished episodes
    if (!players(description).some(([value]) => value === this.who)) this.who = usual(description);
    this.build(description);
    this.settings.show(description, description.level, (name) => environment.params.get(name));
    if (fresh) environment.reset(this.seed);
    await this.choose(this.who);
    this.begun();
  }

  /** @param {string} level */
  async load(level) {
    this.pause();
    this.seed = this.settings.chosenSeed;
    await this.take(await loadEnvironment(this.url, { level }), true);
    this.settings.element.open = true;
    this.settings.level.focus();
    this.say(`level ${level || "default"}`);
  }

  // --- parts --------------------------------------------------------------------------------------------------------

  /** @param {import("./types.js").Description} description */
  build(description) {
    this.steering = new Steering(description.action, () => this.takeOver());
    this.plots = new Plots(description);
    this.settings = new Settings({
      begin: (seed) => { this.seed = seed; this.environment.reset(seed); this.begun(); },
      load: (level) => void this.load(level),
      set: (name, value) => { this.environment.params.set(name, value); this.paint(); },
    }, this.seed);
    this.sharing = new Sharing(description, this.url, () => this.environment);
    this.picture = make("canvas", { tabindex: 0, role: "application", "aria-label": this.pictureLabel() });
    this.head = make("div", { class: "film-head" });
    this.caption = make("div", { class: "film-caption" });
    this.legend = make("ul", { class: "film-legend" });
    this.said = make("p", { class: "live-said", role: "status" });
    this.sight = make("div", { class: "live-sight" });
    this.table = make("table", { class: "live-scores" });
    const top = make("div", { class: "film-top" }, this.head, this.caption);
    const screen = make("div", { class: "film-screen" }, top, this.picture, this.legend, this.controls());
    const play = make("div", { class: "live-play" }, screen, this.steering.element, this.sight);
    const side = make("div", { class: "live-side" }, this.table, this.plots.element);
    this.element.replaceChildren(this.choices(), make("div", { class: "film-body" }, play, side), this.said,
      this.settings.element, this.sharing.element);
    this.listen();
  }

  pictureLabel() {
    const { id, action } = this.description;
    const help = action.keys ? action.keys.help.map(([key, meaning]) => `${key}: ${meaning}`).join(", ") : "";
    return `${id}. ${help ? `Keys: ${help}. ` : ""}Escape pauses, full stop makes one step.`;
  }

  controls() {
    this.button = iconButton("play", "Play", () => (this.playing ? this.pause() : this.play()));
    this.button.classList.add("film-play");
    const speed = make("select", { "aria-label": "Speed", class: "film-speed" },
      ...SPEEDS.map((value) => make("option", { value, selected: value === 1 }, `${value}×`)));
    speed.addEventListener("change", () => { this.speed = Number(speed.value); });
    const reset = iconButton("restart", "New episode", () => { this.environment.reset(); this.begun(); });
    const step = iconButton("step", "One step", () => this.single());
    this.pace = make("span", { class: "live-pace" });
    return make("div", { class: "film-controls" }, this.button, step, reset, this.pace, speed);
  }

  /** Who plays: a row of choices, and in worlds of several agents who plays the others. */
  choices() {
    const name = `live-${this.description.id}-${Math.random().toString(36).slice(2)}`;
    const row = make("fieldset", { class: "live-who" }, make("legend", {}, "Who plays"));
    this.radios = new Map(players(this.description).map(([value, label]) => {
      const input = make("input", { type: "radio", name, value, checked: value === this.who });
      input.addEventListener("change", () => void this.choose(value).then(() => { if (value === YOU) this.picture.focus(); }));
      const kind = value.split(":")[0];
      row.append(make("label", { "data-policy": kind }, input, make("span", {}, label)));
      return [value, input];
    }));
    if (this.description.agents < 2) return row;
    const others = players(this.description).filter(([value]) => value !== YOU);
    const select = make("select", {}, ...others.map(([value, label]) => make("option", { value }, label)));
    select.value = this.others = usual({ ...this.description, networks: [] });
    select.addEventListener("change", () => void this.use(select.value).then(() => { this.others = select.value; }));
    row.append(make("label", { class: "live-others" }, "the others ", select));
    return row;
  }

  listen() {
    const { picture, steering } = this;
    picture.addEventListener("keydown", (event) => {
      if (steering.press(event)) return event.preventDefault();
      if (event.key === "Escape") this.pause();
      else if (event.key === ".") this.single();
    });
    picture.addEventListener("keyup", (event) => void steering.press(event));
    picture.addEventListener("blur", () => steering.release());
    picture.addEventListener("click", () => { if (this.who !== YOU) this.button.click(); });
    document.addEventListener("visibilitychange", () => { if (document.hidden) steering.release(); });
    new ResizeObserver(() => this.paint()).observe(picture);
  }

  // --- who plays ----------------------------------------------------------------------------------------------------

  /** @param {string} who */
  async choose(who) {
    if (who !== YOU) await this.use(who);
    if (this.description.agents > 1) await this.use(this.others);
    this.who = who;
    const radio = this.radios.get(who);
    if (radio) radio.checked = true;
    this.steering.release();
  }

  /**
   * Load a policy.
   * @param {string} name
   */
  async use(name) {
    if (!this.policies.has(name)) this.policies.set(name, await this.environment.policy(name));
  }

  /** A person pressed something: from now on the person plays. */
  takeOver() {
    if (this.who !== YOU) {
      this.who = YOU;
      /** @type {HTMLInputElement} */ (this.radios.get(YOU)).checked = true;
      this.say("You play.");
    }
    if (!this.playing) this.play();
  }

  /**
   * The actions of this step; null while the environment waits for a person.
   * @returns {Action | null}
   */
  action() {
    const { environment } = this, several = this.description.agents > 1;
    const all = this.who === YOU ? null : this.policy(this.who)(environment);
    if (all !== null && (!several || this.others === this.who)) return all;
    const own = all !== null ? /** @type {(number | number[])[]} */ (all)[0] : this.waiting() ? this.description.action.idle : this.steering.take();
    if (own === null || !several) return own;
    const others = /** @type {(number | number[])[]} */ (this.policy(this.others)(environment));
    return [own, ...others.slice(1)];
  }

  /** Whether it is another agent's turn. */
  waiting() {
    return this.description.turns && this.environment.records().s.turn !== 0;
  }

  /** @param {string} name */
  policy(name) {
    return /** @type {Policy} */ (this.policies.get(name));
  }

  // --- playing ------------------------------------------------------------------------------------------------------

  begun() {
    this.over = 0;
    this.plots.clear();
    this.last = performance.now();
    this.paint();
    this.sharing.forget();
  }

  play() {
    if (this.playing) return;
    this.playing = true;
    nameButton(this.button, "pause", "Pause");
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    this.playing = false;
    nameButton(this.button, "play", "Play");
    this.paint();
    this.sayState();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    if (!document.hidden) this.advance(now);
    requestAnimationFrame((next) => this.tick(next));
  }

  /**
   * Make the steps that are due, and one picture.
   * @param {number} now
   */
  advance(now) {
    if (this.over) {
      if (now - this.over < HOLD) return;
      this.environment.reset();
      this.begun();
      return;
    }
    const wait = 1000 / (Math.max(1 / this.description.seconds, SLOWEST) * this.speed);
    const begin = performance.now();
    let made = 0;
    while (now - this.last >= wait && made < MOST_STEPS && performance.now() - begin < BUDGET && !this.over) {
      if (!this.step()) {
        this.last = now - wait; // what is pressed next acts at once
        break;
      }
      this.last += wait;
      made += 1;
    }
    if (now - this.last > 500) this.last = now; // steps that are slower than their time
    if (made) this.paint();
  }

  /** @returns {boolean} whether a step was made */
  step() {
    const action = this.action();
    if (action === null) return false;
    const result = this.environment.step(action);
    this.plots.add(result);
    this.steering.tell(/** @type {number | number[]} */ (this.description.agents > 1 ? /** @type {any[]} */ (action)[0] : action));
    if (result.over) this.end();
    return true;
  }

  single() {
    if (this.playing) this.pause();
    if (this.over) { this.environment.reset(); this.begun(); }
    else if (!this.step()) return this.say("Choose an action first.");
    this.paint();
    this.sayState();
  }

  end() {
    this.over = performance.now();
    this.returns.push(this.plots.sum.total);
    this.sayState();
  }

  // --- showing ------------------------------------------------------------------------------------------------------

  paint() {
    const { environment, canvas, picture } = this, { p, s } = environment.records(), head = environment.head();
    canvas.clear();
    this.drawWorld(canvas, p, s);
    canvas.head(head);
    const frame = canvas.frame(), [width, height] = frame.scene;
    const wide = Math.max(1, Math.round((picture.clientWidth || width) * (window.devicePixelRatio || 1)));
    const high = Math.round((wide * height) / width);
    if (picture.width !== wide || picture.height !== high) [picture.width, picture.height] = [wide, high];
    paintScene(frame, /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d")), wide, high);
    this.write(head, frame);
    this.steering.allow(this.mask());
    const now = performance.now();
    if (!this.playing || this.over || now - this.plotted > PLOTTED) {
      this.plotted = now;
      this.plots.paint();
      this.paintScores();
      this.paintSight();
    }
  }

  mask() {
    const mask = this.waiting() ? null : this.environment.mask();
    return mask && this.description.agents > 1 ? mask[0] : mask;
  }

  /**
   * What the head of the picture says.
   * @param {import("./canvas.js").Head} head
   * @param {import("./canvas.js").Frame} frame
   */
  write(head, frame) {
    const badge = head.mark ? [make("span", { class: head.success ? "film-mark film-good" : "film-mark" }, head.mark)] : [];
    this.head.replaceChildren(make("span", {}, head.step), ...badge, make("span", { class: "film-totals" }, head.totals));
    this.caption.textContent = frame.captions.join("   ") || "\u00a0";
    const told = JSON.stringify(frame.legend);
    if (told === this.told) return;
    this.told = told;
    this.legend.replaceChildren(...frame.legend.map(([color, label, shape]) => {
      const swatch = make("i", { class: `film-swatch film-${shape}` });
      swatch.style.setProperty("--swatch", color);
      return make("li", {}, swatch, label);
    }));
  }

  paintScores() {
    const { returns } = this, mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    const own = [["this episode", this.plots.sum.total]];
    if (returns.length) own.push([`mean of ${returns.length} played here`, mean]);
    const known = this.description.scores.map(({ label, mean: value }) => [label, value]);
    const rows = [...own, ...known].map(([label, value], i) => make("tr", { class: i < own.length ? "live-own" : "" },
      make("th", { scope: "row" }, String(label)), make("td", {}, short(Number(value)))));
    this.table.replaceChildren(make("caption", {}, "Return"), ...rows);
  }

  /** The images that the agent observes. */
  paintSight() {
    const images = Object.entries(this.environment.images());
    if (this.sight.childElementCount !== images.length) {
      this.sight.replaceChildren(...images.map(([name]) => make("figure", {}, make("canvas", { role: "img", "aria-label": `observed image: ${name}` }),
        make("figcaption", {}, `observed: ${name}`))));
    }
    for (const [i, [, image]] of images.entries()) {
      const canvas = /** @type {HTMLCanvasElement} */ (this.sight.children[i].firstChild);
      [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d")?.putImageData(new ImageData(rgba(image), image.width), 0, 0);
    }
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = text;
  }

  sayState() {
    const parts = [this.head.innerText, this.caption.innerText.trim()];
    this.say(parts.filter(Boolean).join(". ").replace(/\s*\n\s*/g, ", "));
  }
}

/**
 * Who can play the first agent: what policies are called, and how people call them.
 * @param {import("./types.js").Description} description
 * @returns {[string, string][]}
 */
function players({ expert, networks, players: scripted, agents }) {
  return [
    [YOU, "You"],
    .../** @type {[string, string][]} */ (networks.map(({ name, label }) => [`agent:${name}`, label || name])),
    .../** @type {[string, string][]} */ (expert ? [["expert", "Expert"]] : []),
    .../** @type {[string, string][]} */ (agents > 1 ? scripted.map((name) => [`player:${name}`, name]) : []),
    ["random", "Random"],
    ["idle", "Nothing"],
  ];
}

/**
 * Who plays at first.
 * @param {import("./types.js").Description} description
 */
function usual({ expert, networks }) {
  if (networks.length) return `agent:${networks[0].name}`;
  return expert ? "expert" : "random";
}

/** @param {import("./types.js").Pixels} image */
function rgba({ data, width, height, channels }) {
  const found = new Uint8ClampedArray(4 * width * height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) found[4 * i + c] = data[channels * i + (channels === 3 ? c : 0)];
    found[4 * i + 3] = 255;
  }
  return found;
}

// --- pages ----------------------------------------------------------------------------------------------------------

/**
 * Make an element's environment live; what the element contains is shown where that fails, or is asked for.
 * @param {HTMLElement} element
 */
export async function mount(element) {
  const url = new URL(element.dataset.world || "", document.baseURI);
  const instead = /** @type {HTMLElement[]} */ ([...element.children]);
  const stage = make("div", { class: "live-stage" }, make("p", { class: "live-said" }, "Loading…"));
  for (const each of instead) each.hidden = true;
  element.prepend(stage);
  const live = new Live(stage, url);
  try {
    await live.start();
    element.dataset.state = "ready";
    Object.assign(element, { live });
    if (instead.length) element.prepend(tabs(stage, instead, () => live.pause()));
  } catch (reason) {
    element.dataset.state = "failed";
    stage.replaceChildren(make("p", {}, `The environment cannot be played in this browser: ${
      reason instanceof Error ? reason.message : reason}.`));
    for (const each of instead) each.hidden = false;
  }
}

/**
 * Buttons that choose between the live environment and what else there is.
 * @param {HTMLElement} stage
 * @param {HTMLElement[]} instead
 * @param {() => void} leave
 */
function tabs(stage, instead, leave) {
  const show = (/** @type {boolean} */ live) => {
    stage.hidden = !live;
    for (const each of instead) each.hidden = live;
    for (const [i, button] of buttons.entries()) button.setAttribute("aria-pressed", String((i === 0) === live));
    if (!live) leave();
  };
  const buttons = ["Live", "Film"].map((label, i) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", () => show(i === 0));
    return button;
  });
  show(true);
  return make("div", { class: "live-tabs", role: "group", "aria-label": "What is shown" }, ...buttons);
}

const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    void mount(/** @type {HTMLElement} */ (target));
  }
}, { rootMargin: "300px" });
for (const element of document.querySelectorAll(".live[data-world]")) near.observe(element);
