// The tab of the part on screen is the current one; the keys for next and previous part move with it.

const SETTLED = 300;

export function followParts(nav, signal) {
  const links = [...nav.querySelectorAll("a[href^='#']")];
  const parts = links.map((link) => document.querySelector(link.hash));
  let chosenAt = 0;

  function mark(current) {
    links.forEach((link, position) => {
      if (position === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      setKeys(link, { [current - 1]: nav.dataset.previousKeys, [current + 1]: nav.dataset.nextKeys }[position]);
    });
  }

  function onScreen() {
    const edge = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 8;
    // The last part may be too short to reach the edge.
    const { scrollHeight } = document.documentElement;
    if (window.scrollY > 0 && window.scrollY + window.innerHeight >= scrollHeight - 1) return parts.length - 1;
    const passed = parts.filter((part) => part.getBoundingClientRect().top <= edge).length;
    return Math.max(0, passed - 1);
  }

  // A part near the end cannot scroll up to the edge: what was chosen counts until the reader scrolls again.
  nav.addEventListener("click", (event) => {
    const position = links.indexOf(event.target.closest("a"));
    if (position < 0) return;
    chosenAt = performance.now();
    mark(position);
  });
  window.addEventListener("scroll", () => performance.now() - chosenAt > SETTLED && mark(onScreen()), {
    passive: true,
    signal,
  });
  mark(onScreen());
}

function setKeys(link, keys) {
  for (const name of ["data-keys", "aria-keyshortcuts"]) {
    if (keys) link.setAttribute(name, keys);
    else link.removeAttribute(name);
  }
}
