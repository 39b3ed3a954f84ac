// What a screen reader must hear and where the focus stays when a part of the page is replaced.
// Others speak by document.dispatchEvent(new CustomEvent("announce", { detail: "Saved" })).

const line = document.getElementById("live");

document.addEventListener("announce", (event) => {
  line.textContent = "";
  requestAnimationFrame(() => (line.textContent = event.detail.value ?? event.detail));
});

let focused = null;

document.addEventListener("htmx:beforeSwap", () => {
  const element = document.activeElement;
  focused =
    element && element !== document.body
      ? { id: element.id, name: element.getAttribute("name"), value: element.value }
      : null;
});

document.addEventListener("htmx:afterSettle", (event) => {
  const wanted = event.target.querySelector?.("[data-focus]") ?? lost();
  wanted?.focus({ preventScroll: !wanted.hasAttribute("data-focus") });
});

// The element that had the focus, if the swap has replaced it.
function lost() {
  if (!focused || (document.activeElement && document.activeElement !== document.body)) return null;
  if (focused.id) return document.getElementById(focused.id);
  if (!focused.name) return null;
  const same = [...document.getElementsByName(focused.name)];
  return same.find((element) => element.value === focused.value) ?? same[0] ?? null;
}

document.addEventListener("htmx:sendError", () =>
  complain("The server cannot be reached. Check the connection and try again."),
);
document.addEventListener("htmx:responseError", (event) => {
  complain(`The server could not do this (${event.detail.xhr.status}). Reload the page and try again.`);
});

function complain(sentence) {
  const notice = document.createElement("div");
  notice.className = "notice notice--bad";
  notice.setAttribute("role", "alert");
  const text = document.createElement("p");
  text.textContent = sentence;
  notice.append(text);
  document.getElementById("messages").replaceChildren(notice);
}

document.querySelector("[data-focus]")?.focus();
