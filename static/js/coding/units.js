// From unit to unit without loading the page anew. What comes next is fetched while the coder reads, so that it is there
// when the unit before is handed in.

const FRESH = 60_000;
const PART = { headers: { "HX-Request": "true" } };

export class Units {
  // enter(): make the page's scripts take hold of the unit that was put in.
  constructor(enter) {
    this.enter = enter;
    this.url = location.pathname + location.search;
    this.#lookAhead();
    for (const sign of ["scroll", "keydown", "pointermove"]) {
      window.addEventListener(sign, () => this.#stillHere(), { passive: true });
    }
    window.addEventListener("popstate", () => {
      if (location.pathname + location.search !== this.url) location.reload();
    });
  }

  async next() {
    this.#stillHere();
    const found = await this.ahead;
    if (found?.html) this.#show(found.html);
    else location.assign(found?.isLast ? this.#main().dataset.queueUrl : this.#main().dataset.homeUrl);
  }

  // Whoever reads for minutes is at work, and the server counts it as long as it hears of it.
  #stillHere() {
    if (performance.now() - this.lookedAt > FRESH) this.#lookAhead();
  }

  // Show another unit; false where it cannot be reached.
  async visit(url) {
    const response = await fetch(url, PART).catch(() => null);
    if (!response) return false;
    if (!response.ok || response.redirected) location.assign(url);
    else this.#show(await response.text());
    return true;
  }

  // By asking for what comes after it, the server also learns that this unit is on the screen.
  #lookAhead() {
    const address = new URL(this.url, location.origin);
    address.searchParams.delete("images");
    address.searchParams.set("ahead", "");
    this.lookedAt = performance.now();
    this.ahead = fetch(address, PART).then(
      async (response) => {
        if (response.status === 204) return { isLast: true };
        return response.ok && !response.redirected ? { html: await response.text() } : null;
      },
      () => null,
    );
  }

  #show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    document.querySelector(".unit-nav").replaceWith(page.querySelector(".unit-nav"));
    this.#main().replaceWith(page.getElementById("coding"));
    this.url = this.#main().dataset.url;
    if (this.url !== location.pathname + location.search) history.pushState(null, "", this.url);
    window.scrollTo(0, 0);
    // The scripts of the frame take care of every part that htmx puts in; so they do of this one, and htmx itself.
    window.htmx.process(this.#main());
    this.#main().dispatchEvent(new CustomEvent("htmx:afterSettle", { bubbles: true }));
    this.enter();
    document.getElementById("issue").focus({ preventScroll: true });
    document.dispatchEvent(new CustomEvent("announce", { detail: document.title }));
    this.#lookAhead();
  }

  #main() {
    return document.getElementById("coding");
  }
}
