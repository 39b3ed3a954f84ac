// "Where did I use this category?" leads to the category in focus, else to one that is chosen in the open dimension.

export function enableOwnUnits(form) {
  const link = document.getElementById("find-own");
  const { pathname } = link;
  let focused = null;
  form.addEventListener("focusin", ({ target }) => {
    if (target !== link) focused = target.closest(".code-row") ? target : null;
  });
  link.addEventListener("click", () => {
    const input = focused ?? form.querySelector("details[open] .code-row input:checked");
    const isCategory = input && !input.value.startsWith("state:");
    const dimension = input?.closest("[data-dimension]").dataset.dimension;
    const wanted = isCategory ? `?${new URLSearchParams({ category: `${dimension}:${input.value}` })}` : "";
    link.href = pathname + wanted;
  });
}
