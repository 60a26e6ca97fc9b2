/* A live environment: the loop of steps and pictures, and the parts of its page. */

import { iconButton, make, nameButton } from "./dom.js";
import { ACT, fromLink, loadEnvironment } from "./environment.js";
import { Players, YOU } from "./players.js";
import { Plots, Scores } from "./plots.js";
import { Pointing } from "./pointing.js";
import { Screen } from "./screen.js";
import { Settings } from "./settings.js";
import { Sharing } from "./sharing.js";
import { Steering } from "./steering.js";

/** @typedef {import("./environment.js").Environment} Environment */

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const SLOWEST = 2; // steps per second, at speed 1
const MOST_STEPS = 50; // between two pictures
const BUDGET = 12; // milliseconds of a picture's time that steps may take
const LATE = 500; // milliseconds after which steps that are due are given up
const HOLD = 1200; // milliseconds from the end of an episode to the next one
const PLOTTED = 100; // milliseconds from one update of plots to the next
const HOW = "You play: press a key, or a button below the picture.";
const WHERE = "You play: click in the picture, or move the mark with arrows and choose with Enter.";
const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Load an environment into an element, and begin to play.
 * @param {HTMLElement} stage
 * @param {URL} url of world.json
 * @param {{level?: string, seed: number, who: string, link?: string}} wanted
 */
export async function open(stage, url, { level = "", seed, who, link }) {
  const loading = link ? fromLink(link, url) : loadEnvironment(url, { level, seed });
  const [environment, { draw }] = await Promise.all([loading, import(new URL("draw.js", url).href)]);
  const { places } = environment.description.pointed ? await import(new URL("places.js", url).href) : { places: null };
  const live = new Live(stage, url, environment, { draw, places, seed, who });
  await live.players.choose(live.players.who);
  live.begun();
  if (live.players.who === YOU) live.say(live.how);
  else if (!link && !calm()) live.play();
  return live;
}

/** An environment that is played in an element of a page. */
export class Live {
  /**
   * @param {HTMLElement} stage
   * @param {URL} url of world.json
   * @param {Environment} environment
   * @param {{draw: import("./screen.js").Draw, places: import("./pointing.js").Places | null, seed: number, who: string}} wanted
   */
  constructor(stage, url, environment, { draw, places, seed, who }) {
    this.stage = stage;
    this.url = url;
    this.environment = environment;
    this.description = environment.description;
    this.playing = false;
    this.speed = 1;
    this.last = 0; // when the last step was made
    this.shown = 0; // when numbers were shown
    this.over = 0; // when the episode ended; 0 while it goes on
    this.button = iconButton("play", "Play", () => (this.playing ? this.pause() : this.play()));
    this.players = new Players(environment, who, (pointed) => {
      this.steering.release();
      if (this.players.who !== YOU) return;
      this.pause();
      this.say(this.how);
      if (pointed) this.screen.picture.focus();
    });
    this.steering = new Steering(this.description.action, () => this.takeOver(), (choice) => this.consider(choice), Boolean(places));
    this.screen = new Screen(labelOf(this.description), draw, this.controls());
    this.pointing = places ? new Pointing(places) : null;
    this.how = places ? WHERE : HOW;
    this.plots = new Plots(this.description);
    this.scores = new Scores(this.description);
    this.settings = new Settings(environment, seed, {
      begin: (chosen) => this.begin(chosen),
      load: (level) => void this.load(level),
      changed: () => this.paint(),
    });
    this.sharing = new Sharing(environment, url);
    this.said = make("p", { class: "live-said", role: "status" });
    const play = make("div", { class: "live-play" }, this.screen.element, this.steering.element, this.screen.sight);
    const side = make("div", { class: "live-side" }, this.scores.element, this.plots.element);
    stage.replaceChildren(this.players.element, make("div", { class: "film-body" }, play, side), this.said,
      this.settings.element, this.sharing.element);
    this.listen();
  }

  controls() {
    this.button.classList.add("film-play");
    const options = SPEEDS.map((value) => make("option", { value, selected: value === 1 }, `${value}×`));
    const speed = make("select", { "aria-label": "Speed", class: "film-speed" }, ...options);
    speed.addEventListener("change", () => { this.speed = Number(speed.value); });
    const step = iconButton("step", "One step", () => this.single());
    const anew = iconButton("restart", "New episode", () => this.begin());
    return make("div", { class: "film-controls" }, this.button, step, anew, make("span", { class: "live-pace" }), speed);
  }

  listen() {
    const { steering } = this, { picture } = this.screen;
    picture.addEventListener("keydown", (event) => {
      if (steering.press(event) || this.pressed(event)) return event.preventDefault();
      if (event.key === "Escape") this.pause();
      else if (event.key === ".") this.single();
    });
    picture.addEventListener("keyup", (event) => void steering.press(event));
    picture.addEventListener("blur", () => steering.release());
    picture.addEventListener("click", ({ offsetX, offsetY }) => {
      const unit = this.screen.canvas.scene[0] / picture.clientWidth;
      if (this.players.who !== YOU) this.button.click();
      else if (this.pointing) this.pointed(this.pointing.click([offsetX * unit, offsetY * unit]));
    });
    new ResizeObserver(() => {
      this.screen.measure();
      this.paint();
    }).observe(picture);
  }

  /**
   * A key that moves the mark, or chooses what lies there.
   * @param {KeyboardEvent} event
   */
  pressed({ key, ctrlKey, altKey, metaKey }) {
    if (!this.pointing || ctrlKey || altKey || metaKey) return false;
    return this.pointed(this.pointing.press(key));
  }

