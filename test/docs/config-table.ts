import { jsonSchema } from "../../src/config/json-schema.ts";
import { asArray, asObject, asString, type Json, type JsonObject } from "../../src/core/json.ts";

/** The README's table of config keys, made of the schema that the loader itself uses. */
export function configTable(): string {
  const perModel = new Set([...keysOf("budget"), ...keysOf("recovery")]);
  const rows = Object.entries(asObject(asObject(jsonSchema())?.properties) ?? {}).flatMap(([section, schema]) =>
    section === "models"
      ? rowsOf("models[].", asObject(asObject(schema)?.items)).filter(([key]) => !perModel.has(key.slice(9)))
      : rowsOf(
          section === "upstreams" ? "upstreams[]." : `${section}.`,
          asObject(section === "upstreams" ? asObject(schema)?.items : schema),
        ),
  );
  const lines = rows.map(([key, value, says]) => `| \`${key}\` | ${value} | ${says.replaceAll("|", "\\|")} |`);
  return ["| key | default | what it does |", "|---|---|---|", ...lines].join("\n");
}

function keysOf(section: string): string[] {
  const properties = asObject(asObject(jsonSchema())?.properties);
  return Object.keys(asObject(asObject(properties?.[section])?.properties) ?? {});
}

function rowsOf(prefix: string, schema: JsonObject | undefined): [string, string, string][] {
  const required = new Set(asArray(schema?.required));
  return Object.entries(asObject(schema?.properties) ?? {}).map(([name, value]) => {
    const key = asObject(value);
    return [`${prefix}${name}`, shownDefault(key?.default, required.has(name)), asString(key?.description) ?? ""];
  });
}

function shownDefault(value: Json | undefined, required: boolean): string {
  if (value === undefined) return required ? "required" : "unset";
  return value === "" ? "empty" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
