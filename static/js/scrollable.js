// What is wider than its box is scrolled with the arrow keys: whoever uses no mouse must be able to get into it.

function admitFocus(root) {
  for (const block of root.querySelectorAll(".prose pre, .table-scroll")) {
    showMore(block);
    if (block.scrollWidth <= block.clientWidth) continue;
    block.tabIndex = 0;
    const caption = block.querySelector("caption");
    if (!caption) continue;
    block.setAttribute("role", "region");
    block.setAttribute("aria-label", caption.innerText.trim());
  }
}

// A table fades out at the edge behind which it goes on.
function showMore(block) {
  const left = block.scrollWidth - block.clientWidth - Math.abs(block.scrollLeft);
  block.classList.toggle("table-scroll--more", block.matches(".table-scroll") && left > 1);
}

admitFocus(document);
document.addEventListener("scroll", ({ target }) => target.matches?.(".table-scroll") && showMore(target), true);
document.addEventListener("htmx:afterSettle", (event) => admitFocus(event.target));
window.addEventListener("resize", () => admitFocus(document));

// On a phone the study's places do not fit beside one another: the one that is open is brought into view.
const here = document.querySelector(".study-nav [aria-current]");
const places = here?.closest(".study-nav");
if (places) places.scrollLeft = here.offsetLeft - (places.clientWidth - here.offsetWidth) / 2;
