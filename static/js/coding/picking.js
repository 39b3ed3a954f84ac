// Text is selected without a mouse: a key picks the first line on screen, the arrows move to other lines, with Shift
// they add lines, right takes the whole paragraph and left goes back to its line. The browser's own Shift+Right still
// adds letters. What is picked is the selection, so that everything else works as with a mouse.

const BLOCKS = "p, li, pre, blockquote, table, dd, h1, h2, h3, h4, h5, h6";

export function enablePicking({ issue, texts, sections, signal }) {
  let picked = null;
  let known = null;

  sections.addEventListener("change", () => (known = null));

  document.getElementById("pick").addEventListener("click", async () => {
    await sections.whole();
    const line = (isPicked() && picked) || firstOnScreen();
    if (line) pick(line, line);
  });

  issue.addEventListener("keydown", (event) => {
    if (!isPicked() || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { ArrowDown: () => move(1, event.shiftKey), ArrowUp: () => move(-1, event.shiftKey) };
    if (!event.shiftKey) Object.assign(act, { ArrowRight: takeParagraph, ArrowLeft: () => pick(picked, picked) });
    if (!act[event.key]) return;
    event.preventDefault();
    act[event.key]();
  }, { signal });

  function isPicked() {
    return picked !== null && !getSelection().isCollapsed && document.activeElement === issue;
  }

  function move(by, isAdding) {
    const lines = allLines();
    const at = lines.findIndex((line) => line.name === picked.name && line.from === picked.from);
    const next = lines[at + by];
    if (!next) return;
    if (isAdding && next.name === picked.name) pick(picked.first ?? picked, { ...next, first: picked.first ?? picked });
    else if (!isAdding) pick(next, next);
  }

  function takeParagraph() {
    const { startContainer: node } = getSelection().getRangeAt(0);
    const block = node.parentElement.closest(BLOCKS);
    if (!block || !block.closest("[data-document]")) return;
    show(block.ownerDocument.createRange(), (range) => range.selectNodeContents(block));
  }

  // From the first line of a text to the last one, whichever comes first.
  function pick(anchor, line) {
    picked = line;
    const text = texts.read(line.name);
    const range = text.rangeOf(Math.min(anchor.from, line.from), Math.max(anchor.to, line.to));
    show(range, () => {});
    const own = text.rangeOf(line.from, line.to);
    for (let box = own.startContainer.parentElement.closest("details"); box; box = box.parentElement.closest("details")) {
      box.open = true;
    }
    own.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  }

  function show(range, shape) {
    shape(range);
    issue.focus({ preventScroll: true });
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    const words = selection.toString().trim();
    document.dispatchEvent(new CustomEvent("announce", { detail: `Picked: ${words.slice(0, 200)}` }));
  }

  function allLines() {
    known ??= [...texts.elements.keys()].flatMap((name) =>
      texts.read(name).lines().map(([from, to]) => ({ name, from, to })),
    );
    return known;
  }

  function firstOnScreen() {
    const edge = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
    const name = [...texts.elements].find(([, element]) => isBelow(element, edge))?.[0];
    if (!name) return null;
    const text = texts.read(name);
    const lines = text.lines().map(([from, to]) => ({ name, from, to }));
    return lines.find(({ from, to }) => isBelow(text.rangeOf(from, to), edge)) ?? lines[0] ?? null;
  }
}

function isBelow(place, edge) {
  const { bottom, height } = place.getBoundingClientRect();
  return height > 0 && bottom > edge;
}
