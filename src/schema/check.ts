import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject, parseJson } from "../core/json.ts";
import type { Validity } from "../core/proof.ts";

/** Characters; a longer `pattern` is not compiled. */
const MAX_PATTERN = 1_000;
/** Compiled schemas kept; each was at most as large as bounds.ts lets through. */
const MAX_COMPILED = 64;

/** Schemas come from clients, so nothing here trusts one. */
const OPTIONS: Options = {
  strict: false,
  validateFormats: false,
  logger: false,
  // Many references to one large schema would else be many copies of its code.
  inlineRefs: false,
  // What every object inherits (`constructor`) is not a field that the model wrote.
  ownProperties: true,
  // Checked by `dialectOf`, once for all; a compiler of its own for every schema keeps the `$id`s of clients apart.
  validateSchema: false,
  meta: false,
  code: { regExp: Object.assign(boundedPattern, { code: "new RegExp" }) },
};

/** Drafts by the metaschema that a schema satisfies. A schema that names no draft is read as 2020-12, and as draft-07 where it is not that. */
const DRAFTS = [
  { names: /2019-09|2020-12/, meta: new Ajv2020({ strict: false, logger: false }), Compiler: Ajv2020 },
  { names: /draft-0[67]/, meta: new Ajv({ strict: false, logger: false }), Compiler: Ajv },
] as const;

const compiled = new Map<string, ValidateFunction | null>();

/**
 * Whether a JSON text satisfies a schema. Both are texts as they came. References to other documents are never fetched: a schema that
 * needs one cannot be compiled, and such a schema proves nothing. May take long for a hostile schema or text: run it off the event loop.
 */
export function check(schema: string, text: string): Validity {
  const value = parseJson(text);
  if (value === undefined) return "invalid";
  const validate = compile(schema);
  if (validate === null) return "unknown";
  try {
    return validate(value) === true ? "valid" : "invalid";
  } catch {
    return "unknown"; // A schema that refers to itself without end.
  }
}

function compile(schema: string): ValidateFunction | null {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const [oldest] = compiled.keys();
  if (compiled.size >= MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
  const fresh = compileFresh(parseJson(schema));
  compiled.set(schema, fresh);
  return fresh;
}

function compileFresh(schema: unknown): ValidateFunction | null {
  try {
    if (typeof schema === "boolean") return new Ajv(OPTIONS).compile(schema);
    if (!isObject(schema)) return null;
    const { $schema: named, ...rest } = schema;
    const draft = DRAFTS.find(
      ({ names, meta }) => (typeof named !== "string" || names.test(named)) && meta.validateSchema(rest) === true,
    );
    if (draft === undefined) return null;
    const validate = new draft.Compiler(OPTIONS).compile(rest);
    // An asynchronous schema answers with a promise, which is neither valid nor invalid.
    return "$async" in validate ? null : validate;
  } catch {
    return null;
  }
}

/** Patterns are meant for Unicode mode; many in the wild compile only without it. @throws where it is none of both, or too long */
function boundedPattern(pattern: string, flags: string): RegExp {
  if (pattern.length > MAX_PATTERN) throw new Error("pattern too long");
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}
