// Selected text becomes a quote: by the key of a category, or by the bar that stands under the selection.

export class SelectedText {
  constructor({ issue, form, texts, answers, evidence, changed, signal }) {
    Object.assign(this, { issue, form, texts, answers, evidence, changed });
    this.bar = document.getElementById("selection-bar");
    this.targets = this.bar.querySelector("[data-targets]");
    this.place = null;
    document.addEventListener("selectionchange", () => this.#follow(), { signal });
    window.addEventListener("resize", () => this.#showBar(), { signal });
    // A press on the bar must not take the selection away before it is used.
    this.bar.addEventListener("pointerdown", (event) => event.preventDefault());
    this.bar.addEventListener("mousedown", (event) => event.preventDefault());
    this.bar.addEventListener("click", (event) => this.#fromBar(event));
    form.addEventListener("key", (event) => this.#fromKey(event));
    document.getElementById("quote-open").addEventListener("click", () => this.#addToOpen());
  }

  drop() {
    getSelection().removeAllRanges();
    this.#follow();
  }

  #follow() {
    const selection = getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const isHere = range?.intersectsNode(this.issue) && !this.bar.contains(range.startContainer);
    this.place = isHere ? this.texts.quote(range) : null;
    this.#showBar();
  }

  // Keys --------------------------------------------------------------------------------------------

  #fromKey(event) {
    this.#follow(); // The browser tells of a new selection a moment after it is made, which a quick key comes before.
    const input = event.target.closest(".code-row input");
    if (!this.place || !input || input.value.startsWith("state:")) return;
    event.preventDefault();
    this.#add(input.closest("[data-dimension]"), input.value);
  }

  // The open dimension takes the quote, for the one category chosen there; else what it speaks for is said later.
  #addToOpen() {
    this.#follow();
    const open = this.form.querySelector("[data-dimension]:has(> details[open])");
    if (!this.place || !open) return;
    const chosen = chosenIn(open);
    this.#add(open, chosen.length === 1 ? chosen[0].value : null);
  }

  #add(dimension, category) {
    const { place } = this;
    const key = dimension.dataset.dimension;
    this.drop();
    if (category) this.answers.choose(key, category);
    this.evidence.add(place, key, category);
    this.changed();
    const name = dimension.querySelector(".dimension__name").textContent;
    document.dispatchEvent(new CustomEvent("announce", { detail: `Quote added to ${name}` }));
  }

  // Bar ---------------------------------------------------------------------------------------------

  #showBar() {
    this.bar.hidden = !this.place;
    if (!this.place) return;
    this.targets.replaceChildren(...this.#choices());
    // On a phone it stands above the foot, wherever the text is.
    if (getComputedStyle(this.bar).position === "fixed") return this.bar.removeAttribute("style");
    const selected = getSelection().getRangeAt(0).getBoundingClientRect();
    const issue = this.issue.getBoundingClientRect();
    const room = this.issue.clientWidth - this.bar.offsetWidth - 8;
    const below = selected.bottom - issue.top + 6;
    this.bar.style.top = `${Math.min(below, window.innerHeight - issue.top - this.bar.offsetHeight - 8)}px`;
    this.bar.style.insetInlineStart = `${Math.max(8, Math.min(selected.left - issue.left, room))}px`;
  }

  // One button for each chosen category; a dimension without any takes the quote for later.
  #choices() {
    const dimensions = [...this.form.querySelectorAll("[data-dimension]:not([hidden], [disabled])")];
    return dimensions.flatMap((dimension) => {
      const chosen = chosenIn(dimension);
      if (chosen.length === 0) return [choice(dimension, null)];
      return chosen.map((input) => choice(dimension, input));
    });
  }

  #fromBar(event) {
    const button = event.target.closest("button");
    if (button?.dataset.dimension) {
      const dimension = this.form.querySelector(`#d-${CSS.escape(button.dataset.dimension)}`);
      this.#add(dimension, button.dataset.category ?? null);
    } else if (button) this.drop();
  }
}

function chosenIn(dimension) {
  const chosen = [...dimension.querySelectorAll(".code-row input:checked")];
  return chosen.filter((input) => !input.value.startsWith("state:"));
}

function choice(dimension, input) {
  const button = document.getElementById("selection-choice").content.cloneNode(true).firstElementChild;
  button.dataset.dimension = dimension.dataset.dimension;
  if (input) button.dataset.category = input.value;
  const tag = button.querySelector(".dimension-tag");
  tag.className = `dimension-tag ${/dim-\d/.exec(dimension.className)[0]}`;
  tag.textContent = dimension.querySelector(".dimension-tag").textContent;
  const name = dimension.querySelector(".dimension__name").textContent;
  button.querySelector("[data-name]").textContent = input ? input.dataset.label.split(" › ").at(-1) : name;
  button.setAttribute("aria-label", input ? `${name}: ${input.dataset.label}` : `${name}, no category yet`);
  const key = button.querySelector("kbd");
  if (input?.dataset.keys && dimension.querySelector("details").open) key.textContent = input.dataset.keys;
  else key.remove();
  return button;
}
