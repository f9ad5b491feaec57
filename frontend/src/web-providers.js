// What people call the search engines.
import {  } from "./texts.js";
export const NAMES = {
  brave: "Brave",
  tavily: "Tavily",
  serpapi: "SerpAPI",
  perplexity: "Perplexity",
  searxng: "SearXNG",
  anthropic: "Anthropic",
  duckduckgo: "DuckDuckGo",
};

export const nameOf = (provider) => NAMES[provider] ?? provider;
