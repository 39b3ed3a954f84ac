// Quotes in the texts: the CSS Custom Highlight API leaves the text alone; where a browser lacks it, <mark> elements
// are laid around it. After each quote stands its tag, whose letters come from the style sheet: no tag is text.

const COLOURS = [1, 2, 3, 4, 5, 6];

// quotes: { find, colour, tag, label, place }; find gives the range of the quote as the page stands at that moment.
export function paintQuotes(root, quotes) {
  clear(root);
  for (const quote of quotes) putTag(quote);
  if (CSS.highlights) highlight(quotes);
  else for (const quote of quotes) wrap(quote.find(), quote.colour);
}

export function clear(root) {
  for (const colour of COLOURS) CSS.highlights?.delete(`evidence-${colour}`);
  for (const tag of root.querySelectorAll("button[data-quote]")) {
    const parent = tag.parentNode;
    tag.remove();
    parent.normalize();
  }
  for (const mark of root.querySelectorAll("mark.evidence")) {
    const parent = mark.parentNode;
    mark.replaceWith(...mark.childNodes);
    parent.normalize();
  }
}

function highlight(quotes) {
  for (const colour of COLOURS) {
    const ranges = quotes.filter((quote) => quote.colour === colour).map((quote) => quote.find());
    CSS.highlights.set(`evidence-${colour}`, new Highlight(...ranges));
  }
}

function wrap(range, colour) {
  const { startContainer, startOffset, endContainer, endOffset } = range;
  for (const node of textNodes(range)) {
    const part = document.createRange();
    part.selectNodeContents(node);
    if (node === endContainer) part.setEnd(node, endOffset);
    if (node === startContainer) part.setStart(node, startOffset);
    if (part.collapsed) continue;
    const mark = document.createElement("mark");
    mark.className = `evidence dim-${colour}`;
    part.surroundContents(mark);
  }
}

function textNodes(range) {
  const root = range.commonAncestorContainer;
  if (root.nodeType === Node.TEXT_NODE) return [root];
  const nodes = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const isText = !node.parentElement.closest("table.diff") || node.parentElement.closest(".diff__text");
    if (isText && range.intersectsNode(node)) nodes.push(node);
  }
  return nodes;
}

function putTag({ find, colour, tag, label, place }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = `evidence-tag dim-${colour}`;
  button.dataset.tag = tag;
  button.dataset.quote = place;
  button.setAttribute("aria-label", label);
  const end = find();
  end.collapse(false);
  const around = end.startContainer.parentElement.closest("a, summary");
  if (around) around.after(button);
  else end.insertNode(button);
}
