/* Draws films of rlenvs in a page: no library, no server.

   A film's file calls rlenvsFilm.add(name, base64 of gzipped JSON, base64 of a WebP or ""). An element with the class
   "film" and data-film="Name" data-src="where/that/file/is.js" becomes a player; rlenvsFilm.preview(element, name, src)
   plays one silently, for galleries. The format is described in rlenvs/agents/film.py, which puts painter.js in front
   of this text (`player_script`). */
(function () {
  const packed = {}, films = {};
  const BEST = ["yours", "agent", "expert", "random"]; // whose episode is shown first
  const SERIES = 8; // colors in player.css
  const SPEEDS = [0.25, 0.5, 1, 2, 4];
  const HOLD = 1200; // milliseconds that the last frame stays before the film begins again

  // --- reading ------------------------------------------------------------------------------------------------------

  function bytesOf(base64) {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  }

  async function unpack(base64) {
    const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function imageOf(base64) {
    return new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => resolve(image);
      image.onerror = () => reject(new Error("the film's images cannot be read"));
      image.src = "data:image/webp;base64," + base64;
    });
  }

  function script(src) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = src;
      element.onload = resolve;
      element.onerror = () => reject(new Error("no film at " + src));
      document.head.append(element);
    });
  }

  function load(name, src) {
    films[name] = films[name] || (async () => {
      if (!packed[name]) await script(src);
      const film = await unpack(packed[name].data);
      film.sheet = packed[name].images ? await imageOf(packed[name].images) : null;
      delete packed[name];
      readShapes(film);
      return film;
    })();
    return films[name];
  }

  /* Shapes come as differences from the n-th shape of the same style in the frame before. */
  function readShapes(film) {
    const shapes = [], { styles, numbers } = film.shapes;
    let now = new Map(), before, start = 0;
    function next(number) {
      if (number === shapes.length) {
        const style = styles[number], size = film.styles[style][1];
        const known = before.get(style) || [], place = (now.get(style) || []).length;
        const guess = known[place] || known[0] || new Array(size).fill(0);
        shapes.push({ style, numbers: guess.map((value, i) => value + numbers[start + i]) });
        start += size;
      }
      const shape = shapes[number];
      if (!now.has(shape.style)) now.set(shape.style, []);
      now.get(shape.style).push(shape.numbers);
      return shape;
    }
    for (const episode of film.episodes) {
      episode.shown = episode.frames.map((runs) => {
        [before, now] = [now, new Map()];
        const found = [];
        for (let i = 0; i < runs.length; i += 2) {
          for (let k = 0; k < runs[i + 1]; k++) found.push(next(runs[i] + k));
        }
        return found;
      });
    }
    delete film.shapes;
  }

  // --- drawing ------------------------------------------------------------------------------------------------------

  function draw(film, episode, t, canvas) {
    const [scene, ground] = film.looks[episode.looks[t]];
    const shapes = episode.shown[t].map(({ style, numbers }) => [film.styles[style][0], numbers]);
    paintScene(canvas, { scene, ground, shapes }, (pen, i) => {
      const { columns, size: [w, h] } = film.images;
      pen.drawImage(film.sheet, (i % columns) * w, Math.floor(i / columns) * h, w, h, 0, 0, ...scene);
    });
  }

  // --- parts of a page ----------------------------------------------------------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "polyline", "line", "rect"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  function pace(film, episode) {
    return 1000 / Math.min(Math.max(film.fps / episode.every, 2), 30);
  }

  function show(value) {
    if (!Number.isFinite(value)) return "-";
    return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
  }

  function sums(values) {
    let total = 0;
    return values.map((value) => (total += value));
  }

  /* What was paid per step, since frames may lie several steps apart; before the first step there is nothing. */
  function perStep(values, steps) {
    return values.map((value, i) => (i ? value / Math.max(steps[i] - steps[i - 1], 1) : NaN));
  }

  function icon(name) {
    const paths = { play: "M8 5v14l11-7z", pause: "M6 5h4v14H6zM14 5h4v14h-4z", back: "M15 5v14l-9-7zM4 5h2v14H4z",
      on: "M9 5v14l9-7zM18 5h2v14h-2z" };
    return `<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path fill="currentColor" d="${
      paths[name]}"/></svg>`;
  }

  // --- plots --------------------------------------------------------------------------------------------------------

  /* One small plot over the steps of the episode: lines [{steps, values, color, faint}], and a limit where there is one. */
  class Plot {
    constructor(title, note, lines, last, seek, limit = null) {
      const all = lines.flatMap((line) => line.values).concat(limit === null ? [] : [limit]).filter(Number.isFinite);
      let [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
      if (high === low) high = low + 1;
      this.main = lines.find((line) => !line.faint);
      const x = (step) => (100 * step) / Math.max(last, 1), y = (value) => 38 - (36 * (value - low)) / (high - low);
      this.x = x;
      this.value = make("span", { class: "film-value" });
      const picture = make("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" });
      picture.append(make("line", { x1: 0, x2: 100, y1: y(0), y2: y(0), class: "film-zero" }));
      if (limit !== null) {
        picture.append(make("line", { x1: 0, x2: 100, y1: y(limit), y2: y(limit), class: "film-limit" }));
      }
      for (const line of [...lines].sort((a, b) => (b.faint ? 1 : 0) - (a.faint ? 1 : 0))) {
        const points = line.values.map((value, i) => (Number.isNaN(value) ? "" : `${x(line.steps[i]).toFixed(2)},${
          y(value).toFixed(2)}`)).join(" ");
        const drawn = make("polyline", { points, class: line.faint ? "film-faint" : "film-line" });
        drawn.style.stroke = line.color;
        picture.append(drawn);
      }
      this.cursor = make("line", { y1: 0, y2: 40, class: "film-cursor" });
      picture.append(this.cursor);
      const place = (event) => {
        const box = picture.getBoundingClientRect();
        seek((last * (event.clientX - box.left)) / box.width);
      };
      picture.addEventListener("pointerdown", (event) => { picture.setPointerCapture(event.pointerId); place(event); });
      picture.addEventListener("pointermove", (event) => { if (event.buttons) place(event); });
      const name = make("span", { class: "film-name", title: note }, title);
      this.element = make("div", { class: "film-plot" }, make("div", {}, name, this.value), picture);
    }

    at(frame) {
      const step = this.x(this.main.steps[frame]);
      this.cursor.setAttribute("x1", step);
      this.cursor.setAttribute("x2", step);
      this.value.textContent = show(this.main.values[frame]);
    }
  }

  function plotsOf(film, episode, seek) {
    const { steps } = episode, last = steps[steps.length - 1];
    const returns = film.episodes.map((each) => ({
      steps: each.steps, values: sums(each.rewards), color: `var(--film-${each.policy})`, faint: each !== episode,
    }));
    const longest = Math.max(...film.episodes.map((each) => each.steps[each.steps.length - 1]));
    const plots = [new Plot("return", "sum of the rewards so far; faint: the other policies", returns, longest, seek)];
    const terms = Object.entries(episode.terms);
    const never = [];
    terms.forEach(([name, values], i) => {
      if (!values.some(Boolean)) return never.push(name);
      const line = { steps, values: perStep(values, steps), color: `var(--film-series-${i % SERIES})` };
      plots.push(new Plot(name, `reward term ${name}, times its weight, per step`, [line], last, seek));
    });
    for (const [name, values] of Object.entries(episode.costs)) {
      if (!values.some(Boolean)) { never.push("cost " + name); continue; }
      const line = { steps, values: sums(values), color: "var(--film-yours)" }, limit = film.limits[name] * film.agents;
      const shown = Number.isFinite(limit) && limit <= 4 * Math.max(1e-9, ...line.values) ? limit : null;
      plots.push(new Plot("cost: " + name, `cost ${name} so far; dashed: its limit`, [line], last, seek, shown));
    }
    return { plots, never };
  }

  // --- the player ---------------------------------------------------------------------------------------------------

  class Player {
    constructor(element, film) {
      this.film = film;
      this.frame = 0;
      this.speed = 1;
      this.playing = false;
      this.build(element);
      const best = BEST.find((name) => film.episodes.some((e) => e.policy === name));
      this.choose(film.episodes.findIndex((episode) => episode.policy === best));
      new ResizeObserver(() => {
        for (const tile of this.tiles) tile.canvas.drawn = 0;
        this.paint();
      }).observe(this.canvas);
    }

    build(element) {
      const { film } = this, group = "film-" + film.name;
      this.canvas = make("canvas", { role: "img", "aria-label": `Scene of ${film.name}` });
      this.head = make("div", { class: "film-head" });
      this.caption = make("div", { class: "film-caption" });
      this.legend = make("ul", { class: "film-legend" });
      this.button = make("button", { type: "button", class: "film-play" });
      this.scrub = make("input", { type: "range", min: 0, value: 0, step: 1, "aria-label": "Frame", class: "film-scrub" });
      const speed = make("select", { "aria-label": "Speed", class: "film-speed" });
      for (const value of SPEEDS) speed.append(make("option", { value }, `${value}×`));
      speed.value = "1";
      const step = (name, label, by) => {
        const button = make("button", { type: "button", "aria-label": label, title: label });
        button.innerHTML = icon(name);
        button.addEventListener("click", () => { this.pause(); this.go(this.frame + by); });
        return button;
      };
      this.tiles = [];
      const choices = make("fieldset", { class: "film-policies" }, make("legend", {}, "Who plays"));
      film.episodes.forEach((episode, i) => {
        const input = make("input", { type: "radio", name: group, value: i });
        input.addEventListener("change", () => this.choose(i));
        const canvas = make("canvas", { "aria-hidden": "true" }), total = make("b");
        const tile = make("span", {}, canvas, make("span", { class: "film-who" }, episode.label), total);
        choices.append(make("label", { style: `--policy: var(--film-${episode.policy})` }, input, tile));
        this.tiles.push({ episode, canvas, total, returns: sums(episode.rewards) });
      });
      this.choices = choices;
      this.plots = make("div", { class: "film-plots" });
      const controls = make("div", { class: "film-controls" }, this.button, step("back", "One frame back", -1),
        step("on", "One frame on", 1), this.scrub, speed);
      const screen = make("div", { class: "film-screen" }, make("div", { class: "film-top" }, this.head, this.caption),
        this.canvas, this.legend, controls);
      this.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
      this.scrub.addEventListener("input", () => { this.pause(); this.go(Number(this.scrub.value)); });
      speed.addEventListener("change", () => { this.speed = Number(speed.value); });
      this.canvas.addEventListener("click", () => this.button.click());
      element.replaceChildren(choices, make("div", { class: "film-body" }, screen, this.plots));
      element.addEventListener("keydown", (event) => this.key(event));
    }

    key(event) {
      if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName)) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === " ") this.button.click();
      else if (by) { this.pause(); this.go(this.frame + by); }
      else return;
      event.preventDefault();
    }

    get episode() { return this.film.episodes[this.chosen]; }

    choose(i) {
      this.chosen = i;
      this.choices.querySelectorAll("input")[i].checked = true;
      this.scrub.max = this.episode.frames.length - 1;
      const seek = (step) => {
        this.pause();
        const { steps } = this.episode, found = steps.findIndex((value) => value >= step);
        this.go(found < 0 ? steps.length - 1 : found);
      };
      const { plots, never } = plotsOf(this.film, this.episode, seek);
      const rest = never.length ? [make("p", { class: "film-still" }, `0 all along: ${never.join(", ")}`)] : [];
      this.series = plots;
      this.plots.replaceChildren(...plots.map((plot) => plot.element), ...rest);
      this.go(0);
      this.pause();
    }

    go(frame) {
      this.frame = Math.min(Math.max(frame, 0), this.episode.frames.length - 1);
      this.scrub.value = this.frame;
      this.paint();
    }

    paint() {
      const { film, episode, frame } = this;
      draw(film, episode, frame, this.canvas);
      const [totals, mark, success] = episode.heads[frame], step = episode.steps[frame];
      this.scrub.setAttribute("aria-valuetext", `step ${step}`);
      const badge = mark ? [make("span", { class: success ? "film-mark film-good" : "film-mark" }, mark)] : [];
      this.head.replaceChildren(make("span", {}, `step ${step}`), ...badge, make("span", { class: "film-totals" }, totals));
      this.caption.textContent = episode.captions[frame] || "\u00a0";
      this.paintLegend(film.looks[episode.looks[frame]][2]);
      for (const tile of this.tiles) this.paintTile(tile, step);
      for (const plot of this.series) plot.at(frame);
    }

    /* The others at the same step, or at their end. */
    paintTile({ episode, canvas, total, returns }, step) {
      const later = episode.steps.findIndex((value) => value > step);
      const frame = later < 0 ? episode.steps.length - 1 : Math.max(later - 1, 0);
      if (canvas.shown === frame && canvas.width === canvas.drawn) return;
      draw(this.film, episode, frame, canvas);
      [canvas.shown, canvas.drawn] = [frame, canvas.width];
      total.textContent = show(returns[frame]);
    }

    paintLegend(entries) {
      const told = JSON.stringify(entries);
      if (told === this.told) return;
      this.told = told;
      this.legend.replaceChildren(...entries.map(([color, label, shape]) =>
        make("li", {}, make("i", { class: "film-swatch film-" + shape, style: `--swatch: ${color}` }), label)));
    }

    play() {
      if (this.frame >= this.episode.frames.length - 1) this.go(0);
      this.playing = true;
      this.name("pause", "Pause");
      run(this, () => this.speed);
    }

    pause() {
      this.playing = false;
      this.name("play", "Play");
    }

    name(picture, label) {
      this.button.innerHTML = icon(picture);
      this.button.setAttribute("aria-label", label);
      this.button.title = label;
    }
  }

  /* Moves a player on for as long as it plays; time is kept even where drawing is slow. */
  function run(player, speed) {
    let last = performance.now(), ticket = {};
    player.ticket = ticket;
    const tick = (now) => {
      if (!player.playing || player.ticket !== ticket) return;
      const wait = pace(player.film, player.episode) / speed();
      const end = player.frame >= player.episode.frames.length - 1;
      if (now - last >= (end ? HOLD : wait)) {
        const by = end ? 1 : Math.max(1, Math.floor((now - last) / wait));
        last = end ? now : last + by * wait;
        if (now - last > 500) last = now;
        player.go(end ? 0 : player.frame + by);
      }
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  async function mount(element) {
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", `Film of ${element.dataset.film}`);
    element.tabIndex = 0;
    try {
      const player = new Player(element, await load(element.dataset.film, element.dataset.src));
      element.player = player;
      element.dataset.state = "ready";
      if (!calm()) player.play();
    } catch (reason) {
      element.dataset.state = "failed";
      element.replaceChildren(make("p", {}, `The film cannot be shown: ${reason.message}.`));
    }
  }

  // --- the gallery --------------------------------------------------------------------------------------------------

  /* Play in a canvas over the still of a card; returns a function that ends it. */
  function preview(element, name, src) {
    const self = { playing: true, frame: 0 };
    const canvas = make("canvas", { "aria-hidden": "true", class: "film-preview" });
    load(name, src).then((film) => {
      if (!self.playing) return;
      const best = BEST.find((policy) => film.episodes.some((e) => e.policy === policy));
      self.film = film;
      self.episode = film.episodes.find((episode) => episode.policy === best);
      self.go = (frame) => { self.frame = Math.min(frame, self.episode.frames.length - 1); draw(film, self.episode, self.frame, canvas); };
      element.append(canvas);
      element.dataset.state = "playing";
      self.go(0);
      run(self, () => 1.5);
    }, () => {});
    return () => { self.playing = false; canvas.remove(); delete element.dataset.state; };
  }

  window.rlenvsFilm = { add: (name, data, images = "") => { packed[name] = { data, images }; }, load, mount, preview };
  const start = () => {
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        near.unobserve(entry.target);
        mount(entry.target);
      }
    }, { rootMargin: "300px" });
    document.querySelectorAll(".film[data-film]").forEach((element) => near.observe(element));
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
