"use strict";
(() => {
  const narrow = matchMedia("(max-width: 900px)");
  const SVG = "http://www.w3.org/2000/svg";
  const svg = (name, attributes, parent) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (parent) parent.append(node);
    return node;
  };
  const html = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const color = lane => `var(--t${lane % 8})`;

  /** Brings a child into view without moving the page. */
  const reveal = (box, top, height) => {
    let to = box.scrollTop;
    if (top < box.scrollTop + 8) to = Math.max(0, top - box.clientHeight / 3);
    else if (top + height > box.scrollTop + box.clientHeight - 8) to = top + height - box.clientHeight * 2 / 3;
    else return;
    // A long way is not scrolled through.
    const isFar = Math.abs(to - box.scrollTop) > 2 * box.clientHeight;
    box.scrollTo({ top: to, behavior: isFar ? "instant" : "auto" });
  };

  class Player {
    constructor(section, data) {
      this.section = section;
      this.data = data;
      this.buttons = [...section.querySelectorAll(".step")];
      this.track = section.querySelector(".track");
      this.at = -1;
      const find = name => section.querySelector(name);
      this.slider = find("input[type=range]");
      this.where = find(".where");
      this.live = find(".live");
      this.controls = {};
      for (const name of ["first", "back", "forward", "last", "key"]) {
        this.controls[name] = find(`[data-go=${name}]`);
        this.controls[name].addEventListener("click", () => this.go(name));
      }
      this.slider.addEventListener("input", () => { this.show(Number(this.slider.value)); this.keep(); });
      this.buttons.forEach((button, index) => {
        button.addEventListener("click", () => { this.show(index + 1); this.keep(); });
      });
      find(".bar").hidden = false;
      this.rowOf = this.buttons.map((_, index) => index);
      this.prepareFilter();
      this.prepareValues();
      this.prepareOverTime();
      this.prepareSource();
      this.draw();
      narrow.addEventListener("change", () => {
        this.draw();
        const at = this.at;
        this.at = -1;
        this.show(at);
      });
      // The run opens where it becomes interesting.
      const first = this.data.steps.findIndex(step => step.note);
      this.show(first >= 0 ? first + 1 : Math.min(1, this.buttons.length));
    }

    /** Keeps the step in the address, so that it can be passed on. */
    keep() {
      const to = this.at > 0 ? `${this.section.id}-step-${this.at}` : this.section.id;
      try { history.replaceState(null, "", `#${to}`); } catch { /* not allowed for this page */ }
    }

    /** Shows the step in the window: the list scrolls by itself, the page does so here. */
    follow() {
      const now = this.buttons[this.at - 1];
      if (!now) return;
      const { top, bottom } = now.getBoundingClientRect();
      if (top < 60 || bottom > innerHeight - 60) now.scrollIntoView({ block: "center" });
    }

    /* Search, and the steps of one thread. */
    prepareFilter() {
      const box = this.section.querySelector(".filter");
      box.hidden = this.buttons.length < 8;
      const search = box.querySelector("input");
      const thread = box.querySelector("select");
      const found = box.querySelector(".found");
      const texts = this.buttons.map(button => button.textContent.toLowerCase());
      const apply = () => {
        const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        let count = 0;
        this.buttons.forEach((button, index) => {
          const step = this.data.steps[index];
          const isIts = thread.value === "" || step.lane === Number(thread.value)
            || step.partner === Number(thread.value);
          const isShown = isIts && words.every(word => texts[index].includes(word));
          button.parentElement.hidden = !isShown;
          this.rowOf[index] = isShown ? count++ : -1;
        });
        this.isFiltered = count < this.buttons.length;
        found.textContent = this.isFiltered ? `${count} of ${this.buttons.length} steps` : "";
        this.draw();
        const at = this.at;
        this.at = -1;
        this.show(at);
      };
      search.addEventListener("input", apply);
      thread.addEventListener("change", apply);
    }

    /** The next step that is shown, in a direction; the one where it stands if there is none. */
    neighbour(by) {
      if (!this.isFiltered) return this.at + by;
      for (let at = this.at + by; at >= 1 && at <= this.buttons.length; at += by) {
        if (this.rowOf[at - 1] >= 0) return at;
      }
      return this.at;
    }

    /* A row for each step, a column for each variable. */
    prepareOverTime() {
      const details = this.section.querySelector(".over-time");
      if (!details) return;
      const fill = () => {
        const names = [];
        for (const step of this.data.steps) {
          for (const [name, from] of step.changes) {
            if (from !== "" && !names.includes(name)) names.push(name);
          }
        }
        const shown = names.slice(0, 60);
        const table = html("table", "plain times");
        const head = html("tr");
        for (const name of ["step", "thread", ...shown]) {
          const cell = html("th", "", name);
          cell.scope = "col";
          head.append(cell);
        }
        const top = html("thead");
        top.append(head);
        const body = html("tbody");
        const initial = name => {
          for (const step of this.data.steps) {
            for (const [known, from] of step.changes) if (known === name) return from;
          }
          return "";
        };
        const values = new Map(shown.map(name => [name, initial(name)]));
        this.data.steps.forEach((step, index) => {
          const changed = new Map(step.changes.filter(([, from]) => from !== "").map(([name, , to]) => [name, to]));
          if (changed.size === 0) return;
          const row = html("tr");
          const go = html("button", "go", String(index + 1));
          go.type = "button";
          go.setAttribute("aria-label", `Go to step ${index + 1}`);
          go.addEventListener("click", () => { this.show(index + 1); this.keep(); this.follow(); });
          const number = html("th");
          number.scope = "row";
          number.append(go);
          const who = html("td", "who", step.name);
          who.style.setProperty("--lane", color(step.lane));
          row.append(number, who);
          for (const name of shown) {
            if (changed.has(name)) values.set(name, changed.get(name));
            row.append(html("td", changed.has(name) ? "changed" : "", values.get(name)));
          }
          body.append(row);
        });
        table.append(top, body);
        details.querySelector(".scroll").replaceChildren(table);
      };
      details.addEventListener("toggle", fill, { once: true });
    }

    go(name) {
      const last = this.buttons.length;
      if (name === "first") this.show(0);
      if (name === "back") this.show(this.neighbour(-1));
      if (name === "forward") this.show(this.neighbour(1));
      if (name === "last") this.show(last);
      if (name === "key" || name === "key-back") {
        const marked = this.data.steps
          .flatMap((step, index) => step.note && this.rowOf[index] >= 0 ? [index + 1] : []);
        const next = name === "key"
          ? marked.find(at => at > this.at) ?? marked[0]
          : marked.findLast(at => at < this.at) ?? marked[marked.length - 1];
        if (next !== undefined) this.show(next);
      }
      this.keep();
    }

    show(at) {
      const last = this.buttons.length;
      at = Math.max(0, Math.min(last, at));
      if (at === this.at) return;
      this.at = at;
      this.slider.value = at;
      this.where.textContent = at === 0 ? "at the start" : `step ${at} of ${last}`;
      this.controls.first.disabled = this.controls.back.disabled = at === 0;
      this.controls.last.disabled = this.controls.forward.disabled = at === last;
      this.buttons.forEach((button, index) => {
        button.classList.toggle("future", index >= at);
        if (index === at - 1) button.setAttribute("aria-current", "step");
        else button.removeAttribute("aria-current");
      });
      this.nodes.forEach((node, index) => node?.classList.toggle("future", index >= at));
      for (const { arrow, shape } of this.arrows) {
        const on = arrow.to === at - 1 || arrow.from === at - 1;
        shape.classList.toggle("on", on);
        const isKey = shape.classList.contains("key");
        shape.setAttribute("marker-end", on ? "url(#head-on)" : isKey ? "url(#head-key)" : "url(#head)");
      }
      if (at > 0) reveal(this.track, Math.max(0, this.rowOf[at - 1]) * this.rowHeight, this.rowHeight);
      else this.track.scrollTop = 0;
      this.showValues();
      this.showSource();
      const step = this.data.steps[at - 1];
      this.live.textContent = step
        ? `Step ${at} of ${last}: ${step.name}${step.line ? `, line ${step.line}` : ""}, ${step.text}. ${step.note ?? ""}`
        : "At the start";
    }

    /* The lanes. */
    draw() {
      const { steps, lanes, arrows, boxes } = this.data;
      const box = this.section.querySelector(".lanes");
      box.querySelector("svg")?.remove();
      const ROW = this.rowHeight = parseInt(getComputedStyle(box).getPropertyValue("--row"), 10);
      const gap = lanes.length > 8 ? 20 : narrow.matches ? Math.max(20, Math.min(28, 84 / lanes.length)) : 44;
      const width = Math.round(gap * lanes.length + 14);
      box.style.setProperty("--lanes-width", `${width}px`);
      const x = lane => 4 + gap * (lane + .5) + 4;
      const rowOf = this.rowOf;
      const y = step => rowOf[step] * ROW + ROW / 2;
      const height = rowOf.filter(row => row >= 0).length * ROW;
      const canvas = svg("svg", { width: width + 4, height, "aria-hidden": "true" });
      const defs = svg("defs", {}, canvas);
      for (const kind of ["", "key", "on"]) {
        const marker = svg("marker", {
          id: kind ? `head-${kind}` : "head", viewBox: "0 0 8 8", refX: 7, refY: 4,
          markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse",
        }, defs);
        svg("path", { d: "M0 0 L8 4 L0 8 z", class: `head ${kind}` }, marker);
      }
      lanes.forEach((lane, index) => {
        const mine = steps.flatMap((step, at) => rowOf[at] < 0 ? [] : step.lane === index || step.partner === index ? [at] : []);
        const from = lane.starts && mine.length > 0 ? y(mine[0]) : 0;
        svg("line", { x1: x(index), x2: x(index), y1: from, y2: height, class: "lane-line" }, canvas);
      });
      const half = Math.min(14, gap / 2 - 2);
      // What belongs together is next to each other only if all is shown.
      for (const { first, phases } of this.isFiltered ? [] : boxes) {
        const lane = steps[first].lane;
        const left = x(lane) - half;
        const top = first * ROW + 4;
        const tall = phases.length * ROW - 8;
        const clip = `clip-${this.section.id}-${first}`;
        const clipPath = svg("clipPath", { id: clip }, defs);
        svg("rect", { x: left, y: top, width: 2 * half, height: tall, rx: 7 }, clipPath);
        const group = svg("g", { "clip-path": `url(#${clip})` }, canvas);
        phases.forEach((phase, index) => svg("rect", {
          x: left, y: (first + index) * ROW, width: 2 * half, height: ROW, class: `phase-${phase}`,
        }, group));
        const outline = svg("rect", { x: left, y: top, width: 2 * half, height: tall, rx: 7, class: "box" }, canvas);
        outline.style.setProperty("--lane", color(lane));
      }
      if (this.data.loop !== null && !this.isFiltered) {
        const [top, bottom] = [y(this.data.loop), y(steps.length - 1)];
        svg("path", {
          d: top === bottom ? `M8,${top + 9} H3 V${top - 9} H8` : `M8,${bottom} H3 V${top} H8`,
          class: "arrow loop", "marker-end": "url(#head-key)",
        }, canvas);
      }
      const isKey = step => Boolean(steps[step].note);
      this.arrows = arrows.filter(arrow => rowOf[arrow.from] >= 0 && rowOf[arrow.to] >= 0).map(arrow => {
        const from = [x(steps[arrow.from].lane), y(arrow.from)];
        const to = [x(steps[arrow.to].lane), y(arrow.to)];
        const side = to[0] >= from[0] ? 1 : -1;
        const start = [from[0] + side * 8, from[1]];
        const end = [to[0] - side * 9, to[1]];
        const bend = Math.max(14, Math.abs(end[0] - start[0]) * .6);
        const d = `M${start} C${start[0] + side * bend},${start[1]} ${end[0] - side * bend},${end[1]} ${end}`;
        const key = arrow.kind === "order"
          || isKey(arrow.from) && isKey(arrow.to) && arrow.kind !== "start";
        const shape = svg("path", { d, class: `arrow ${arrow.kind}${key ? " key" : ""}` }, canvas);
        return { arrow, shape };
      });
      this.nodes = steps.map((step, index) => {
        if (rowOf[index] < 0) return null;
        const put = lane => {
          const node = svg("circle", { cx: x(lane), cy: y(index), r: 7, class: "node" }, canvas);
          node.style.setProperty("--lane", color(lane));
          return node;
        };
        if (step.partner !== null) {
          const [a, b] = [x(step.lane), x(step.partner)];
          const side = b > a ? 1 : -1;
          svg("path", {
            d: `M${a + side * 8},${y(index)} L${b - side * 9},${y(index)}`,
            class: "arrow message key", "marker-end": "url(#head-key)",
          }, canvas);
          put(step.partner);
        }
        const node = put(step.lane);
        if (step.fails) node.classList.add("fails");
        if (step.note) svg("circle", { cx: x(step.lane), cy: y(index), r: 10.5, class: "ring" }, canvas);
        return node;
      });
      box.prepend(canvas);
    }

    /* What the variables are. */
    prepareValues() {
      const body = this.section.querySelector("table.values tbody");
      if (!body) return;
      const rows = new Map();
      const owners = new Map();
      this.data.steps.forEach((step, index) => {
        for (const [name, from, to] of step.changes) {
          let row = rows.get(name);
          if (!row) {
            const parts = name.match(/^([^:\s]+\[\d+\]):(.*)$/);
            const owner = parts ? parts[1] : from === "" ? "threads and objects" : "";
            row = { name: parts ? parts[2] : name, owner, history: [], initial: from === "" ? "" : from };
            rows.set(name, row);
            if (!owners.has(owner)) owners.set(owner, []);
            owners.get(owner).push(row);
          }
          row.history.push({ at: index + 1, from, to });
        }
      });
      const order = [...owners.keys()].sort((a, b) =>
        this.laneOf(a) - this.laneOf(b) || (a < b ? -1 : 1));
      for (const owner of order) {
        const head = html("tr", "owner");
        const title = html("th", "", owner === "" ? "shared" : owner);
        title.colSpan = 2;
        title.scope = "rowgroup";
        const lane = this.laneOf(owner);
        if (lane >= 0) head.style.setProperty("--lane", color(lane));
        head.append(title);
        body.append(head);
        for (const row of owners.get(owner)) {
          row.line = html("tr");
          const name = html("th", "", row.name);
          name.scope = "row";
          row.cell = html("td");
          row.line.append(name, row.cell);
          body.append(row.line);
        }
      }
      this.rows = [...rows.values()];
    }

    laneOf(name) { return this.data.lanes.findIndex(lane => lane.name === name); }

    showValues() {
      let first = null;
      for (const row of this.rows ?? []) {
        const past = row.history.findLast(change => change.at <= this.at);
        const isNow = past !== undefined && past.at === this.at;
        row.line.classList.toggle("changed", isNow);
        row.cell.replaceChildren();
        if (isNow && past.from !== "") row.cell.append(html("span", "old", past.from));
        row.cell.append(past ? past.to : row.initial === "" ? "–" : row.initial);
        if (isNow) {
          row.cell.append(html("span", "hush", " changed"));
          first ??= row.line;
        }
      }
      if (first) {
        const box = this.section.querySelector(".values-view");
        reveal(box, first.offsetTop - 30, first.offsetHeight + 30);
      }
    }

    /* Where the threads are. */
    prepareSource() {
      this.tabs = [...this.section.querySelectorAll("[role=tab]")];
      this.files = [...this.section.querySelectorAll("table.source")];
      this.tabs.forEach((tab, index) => {
        tab.addEventListener("click", () => this.openFile(index));
        tab.addEventListener("keydown", event => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!by) return;
          event.stopPropagation();
          const next = (index + by + this.tabs.length) % this.tabs.length;
          this.openFile(next);
          this.tabs[next].focus();
        });
      });
      const { steps, lanes } = this.data;
      this.alive = lanes.map(lane => {
        const changes = at => steps[at].changes.filter(([name]) => name === lane.name);
        const born = steps.findIndex((_, at) => changes(at).some(([, , to]) => to === "started"));
        const ended = steps.findIndex((_, at) => changes(at).some(([, , to]) => to === "ended"));
        return { from: born < 0 ? 0 : born + 1, until: ended < 0 ? Infinity : ended };
      });
    }

    openFile(index) {
      this.files.forEach((file, at) => { file.hidden = at !== index; });
      this.tabs.forEach((tab, at) => {
        tab.setAttribute("aria-selected", String(at === index));
        tab.tabIndex = at === index ? 0 : -1;
      });
    }

    row(file, line) {
      return this.files[file]?.rows[line - 1];
    }

    showSource() {
      if (this.files.length === 0) return;
      for (const row of this.section.querySelectorAll("table.source tr.now")) row.classList.remove("now");
      for (const chip of this.section.querySelectorAll("table.source .chip")) chip.remove();
      const { steps, lanes } = this.data;
      lanes.forEach((lane, index) => {
        const { from, until } = this.alive[index];
        if (this.at < from || this.at > until) return;
        const next = steps.slice(this.at).find(step => step.lane === index || step.partner === index);
        const place = next ? (next.lane === index ? next : null) : lane.stands;
        const row = place && place.line ? this.row(place.file, place.line) : null;
        if (!row) return;
        const chip = html("span", "chip", lane.name);
        chip.style.setProperty("--lane", color(index));
        chip.title = next ? `${lane.name} goes on here` : `${lane.name} stands here in the end`;
        row.cells[2].append(chip);
      });
      const step = steps[this.at - 1];
      const row = step && step.line ? this.row(step.file, step.line) : null;
      if (!row) return;
      this.openFile(step.file);
      row.classList.add("now");
      row.style.setProperty("--lane", color(step.lane));
      const box = this.section.querySelector(".code-view");
      reveal(box, row.offsetTop, row.offsetHeight);
    }
  }

  /** Transactions over time, with a window that zooms. */
  class Timeline {
    constructor(box, data) {
      this.data = data;
      this.place = box.querySelector(".scroll");
      this.told = box.querySelector(".window");
      const ends = data.bars.flatMap(bar => [bar.from, bar.to ?? bar.from]);
      this.all = [Math.min(...ends) - 1, Math.max(...ends) + 2];
      const chosen = data.bars.filter(bar => bar.matters);
      const from = Math.min(...chosen.map(bar => bar.from));
      const to = Math.max(...chosen.map(bar => bar.to ?? bar.from + 1));
      const margin = Math.max(1, (to - from) * .06);
      this.cycle = [from - margin, to + margin];
      for (const button of box.querySelectorAll("[data-zoom]")) {
        button.addEventListener("click", () => this.zoom(button.dataset.zoom));
      }
      this.place.addEventListener("wheel", event => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const x = event.offsetX / this.place.clientWidth;
        this.around(this.from + x * (this.to - this.from), event.deltaY < 0 ? .7 : 1 / .7);
      }, { passive: false });
      box.hidden = false;
      narrow.addEventListener("change", () => this.draw());
      this.show(...this.cycle);
    }

    zoom(how) {
      const middle = (this.from + this.to) / 2;
      const step = (this.to - this.from) / 3;
      if (how === "cycle") this.show(...this.cycle);
      if (how === "all") this.show(...this.all);
      if (how === "in") this.around(middle, .5);
      if (how === "out") this.around(middle, 2);
      if (how === "left") this.show(this.from - step, this.to - step);
      if (how === "right") this.show(this.from + step, this.to + step);
    }

    around(middle, factor) {
      const half = Math.max(1, (this.to - this.from) / 2 * factor);
      this.show(middle - half, middle + half);
    }

    show(from, to) {
      const [first, last] = this.all;
      const width = Math.min(to - from, last - first);
      this.from = Math.max(first, Math.min(from, last - width));
      this.to = this.from + width;
      this.draw();
    }

    draw() {
      const { lanes, bars, arrows } = this.data;
      const ROW = 44;
      const left = Math.min(130, 14 + 7.5 * Math.max(...lanes.map(lane => lane.length)));
      const width = Math.max(280, this.place.clientWidth - 4);
      const x = time => left + (time - this.from) / (this.to - this.from) * (width - left - 8);
      const edge = this.data.bars.length ? this.all[1] : this.to;
      const canvas = svg("svg", { width, height: lanes.length * ROW + 8, "aria-hidden": "true" });
      const marker = svg("marker", {
        id: "time-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
        orient: "auto", markerUnits: "userSpaceOnUse",
      }, svg("defs", {}, canvas));
      svg("path", { d: "M0 0 L8 4 L0 8 z", class: "head key" }, marker);
      lanes.forEach((lane, index) => {
        const y = index * ROW + ROW / 2 + 4;
        svg("line", { x1: left, x2: width, y1: y, y2: y, class: "lane-line" }, canvas);
        const name = svg("text", { x: 4, y: y + 4, class: "lane-name" }, canvas);
        name.textContent = lane;
        name.style.setProperty("--lane", color(index));
      });
      const places = bars.map(bar => {
        const to = bar.to ?? edge;
        if (to < this.from || bar.from > this.to) return null;
        const a = Math.max(left, x(bar.from)), b = Math.min(width - 6, Math.max(x(to), x(bar.from) + 3));
        return { a, b: Math.max(b, a + 3), y: bar.lane * ROW + ROW / 2 + 4 };
      });
      bars.forEach((bar, index) => {
        const place = places[index];
        if (!place) return;
        const group = svg("g", { class: `bar-of${bar.matters ? " matters" : ""}` }, canvas);
        group.style.setProperty("--lane", color(bar.lane));
        svg("title", {}, group).textContent = `${bar.name}: ${bar.text}`;
        svg("rect", {
          x: place.a, y: place.y - 13, width: place.b - place.a, height: 26, rx: 5,
          class: bar.to === null ? "open" : "",
        }, group);
        if (place.b - place.a > bar.name.length * 8 + 4) {
          svg("text", { x: (place.a + place.b) / 2, y: place.y + 4, "text-anchor": "middle" }, group)
            .textContent = bar.name;
        }
      });
      for (const arrow of arrows) {
        const from = places[arrow.from], to = places[arrow.to];
        if (!from || !to) continue;
        // Arrows leave to the right of the middle and arrive to the left, so that two do not meet.
        const start = [from.a + .62 * (from.b - from.a), from.y];
        const end = [to.a + .38 * (to.b - to.a), to.y];
        const down = end[1] > start[1] ? 1 : -1;
        start[1] += down * 13;
        end[1] -= down * (from.y === to.y ? -13 : 14);
        const bend = from.y === to.y ? 30 : 18;
        const shape = svg("path", {
          d: `M${start} C${start[0] + 14},${start[1] + down * bend} ${end[0] - 14},${end[1] - down * bend} ${end}`,
          class: "arrow order key", "marker-end": "url(#time-head)",
        }, canvas);
        svg("title", {}, shape).textContent = arrow.what;
      }
      this.place.replaceChildren(canvas);
      const seen = places.filter(Boolean).length;
      this.told.textContent = `${seen} of ${bars.length} transactions`;
    }
  }

  const data = JSON.parse(document.getElementById("data").textContent);
  const players = data.map(run => new Player(document.getElementById(`run-${run.run}`), run));
  for (const run of data) {
    if (run.timeline) new Timeline(document.querySelector(`#run-${run.run} .timeline`), run.timeline);
  }
  let active = players[0];
  players.forEach(player => {
    for (const name of ["focusin", "pointerdown"]) {
      player.section.addEventListener(name, () => { active = player; });
    }
  });
  const keys = {
    ArrowRight: "forward", ArrowLeft: "back", j: "forward", k: "back", Home: "first", End: "last",
    n: "key", p: "key-back",
  };
  document.addEventListener("keydown", event => {
    const name = keys[event.key];
    if (!name || !active || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches?.("input, select, textarea, [role=tab]")) return;
    event.preventDefault();
    active.go(name);
    active.follow();
  });

  /* A link to a step, from the story or from elsewhere. */
  const openStep = () => {
    const parts = /^#run-(\d+)-step-(\d+)$/.exec(location.hash);
    const player = parts && players.find(player => player.section.id === `run-${parts[1]}`);
    if (!player) return;
    active = player;
    player.show(Number(parts[2]));
    player.follow();
  };
  addEventListener("hashchange", openStep);
  // A link that was followed before leaves the address as it is, and so is no change.
  document.addEventListener("click", event => {
    const link = event.target.closest?.("a[href*='-step-']");
    if (link && link.hash === location.hash) openStep();
  });
  openStep();

  /* A little colour for code; what is not understood stays as it is. */
  const words = new Set(("auto break case char const continue default do double else enum extern float for goto if "
    + "inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile "
    + "while active proctype init byte bool bit chan mtype atomic d_step od fi never assert run skip true false of "
    + "pid xr xs provided unless printf pthread_t pthread_mutex_t NULL timeout len full empty nfull nempty").split(" "));
  for (const table of document.querySelectorAll("table.source")) {
    let inComment = false;
    if (table.rows.length > 6000) continue;
    for (const row of table.rows) {
      const cell = row.cells[3];
      const text = cell.textContent;
      const out = document.createDocumentFragment();
      const pattern = /\/\*|\*\/|\/\/.*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*/g;
      let done = 0;
      const put = (to, className) => {
        if (to <= done) return;
        const part = text.slice(done, to);
        out.append(className ? html("span", className, part) : part);
        done = to;
      };
      for (const match of text.matchAll(pattern)) {
        const [token] = match;
        const end = match.index + token.length;
        if (inComment) {
          if (token === "*/") { put(end, "cm"); inComment = false; }
          continue;
        }
        if (match.index < done) continue;
        const className = token === "/*" ? null : token.startsWith("//") ? "cm"
          : /^["']/.test(token) ? "st" : words.has(token) ? "kw" : null;
        if (token === "/*") { put(match.index); inComment = true; continue; }
        if (className) { put(match.index); put(end, className); }
      }
      put(text.length, inComment ? "cm" : "");
      cell.replaceChildren(out);
    }
  }
})();