  /**
   * Something was pointed at: play what was chosen, or show what else there is to choose.
   * @param {{used: boolean, choice: number | null}} found
   */
  pointed({ used, choice }) {
    const { pointing, steering } = this;
    if (!used || !pointing) return used;
    if (choice !== null) {
      steering.choose(choice);
      return true;
    }
    this.screen.paint(this.environment, (_, pen) => pointing.paint(pen));
    const { ready, under } = pointing;
    steering.list(ready);
    const told = under.length === 1 ? steering.nameOf(under[0]) : under.length ? `${under.length} moves` : "Point to where it goes.";
    this.say(pointing.picked.length && ready.length ? "Choose from the list." : told);
    return true;
  }

  // --- beginning ----------------------------------------------------------------------------------------------------

  /**
   * A new episode.
   * @param {number} [seed] of the generator, which goes on without
   */
  begin(seed) {
    this.environment.reset(seed);
    this.begun();
  }

  begun() {
    this.over = 0;
    this.last = performance.now();
    this.plots.clear();
    this.sharing.forget();
    this.paint();
  }

  /**
   * The same page with the environment at another level.
   * @param {string} level
   */
  async load(level) {
    this.pause();
    const live = await open(this.stage, this.url, { level, seed: this.settings.chosenSeed, who: this.players.who });
    live.settings.element.open = true;
    live.settings.level.focus();
    this.stage.dispatchEvent(new CustomEvent("live", { detail: live }));
  }

  // --- playing ------------------------------------------------------------------------------------------------------

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
    this.say(this.screen.text);
  }

  /** A person pressed something: from now on the person plays. */
  takeOver() {
    if (this.players.who !== YOU) void this.players.choose(YOU).then(() => this.say("You play."));
    if (!this.playing) this.play();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.playing) return;
    this.advance(now);
    requestAnimationFrame((next) => this.tick(next));
  }

  /**
   * Make the steps that are due, and one picture.
   * @param {number} now
   */
  advance(now) {
    if (this.over) {
      if (now - this.over >= HOLD) this.begin();
      return;
    }
    const wait = 1000 / (Math.max(1 / this.description.seconds, SLOWEST) * this.speed), start = performance.now();
    let made = 0;
    while (now - this.last >= wait && made < MOST_STEPS && performance.now() - start < BUDGET && !this.over) {
      if (!this.step()) {
        this.last = now - wait; // what is pressed next acts at once
        break;
      }
      this.last += wait;
      made += 1;
    }
    if (now - this.last > LATE) this.last = now;
    if (made) this.paint();
  }

  /** @returns {boolean} whether a step was made: the environment may wait for a person */
  step() {
    const waits = this.waits();
    const actions = this.players.actions(() => (waits ? this.description.action.idle : this.steering.take()));
    if (actions === null) return false;
    this.environment.load(actions);
    this.environment.advance();
    this.plots.add(this.environment);
    if (!waits) this.steering.tell(this.description.agents > 1 ? /** @type {any[]} */ (actions)[0] : actions);
    if (this.environment.over) {
      this.over = performance.now();
      this.scores.add(this.plots.sum.total);
      this.paint();
      this.say(this.screen.text);
    }
    return true;
  }

  single() {
    if (this.playing) this.pause();
    if (this.over) this.begin();
    else if (!this.step()) return this.say("Choose an action first.");
    this.paint();
    this.say(this.screen.text);
  }

  /**
   * Show where a move of a board game would lead.
   * @param {number} choice
   */
  consider(choice) {
    const { environment, description } = this;
    if (!description.turns || this.over || this.waits()) return;
    const memory = new Uint8Array(environment.buffer, environment.base, environment.image.length), kept = memory.slice();
    environment.load(description.agents > 1 ? [choice, ...Array(description.agents - 1).fill(0)] : choice);
    environment.run("run_worlds", ACT);
    this.screen.paint(environment);
    this.say(`after this move: ${this.screen.text}`);
    memory.set(kept);
  }

  /** Whether it is another agent's turn. */
  waits() {
    return this.description.turns && Number(this.environment.records().s.turn) !== 0;
  }

  // --- showing ------------------------------------------------------------------------------------------------------

  paint() {
    const { pointing } = this;
    this.screen.canvas.viewer = this.players.who === YOU && !this.over ? 0 : null;
    this.screen.paint(this.environment, pointing ? (canvas, pen) => this.point(pointing, canvas, pen) : undefined);
    this.steering.allow(this.mask());
    if (pointing) this.steering.list(pointing.ready);
    const now = performance.now();
    if (this.playing && !this.over && now - this.shown < PLOTTED) return;
    this.shown = now;
    this.plots.paint();
    this.scores.paint(this.plots.sum.total);
    this.screen.paintSight(this.environment);
  }

  /**
   * Show where a person may point in a new picture.
   * @param {Pointing} pointing
   * @param {import("./canvas.js").Canvas} canvas
   * @param {CanvasRenderingContext2D} pen
   */
  point(pointing, canvas, pen) {
    if (this.players.who !== YOU || this.over || this.waits()) return pointing.end();
    pointing.begin(canvas, this.environment.records(), this.mask());
    pointing.paint(pen);
  }

  /** Which choices the first agent has now; null where it has all. */
  mask() {
    const mask = this.waits() ? null : this.environment.mask();
    return mask && this.description.agents > 1 ? mask[0] : mask;
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = text;
  }
}

/** @param {import("./types.js").Description} description */
function labelOf({ id, action }) {
  const help = action.keys ? action.keys.help.map(([key, meaning]) => `${key}: ${meaning}`).join(", ") : "";
  return `${id}. ${help ? `Keys: ${help}. ` : ""}Escape pauses, full stop makes one step.`;
}
