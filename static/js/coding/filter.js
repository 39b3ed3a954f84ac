// "/" filters the categories of all dimensions. While a filter is set every dimension with a match is open; afterwards
// one is, as before. Enter chooses the first match.

const DIMENSION = "dimension";

export function enableFilter(form) {
  const field = document.getElementById("filter");
  const none = document.getElementById("filter-none");
  let isSet = false;
  let before = null;
  document.getElementById("filter-field").hidden = false;

  field.addEventListener("input", () => (field.value.trim() ? show(field.value) : restore()));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      if (field.value.trim()) choose();
    }
    if (event.key === "Escape") restore();
  });

  function show(words) {
    const groups = [...form.querySelectorAll("details")];
    if (!isSet) before = groups.find((details) => details.open) ?? null;
    isSet = true;
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const details of groups) {
      details.removeAttribute("name");
      details.open = filter(details, wanted);
    }
    none.textContent = groups.some((details) => details.open) ? "" : `No category matches “${words.trim()}”.`;
  }

  function restore() {
    if (!isSet) return;
    field.value = "";
    none.textContent = "";
    for (const hidden of form.querySelectorAll(":is(.code-row, .code-group)[hidden]")) hidden.hidden = false;
    for (const details of form.querySelectorAll("details")) {
      details.open = details === before;
      details.setAttribute("name", DIMENSION);
    }
    isSet = false;
  }

  function choose() {
    const first = [...form.querySelectorAll(".code-row:not([hidden]) input")].find((input) => input.checkVisibility());
    if (!first) return;
    before = first.closest("details");
    restore();
    if (!first.checked) first.click();
    first.focus();
  }
}

function filter(details, wanted) {
  let matches = 0;
  for (const group of details.querySelectorAll(".code-group")) {
    let inGroup = 0;
    for (const row of group.querySelectorAll(".code-row")) {
      const text = (row.dataset.search ?? "").toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      inGroup += row.hidden ? 0 : 1;
    }
    group.hidden = inGroup === 0;
    matches += inGroup;
  }
  return matches > 0;
}
