// Evidence: quotes of the issue that speak for an answer. They are one field of the draft, a list that is replaced and
// never changed, so that undo and saving treat it like any other answer.

import { clear, paintQuotes } from "./paint.js";

const FIELDS = ["dimension", "category", "document", "start", "end", "quote"];

export class Evidence extends EventTarget {
  constructor({ issue, form, texts, sections }) {
    super();
    Object.assign(this, { issue, form, texts, sections });
    this.row = document.getElementById("quote-row");
    this.quotes = pure(JSON.parse(document.getElementById("evidence").textContent));
    this.toggle = document.getElementById("show-quotes");
    this.current = -1;
    this.toggle.addEventListener("change", () => this.#paint());
    document.getElementById("previous-quote").addEventListener("click", () => this.#step(-1));
    document.getElementById("next-quote").addEventListener("click", () => this.#step(1));
    issue.addEventListener("click", (event) => this.#fromText(event));
    form.addEventListener("click", (event) => this.#fromList(event));
    form.addEventListener("change", (event) => this.#assign(event));
    this.#draw();
  }

  read() {
    return this.quotes;
  }

  write(quotes) {
    if (same(quotes ?? [], this.quotes)) return;
    this.quotes = pure(quotes ?? []);
    this.#draw();
  }

  add(place, dimension, category) {
    const quote = { dimension, category, ...place };
    if (this.quotes.some((each) => same([each], [quote]))) return;
    this.#replace([...this.quotes, quote]);
    this.toggle.checked = true;
    this.#draw();
  }

  // Quotes follow the answer: one whose category is no longer chosen has none, and the only one chosen takes them.
  follow(dimension, categories) {
    const only = categories.length === 1 ? categories[0] : null;
    const quotes = this.quotes.map((quote) => {
      if (quote.dimension !== dimension) return quote;
      const kept = categories.includes(quote.category) ? quote.category : null;
      return { ...quote, category: kept ?? only };
    }).filter((quote, place, all) => all.findIndex((each) => same([each], [quote])) === place);
    if (!same(quotes, this.quotes)) this.#replace(quotes);
    this.#draw();
  }

  remove(place) {
    this.#replace(this.quotes.filter((_, each) => each !== place));
    this.#draw();
  }

  leave() {
    clear(this.issue);
  }

  #replace(quotes) {
    this.quotes = quotes;
    this.current = -1;
  }

  #changed(words) {
    this.dispatchEvent(new Event("change"));
    say(words);
  }

  // Panel -----------------------------------------------------------------------------------------

  #draw() {
    const tags = this.quotes.map((quote, place) => `${this.#letter(quote.dimension)}${place + 1}`);
    for (const dimension of this.form.querySelectorAll("[data-dimension]")) this.#drawDimension(dimension, tags);
    const controls = document.getElementById("quote-controls");
    controls.hidden = this.quotes.length === 0;
    controls.querySelector("[data-quote-count]").textContent = counted(this.quotes.length);
    this.#paint(tags);
  }

  #drawDimension(dimension, tags) {
    const key = dimension.dataset.dimension;
    const own = [...this.quotes.entries()].filter(([, quote]) => quote.dimension === key);
    const list = dimension.querySelector("[data-quotes]");
    list.hidden = own.length === 0;
    list.replaceChildren(...own.map(([place, quote]) => this.#listed(dimension, place, quote, tags[place])));
    for (const row of dimension.querySelectorAll(".code-row")) {
      const { value } = row.querySelector("input");
      const rowTags = own.filter(([, quote]) => quote.category === value).map(([place]) => tagMark(tags[place]));
      row.querySelector(".code-row__evidence")?.replaceChildren(...rowTags);
    }
    dimension.querySelector("[data-quote-tags]").replaceChildren(...own.map(([place]) => tagMark(tags[place])));
    const loose = own.filter(([, quote]) => quote.category === null).length;
    const summary = dimension.querySelector("[data-summary]");
    summary.dataset.none ??= summary.dataset.empty;
    summary.dataset.empty = loose ? `${counted(loose)}, ${summary.dataset.none.toLowerCase()}` : summary.dataset.none;
    if (dimension.querySelector(".dimension__value--none")) summary.textContent = summary.dataset.empty;
  }

  #listed(dimension, place, quote, tag) {
    const row = this.row.content.cloneNode(true).firstElementChild;
    const jump = row.querySelector("[data-jump]");
    Object.assign(jump.dataset, { jump: place, tag });
    jump.setAttribute("aria-label", `Show quote ${tag} in the text`);
    row.querySelector("q").textContent = quote.quote;
    const select = row.querySelector("select");
    const chosen = [...dimension.querySelectorAll(".code-row input:checked")].filter(
      (input) => !input.value.startsWith("state:"),
    );
    for (const { value, dataset } of chosen) select.add(new Option(dataset.label, value));
    select.value = quote.category ?? "";
    select.dataset.assign = place;
    select.setAttribute("aria-label", `Category of quote ${tag}`);
    select.hidden = chosen.length < 2;
    const remove = row.querySelector("[data-remove]");
    remove.dataset.remove = place;
    remove.setAttribute("aria-label", `Remove quote ${tag}`);
    for (const control of [select, remove]) control.disabled = dimension.disabled;
    return row;
  }

  #fromList(event) {
    const jump = event.target.closest("[data-jump]");
    if (jump) this.#go(Number(jump.dataset.jump));
    const button = event.target.closest("[data-remove]");
    if (!button) return;
    const dimension = button.closest("[data-dimension]");
    this.remove(Number(button.dataset.remove));
    (dimension.querySelector("[data-remove]") ?? dimension.querySelector("summary")).focus();
    this.#changed("Quote removed");
  }

  #assign(event) {
    const { assign } = event.target.dataset;
    if (assign === undefined) return;
    const category = event.target.value || null;
    this.#replace(this.quotes.map((quote, place) => (place === Number(assign) ? { ...quote, category } : quote)));
    this.#draw();
    this.form.querySelector(`[data-assign="${assign}"]`).focus();
    this.#changed("Category of the quote changed");
  }

  #letter(dimension) {
    return this.#fieldset(dimension)?.querySelector(".dimension-tag").textContent ?? "?";
  }

