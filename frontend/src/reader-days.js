// The days of the reader, whose midnight is not that of the server.
import { TIME_ZONE } from "./locale.js";

/** The moment (ISO, UTC) at which a day such as "2026-03-29" begins, `after` days later; "" for what is no day. */
export function startOfDay(day, after = 0, zone = TIME_ZONE) {
  const [year, month, date] = day.split("-").map(Number);
  const midnight = Date.UTC(year, month - 1, date + after);
  if (Number.isNaN(midnight)) return "";
  // The clock is put forward or back on some days: the offset is that of the moment which is looked for.
  const near = midnight - offset(midnight, zone);
  return new Date(midnight - offset(near, zone)).toISOString();
}

/** How far the clocks of a time zone are ahead of UTC at a moment, in milliseconds. */
function offset(at, zone) {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(at);
  const [, sign, hours, minutes] = parts.find(({ type }) => type === "timeZoneName").value.match(/^GMT(?:([+-])(\d\d):(\d\d))?/);
  return sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000 : 0;
}
