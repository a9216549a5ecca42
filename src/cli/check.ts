import { Windows } from "../budget/window.ts";
import { configFinding } from "../check/config.ts";
import { afterProbe } from "../check/continuation.ts";
import type { Finding } from "../check/finding.ts";
import { PROBE_CAP } from "../check/probe.ts";
import type { ProbeReport, Report, UpstreamReport } from "../check/report.ts";
import { reportText } from "../check/text.ts";
import { effective } from "../config/effective.ts";
import type { Environment } from "../config/interpolate.ts";
import { configPath, readConfig } from "../config/read.ts";
import type { Flags } from "../config/settings.ts";
import { shown } from "../events/names.ts";
import { createClient } from "../upstream/client.ts";
import { Knowledge } from "../upstream/knowledge.ts";
import { VERSION } from "../version.ts";
import { checkListen } from "./check-listen.ts";
import { probe, probedModel } from "./check-probe.ts";
import { type Visited, type Visitor, visit } from "./check-upstream.ts";
import { EXIT } from "./commands.ts";
import { type Counting, createCounting } from "./counting.ts";
import { viaProxy } from "./environment.ts";
import { type Progress, progress } from "./progress.ts";

interface CheckOptions {
  /** `--config`; undefined: `LASTWORD_CONFIG`, else none. */
  readonly config: string | undefined;
  readonly flags: Flags;
  readonly json: boolean;
  readonly printConfig: boolean;
  /** Ask each upstream's first model for a few tokens. */
  readonly probe: boolean;
}

/** `process`, or what a test has in its place. */
interface Terminal {
  readonly platform: NodeJS.Platform;
  readonly stdout: {
    readonly isTTY?: boolean;
    readonly columns?: number;
    hasColors?(): boolean;
    write(text: string): unknown;
  };
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

/** Looks at configuration, address and upstreams, and tells what is wrong with a fix for each. @returns the exit code */
export async function check(
  options: CheckOptions,
  env: Environment,
  terminal: Terminal,
  counting: Counting = createCounting(),
): Promise<number> {
  const doing = progress(terminal.stderr);
  let report: Report;
  try {
    report = await reportOf(options, env, terminal, counting, doing);
  } finally {
    doing.done();
    await counting.close();
  }
  const { isTTY, columns, hasColors } = terminal.stdout;
  const page = {
    colour: isTTY === true && hasColors?.call(terminal.stdout) === true,
    columns: isTTY === true ? (columns ?? 80) : null,
  };
  terminal.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report, page));
  return report.ok ? EXIT.ok : EXIT.problem;
}

async function reportOf(
  options: CheckOptions,
  env: Environment,
  { platform }: Terminal,
  counting: Counting,
  doing: Progress,
): Promise<Report> {
  const file = configPath(options.config, env);
  const loaded = await readConfig(file, options.flags, env);
  if ("problems" in loaded) {
    const problems = loaded.problems.map((problem) => configFinding(problem, platform));
    return { version: VERSION, ok: false, config: { file, settings: null }, listen: null, upstreams: [], problems };
  }
  doing.step("trying the port");
  const listen = await checkListen(loaded);
  doing.step(`asking ${loaded.config.upstreams.map(({ name }) => name).join(", ")}`);
  const { config, sourceOf } = loaded;
  const client = createClient({ connectSeconds: config.limits.connectSeconds, viaProxy: viaProxy(env) });
  const windows = new Windows(new Knowledge(), () => config.budget.windowTtlSeconds * 1000);
  const visitor = { config, sourceOf, client, counting, windows, platform, viaProxy: viaProxy(env) };
  const { reports, findings } = await upstreams(visitor, options.probe, doing).finally(() => client.close());
  const problems = [...listen.findings, ...findings];
  return {
    version: VERSION,
    ok: problems.every(({ level }) => level !== "error"),
    config: { file, settings: options.printConfig ? effective(loaded) : null },
    listen: listen.report,
    upstreams: reports,
    problems,
  };
}

async function upstreams(
  visitor: Visitor,
  probing: boolean,
  doing: Progress,
): Promise<{ readonly reports: readonly UpstreamReport[]; readonly findings: readonly Finding[] }> {
  const visits = await Promise.all(visitor.config.upstreams.map((upstream, index) => visit(upstream, index, visitor)));
  const probes = probing ? await probeAll(visits, doing) : [];
  return {
    reports: visits.map(({ report }, i) => withProbe(report, probes[i]?.report ?? null)),
    findings: visits.flatMap(({ findings }, i) => [...findings, ...(probes[i]?.findings ?? [])]),
  };
}

type Probe = Awaited<ReturnType<typeof probe>>;

/** One after the other: two models at once may not fit into one machine. */
async function probeAll(visits: readonly Visited[], doing: Progress): Promise<(Probe | null)[]> {
  const probes: (Probe | null)[] = [];
  for (const visited of visits) {
    const model = probedModel(visited);
    if (model === null) {
      probes.push(null);
      continue;
    }
    const name = shown(model);
    doing.say(
      `--probe asks ${name} on ${visited.server.name} for at most ${PROBE_CAP} tokens; nothing else here generates text.`,
    );
    doing.step(`waiting for ${name}`);
    probes.push(await probe(visited, model));
  }
  return probes;
}

function withProbe(report: UpstreamReport, probe: ProbeReport | null): UpstreamReport {
  if (probe === null) return report;
  const models = report.models.map((model) =>
    model.sent_as === probe.model ? { ...model, continuation: afterProbe(model.continuation, probe) } : model,
  );
  return { ...report, models, probe };
}
