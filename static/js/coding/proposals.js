// A coder proposes a category that is missing: it is theirs at once, chosen, and the page shows it among the others.

export function enableProposals({ answers, drafts, again }) {
  const form = document.getElementById("propose");
  const problem = document.getElementById("propose-error");
  document.getElementById("propose-button").hidden = false;

  form.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    const open = document.querySelector("[data-dimension]:has(> details[open])");
    if (open) form.elements.dimension.value = open.dataset.dimension;
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.dataset.busy) return;
    form.dataset.busy = "yes";
    problem.hidden = true;
    const proposal = await propose().catch((error) => complain(error.message));
    delete form.dataset.busy;
    if (!proposal) return;
    choose(proposal);
    if (await drafts.flush()) again();
  });

  async function propose() {
    const { csrfmiddlewaretoken: token, ...proposed } = Object.fromEntries(new FormData(form));
    // A name like another one is refused once; who sends it again means it.
    proposed.unless_similar = form.dataset.refused !== proposed.name;
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
    const response = await fetch(form.action, { method: "POST", headers, body: JSON.stringify(proposed) });
    const answer = await response.json();
    if (!response.ok) {
      form.dataset.refused = proposed.name;
      throw new Error(answer.detail);
    }
    return answer;
  }

  function choose({ dimension, code }) {
    const field = `annotations.${dimension}`;
    const isMultiple = document.getElementById(`d-${dimension}`).dataset.kind === "multiple";
    const others = isMultiple ? (answers.read()[field]?.categories ?? []) : [];
    drafts.change(field, { categories: [...others, code], state: "coded", text: "" });
  }

  function complain(sentence) {
    problem.querySelector("span").textContent = sentence;
    problem.hidden = false;
  }
}
