import { type Finding, finding } from "../check/finding.ts";
import { writes } from "../check/models.ts";
import { PROBE_CAP, PROBE_PARTIAL, PROBE_PROMPT, type Probed, probeReport } from "../check/probe.ts";
import { keyFinding } from "../check/reach.ts";
import type { ProbeReport } from "../check/report.ts";
import { asObject, type JsonObject, parseJson } from "../core/json.ts";
import type { Fault, Part } from "../core/part.ts";
import { shown } from "../events/names.ts";
import type { Resume } from "../upstream/dialect.ts";
import { parseEvents } from "../upstream/frames.ts";
import { faultOf, lessonOf } from "../upstream/lessons.ts";
import type { Server } from "../upstream/server.ts";
import { chat } from "../wire/chat/chat.ts";
import type { Visited } from "./check-upstream.ts";

/** A model may have to be loaded first. */
const PATIENCE_MS = 180_000;
/** More than so few tokens can come to. */
const MOST_BYTES = 1024 * 1024;

/** The model that a probe would ask: the first that is loaded, else the first; null: there is none. */
export function probedModel({ seen }: Pick<Visited, "seen">): string | null {
  const able = seen.filter(writes);
  const model = able.find(({ report }) => report.loaded) ?? able[0];
  return model?.report.sent_as ?? null;
}

/** One tiny request, the only one that generates text: it is cut by its cap, and goes on with a message where the server can do that. */
export async function probe(
  { server, dialect, asked }: Visited,
  model: string,
): Promise<{ readonly report: ProbeReport; readonly findings: readonly Finding[] }> {
  const ask = chat.read({ model, messages: [{ role: "user", content: PROBE_PROMPT }], stream: true });
  const resume = dialect.resume("chat", model, ask);
  const request = chat.compose(ask, {
    cap: { field: dialect.capField("chat", chat.capField, model), tokens: PROBE_CAP },
    thinkingBudget: null,
    how: resume === null ? "asked" : "resume",
    partial: resume === null ? null : { text: PROBE_PARTIAL, reasoning: "" },
    nudge: "",
    mark: resume?.mark ?? {},
    set: { ...resume?.set, ...(dialect.usageOption ? { stream_options: { include_usage: true } } : {}) },
    without: [],
  });
  const path = resume?.path === undefined ? `${server.v1}${chat.path}` : `${server.root}${resume.path}`;
  const probed = probedOf(model, resume, await post(server, path, request));
  const failed = probed.status !== 200 && !probed.refused;
  const why =
    probed.status === 401 || probed.status === 403
      ? keyFinding(asked, probed.status)
      : failure(server, request, probed);
  return { report: probeReport(probed), findings: failed ? [why] : [] };
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

function post(server: Server, path: string, body: JsonObject): Promise<Answer | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    const settle = (answer: Answer | null) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      call.abort();
      settle(null);
    }, PATIENCE_MS);
    const { authorization } = server;
    const headers = { "content-type": "application/json", ...(authorization === null ? {} : { authorization }) };
    const call = server.call("POST", path, headers, JSON.stringify(body), {
      head(told) {
        status = told;
      },
      data(chunk) {
        size += chunk.length;
        if (size <= MOST_BYTES) chunks.push(chunk);
      },
      end: () => settle({ status, text: Buffer.concat(chunks).toString("utf8") }),
      lost: () => settle(null),
    });
  });
}

function probedOf(model: string, resume: Resume | null, answer: Answer | null): Probed {
  const parts = answer?.status === 200 ? partsOf(answer.text) : [];
  const fault = faultIn(parts, answer);
  const lesson = fault === null ? null : lessonOf(fault).kind;
  return {
    model,
    status: fault?.status ?? answer?.status ?? null,
    refused: lesson === "prefill_refused" || lesson === "thinking_prefill_refused" || lesson === "whitespace_refused",
    text: parts.map((part) => (part.kind === "text" ? part.text : "")).join(""),
    finish: parts.find((part) => part.kind === "finish")?.finish ?? null,
    usage: parts.findLast((part) => part.kind === "usage")?.usage ?? null,
    resume,
  };
}

/** Streamed as asked, or plain all the same. */
function partsOf(text: string): readonly Part[] {
  const plain = asObject(parseJson(text));
  if (plain !== undefined) return chat.parts(plain);
  return parseEvents(Buffer.from(text), true).flatMap(({ event, data }) => chat.frame(event, data).parts);
}

function faultIn(parts: readonly Part[], answer: Answer | null): Fault | null {
  const told = parts.find((part) => part.kind === "fault");
  if (told !== undefined) return told.fault;
  return answer === null || answer.status === 200 ? null : faultOf(answer.status, answer.text);
}

/** Double quotes throughout: they mean the same to a POSIX shell and to cmd.exe. */
function failure({ name, config }: Server, request: JsonObject, { model, status }: Probed): Finding {
  const said = status === null ? "gave no answer" : `answered with status ${status}`;
  const body = JSON.stringify(JSON.stringify(request));
  const fix = `curl -i ${config.url}${chat.path} -H "content-type: application/json" -d ${body}`;
  return finding(
    "probe_failed",
    name,
    `A request to ${shown(model)} for ${PROBE_CAP} tokens ${said}; asked again, it says why.`,
    fix,
  );
}
