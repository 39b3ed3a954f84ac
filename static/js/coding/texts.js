// Places in the texts of an issue. A text is what the server keeps of it: the textContent of its element, of a patch its
// lines joined by line breaks. Offsets of a quote count code points, as the server does; those of a page, UTF-16 units.

export class Texts {
  constructor(root, selector = "[data-document]") {
    this.root = root;
    this.selector = selector;
    this.refresh();
  }

  // Find the texts that are on the page now.
  refresh() {
    const found = [...this.root.querySelectorAll(this.selector)];
    this.elements = new Map(found.map((element) => [element.dataset.document ?? element, element]));
  }

  read(name) {
    const element = this.elements.get(name);
    return element ? new Text(element) : null;
  }

  // The quote that a selection holds: of the first text it touches, without blank lines around it.
  quote(range) {
    for (const [name, element] of this.elements) {
      if (!range.intersectsNode(element)) continue;
      const text = new Text(element);
      const found = text.quote(text.offset(range, "start"), text.offset(range, "end"));
      if (found) return { document: name, ...found };
    }
    return null;
  }

  // Where a quote stands on the page; null if its text is not shown or reads otherwise there.
  range(quote) {
    return this.read(quote.document)?.find(quote) ?? null;
  }
}

class Text {
  constructor(element) {
    this.element = element;
    this.pieces = [];
    const parts = [];
    let length = 0;
    for (const [place, cell] of cellsOf(element).entries()) {
      if (place > 0) length += parts.push("\n") && 1;
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { data } = walker.currentNode;
        this.pieces.push({ node: walker.currentNode, start: length, end: length + data.length });
        parts.push(data);
        length += data.length;
      }
    }
    this.content = parts.join("");
  }

  quote(from, to) {
    const chosen = this.content.slice(from, to);
    const start = from + /^(?:\s*\n)?/.exec(chosen)[0].length;
    const end = from + chosen.trimEnd().length;
    if (start >= end) return null;
    const before = countPoints(this.content.slice(0, start));
    const quote = this.content.slice(start, end);
    return { start: before, end: before + countPoints(quote), quote };
  }

  // The offset of an end of a range; what lies between two pieces counts as the beginning of the second.
  offset(range, side) {
    const [node, offset] = [range[`${side}Container`], range[`${side}Offset`]];
    const own = this.pieces.find((piece) => piece.node === node);
    if (own) return own.start + offset;
    const point = document.createRange();
    point.setStart(node, offset);
    const next = this.pieces.find((piece) => point.comparePoint(piece.node, 0) >= 0);
    return next ? next.start : this.content.length;
  }

  find({ start, end, quote }) {
    const from = unitsOf(this.content, start);
    const to = from + quote.length;
    if (this.content.slice(from, to) !== quote || countPoints(quote) !== end - start) return null;
    return this.rangeOf(from, to);
  }

  rangeOf(from, to) {
    const first = this.pieces.find((piece) => piece.end > from);
    const last = this.pieces.findLast((piece) => piece.start < to);
    if (!first || !last) return null;
    const range = document.createRange();
    range.setStart(first.node, Math.max(0, from - first.start));
    range.setEnd(last.node, Math.min(last.end, to) - last.start);
    return range;
  }

  // What stands on one line each, as [from, to] without blank lines.
  lines() {
    return [...this.content.matchAll(/[^\n]*\S[^\n]*/g)].map((line) => [line.index, line.index + line[0].length]);
  }
}

function cellsOf(element) {
  return element.tagName === "TBODY" ? [...element.querySelectorAll(".diff__text")] : [element];
}

function countPoints(text) {
  let count = 0;
  for (const _ of text) count += 1; // eslint-disable-line no-unused-vars
  return count;
}

function unitsOf(text, points) {
  let units = 0;
  for (let count = 0; count < points && units < text.length; count += 1) units += text.codePointAt(units) > 0xffff ? 2 : 1;
  return units;
}
