import assert from "node:assert/strict";
import { test } from "node:test";
import { inputsOf, labelOf } from "../src/web-inputs.js";

test("only what was chosen is asked for", () => {
  assert.deepEqual(inputsOf({ workspace: "w", time: "", sites: " " }), { workspace_id: "w" });
  assert.deepEqual(inputsOf({ workspace: "w", time: "week", sites: "example.org, .gov  example.org" }), {
    workspace_id: "w",
    freshness: "week",
    whitelisted_domains: ["example.org", ".gov"],
  });
});

test("a minus leaves a site out", () => {
  const { whitelisted_domains: allowed, search_domain_filter: denied } = inputsOf({ workspace: "w", time: "", sites: "-a.example, b.example -c.example" });
  assert.deepEqual([allowed, denied], [["b.example"], ["-a.example", "-c.example"]]);
});

test("the button says what counts", () => {
  const label = (time, sites, workspaceName = null) => labelOf({ workspaceName, time, sites });
  assert.equal(label("", ""), "Any time");
  assert.equal(label("week", "example.org"), "Past week · example.org");
  assert.equal(label("", "-example.org", "Team"), "Team · Any time · not example.org");
  assert.equal(label("year", "a.example b.example"), "Past year · 2 sites");
});
