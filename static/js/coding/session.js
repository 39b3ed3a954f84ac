// The session ended while somebody codes: they sign in in another tab, come back, and the page goes on where it was.

import { endOfTyping } from "./typing.js";

export function enableReturn({ drafts, form, signal }) {
  const dialog = document.getElementById("signed-out");
  const problem = dialog.querySelector("[role=alert]");

  drafts.addEventListener("signed-out", async () => {
    await endOfTyping();
    if (!dialog.open && !signal.aborted) dialog.showModal();
  });
  dialog.querySelector("button").addEventListener("click", () => comeBack());
  const isBack = () => dialog.open && document.visibilityState === "visible";
  document.addEventListener("visibilitychange", () => isBack() && comeBack(), { signal });

  async function comeBack() {
    const found = await ownPage();
    problem.textContent = found ? "" : "You are not signed in yet, or as somebody else. Sign in with the account you coded with.";
    if (!found) return;
    const token = found.elements.csrfmiddlewaretoken.value;
    for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
    dialog.close();
    drafts.goOn(token);
  }

  // The form of this page as the server gives it now: to the same person, or not at all.
  async function ownPage() {
    const response = await fetch(location.pathname, { headers: { "HX-Request": "true" } }).catch(() => null);
    if (!response?.ok || response.redirected) return null;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const own = page.getElementById("codes");
    return own?.dataset.owner === form.dataset.owner ? own : null;
  }
}
