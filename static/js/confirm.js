// <form data-confirm="What will be lost." data-confirm-action="Delete the study"> asks before it is sent.
// Without script the form is sent at once, so a view that cannot be undone asks for the slug as well.

const dialog = document.getElementById("confirm");
let asking = null;

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!form.dataset.confirm || form.dataset.confirmed) {
      delete form.dataset.confirmed;
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    asking = { form, submitter: event.submitter };
    dialog.querySelector("#confirm-text").textContent = form.dataset.confirm;
    dialog.querySelector("[value=confirm]").textContent = form.dataset.confirmAction ?? "Continue";
    dialog.returnValue = "cancel";
    dialog.showModal();
  },
  { capture: true },
);

dialog?.addEventListener("close", () => {
  const { form, submitter } = asking;
  asking = null;
  if (dialog.returnValue !== "confirm") return submitter?.focus();
  form.dataset.confirmed = "yes";
  form.requestSubmit(submitter);
});
