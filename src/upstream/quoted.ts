import type { Upstream } from "../config/upstream.ts";

/** Characters: what is shorter is no secret, and stands in many a text. */
const LEAST = 4;

/** All that an upstream was given and no client may read, the longest first: servers quote what they were asked with. */
export function secretsOf({ key, basic, query }: Upstream): readonly string[] {
  const credentials = Buffer.from(basic, "base64").toString();
  const password = credentials.slice(credentials.indexOf(":") + 1);
  const values = [...new URLSearchParams(query).values()];
  const all = [key, basic, credentials, password, query, query.slice(1), ...values, ...values.map(encodeURIComponent)];
  // As they stand within JSON, too.
  const written = all.map((secret) => JSON.stringify(secret).slice(1, -1));
  return [...new Set([...all, ...written])]
    .filter((secret) => secret.length >= LEAST)
    .sort((a, b) => b.length - a.length);
}

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}
