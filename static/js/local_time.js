// Who has not chosen a time zone reads times in the browser's; the server only knows UTC then.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function localise(root) {
  if (document.documentElement.dataset.zone) return;
  for (const element of root.querySelectorAll("time[data-local]")) {
    const moment = new Date(element.dateTime);
    const day = `${moment.getDate()} ${MONTHS[moment.getMonth()]} ${moment.getFullYear()}`;
    element.textContent = element.dataset.local === "day" ? day : `${day}, ${clock(moment)}`;
  }
}

function clock(moment) {
  return [moment.getHours(), moment.getMinutes()].map((part) => String(part).padStart(2, "0")).join(":");
}

localise(document);
document.addEventListener("htmx:afterSettle", (event) => localise(event.target));
