import * as z from "zod";
import { fileSchema } from "./schema.ts";

/** The config file as a JSON schema, for editors that complete and check YAML; published as `config/lastword.schema.json`. */
export function jsonSchema(): object {
  const schema = z.toJSONSchema(fileSchema, {
    target: "draft-7",
    io: "input",
    override: ({ jsonSchema: node }) => {
      if (node.enum !== undefined || node.type === "number" || node.type === "integer" || node.type === "boolean") {
        allowVariable(node);
      }
    },
  });
  return { ...schema, title: "lastword configuration" };
}

/** A number, switch or choice may also be written as `${NAME}`. */
function allowVariable(node: Record<string, unknown>): void {
  const rule: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(node)) {
    if (name === "description" || name === "default") continue;
    rule[name] = value;
    delete node[name];
  }
  node.anyOf = [rule, { type: "string", pattern: "\\$\\{" }];
}
