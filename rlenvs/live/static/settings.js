/* Seed, level and parameters of a live page. */

import { make, short } from "./dom.js";

/** @typedef {import("./types.js").Description} Description */

/** What is asked for when an environment begins anew. */
export class Settings {
  /**
   * @param {{begin: (seed: number) => void, load: (level: string) => void, set: (name: string, value: number) => void}} acts
   * @param {number} seed
   */
  constructor(acts, seed) {
    this.acts = acts;
    this.seed = make("input", { type: "number", min: 0, step: 1, value: seed, inputmode: "numeric" });
    this.level = make("select");
    this.rows = make("div", { class: "live-sliders" });
    this.fixed = make("p", { class: "live-note" });
    const start = make("button", { type: "submit" }, "Reset");
    const usual = make("button", { type: "button" }, "Default parameters");
    this.levels = make("label", {}, make("span", {}, "Level"), this.level);
    const form = make("form", { class: "live-form" }, make("label", {}, make("span", {}, "Seed"), this.seed), this.levels, start, usual);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      acts.begin(this.chosenSeed);
    });
    this.level.addEventListener("change", () => acts.load(this.level.value));
    usual.addEventListener("click", () => {
      for (const { input, low } of this.inputs) {
        input.value = low.dataset.usual || "";
        input.dispatchEvent(new Event("input"));
      }
    });
    this.usual = usual;
    /** @type {{input: HTMLInputElement, low: HTMLElement}[]} */
    this.inputs = [];
    this.element = make("details", { class: "live-settings" }, make("summary", {}, "Seed, level, parameters"), form, this.rows, this.fixed);
  }

  /** @returns {number} */
  get chosenSeed() {
    return Math.max(0, Math.floor(Number(this.seed.value)) || 0);
  }

  /**
   * Show what an environment has.
   * @param {Description} description
   * @param {string} level that is played
   * @param {(name: string) => number} valueOf a parameter
   */
  show({ levels, params }, level, valueOf) {
    const names = Object.keys(levels);
    this.level.replaceChildren(...names.map((name) => make("option", { value: name }, name || "default")));
    this.level.value = level;
    this.levels.hidden = names.length < 2;
    const live = params.filter((param) => param.live);
    this.inputs = [];
    this.rows.replaceChildren(...live.map((param) => this.row(param, valueOf(param.name))));
    this.usual.hidden = live.length === 0;
    const others = params.filter((param) => !param.live);
    this.fixed.textContent = others.length
      ? `Fixed in this page: ${others.map(({ name, unit, default: value }) => `${name} ${short(value)}${unit ? ` ${unit}` : ""}`).join(", ")}.`
      : "";
  }

  /**
   * @param {Description["params"][number]} param
   * @param {number} value
   */
  row({ name, unit, doc, low, high, default: usual }, value) {
    const finite = low !== null && high !== null && Number.isFinite(high - low);
    const ends = { ...(low === null ? {} : { min: low }), ...(high === null ? {} : { max: high }), step: "any" };
    const input = make("input", { type: finite ? "range" : "number", ...ends, value, "aria-label": `${name}${unit ? ` in ${unit}` : ""}` });
    const shown = make("output", { "data-usual": usual }, told(value, unit));
    input.addEventListener("input", () => {
      if (input.value === "") return;
      this.acts.set(name, Number(input.value));
      shown.textContent = told(Number(input.value), unit);
    });
    this.inputs.push({ input, low: shown });
    return make("label", { title: `${doc} (default ${short(usual)})` }, make("span", {}, name), input, shown);
  }
}

/**
 * @param {number} value
 * @param {string} unit
 */
function told(value, unit) {
  return unit ? `${short(value)} ${unit}` : short(value);
}
