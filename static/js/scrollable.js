// Code that is wider than its box is scrolled with the arrow keys: whoever uses no mouse must be able to get into it.

function admitFocus(root) {
  for (const block of root.querySelectorAll(".prose pre")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
}

admitFocus(document);
document.addEventListener("htmx:afterSettle", (event) => admitFocus(event.target));
