// Words are found in all of the unit: in what is folded, and in what has not come yet. The field stands under the tabs;
// Enter goes on, Shift+Enter back, and Escape leaves the match selected, so that the key of a category quotes it.

import { Texts } from "./texts.js";

const TYPED = 150;
const MARKED = 1000;
const FOUND = "found";
const CURRENT = "found-current";

export class Finding {
  constructor({ issue, sections, signal }) {
    Object.assign(this, { issue, sections, matches: [], current: -1 });
    this.texts = new Texts(issue, "[data-document], [data-source]");
    this.bar = document.getElementById("find-bar");
    this.field = document.getElementById("find-words");
    this.count = document.getElementById("find-count");
    this.button = document.getElementById("find");
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.#open());
    this.field.addEventListener("input", () => this.#soon());
    this.field.addEventListener("keydown", (event) => this.#fromKey(event));
    document.getElementById("find-previous").addEventListener("click", () => this.#step(-1));
    document.getElementById("find-next").addEventListener("click", () => this.#step(1));
    document.getElementById("find-close").addEventListener("click", () => this.#close());
    signal.addEventListener("abort", () => this.#clear());
  }

  #open() {
    this.bar.hidden = false;
    this.field.focus();
    this.field.select();
    this.#search();
  }

  #fromKey(event) {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") this.#close();
    else this.#step(event.shiftKey ? -1 : 1);
  }

  #soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#search(), TYPED);
  }

  async #search() {
    clearTimeout(this.timer);
    const words = this.field.value.trim();
    this.searched = this.field.value;
    this.#clear();
    if (!words) return this.#say("");
    if (!this.sections.isWhole) this.#say("Loading…");
    const isWhole = await this.sections.whole();
    if (this.searched !== this.field.value || this.bar.hidden) return;
    const ranges = this.#find(patternOf(words));
    mark(FOUND, 1, ranges);
    if (this.matches.length) this.#show(this.#nearest(ranges));
    else this.#say(isWhole ? "No match" : "No match in what is loaded");
  }

  // Fill the matches; ranges of the first ones, for all of them would only take time.
  #find(pattern) {
    const ranges = [];
    this.matches = [];
    this.texts.refresh();
    for (const name of this.texts.elements.keys()) {
      const text = this.texts.read(name);
      for (const { index, 0: found } of text.content.matchAll(pattern)) {
        const to = index + found.length;
        this.matches.push({ name, from: index, to });
        if (ranges.length < MARKED) ranges.push(text.rangeOf(index, to));
      }
    }
    return ranges;
  }

  // The first match that the reader has not passed yet. What is folded has no place.
  #nearest(ranges) {
    const place = ranges.findIndex((range) => {
      const { top, height } = range.getBoundingClientRect();
      return height > 0 && top > this.issue.querySelector(".section-nav").getBoundingClientRect().bottom;
    });
    return Math.max(0, place);
  }

  async #step(by) {
    if (this.searched !== this.field.value) return this.#search();
    const { length } = this.matches;
    if (length) this.#show((this.current + by + length) % length);
  }

  #show(place) {
    this.current = place;
    const range = this.#range();
    for (const node of [range.startContainer, range.endContainer]) unfold(node.parentElement);
    mark(CURRENT, 2, [range]);
    scrollTo(range);
    this.#say(`${place + 1} of ${this.matches.length}`);
  }

  // Read anew each time: quotes that were added since have divided the texts.
  #range() {
    const { name, from, to } = this.matches[this.current];
    return this.texts.read(name).rangeOf(from, to);
  }

  #close() {
    const range = this.current >= 0 ? this.#range() : null;
    this.bar.hidden = true;
    this.#clear();
    this.#say("");
    this.issue.focus({ preventScroll: true });
    if (!range) return;
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  #clear() {
    this.matches = [];
    this.current = -1;
    for (const name of [FOUND, CURRENT]) CSS.highlights?.delete(name);
  }

  #say(words) {
    this.count.textContent = words;
  }
}

function patternOf(words) {
  const escaped = words.split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(escaped.join("\\s+"), "giu");
}

function mark(name, priority, ranges) {
  if (!CSS.highlights) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}

function unfold(element) {
  for (let box = element.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}

// To the middle of the window, and of the box that scrolls sideways.
function scrollTo(range) {
  const box = range.startContainer.parentElement.closest("pre, .diff-scroll");
  const { left, right } = range.getBoundingClientRect();
  const frame = box?.getBoundingClientRect();
  if (box && (left < frame.left || right > frame.right)) box.scrollLeft += left - frame.left - box.clientWidth / 2;
  window.scrollBy({ top: range.getBoundingClientRect().top - window.innerHeight / 2, behavior: "instant" });
}