  #fieldset(dimension) {
    return this.form.querySelector(`[data-dimension="${CSS.escape(dimension)}"]`);
  }

  // Text ------------------------------------------------------------------------------------------

  #paint() {
    if (!this.toggle.checked) return clear(this.issue);
    const shown = this.quotes.map((quote, place) => ({ quote, place })).filter(({ quote }) => this.texts.range(quote));
    const painted = shown.map(({ quote, place }) => {
      const fieldset = this.#fieldset(quote.dimension);
      const tag = `${this.#letter(quote.dimension)}${place + 1}`;
      const name = fieldset?.querySelector(".dimension__name").textContent ?? quote.dimension;
      return {
        find: () => this.texts.range(quote),
        colour: Number(/dim-(\d)/.exec(fieldset?.className ?? "dim-1")[1]),
        tag,
        label: `Quote ${tag}, ${name}: ${this.#category(fieldset, quote) ?? "no category yet"}`,
        place,
      };
    });
    paintQuotes(this.issue, painted);
  }

  #category(fieldset, { category }) {
    return category && fieldset?.querySelector(`.code-row input[value="${CSS.escape(category)}"]`)?.dataset.label;
  }

  // A tag in the text leads to its place in the list.
  #fromText(event) {
    const tag = event.target.closest("button[data-quote]");
    if (!tag) return;
    const listed = this.form.querySelector(`[data-jump="${tag.dataset.quote}"]`);
    listed.closest("details").open = true;
    listed.focus();
    listed.scrollIntoView({ block: "nearest" });
  }

  // Texts have come: quotes of them can be shown.
  repaint() {
    this.#paint();
  }

  async #step(by) {
    await this.#fetchQuoted();
    const order = [...this.issue.querySelectorAll("button[data-quote]")].map((tag) => Number(tag.dataset.quote));
    if (order.length === 0) return;
    const at = order.indexOf(this.current);
    const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
    this.#go(order[next]);
  }

  async #fetchQuoted() {
    if (this.quotes.some(({ document: name }) => !this.texts.elements.has(name))) await this.sections.whole();
  }

  async #go(place) {
    await this.#fetchQuoted();
    if (!this.toggle.checked) {
      this.toggle.checked = true;
      this.#paint();
    }
    const tag = this.issue.querySelector(`button[data-quote="${place}"]`);
    if (!tag) return say("This quote is not in the text that is shown");
    for (let box = tag.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    this.current = place;
    document.querySelector(".coding-panel:target .coding-panel__close")?.click();
    tag.focus({ preventScroll: true });
    tag.scrollIntoView({ block: "center", behavior: "instant" });
  }
}

export function same(one, other) {
  const key = (quotes) => JSON.stringify(quotes.map((quote) => FIELDS.map((name) => quote[name] ?? null)));
  return key(one) === key(other);
}

export function counted(number) {
  return `${number} quote${number === 1 ? "" : "s"}`;
}

function pure(quotes) {
  return quotes.map((quote) => Object.fromEntries(FIELDS.map((name) => [name, quote[name] ?? null])));
}

function tagMark(tag) {
  const mark = document.createElement("span");
  mark.className = "evidence-tag";
  mark.textContent = tag;
  return mark;
}

function say(words) {
  document.dispatchEvent(new CustomEvent("announce", { detail: words }));
}
