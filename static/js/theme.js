// The colour scheme changes at once; the choice is posted in the background. Without script the form does both.

for (const form of document.querySelectorAll("form.theme-switch")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const theme = event.submitter.value;
    apply(theme);
    const body = new FormData(form, event.submitter);
    fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => {
      document.dispatchEvent(new CustomEvent("announce", { detail: "The colour scheme could not be saved." }));
    });
  });
}

function apply(theme) {
  const root = document.documentElement;
  if (theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = theme;
  for (const button of document.querySelectorAll("form.theme-switch button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
}
