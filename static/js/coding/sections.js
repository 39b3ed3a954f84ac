// What the page of a long unit leaves out at first: comments and patches. htmx fetches one of them when the reader gets
// there; who looks for something in all of the unit needs the rest at once.

export class Sections extends EventTarget {
  // Says "change" when texts have come.
  constructor({ issue, url, signal }) {
    super();
    Object.assign(this, { issue, url, coming: null });
    issue.addEventListener("htmx:beforeSwap", ({ target }) => (this.hadFocus = target.contains(document.activeElement)), {
      signal,
    });
    document.addEventListener("htmx:afterSettle", ({ target }) => issue.contains(target) && this.#settle(target), { signal });
  }

  // Who asked for more reads on where it begins.
  #settle(target) {
    if (this.hadFocus && target !== this.issue) {
      this.hadFocus = false;
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    }
    this.#tell();
  }

  // htmx says it of each comment of a portion: once is enough.
  #tell() {
    if (this.isTelling) return;
    this.isTelling = true;
    queueMicrotask(() => {
      this.isTelling = false;
      this.dispatchEvent(new Event("change"));
    });
  }

  get isWhole() {
    return !this.issue.querySelector("[data-waiting]");
  }

  // Resolves when nothing is left out; false if it could not be had.
  whole() {
    if (this.isWhole) return Promise.resolve(true);
    this.coming ??= this.#fetch().finally(() => (this.coming = null));
    return this.coming;
  }

  async #fetch() {
    const response = await fetch(this.url, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!response?.ok || response.redirected) {
      document.dispatchEvent(new CustomEvent("announce", { detail: "The rest of this unit could not be loaded" }));
      return false;
    }
    const rest = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const waiting of this.issue.querySelectorAll("[data-waiting]")) {
      const found = rest.querySelector(`[data-section="${CSS.escape(waiting.dataset.waiting)}"]`);
      waiting.replaceWith(...this.#missing(found));
    }
    window.htmx.process(this.issue);
    // The scripts of the frame take care of every part that htmx puts in; so they do of these.
    this.issue.dispatchEvent(new CustomEvent("htmx:afterSettle", { bubbles: true }));
    return true;
  }

  // Some comments may have come one portion after the other.
  #missing(found) {
    const known = new Set([...this.issue.querySelectorAll("[data-document]")].map((each) => each.dataset.document));
    const isNew = (node) => !known.has(node.querySelector("[data-document]")?.dataset.document);
    return [...(found?.children ?? [])].filter(isNew);
  }
}
