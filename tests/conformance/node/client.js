// OpenAI's client, as the test that starts a script configures it.

import OpenAI from "openai";

export const { LOCUS, KEY, QUESTION } = process.env;

export function clientWith(options = {}) {
  return new OpenAI({ baseURL: `${LOCUS}/v1`, apiKey: KEY, maxRetries: 0, ...options });
}

export async function collected(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}
