/* The picture of an environment, with what stands around it: head, caption, legend, observed images. */

import { Canvas } from "./canvas.js";
import { make } from "./dom.js";
import { paintScene } from "./painter.js";

/** @typedef {import("./environment.js").Environment} Environment */
/** @typedef {(canvas: Canvas, p: any, s: any) => void} Draw */

const SMALLEST = 16; // pixels of an observed image that is shown; smaller ones are tables of symbols

/** What shows an environment. */
export class Screen {
  /**
   * @param {string} label of the picture, for those who do not see it
   * @param {Draw} draw
   * @param {HTMLElement} controls below the picture
   */
  constructor(label, draw, controls) {
    this.draw = draw;
    this.canvas = new Canvas();
    this.picture = make("canvas", { tabindex: 0, role: "application", "aria-label": label });
    this.head = make("div", { class: "film-head" });
    this.caption = make("div", { class: "film-caption" });
    this.legend = make("ul", { class: "film-legend" });
    this.told = "";
    this.sight = make("div", { class: "live-sight" });
    const top = make("div", { class: "film-top" }, this.head, this.caption);
    this.element = make("div", { class: "film-screen" }, top, this.picture, this.legend, controls);
  }

  /** @param {Environment} environment */
  paint(environment) {
    const { canvas, picture } = this, { p, s } = environment.records(), head = environment.head();
    canvas.clear();
    this.draw(canvas, p, s);
    canvas.head(head);
    const frame = canvas.frame(), [width, height] = frame.scene;
    const wide = Math.max(1, Math.round((picture.clientWidth || width) * (window.devicePixelRatio || 1)));
    const high = Math.round((wide * height) / width);
    if (picture.width !== wide || picture.height !== high) [picture.width, picture.height] = [wide, high];
    paintScene(frame, /** @type {CanvasRenderingContext2D} */ (picture.getContext("2d")));
    this.write(head, frame);
  }

  /**
   * What the head and the legend of the picture say.
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

  /**
   * The images that the first agent observes.
   * @param {Environment} environment
   */
  paintSight(environment) {
    const images = Object.entries(environment.images()).filter(([, { width, height }]) => Math.min(width, height) >= SMALLEST);
    if (this.sight.childElementCount !== images.length) {
      this.sight.replaceChildren(...images.map(([name]) => {
        const canvas = make("canvas", { role: "img", "aria-label": `observed image: ${name}` });
        return make("figure", {}, canvas, make("figcaption", {}, `observed: ${name}`));
      }));
    }
    const canvases = this.sight.querySelectorAll("canvas");
    for (const [i, [, image]] of images.entries()) {
      const canvas = canvases[i];
      if (canvas.width !== image.width || canvas.height !== image.height) [canvas.width, canvas.height] = [image.width, image.height];
      canvas.getContext("2d")?.putImageData(new ImageData(rgba(image), image.width), 0, 0);
    }
  }

  /** The state in words. */
  get text() {
    const parts = [...this.head.children].map((part) => part.textContent || "");
    return [...parts, (this.caption.textContent || "").trim()].filter(Boolean).join(", ").replace(/\s+/g, " ");
  }
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
