import assert from "node:assert/strict";
import { test } from "node:test";
import { excerptOf, failureWords, hostOf, ignoredWords, linkOf, searchedWith } from "../src/web-answer.js";

test("who was asked, and how they did", () => {
  const told = (provider, providers, cached = false) => searchedWith({ provider, providers, from_cache: cached });
  assert.equal(told("brave", { brave: "ok" }), "Searched with Brave.");
  assert.equal(told("tavily", { brave: "rate_limited", tavily: "ok" }), "Searched with Tavily; Brave was rate limited.");
  assert.equal(
    told("duckduckgo", { brave: "quota", serpapi: "timeout", duckduckgo: "empty" }),
    "DuckDuckGo found nothing; Brave has no quota left and SerpAPI took too long.",
  );
  assert.equal(told("brave", {}, true), "Brave found this lately and was not asked again.");
  assert.equal(told("kagi", { kagi: "ok" }), "Searched with kagi.");
});

test("why nobody answered is told from the data", () => {
  const failure = (providers) => failureWords({ code: "provider_error", message: "In other words.", details: { providers } });
  const told = (outcomes) => failure(Object.entries(outcomes).map(([provider, outcome]) => ({ provider, outcome })));
  assert.equal(told({ brave: "timeout", tavily: "bot_challenge" }), "No search engine answered: Brave took too long and Tavily took us for a robot. Try again in a while.");
  assert.equal(told({ brave: "auth" }), "No search engine answered: Brave refused our key. Ask your administrator.");
  assert.equal(told({ brave: "something new" }), "No search engine answered. Try again in a while.");
  const stored = { brave: "timeout", tavily: "bot_challenge" };
  assert.equal(failure(stored), told(stored), "older runs keep an object");
  assert.equal(failureWords({ code: "timeout", message: "This took too long." }), "This took too long.");
  assert.equal(failureWords({ code: "budget_exceeded", message: "Spent.", details: { limit: "deployment" } }), "Spent.");
});

test("filters that nobody could check are told once each", () => {
  assert.equal(ignoredWords([]), "");
  assert.match(ignoredWords(["time_range", "freshness"]), /^Nobody could check how old a page may be:/);
  assert.match(ignoredWords(["last_updated_after_filter", "language"]), /^Nobody could check when a page was changed and the language:/);
});

test("only addresses of the web become links", () => {
  assert.equal(linkOf("https://a.example/?q=1&r=2"), "https://a.example/?q=1&r=2");
  const others = ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "/accounts/logout/", "ftp://a.example", "https://bank.example@evil.example/", "", undefined, null];
  for (const address of others) assert.equal(linkOf(address), null, String(address));
});

test("a host is told as the browser will know it", () => {
  assert.equal(hostOf("https://www.Light.example:8443/history"), "light.example");
  assert.equal(hostOf("https://bаnk.example/"), "xn--bnk-6cd.example");
  assert.equal(hostOf("javascript:x"), "");
});

test("the quote is marked where the snippet has it", () => {
  assert.deepEqual(excerptOf({ snippet: "Old. It was built in 1893. New.", quote: "It was built in 1893." }), ["Old. ", "It was built in 1893.", " New."]);
  assert.deepEqual(excerptOf({ snippet: "A snippet.", quote: null }), ["A snippet.", "", ""]);
});

test("a quote from the page stands for the snippet that lacks it", () => {
  assert.deepEqual(excerptOf({ snippet: "Something else.", quote: "It was built in 1893." }), ["", "It was built in 1893.", ""]);
});

test("a quote far inside a snippet comes into view", () => {
  const [before, quoted] = excerptOf({ snippet: `${"Many words before it. ".repeat(30)}Here it is.`, quote: "Here it is." });
  assert.equal(quoted, "Here it is.");
  assert.match(before, /^…\S/);
  assert.ok(before.length <= 91);
});
