// What a question to the web asks for besides its words. Pure.
import { t, tPlural } from "./texts.js";

export const TIMES = { day: t("Past day"), week: t("Past week"), month: t("Past month"), year: t("Past year") };

const siteWords = (site) => (site?.startsWith("-") ? t("not {site}", { site: site.slice(1) }) : site);
const words = (text) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

/** The inputs of `web_search` for a workspace, a time of `TIMES` or "", and sites as they were typed. */
export function inputsOf({ workspace, time, sites }) {
  const named = words(sites);
  const allowed = named.filter((site) => !site.startsWith("-"));
  const denied = named.filter((site) => site.startsWith("-"));
  return {
    ...(workspace && { workspace_id: workspace }),
    ...(time && { freshness: time }),
    ...(allowed.length && { whitelisted_domains: allowed }),
    ...(denied.length && { search_domain_filter: denied }),
  };
}

/** "Team · Past week · 2 sites"; the workspace is named where there are several. */
export function labelOf({ workspaceName, time, sites }) {
  const named = words(sites);
  const where = named.length > 1 ? tPlural("{count} site", "{count} sites", { count: named.length }) : siteWords(named[0]);
  return [workspaceName, TIMES[time] ?? t("Any time"), where].filter(Boolean).join(" · ");
}
