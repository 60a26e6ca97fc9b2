/* The picture of an environment, with what stands around it: head, caption, legend, observed images. */

import { Canvas, pasted } from "./canvas.js";
import { make, write } from "./dom.js";
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
    this.step = make("span");
    this.mark = make("span", { class: "film-mark" });
    this.totals = make("span", { class: "film-totals" });
    this.head.append(this.step, this.mark, this.totals);
    this.told = "";
    this.width = 0; // of the picture in the page, which costs a layout to ask for
    this.sight = make("div", { class: "live-sight" });
    const top = make("div", { class: "film-top" }, this.head, this.caption);
    this.element = make("div", { class: "film-screen" }, top, this.picture, this.legend, controls);
  }

  /** The picture has another size in the page. */
  measure() {
    this.width = this.picture.clientWidth || 0;
  }

  /**
   * @param {Environment} environment
   * @param {(canvas: Canvas, pen: CanvasRenderingContext2D) => void} [more] paints over it
   */
  paint(environment, more) {
    const { canvas, picture } = this, { p, s } = environment.records(), head = environment.head();
    canvas.clear();
    this.draw(canvas, p, s);
    canvas.head(head);
    const frame = canvas.frame();
    const pen = paintScene(picture, frame, pasted(frame), this.width);
    if (more) more(canvas, pen);
    this.write(head, frame);
  }

  /**
   * What the head and the legend of the picture say.
   * @param {import("./canvas.js").Head} head
   * @param {import("./canvas.js").Frame} frame
   */
  write(head, frame) {
    write(this.step, head.step);
    write(this.mark, head.mark);
    this.mark.hidden = !head.mark;
    this.mark.classList.toggle("film-good", head.success);
    write(this.totals, head.totals);
    write(this.caption, frame.captions.join("   ") || "\u00a0");
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
